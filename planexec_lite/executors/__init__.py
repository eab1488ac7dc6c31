"""Executors: who does the work of a step. An executor never decides what comes next.

`direct` calls the step's tool; `react` lets a model use tools until the step is done; `hybrid` takes the first where
the step says what to call, and the second where it does not.
"""

from planexec_lite.executors.direct import Executor, ToolExecutor, as_data, perform
from planexec_lite.executors.hybrid import HybridExecutor
from planexec_lite.executors.react import ReActExecutor

__all__ = ["Executor", "HybridExecutor", "ReActExecutor", "ToolExecutor", "as_data", "perform"]
