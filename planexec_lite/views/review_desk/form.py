"""The form of one step: a labelled field for each thing that can be changed, and its problems right below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as w

from planexec_lite.plan import Problem
from planexec_lite.views.review_desk import fields, look
from planexec_lite.views.review_desk.draft import Draft, Side

Edit = Callable[[Draft], None]
BY_EXECUTOR, NO_UNDO = "(the executor chooses)", "(nothing)"
LABELS = {"style": {"description_width": "110px"}}


class Form:
    """The fields of one step.

    Args:
        draft: the draft as it stands when the form opens.
        key: the row that the form is for.
        edit: takes every new draft that an edit makes.
        current: returns the draft as it stands when the edit is made.

    Attributes:
        controls: the fields by the words of their labels.
        box: what is shown.
    """

    def __init__(self, draft: Draft, key: int, edit: Edit, current: Callable[[], Draft]) -> None:
        self.key, self.current, self.edit = key, current, edit
        self.controls: dict[str, Any] = {}
        self.notes: dict[str, Any] = {}
        self.box = w.VBox(layout=w.Layout(width="auto"))
        self.box.add_class("pxl-form")
        self._build(draft)

    def show(self, found: Mapping[str, Sequence[Problem]]) -> None:
        """Write the problems beside the fields they belong to; those of no field stand below all of them."""
        for name, note in self.notes.items():
            mine = [problem for place, some in found.items() if self._place(place) == name for problem in some]
            note.value = look.problems(mine)
            note.layout.display = None if mine else "none"

    def _place(self, name: str) -> str:
        return name if name in self.notes else "undo" if name.startswith("undo ") else ""

    def _build(self, draft: Draft) -> None:
        step = draft.row(self.key).step
        self.controls, self.notes = {}, {}
        shown: list[Any] = []
        declared = draft.toolbox[step["tool"]].effects if step["tool"] in draft.toolbox else None
        as_tool = f"as its tool says: {look.EFFECTS[declared]}" if declared else "as its tool says"
        shown += self._field(self._text("description", step["description"]), self._sets("description", ""))
        shown += self._call(draft, "")
        waits = self._text("waits for", ", ".join(step["depends_on"]), "nothing: it starts at once")
        shown += self._field(waits, lambda draft, text: draft.with_dependencies(self.key, text))
        criterion = self._text("done when", step["success_criteria"] or "", "no check of its result")
        shown += self._field(criterion, self._sets("success_criteria", None))
        effects = [(as_tool, ""), *((words, name) for name, words in look.EFFECTS.items())]
        shown += self._field(_choice("effects", effects, step["effects"]), self._sets("effects", None))
        shown += self._call(draft, "undo")
        self.notes[""] = w.HTML(layout=w.Layout(display="none"))
        self.box.children = [*shown, self.notes[""]]

    def _call(self, draft: Draft, side: Side) -> list[Any]:
        """The choice of a tool and a field for each of its parameters."""
        call = draft.row(self.key).call(side)
        tool, given = call["tool"], draft.params(self.key, side)
        names = list(draft.toolbox.names)
        names += [tool] if tool is not None and tool not in names else []
        options = [(NO_UNDO if side else BY_EXECUTOR, ""), *((name, name) for name in names)]
        chooser = _choice(side or "tool", options, tool)
        shown = self._field(chooser, lambda draft, name: draft.with_tool(self.key, name or None, side), rebuild=True)
        known = draft.toolbox[tool].schema if tool in draft.toolbox else {}
        for name in dict.fromkeys([*known.get("properties", {}), *given]):
            schema = draft.schema(self.key, name, side)
            asked = fields.field(name, schema, given.get(name), name in known.get("required", ()))
            shown += self._field(self._argument(asked, side), self._argues(name, side))
        return shown

    def _argument(self, asked: fields.Field, side: Side) -> Any:
        label = f"{side} {asked.name}".strip()
        if asked.kind == "choice":
            return _choice(label, [(option or f"({asked.hint})", option) for option in asked.options], asked.text)
        control = self._text(label, asked.text, asked.hint, lines=asked.kind == "lines")
        control.add_class("pxl-value")
        return control

    def _text(self, label: str, text: str, hint: str = "", lines: bool = False) -> Any:
        kind = w.Textarea if lines else w.Text
        more = {"rows": min(6, 2 + len(text) // 90)} if lines else {}
        return kind(
            description=label, value=text, placeholder=hint or "\u200b", layout=w.Layout(width="auto"), **more, **LABELS
        )

    def _sets(self, name: str, empty: Any) -> Callable[[Draft, Any], Draft]:
        return lambda draft, value: draft.with_field(self.key, **{name: value or empty})

    def _argues(self, name: str, side: Side) -> Callable[[Draft, Any], Draft]:
        return lambda draft, text: draft.with_argument(self.key, name, text, side)

    def _field(self, control: Any, change: Callable[[Draft, Any], Draft], rebuild: bool = False) -> list[Any]:
        """A control and, below it, the place for its problems; a change of its value is a change of the draft."""
        label = control.description

        def changed(event: Mapping[str, Any]) -> None:
            draft = change(self.current(), event["new"])
            if rebuild:
                self._build(draft)
                self.controls[label].focus()
            self.edit(draft)

        control.observe(changed, "value")
        note = w.HTML(layout=w.Layout(display="none"))
        note.add_class("pxl-note")
        self.controls[label], self.notes[label] = control, note
        return [control, note]


def _choice(label: str, options: Sequence[tuple[str, str]], chosen: str | None) -> Any:
    return w.Dropdown(description=label, options=options, value=chosen or "", layout=w.Layout(width="430px"), **LABELS)
