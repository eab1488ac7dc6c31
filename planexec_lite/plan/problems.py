"""What can be wrong with a plan, said so that a person or a model can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ID_TAKES = "an id takes the letters a to z and A to Z, digits, '_', '.' and '-'"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: a short `code`, the id of the `step` (None: the whole plan), a `message`, a `hint` how to mend it."""

    code: str
    step: str | None
    message: str
    hint: str = ""

    def __str__(self) -> str:
        where = "plan" if self.step is None else f"step {self.step}"
        return f"{where}: {self.message} [{self.code}]" + (f" — {self.hint}" if self.hint else "")


class PlanError(ValueError):
    """A plan that can't be read or is invalid. `problems` lists every fault; `text` is what was to be read."""

    def __init__(self, problems: Iterable[Problem], text: str = "") -> None:
        self.problems = tuple(problems)
        self.text = text
        many = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        shown = [f"  {problem}" for problem in self.problems[:20]]
        more = [f"  … and {len(self.problems) - 20} more"] if len(self.problems) > 20 else []
        super().__init__("\n".join([f"the plan has {many}:", *shown, *more]))

    def __reduce__(self) -> tuple[type[PlanError], tuple[tuple[Problem, ...], str]]:
        return PlanError, (self.problems, self.text)
