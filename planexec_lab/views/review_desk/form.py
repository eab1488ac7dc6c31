"""The form of one step: a labelled field for each thing that can be changed, and its problems right below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as w

from planexec_lab.views.review_desk import fields, marks
from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.looks import problems, unseen
from planexec_lab.views.review_desk.parts import WIDE, focus, labelled, styled
from planexec_lite.plan import Problem

NOTHING = "\u200b"


class Form:
    """The fields of one step. All are text fields; those with few answers offer them during typing.

    There are no drop-down lists, because JupyterLab takes keys pressed in such a list for commands: ``r`` turns the cell into
    text, and the widget is gone.

    Args:
        key: the row of the form.
        current: returns the current draft.
        edit: receives the new draft after each edit.
    """

    def __init__(self, key: int, current: Callable[[], Draft], edit: Callable[[Draft], None]) -> None:
        self.key, self.current, self.edit = key, current, edit
        step = current().row(key).step
        self._own = {
            "description": self._text("description", step["description"], "", self._describe),
            "tool": self._choose_tool(step["tool"] or ""),
            "waits for": self._text(
                "waits for", ", ".join(step["depends_on"]), "nothing: it starts at once", self._order
            ),
            "done when": self._text("done when", step["success_criteria"] or "", "no check of its result", self._judge),
        }
        self._other = w.HTML()  # the problems that belong to no field
        self.box = styled(w.VBox(layout=WIDE), "pxl-form")
        self._ask_arguments()

    def show(self, found: Sequence[Problem]) -> None:
        """Write the step's problems below their fields; problems without a field come last.

        A field can't show invisible characters, so they are listed below it.
        """
        draft = self.current()
        row = draft.row(self.key)
        by_place: dict[str, list[Problem]] = {}
        for problem in found:
            at = marks.place(draft, row, problem)
            by_place.setdefault(at if at in self.controls else "", []).append(problem)
        for label, note in self._notes.items():
            note.value = problems(by_place.get(label, ())) + unseen(self.controls[label].value)
            note.layout.display = "" if note.value else "none"
        self._other.value = problems(by_place.get("", ()))

    def _describe(self, draft: Draft, text: str) -> Draft:
        return draft.with_field(self.key, description=text)

    def _order(self, draft: Draft, text: str) -> Draft:
        ids = text.replace(",", " ").replace(";", " ").split()
        return draft.with_field(self.key, depends_on=tuple(dict.fromkeys(ids)))

    def _judge(self, draft: Draft, text: str) -> Draft:
        return draft.with_field(self.key, success_criteria=text or None)

    def _choose_tool(self, name: str) -> Any:
        """The field for the tool; it takes effect when it loses the focus, because half a name is no tool."""
        options = list(self.current().toolbox.names)
        control = w.Combobox(value=name, options=options, placeholder="the executor chooses", continuous_update=False)

        def chosen(text: str) -> None:
            self.edit(self.current().with_tool(self.key, text.strip() or None))
            self._ask_arguments()
            self.edit(self.current())
            if self._arguments:
                focus(next(iter(self._arguments.values())))

        return labelled(control, "tool", chosen)

    def _ask_arguments(self) -> None:
        """Put a field for each parameter of the tool, and for what the plan gives beyond them, below the tool."""
        draft = self.current()
        tool, given = draft.row(self.key).step["tool"], draft.params(self.key)
        known = draft.toolbox[tool].schema if tool in draft.toolbox else {}
        names = dict.fromkeys([*known.get("properties", {}), *given])
        self._arguments = {fields.label(name): self._argument(name, given, known) for name in names}
        own = dict(self._own)
        first = {label: own.pop(label) for label in ("description", "tool")}
        self.controls = {**first, **self._arguments, **own}
        self._notes = {label: styled(w.HTML(), "pxl-note") for label in self.controls}
        shown = [one for label, control in self.controls.items() for one in (control, self._notes[label])]
        self.box.children = [*shown, self._other]

    def _argument(self, name: str, given: dict[str, Any], known: dict[str, Any]) -> Any:
        schema = self.current().schema(self.key, name)
        text = fields.written(given[name]) if given.get(name) is not None else ""
        hint = fields.hint(schema, name in known.get("required", ()))

        def typed(draft: Draft, new: str) -> Draft:
            return draft.with_argument(self.key, name, new)

        return styled(self._text(fields.label(name), text, hint, typed, fields.options(schema)), "pxl-value")

    def _text(
        self, label: str, text: str, hint: str, change: Callable[[Draft, str], Draft], options: Sequence[str] = ()
    ) -> Any:
        if options:
            control = w.Combobox(value=text, placeholder=hint, options=options)
        else:
            control = (w.Textarea if fields.long(text) else w.Text)(value=text, placeholder=hint or NOTHING)
        return labelled(control, label, lambda new: self.edit(change(self.current(), new)))
