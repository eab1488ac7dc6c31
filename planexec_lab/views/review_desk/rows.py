"""The rows of the desk: every step in two lines, the form of the one that is open, and the graph of the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import ipywidgets as w

from planexec_lab.views.drawing.theme import CHANGES, LOOKS
from planexec_lab.views.graph_drawing import draw
from planexec_lab.views.review_desk import looks, marks, summary
from planexec_lab.views.review_desk.draft import Draft, Row
from planexec_lab.views.review_desk.form import Form
from planexec_lab.views.review_desk.parts import WIDE, button, focus, styled

MOST = 60  # steps of a plan whose graph is drawn


class Line(NamedTuple):
    """The widgets of a row: all of it, its lines of text, and the button that opens and closes its form."""

    box: Any
    summary: Any
    toggle: Any


class Rows:
    """The list of steps; one of them can be open. A row's widgets live as long as its step.

    Args:
        current: returns the current draft.
        edit: receives the new draft after each edit.
    """

    def __init__(self, current: Callable[[], Draft], edit: Callable[[Draft], None]) -> None:
        self.current, self.edit = current, edit
        self._beside, self._list = styled(w.HTML(), "pxl-beside"), styled(w.VBox(layout=WIDE), "pxl-steps")
        self._add = button("Add a step", self._added, "pxl-quiet")
        self._again = button("Undo", self._put_back, "pxl-quiet")
        self._reset = button("Back to the planner's plan", self._start_anew, "pxl-quiet")
        self._removed_last: tuple[int, Row] | None = None  # the step that "Undo" puts back, and its place
        self._bar = styled(w.Box([self._add, self._again, self._reset]), "pxl-buttons")
        self.box = w.VBox([self._beside, self._list, self._bar], layout=WIDE)
        self._drawn = ""
        self._lines: dict[int, Line] = {}
        self._open: int | None = None
        self._form: Form | None = None
        self._remove: Any = None
        self._wide = w.Layout(flex="1 1 0%", width="auto", min_width="0")
        self._narrow = w.Layout(width="auto", flex="0 0 auto")

    @property
    def controls(self) -> dict[str, Any]:
        """The buttons of the rows, and the fields and the button of the open one, by name."""
        named: dict[str, Any] = {}
        for row in self.current().rows:
            toggle = self._lines[row.key].toggle
            named.setdefault(toggle.description, toggle)
            if row.key == self._open and self._form is not None:
                named |= {f"{row.id}: {label}": control for label, control in self._form.controls.items()}
                named[self._remove.description] = self._remove
        shown = [one for one in self._bar.children if one.layout.display != "none"]
        return {**named, **{one.description: one for one in shown}}

    def show(self) -> None:
        """Show the steps of the draft with their problems; unchanged rows are not touched."""
        draft = self.current()
        first: dict[str, int] = {}  # the rows by id; if two rows share an id, the first shows the problems
        for row in draft.rows:
            first.setdefault(row.id, row.key)
        for row in draft.rows:
            if row.key not in self._lines:
                self._lines[row.key] = self._line(row)
            faults = [one for one in draft.problems if one.step is not None and first.get(one.step) == row.key]
            if row.key == self._open and self._form is not None:
                self._form.show(faults)
                faults = []
            self._lines[row.key].summary.value = summary.step(draft, row, faults)
        boxes = tuple(self._lines[row.key].box for row in draft.rows)
        if self._list.children != boxes:
            self._list.children = boxes
        self._again.layout.display = "none" if self._removed_last is None else ""
        self._reset.layout.display = "" if draft.edited else "none"
        if not draft.problems:  # else the last graph stays
            self._drawn = _graph(draft)
        self._beside.value = self._drawn + looks.paragraphs(summary.beside(draft.received))

    def toggle(self, key: int | None) -> None:
        """Open the form of a step and close the other; close it if it is open already, or if the key is None."""
        closing, self._open = self._open, None if key == self._open else key
        if closing in self._lines:
            line = self._lines[closing]
            line.box.children = line.box.children[:1]
            line.toggle.description = line.toggle.description.replace("Close", "Edit", 1)
        self._form = None
        if self._open is not None:
            line, id = self._lines[self._open], self.current().row(self._open).id
            self._form = Form(self._open, self.current, self.edit)
            self._remove = button(f"Remove {id}", self._removed, "pxl-quiet")
            line.box.children = (line.box.children[0], self._form.box, styled(w.Box([self._remove]), "pxl-verbs"))
            line.toggle.description = f"Close {id}"
        self.edit(self.current())

    def close(self) -> None:
        """Close the form that is open, and leave nothing to press."""
        self.toggle(None)
        self._narrow.visibility = "hidden"
        self._bar.layout.display = "none"

    def _line(self, row: Row) -> Line:
        text, toggle = w.HTML(layout=self._wide), button(f"Edit {row.id}", lambda: self.toggle(row.key), "pxl-quiet")
        toggle.layout = self._narrow
        return Line(styled(w.VBox([w.HBox([text, toggle], layout=WIDE)], layout=WIDE), "pxl-row"), text, toggle)

    def _added(self) -> None:
        draft = self.current().added()
        self.edit(draft)
        if draft is self.current():  # else the desk is closed
            self.toggle(draft.rows[-1].key)
        if self._form is not None:
            focus(self._form.controls["description"])

    def _removed(self) -> None:
        key = self._open
        if key is None:
            return
        self.toggle(None)
        rows = self.current().rows
        place = next(place for place, row in enumerate(rows) if row.key == key)
        self._removed_last = place, rows[place]
        self._again.description = f"Undo: Remove {rows[place].id}"
        del self._lines[key]
        self.edit(self.current().without(key))
        focus(self._again)

    def _put_back(self) -> None:
        if self._removed_last is None:
            return
        (place, row), self._removed_last = self._removed_last, None
        self.edit(self.current().with_row(place, row))
        if row.key in self._lines:  # else the desk is closed
            focus(self._lines[row.key].toggle)

    def _start_anew(self) -> None:
        self.toggle(None)
        self._removed_last = None
        self.edit(self.current().unedited())
        focus(self._add)


def _graph(draft: Draft) -> str:
    """The graph of the plan, in a box that scrolls where the window is narrow; "" where there is little or much to draw."""
    if draft.plan is None or not 1 < len(draft.plan.steps) <= MOST:
        return ""
    edits = {row.id: CHANGES[edit] for row in draft.rows if (edit := marks.edit(draft, row))}
    risks = {
        row.id: LOOKS["failed"]._replace(symbol=looks.RISKS[risk][0].symbol, word="no undo")
        for row in draft.rows
        if (risk := marks.risk(row, draft.toolbox))
    }
    beside = {id: str(edit) for id, edit in edits.items() if id in risks}
    figure = draw(draft.plan, draft.durations or None, None, edits | risks, beside)[0]._repr_html_()
    return f'<div class="pxl-picture" role="group" tabindex="0" aria-label="The graph of the plan">{figure}</div>'
