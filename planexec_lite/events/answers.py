"""What was said outside about a run that waits: what became of a step in doubt, and how much more may be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from planexec_lite.budget import Budget


@dataclass(frozen=True, slots=True)
class DoubtResolved:
    """Somebody found out what became of a step in doubt: it was `done`, and gave `result`; or it was not, and is to be done.

    Where a run inside `step` waits to be told, it is about the step that is in doubt there.
    """

    at: float
    step: str
    done: bool
    by: str
    result: Any = None
    comment: str = ""


@dataclass(frozen=True, slots=True)
class BudgetGranted:
    """The run may use so much `more` than its budget."""

    at: float
    more: Budget
    by: str
    comment: str = ""


@dataclass(frozen=True, slots=True)
class BudgetDenied:
    """The run may use no more than its budget: it is to stop."""

    at: float
    by: str
    comment: str = ""
