"""Budgets: how much a run may use of steps, model calls, tokens, money, time, replans and repairs."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, NamedTuple

OverBudget = Literal["pause", "stop"]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a run may use, in all, however often it is resumed; or how much more it may, where it is granted. None: no bound.

    A job that needs something of which nothing is left does not start: planning and judging need models, and so do steps whose
    executor asks them (see `Executor`). What was under way is heard out, so that tokens, dollars and seconds may come to more
    than their bound; then nothing starts any more. No model's answer is read for longer than the seconds that are left.

    Args:
        steps: how many steps may be started; a further attempt is no further step, nor is one that was cut off.
        model_calls: calls of models, by whatever role, and inside steps.
        tokens: their tokens, read and written.
        dollars: what they cost by `planexec_lite.model.prices`, in US dollars.
        seconds: on the run's clock; the time that a paused run lies does not count.
        replans: how often the rest may be planned again after a failure, a stall or news.
        repairs: how often an invalid plan may go back to the planner.

    Raises `ValueError` for a bound that is no number, is below zero, or is no whole number where things are counted.
    """

    steps: int | None = None
    model_calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    seconds: float | None = None
    replans: int | None = None
    repairs: int | None = None

    def __post_init__(self) -> None:
        for name, bound in self.bounds.items():
            whole = name not in ("dollars", "seconds")
            if type(bound) not in ((int,) if whole else (int, float)) or not 0 <= bound < math.inf:
                raise ValueError(
                    f"{name}={bound!r}: {'a whole number' if whole else 'a number'}, zero or more, or None"
                )

    @property
    def bounds(self) -> dict[str, float]:
        """What is bounded, and how."""
        return {one.name: bound for one in fields(self) if (bound := getattr(self, one.name)) is not None}

    def plus(self, more: Mapping[str, float]) -> Budget:
        """Return the budget with `more` of what it bounds; where `more` is below zero, less, but never below zero."""
        return Budget(**{name: max(0, bound + more.get(name, 0)) for name, bound in self.bounds.items()})  # type: ignore[arg-type]

    def tightest(self, other: Budget) -> Budget:
        """Return the budget that keeps within both."""
        both = (self.bounds, other.bounds)
        names = both[0].keys() | both[1].keys()
        return Budget(**{name: min(one[name] for one in both if name in one) for name in names})  # type: ignore[arg-type]


class Allowance(NamedTuple):
    """What the run around a step has left when the step starts, for runs inside it, and what it means to use it up."""

    left: Budget
    over: OverBudget


SHARED = ("model_calls", "tokens", "dollars", "seconds")
"""What runs inside steps use up as well: steps, replans and repairs are counted for each run apart."""
_ONE = {"model_calls": "model call", "tokens": "token", "steps": "step", "replans": "replan", "repairs": "repair"}


def in_words(name: str, used: float, bound: float | None = None) -> str:
    """How much of something was used, of how much: "5 of 5 steps", "$0.0521 of $0.05", "62 of 60 s"."""
    of, more = ("", used) if bound is None else (f" of {_figure(name, bound)}", bound)
    noun = "" if name == "dollars" else " s" if name == "seconds" else f" {_ONE[name]}{'' if more == 1 else 's'}"
    return f"{_figure(name, used)}{of}{noun}"


def _figure(name: str, number: float) -> str:
    if name == "dollars":
        return f"${number:.4f}".rstrip("0").rstrip(".") if number else "$0"
    return f"{round(number, 3):,}".removesuffix(".0")
