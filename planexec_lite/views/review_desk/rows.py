"""The rows of the desk: every step in two lines, and the form of the one that is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import ipywidgets as w

from planexec_lite.plan import Problem
from planexec_lite.views.review_desk import summary
from planexec_lite.views.review_desk.beside import Beside
from planexec_lite.views.review_desk.buttons import button
from planexec_lite.views.review_desk.draft import Draft, Row
from planexec_lite.views.review_desk.focus import focus
from planexec_lite.views.review_desk.form import Edit, Form

MANY, FIRST, MORE = 12, 10, 50  # of more steps than MANY the first are shown, and more when they are asked for
Problems = Mapping[int | None, Mapping[str, Sequence[Problem]]]


class Line(NamedTuple):
    """The widgets of a row: all of it, its two lines of text, and the button that opens and closes its form."""

    box: Any
    summary: Any
    toggle: Any


class Rows:
    """The list of steps, one of which may be open, and what stands beside it. A row's widgets live as long as its step.

    A long list begins with a part of it, and says so for as long as steps are missing: what nobody saw can't be approved.

    Args:
        current: returns the draft as it stands.
        edit: takes every new draft that an edit makes.
        since: what the planner changed since the last round, in words.
    """

    def __init__(self, current: Callable[[], Draft], edit: Edit, since: Sequence[str] = ()) -> None:
        self.current, self.edit, self.since = current, edit, since
        self._head = w.HTML()
        self._list = w.VBox(layout=w.Layout(width="auto"))
        self._list.add_class("pxl-steps")
        self._count = w.HTML()
        self._more = button("Show more", self.show_more, "pxl-quiet")
        bar = w.Box([self._count, self._more], layout=w.Layout(width="auto", display="none"))
        bar.add_class("pxl-buttons")
        self._bar = bar
        self.new = button("Add a step", self.add, "pxl-quiet", w.Layout(width="auto", align_self="flex-start"))
        self._beside = Beside(current)
        self.box = w.VBox([self._head, self._beside.box, self._list, bar, self.new], layout=w.Layout(width="auto"))
        self._most: int | None = FIRST if len(current().rows) > MANY else None
        self._lines: dict[int, Line] = {}
        self._open: int | None = None
        self._form: Form | None = None
        self._verbs: list[Any] = []
        self._toggle = w.Layout(width="auto", flex="0 0 auto")
        self._wide, self._flat = w.Layout(flex="1 1 0%", width="auto", min_width="0"), w.Layout(width="auto")

    @property
    def controls(self) -> dict[str, Any]:
        """The buttons of the rows, and the fields and buttons of the open one, by name."""
        named: dict[str, Any] = dict(self._beside.controls)
        for row in self._in(self.current()):
            toggle = self._lines[row.key].toggle
            named.setdefault(toggle.description, toggle)
            if row.key == self._open and self._form is not None:
                named |= {f"{row.id}: {label}": control for label, control in self._form.controls.items()}
                named |= {verb.description: verb for verb in self._verbs}
        more = {self._more.description: self._more} if self.unseen(self.current()) else {}
        return {**named, **more, "Add a step": self.new}

    def question(self, draft: Draft) -> str:
        """What is asked before a yes to the plan; see `summary.question`."""
        return summary.question(draft)

    def start_over(self) -> None:
        """Drop the edits, and put the focus where it is not lost."""
        self.toggle(None)
        self.edit(self.current().started_over())
        focus(self.new)

    def unseen(self, draft: Draft) -> list[str]:
        """The ids of the steps that were not shown yet."""
        return [row.id for row in draft.rows[len(self._in(draft)) :]]

    def show_more(self) -> None:
        """Show the next steps of a long list, and go on there."""
        before = self._most or 0
        self.show_until(before + MORE)
        rows = self.current().rows
        if before < len(rows):
            focus(self._lines[rows[before].key].toggle)

    def show_until(self, number: int | None = None) -> None:
        """Show so many steps, or all of them."""
        if self._most is not None:
            self._most = None if number is None or number >= len(self.current().rows) else max(number, self._most)
            self.edit(self.current())

    def _in(self, draft: Draft) -> tuple[Row, ...]:
        return draft.rows[: self._most]

    def show(self, draft: Draft, problems: Problems) -> None:
        """Show the steps of `draft` with their problems; what does not change is left as it is."""
        for row in self._in(draft):
            if row.key not in self._lines:
                self._lines[row.key] = self._line(row)
            mine = problems.get(row.key, {})
            every = [problem for some in mine.values() for problem in some]
            self._lines[row.key].summary.value = summary.step(draft, row, every, closed=row.key != self._open)
            if row.key == self._open and self._form is not None:
                self._form.show(mine)
                up, down = self._verbs[:2]
                up.disabled, down.disabled = row is draft.rows[0], row is draft.rows[-1]
        boxes = tuple(self._lines[row.key].box for row in self._in(draft))
        if self._list.children != boxes:
            self._list.children = boxes
        self._head.value = summary.head(draft, self.since)
        self._beside.show(draft)
        left = len(draft.rows) - len(boxes)
        self._count.value = f"<p>{len(boxes)} of {len(draft.rows)} steps shown</p>"
        self._more.description = f"Show {min(left, MORE)} more"
        self._more.layout.display = "" if left else "none"
        self._bar.layout.display = "" if len(draft.rows) > MANY else "none"

    def add(self, after: int | None = None) -> None:
        """Add a step below the one with the key `after`, or at the end, and open its form."""
        draft = self.current().added(after)
        self.show_until()
        known = {row.key for row in self.current().rows}
        self.edit(draft)
        self.toggle(next(row.key for row in draft.rows if row.key not in known))
        if self._form is not None:
            focus(self._form.controls["description"])

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
        self.new.layout.display = "none"
        self._beside.close()

    def _line(self, row: Row) -> Line:
        text = w.HTML(layout=self._wide)
        toggle = button(f"Edit {row.id}", lambda: self.toggle(row.key), "pxl-quiet", self._toggle)
        box = w.VBox([w.HBox([text, toggle], layout=self._flat)], layout=self._flat)
        box.add_class("pxl-row")
        return Line(box, text, toggle)

    def _buttons(self, row: Row) -> list[Any]:
        verbs: dict[str, Callable[[], None]] = {
            f"Move {row.id} up": lambda: self._move(row.key, -1),
            f"Move {row.id} down": lambda: self._move(row.key, 1),
            f"Add below {row.id}": lambda: self.add(row.key),
            f"Remove {row.id}": lambda: self._remove(row.key),
        }
        return [button(name, press, "pxl-quiet", self._flat) for name, press in verbs.items()]

    def _move(self, key: int, by: Literal[-1, 1]) -> None:
        draft = self.current().moved(key, by)
        self.show_until(draft.rows.index(draft.row(key)) + 1)
        self.edit(draft)
        up, down = self._verbs[:2]
        chosen = up if by < 0 else down
        focus(chosen if not chosen.disabled else up if chosen is down else down)

    def _remove(self, key: int) -> None:
        rows = self.current().rows
        at = rows.index(self.current().row(key))
        self.toggle(None)
        del self._lines[key]
        self.edit(self.current().without(key))
        if left := self.current().rows:
            focus(self._lines[left[min(at, len(left) - 1)].key].toggle)
