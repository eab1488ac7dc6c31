"""A gate, in the place of the rows: what a step, or a call that takes something back, will do, with what, and what follows."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import ipywidgets as w

from planexec_lite import references
from planexec_lite.board import Board
from planexec_lite.events import gate_in_words
from planexec_lite.review.reviewers import Answer
from planexec_lite.tools import Toolbox
from planexec_lite.views.drawing.visible import call, visible, written
from planexec_lite.views.review_desk import summary, text
from planexec_lite.views.review_desk.calls import in_html
from planexec_lite.views.review_desk.draft import Draft, Row
from planexec_lite.views.review_desk.verdict import BUTTONS

Problems = Mapping[Any, Any]
COMMENT = "why you reject the plan, or what the planner should change"


class Gate:
    """What is decided about at a gate. Nothing in it can be edited: the plan is approved, and this is its next step.

    Args:
        stand: the board of a run that is paused before the step.
        toolbox: the tools that the steps may call.
    """

    comment = COMMENT  # what stands in the field for it, while it is empty

    def __init__(self, stand: Board, toolbox: Toolbox) -> None:
        if stand.paused is None or stand.paused.gate is None:
            raise ValueError("this run does not wait before a gate")
        self.at, self.step, self.gate = stand, stand.paused.step or "", str(stand.paused.gate)
        self.about = self.gate  # what is asked about, which may be in a run inside the step that the gate is of
        self._words = w.HTML()
        self.figure = text.standing(stand, toolbox)
        self.box = w.VBox([self._words, w.HTML(self.figure._repr_html_())], layout={"grid_gap": "8px"})

    @property
    def controls(self) -> dict[str, Any]:
        """Nothing to press or to fill in."""
        return {}

    def show(self, draft: Draft, problems: Problems) -> None:
        """Show the step as `draft` has it, what it is given, and the steps behind it."""
        head = summary.head_at_gate(draft, gate_in_words(self.about))
        if self._of_undo:
            self._words.value = head + self._undo()
            return
        own = Draft.of(self.at.plan, draft.executor or draft.toolbox)
        rows = {row.id: row for row in own.rows}
        step = summary.step(own, rows[self.step], (), closed=True)
        given = [f"step {id} gave {written(self.at.results[id])}" for id in self._inputs(rows[self.step])]
        behind = [f"{id} {_name_and_call(rows[id])}" for id in self._behind(rows)]
        self._words.value = f"{head}{step}{_list('It is given:', given)}{_list('What comes next:', behind)}"

    def close(self) -> None:
        """Leave it as it is."""

    def toggle(self, key: int | None) -> None:
        """Open and close nothing."""

    def start_over(self) -> None:
        """Drop no edits, as there are none."""

    def show_until(self) -> None:
        """Show no more than there is."""

    def unseen(self, draft: Draft) -> list[str]:
        """Nothing of a gate is held back."""
        return []

    @property
    def buttons(self) -> dict[Answer, str]:
        """What may be answered, and what is written on the button for it."""
        return {one: BUTTONS[one] for one in ("approve", "change", "reject")}

    def allows(self, choice: Answer, commented: bool) -> bool:
        """Whether it may be answered so now: a no, and the wish for a change, take a comment."""
        return choice == "approve" or commented

    def stand(self, commented: bool) -> str:
        """What the answers mean."""
        return summary.stand_at_gate(self.gate, commented)

    def said(self, choice: Answer) -> dict[str, Any]:
        """What goes with the answer, beside the comment: nothing."""
        return {}

    def question(self, draft: Draft) -> str:
        """What is asked before a yes to the gate; see `summary.question`."""
        return (
            ""
            if self._of_undo
            else summary.question(Draft.of(self.at.plan, draft.executor or draft.toolbox), self.step)
        )

    @property
    def _of_undo(self) -> bool:
        return self.at.rollback.asks

    def _undo(self) -> str:
        """The call that takes something back, what it is given, and what is taken back after it."""
        *later, undo = self.at.rollback.left
        called = in_html(undo.call.tool, undo.call.params, undo.name)
        wanted = {one.step for one in references.find(undo.call.params)} | {undo.label.removeprefix(undo.path)}
        inputs = self.at.rollback.inputs_of(undo)
        given = [f"step {undo.path}{id} gave {written(result)}" for id, result in inputs.items() if id in wanted]
        behind = [f"{one.name}: {call(one.call.tool, one.call.params)}" for one in reversed(later)]
        return f"<p>{called}</p>{_list('It is given:', given)}{_list('What comes next:', behind)}"

    def _inputs(self, row: Row) -> list[str]:
        return [id for id in row.step["depends_on"] if id in self.at.results]

    def _behind(self, rows: Mapping[str, Row]) -> list[str]:
        """The steps that wait for this one, directly or through others, in plan order."""
        behind = {self.step}
        for _ in rows:
            behind |= {id for id, row in rows.items() if behind & set(row.step["depends_on"])}
        return [id for id in rows if id in behind - {self.step}]


def _list(title: str, lines: list[str]) -> str:
    """All of the lines: at a gate nothing is left out."""
    items = "".join(f'<li dir="auto">{escape(line)}</li>' for line in lines)
    return f'<p style="margin-top:8px">{escape(title)}</p><ul>{items}</ul>' if lines else ""


def _name_and_call(row: Row) -> str:
    name, called = visible(row.step["description"]), call(row.step["tool"], row.step["params"])
    return f"{name}: {called}" if name else called
