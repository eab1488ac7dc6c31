"""Executors: who does the work of a step. An executor never decides what comes next.

`direct` calls the step's tool; `react` lets a model use tools until the step is done; `team` has two that pass the step on: the
hybrid executor asks the first executor where the step says what to call, and the second where it does not; a team gives
each step to the executor whose role it is.
"""

from planexec_lite.executors.direct import (
    Executor,
    ToolExecutor,
    agent_inside,
    as_data,
    asks_models,
    chooses_calls,
    effects_of,
    effects_of_any,
    perform,
)
from planexec_lite.executors.react import ReActExecutor, task_text
from planexec_lite.executors.team import HybridExecutor, Team

__all__ = [
    "Executor", "HybridExecutor", "ReActExecutor", "Team", "ToolExecutor", "agent_inside", "as_data", "asks_models",
    "chooses_calls", "effects_of", "effects_of_any", "perform", "task_text",
]  # fmt: skip
