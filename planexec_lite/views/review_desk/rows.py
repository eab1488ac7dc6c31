"""The rows of the desk: every step in two lines, and the form of the one that is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import ipywidgets as w

from planexec_lite.plan import Problem
from planexec_lite.views.review_desk import look
from planexec_lite.views.review_desk.draft import Draft, Row
from planexec_lite.views.review_desk.form import Edit, Form

MANY = 12  # with more steps the list scrolls by itself, so that the decision stays in sight
Found = Mapping[int | None, Mapping[str, Sequence[Problem]]]


class Line(NamedTuple):
    """The widgets of a row: all of it, its two lines of text, and the button that opens and closes its form."""

    box: Any
    summary: Any
    toggle: Any


class Rows:
    """The list of steps, one of which may be open. A row's widgets live as long as its step.

    Args:
        current: returns the draft as it stands.
        edit: takes every new draft that an edit makes.
    """

    def __init__(self, current: Callable[[], Draft], edit: Edit) -> None:
        self.current, self.edit = current, edit
        self.box = w.VBox(layout=w.Layout(width="auto"))
        self.box.add_class("pxl-steps")
        self._lines: dict[int, Line] = {}
        self._open: int | None = None
        self._form: Form | None = None
        self._verbs: list[Any] = []
        self._toggle = w.Layout(width="auto", flex="0 0 auto")
        self._wide, self._flat = w.Layout(flex="1 1 0%", width="auto", min_width="0"), w.Layout(width="auto")

    @property
    def controls(self) -> dict[str, Any]:
        """The buttons of the rows, and the fields and buttons of the open one, by name."""
        named: dict[str, Any] = {}
        for row in self.current().rows:
            toggle = self._lines[row.key].toggle
            named.setdefault(toggle.description, toggle)
            if row.key == self._open and self._form is not None:
                named |= {f"{row.id}: {label}": control for label, control in self._form.controls.items()}
                named |= {verb.description: verb for verb in self._verbs}
        return named

    def show(self, draft: Draft, found: Found) -> None:
        """Show the steps of `draft` with their problems; what does not change is left as it is."""
        for row in draft.rows:
            if row.key not in self._lines:
                self._lines[row.key] = self._line(row)
            mine = found.get(row.key, {})
            every = [problem for some in mine.values() for problem in some]
            self._lines[row.key].summary.value = look.step(draft, row, every, closed=row.key != self._open)
            if row.key == self._open and self._form is not None:
                self._form.show(mine)
                up, down = self._verbs[:2]
                up.disabled, down.disabled = row is draft.rows[0], row is draft.rows[-1]
        boxes = tuple(self._lines[row.key].box for row in draft.rows)
        if self.box.children != boxes:
            self.box.children = boxes
        self.box.layout.max_height = "560px" if len(boxes) > MANY else None
        self.box.layout.overflow = "auto" if len(boxes) > MANY else None

    def add(self, after: int | None = None) -> None:
        """Add a step below the one with the key `after`, or at the end, and open its form."""
        draft = self.current().added(after)
        known = {row.key for row in self.current().rows}
        self.edit(draft)
        self.toggle(next(row.key for row in draft.rows if row.key not in known))
        if self._form is not None:
            self._form.controls["description"].focus()

    def toggle(self, key: int | None) -> None:
        """Open the form of a step, and close the one that was open; close it if it is open already, or for None."""
        closing, self._open = self._open, None if key == self._open else key
        if closing is not None and closing in self._lines:
            line = self._lines[closing]
            line.box.children = line.box.children[:1]
            line.toggle.description = line.toggle.description.replace("Close", "Edit", 1)
        self._form, self._verbs = None, []
        if self._open is not None:
            line, row = self._lines[self._open], self.current().row(self._open)
            self._form = Form(self.current(), row.key, self.edit, self.current)
            self._verbs = self._buttons(row)
            verbs = w.Box(self._verbs)
            verbs.add_class("pxl-buttons")
            verbs.add_class("pxl-verbs")
            line.box.children = (line.box.children[0], self._form.box, verbs)
            line.toggle.description = f"Close {row.id}"
        self.edit(self.current())

    def close(self) -> None:
        """Close the form that is open, and leave nothing to press."""
        self.toggle(None)
        self._toggle.visibility = "hidden"

    def _line(self, row: Row) -> Line:
        summary = w.HTML(layout=self._wide)
        toggle = button(f"Edit {row.id}", lambda: self.toggle(row.key), "pxl-quiet", self._toggle)
        box = w.VBox([w.HBox([summary, toggle], layout=self._flat)], layout=self._flat)
        box.add_class("pxl-row")
        return Line(box, summary, toggle)

    def _buttons(self, row: Row) -> list[Any]:
        verbs: dict[str, Callable[[], None]] = {
            f"Move {row.id} up": lambda: self._move(row.key, -1),
            f"Move {row.id} down": lambda: self._move(row.key, 1),
            f"Add below {row.id}": lambda: self.add(row.key),
            f"Remove {row.id}": lambda: self._remove(row.key),
        }
        return [button(name, press, "pxl-quiet", self._flat) for name, press in verbs.items()]

    def _move(self, key: int, by: Literal[-1, 1]) -> None:
        self.edit(self.current().moved(key, by))
        up, down = self._verbs[:2]
        chosen = up if by < 0 else down
        (chosen if not chosen.disabled else up if chosen is down else down).focus()

    def _remove(self, key: int) -> None:
        rows = self.current().rows
        at = rows.index(self.current().row(key))
        self.toggle(None)
        del self._lines[key]
        self.edit(self.current().without(key))
        if left := self.current().rows:
            self._lines[left[min(at, len(left) - 1)].key].toggle.focus()


def button(name: str, press: Callable[[], None], style: str = "", layout: Any = None) -> Any:
    """Return a button that is called by what is written on it."""
    made = w.Button(description=name, layout=layout or w.Layout(width="auto"))
    made.on_click(lambda _: press())
    if style:
        made.add_class(style)
    return made
