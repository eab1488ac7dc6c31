"""Policy: the settings that tell one variation of the pattern from another, and the bounds that make every loop end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Policy:
    """What `decide` may do.

    Args:
        failure: what a failed step means: "skip" its dependents and go on elsewhere, or "stop" the run.
        retries: how often a failed step is tried again, where the step does not say so itself.
        max_steps: the most steps that a planner may write into one plan.
        max_repairs: how often in a row an unfit plan may go back to the planner.
        max_rounds: how often the planner may be asked for more, because its horizon was reached.

    Raises `ValueError` for a bound below zero or an unknown meaning of failure.
    """

    failure: Literal["skip", "stop"] = "skip"
    retries: int = 0
    max_steps: int = 50
    max_repairs: int = 2
    max_rounds: int = 25

    def __post_init__(self) -> None:
        if self.failure not in ("skip", "stop"):
            raise ValueError(f"failure={self.failure!r}: a failed step means 'skip' or 'stop'")
        for name in ("retries", "max_steps", "max_repairs", "max_rounds"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: a bound is zero or more")
