"""Prompts as versions: named and numbered, released by label, logged, backtested, and checked for regressions; in one file.

>>> from pathlib import Path
>>> from tempfile import TemporaryDirectory
>>> from planexec_lab import recorded
>>> from planexec_lite.roles.planners import INSTRUCTIONS
>>> from planexec_lab.prompts import Registry, backtest, compare, recorded_answers, rows_from_transcript
>>> with TemporaryDirectory() as folder:
...     registry = Registry(Path(folder) / "prompts.db")
...     old = registry.save("planner", INSTRUCTIONS)
...     new = registry.save("planner", recorded.without(INSTRUCTIONS, "failure"))
>>> heard = recorded.smollm2()
>>> rows, answers = rows_from_transcript(heard), recorded_answers(heard)
>>> comparison = compare(backtest(new, rows, answers, "ends a step"), backtest(old, rows, answers, "ends a step"))
>>> f"{comparison.value:+.2f} [{comparison.low:+.2f}, {comparison.high:+.2f}]"
'+0.33 [+0.08, +0.53]'

Read in this order: `registry` (the whole file), `versions`, `request_log` and `logged_client` (what each request came to),
`datasets` (past runs as rows), `answers` and `comparison` (is the new version better? `check` fails at a regression).
"""

from planexec_lab.prompts.answers import Answers, asked, recorded_answers
from planexec_lab.prompts.comparison import (
    MEASURES,
    Backtest,
    Comparison,
    RegressionError,
    backtest,
    check,
    compare,
)
from planexec_lab.prompts.datasets import Row, ToolWords, rows_from_runs, rows_from_transcript
from planexec_lab.prompts.file import RegistryError
from planexec_lab.prompts.registry import Registry
from planexec_lab.prompts.request_log import LoggedRequest, log_table
from planexec_lab.prompts.versions import PromptVersion, Release

__all__ = [
    "MEASURES",
    "Answers",
    "Backtest",
    "Comparison",
    "LoggedRequest",
    "PromptVersion",
    "Registry",
    "RegistryError",
    "RegressionError",
    "Release",
    "Row",
    "ToolWords",
    "asked",
    "backtest",
    "check",
    "compare",
    "log_table",
    "recorded_answers",
    "rows_from_runs",
    "rows_from_transcript",
]  # fmt: skip
