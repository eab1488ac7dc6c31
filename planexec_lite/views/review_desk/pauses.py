"""What stands in the place of the rows where a run waits for something else than a plan: a step in doubt, or more budget."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

import ipywidgets as w

from planexec_lite.board import Board
from planexec_lite.budget import Budget, in_words
from planexec_lite.loop.decisions import usable
from planexec_lite.loop.nested import innermost
from planexec_lite.loop.run import Run
from planexec_lite.review.reviewers import Answer
from planexec_lite.tools import Toolbox
from planexec_lite.views.drawing.visible import visible
from planexec_lite.views.drawing.wording import value
from planexec_lite.views.review_desk import summary
from planexec_lite.views.review_desk.draft import Draft
from planexec_lite.views.review_desk.gate import Gate
from planexec_lite.views.review_desk.verdict import AT_BUDGET, AT_DOUBT


def gate_of(run: Run, toolbox: Toolbox, typed: Callable[[], None]) -> Gate:
    """What is asked by a run that is paused. `typed` is called when a field was changed."""
    waits = innermost(run).board
    inner = waits.paused
    if inner is not None and inner.reason == "doubt":
        return Doubt(run.board, waits, toolbox, typed)
    if inner is not None and inner.reason == "budget":
        return More(run.board, inner.short, toolbox, typed)
    return Gate(run.board, toolbox)


class Doubt(Gate):
    """A step that was cut off: what it was to do, with what, what comes next, and what it gave, if it was done.

    Args:
        stand: the board of the run that is paused.
        waits: the board on which the step is in doubt: the same one, or that of a run inside a step.
        toolbox: the tools that the steps may call.
        typed: is called when the field was changed.
    """

    comment = "how you know it; the run keeps it with the answer"

    def __init__(self, stand: Board, waits: Board, toolbox: Toolbox, typed: Callable[[], None]) -> None:
        super().__init__(waits, toolbox)
        around = stand.paused.step if stand.paused is not None and stand is not waits else None
        self.about = self.gate if around is None else f"{self.gate} of the run inside step {around}"
        self.gate = self.gate if around is None else around
        self._result = w.Text(
            description="Result", layout=w.Layout(width="auto"), style={"description_width": "110px"},
            placeholder="what it gave, if it was done: a text, or JSON",
        )  # fmt: skip
        self._result.observe(lambda _: typed(), "value")
        self.box.children = (*self.box.children, self._result)

    @property
    def controls(self) -> dict[str, Any]:
        """The field for the result."""
        return {"Result": self._result}

    @property
    def buttons(self) -> dict[Answer, str]:
        """What may be answered, and what is written on the button for it."""
        return dict(AT_DOUBT)

    def allows(self, choice: Answer, commented: bool) -> bool:
        """Whether it may be answered so now: what was done has a result that the steps behind it can use."""
        return choice != "done" or not self._fault

    def stand(self, commented: bool) -> str:
        """What the answers mean."""
        written = f"its result counts as {value(self._typed)}" if not self._fault else f"not yet: {self._fault}"
        lines = [
            f"It was done: {written}.",
            "It was not done: it is carried out again.",
            "Roll back: what was done is taken back.",
        ]
        items = "".join(f'<li dir="auto">{escape(visible(line))}</li>' for line in lines)
        return f"<p>Find out in the world what became of it, then answer.</p><ul>{items}</ul>"

    def said(self, choice: Answer) -> dict[str, Any]:
        """What goes with the answer: the result of what was done."""
        return {"result": self._typed} if choice == "done" else {}

    def question(self, draft: Draft) -> str:
        """Nothing is asked once more."""
        return ""

    def close(self) -> None:
        """Take no result any more."""
        self._result.disabled = True

    @property
    def _typed(self) -> Any:
        text = self._result.value.strip()
        try:
            return json.loads(text) if text else None
        except ValueError:
            return text

    @property
    def _fault(self) -> str:
        """Why the result that stands there can't be used; "" where it can."""
        try:
            usable(self.at, self.step, self._typed)
        except ValueError as problem:
            return str(problem).partition("; say what")[0]
        return ""


class More(Gate):
    """A budget that is used up: of what, and how much more may be used."""

    comment = "why; the run keeps it with the answer"

    def __init__(self, stand: Board, short: Mapping[str, str], toolbox: Toolbox, typed: Callable[[], None]) -> None:
        super().__init__(stand, toolbox)
        self._short = dict(short)
        self._fields = {
            name: w.Text(
                description=f"More {name.replace('_', ' ')}", layout=w.Layout(width="auto"), style={"description_width": "110px"},
                placeholder=f"a number; {used} used",
            )
            for name, used in self._short.items()
        }  # fmt: skip
        for one in self._fields.values():
            one.observe(lambda _: typed(), "value")
        self.box.children = (*self.box.children, *self._fields.values())

    @property
    def controls(self) -> dict[str, Any]:
        """A field for each thing that is used up."""
        return {one.description: one for one in self._fields.values()}

    @property
    def buttons(self) -> dict[Answer, str]:
        """What may be answered, and what is written on the button for it."""
        return dict(AT_BUDGET)

    def show(self, draft: Draft, problems: Mapping[Any, Any]) -> None:
        """Show of what the budget is used up."""
        items = "".join(f"<li>{escape(used)}</li>" for used in self._short.values())
        self._words.value = f"{summary.head_at_budget(draft, self.gate)}<ul>{items}</ul>"

    def allows(self, choice: Answer, commented: bool) -> bool:
        """Whether it may be answered so now: more is granted of all that is used up."""
        return choice != "approve" or self._more is not None

    def stand(self, commented: bool) -> str:
        """What the answers mean."""
        more = self._more
        lines = [
            f"Grant more: it may use {', '.join(in_words(name, amount) for name, amount in more.bounds.items())} more."
            if more is not None
            else "Grant more: not yet; every field takes a number above zero.",
            "Stop: the run ends here, and what was done stays.",
            "Roll back: what was done is taken back.",
        ]
        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"

    def said(self, choice: Answer) -> dict[str, Any]:
        """What goes with the answer: how much more."""
        return {"budget": self._more} if choice == "approve" else {}

    def question(self, draft: Draft) -> str:
        """Nothing is asked once more."""
        return ""

    def close(self) -> None:
        """Take no number any more."""
        for one in self._fields.values():
            one.disabled = True

    @property
    def _more(self) -> Budget | None:
        """What stands in the fields; None where it is not a number above zero in each."""
        try:
            amounts = {
                name: float(one.value) if name in ("dollars", "seconds") else int(one.value.replace(",", ""))
                for name, one in self._fields.items()
            }
            return Budget(**amounts) if all(amount > 0 for amount in amounts.values()) else None  # type: ignore[arg-type]
        except ValueError:
            return None
