"""The form of one step: a labelled field for each thing that can be changed, and its problems right below it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import ipywidgets as w

from planexec_lite.plan import Problem
from planexec_lite.views.review_desk import fields, look
from planexec_lite.views.review_desk.calls import unseen
from planexec_lite.views.review_desk.draft import SIDES, Draft, Side
from planexec_lite.views.review_desk.focus import focus

Edit = Callable[[Draft], None]
Change = Callable[[Draft, str], Draft]
NOTHING = "\u200b"
WIDE = {"width": "auto"}


class Form:
    """The fields of one step. All of them are typed into, those with a few answers offer them while one types.

    There are no drop-down lists: JupyterLab takes the keys that are pressed in one for commands, ``r`` for instance turns
    the cell into text, and the widget is gone.

    Args:
        draft: the draft as it stands when the form opens.
        key: the row that the form is for.
        edit: takes every new draft that an edit makes.
        current: returns the draft as it stands when the edit is made.
    """

    def __init__(self, draft: Draft, key: int, edit: Edit, current: Callable[[], Draft]) -> None:
        self.key, self.edit, self.current = key, edit, current
        self.notes: dict[str, Any] = {"": w.HTML()}
        self._arguments: dict[Side, tuple[Any, dict[str, Any]]] = {side: (w.VBox(layout=WIDE), {}) for side in SIDES}
        self._fields = {"description": self._text("description", draft.row(key).step["description"])}
        self._fields |= {"tool": self._tool(draft, "")} | self._rest(draft) | {"undo": self._tool(draft, "undo")}
        self._fields["comment"] = self._text("comment", draft.comments.get(key, ""), "to the planner, about this step")
        for side in SIDES:
            self._ask_arguments(draft, side)
        self.box = w.VBox(layout=WIDE)
        self.box.add_class("pxl-form")
        shown: list[Any] = []
        for name, control in self._fields.items():
            shown += [control, self.notes[name]]
            shown += [self._arguments["" if name == "tool" else "undo"][0]] if name in ("tool", "undo") else []
        self.box.children = [*shown, self.notes[""]]

    @property
    def controls(self) -> dict[str, Any]:
        """The fields by the words of their labels, in the order in which they stand."""
        named: dict[str, Any] = {}
        for name, control in self._fields.items():
            named[name] = control
            named |= self._arguments["" if name == "tool" else "undo"][1] if name in ("tool", "undo") else {}
        return named

    def show(self, problems: Mapping[str, Sequence[Problem]]) -> None:
        """Write the problems beside the fields they belong to; those of no field stand below all of them.

        A field shows no character that can't be seen: what it holds of them stands beside it too.
        """
        controls = self.controls
        for name, note in self.notes.items():
            mine = [problem for place, some in problems.items() if self._place(place) == name for problem in some]
            note.value = look.problems(mine) + unseen(controls[name].value if name in controls else "")
            note.layout.display = "" if note.value else "none"

    def _place(self, name: str) -> str:
        return name if name in self.notes else "undo" if name.startswith("undo ") else ""

    def _rest(self, draft: Draft) -> dict[str, Any]:
        step = draft.row(self.key).step
        words = look.EFFECTS.get(step["effects"], step["effects"] or "")
        meant = {words: name for name, words in look.EFFECTS.items()}
        effects = w.Combobox(options=list(meant), placeholder=self._declared(draft))
        return {
            "waits for": self._text("waits for", ", ".join(step["depends_on"]), "nothing: it starts at once"),
            "done when": self._text("done when", step["success_criteria"] or "", "no check of its result"),
            "effects": self._field(
                "effects",
                effects,
                words,
                lambda draft, text: self._set(draft, "effects", meant.get(text, text) or None),
            ),
        }

    def _declared(self, draft: Draft) -> str:
        tool = draft.row(self.key).step["tool"]
        return "as its tool says" + (f": {look.EFFECTS[draft.toolbox[tool].effects]}" if tool in draft.toolbox else "")

    def _text(self, label: str, text: str, hint: str = "") -> Any:
        changes: dict[str, Change] = {
            "description": lambda draft, text: self._set(draft, "description", text),
            "waits for": lambda draft, text: draft.with_dependencies(self.key, text),
            "done when": lambda draft, text: self._set(draft, "success_criteria", text or None),
            "comment": lambda draft, text: draft.with_comment(self.key, text),
        }
        kind = w.Textarea if fields.long(text) else w.Text
        return self._field(label, kind(placeholder=hint or NOTHING), text, changes[label])

    def _set(self, draft: Draft, name: str, value: str | None) -> Draft:
        return draft.with_field(self.key, **{name: value})

    def _tool(self, draft: Draft, side: Side) -> Any:
        """The choice of a tool; it takes effect when it is left, because half a name is no tool."""
        hint = "nothing takes it back" if side else "the executor chooses"
        chooser = w.Combobox(options=list(draft.toolbox.names), placeholder=hint, continuous_update=False)
        tool = draft.row(self.key).call(side)["tool"] or ""
        return self._field(side or "tool", chooser, tool, lambda draft, name: self._choose(draft, name, side))

    def _choose(self, draft: Draft, name: str, side: Side) -> Draft:
        draft = draft.with_tool(self.key, name.strip() or None, side)
        self._ask_arguments(draft, side)
        self._fields["effects"].placeholder = self._declared(draft)
        if asked := self._arguments[side][1]:
            focus(next(iter(asked.values())))
        return draft

    def _ask_arguments(self, draft: Draft, side: Side) -> None:
        """Put a field for each parameter of the tool, and for what the plan gives beyond them, in their box."""
        box, asked = self._arguments[side]
        for label in asked:
            self.notes.pop(label, None)
        asked.clear()
        tool, given = draft.row(self.key).call(side)["tool"], draft.params(self.key, side)
        known = draft.toolbox[tool].schema if tool in draft.toolbox else {}
        for name in dict.fromkeys([*known.get("properties", {}), *given]):
            schema = draft.schema(self.key, name, side)
            one = fields.field(name, schema, given.get(name), name in known.get("required", ()))
            label = fields.label(name, side)
            asked[label] = self._field(label, _control(one), one.text, self._argues(name, side))
            asked[label].add_class("pxl-value")
        box.children = [part for label, control in asked.items() for part in (control, self.notes[label])]
        box.layout.display = "" if asked else "none"

    def _argues(self, name: str, side: Side) -> Change:
        return lambda draft, text: draft.with_argument(self.key, name, text, side)

    def _field(self, label: str, control: Any, text: str, change: Change) -> Any:
        """Label a control and, with it, the place for its problems; a change of its text is a change of the draft."""
        control.description, control.value, control.style.description_width = label, text, "110px"
        control.layout.width = "auto"
        control.observe(lambda event: self.edit(change(self.current(), event["new"])), "value")
        self.notes[label] = w.HTML(layout={"display": "none"})
        self.notes[label].add_class("pxl-note")
        return control


def _control(asked: fields.Field) -> Any:
    if asked.kind == "choice":
        return w.Combobox(options=asked.options, placeholder=asked.hint)
    if asked.kind == "lines":
        return w.Textarea(placeholder=asked.hint, rows=min(6, 2 + len(asked.text) // 90))
    return w.Text(placeholder=asked.hint)
