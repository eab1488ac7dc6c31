"""The desk as a widget: a question with its fields, and a button for each verdict."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import ipywidgets as w

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.review_desk import looks, presence, script, summary, text
from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.looks import isolated
from planexec_lab.views.review_desk.parts import WIDE, button, focus, labelled, styled
from planexec_lab.views.review_desk.questions import Sheet
from planexec_lab.views.review_desk.rows import Rows
from planexec_lab.views.widgets import Fence, on_event, renew_still, show_widget, written
from planexec_lite.core.questions import Verb
from planexec_lite.run.events import Decision

SCRIPT = "script"  # the decider in unattended runs


class Review:
    """A question to a reviewer, as a widget: one cell shows it, a person answers it, a later cell reads the decision.

    Every control has a name, which is its label: ``Approve``, ``Edit 3``, and ``3: tag`` for the field "tag" of step 3.

    Args:
        sheet: the question.
        script: the gestures of an unattended run; see `play`. A person's session never uses it.
        by: the reviewer's name, which the decision carries.
    """

    def __init__(self, sheet: Sheet, script: Sequence[script.Gesture] | None = None, by: str = "reviewer") -> None:
        self.script = script
        self._sheet, self._by = sheet, by
        self._decision: Decision | None = None
        self._rows = Rows(lambda: self.draft, self._edit) if sheet.editable else None
        self._parts = text.parts(sheet)  # as the question came
        self._build()
        self.box._view_count = 0  # from now on the page says how many views it has
        self._still_name, self._was_shown = uuid4().hex, False
        self._stops = 0  # how often the decision was read too early
        self._show()

    def _build(self) -> None:
        sheet = self._sheet
        self._head, self._changed, self._stand = w.HTML(), w.HTML(), styled(w.HTML(), "pxl-status")
        self._fields = {
            label: labelled(
                w.Textarea(rows=2, placeholder=hint) if label == "Comment" else w.Text(placeholder=hint),
                label,
                lambda _: self._refresh(),
            )
            for label, hint in sheet.fields.items()
        }
        self._buttons = {
            verdict: button(label, partial(self._press, verdict)) for verdict, label in sheet.labels.items()
        }
        next(iter(self._buttons.values())).add_class("pxl-main")
        yes = button("Yes, approve", lambda: self._press("approve", True), "pxl-main")
        back = button("Back to the plan", self._back)
        self._surely = {one.description: one for one in (yes, back)}
        self._bar = styled(w.Box(list(self._buttons.values())), "pxl-buttons")
        self._sure_bar = styled(w.Box([yes, back]), "pxl-buttons")
        self._asked = w.VBox(list(self._fields.values()), layout={"grid_gap": "6px"})
        self._fence = Fence(lambda: 0 if self._by == SCRIPT else self.views, presence.from_a_page)
        why = w.HTML(looks.paragraphs(text.why(sheet)))
        board = w.HTML("".join(figure._repr_html_() for figure in text.board(sheet)))
        end = w.VBox([why, self._changed, self._asked, self._stand, self._bar, self._sure_bar], layout=WIDE)
        styled(end, "pxl-end")
        rows = [self._rows.box] if self._rows is not None else []
        self.box = w.VBox([w.HTML(looks.STYLE), self._head, *rows, end, board, self._fence.box])
        self.box.add_class("pxl-desk")
        on_event(self.box, lambda _: None, "_view_count")

    @property
    def draft(self) -> Draft:
        """The edited plan."""
        return self._sheet.draft

    @property
    def missing(self) -> dict[str, str]:
        """Why a verdict can't be given yet, by the label of its button."""
        answers = self._answers.items()
        return {self._sheet.labels[verdict]: answer for verdict, answer in answers if isinstance(answer, str)}

    @property
    def controls(self) -> dict[str, Any]:
        """The enabled buttons and fields, by name."""
        rows = self._rows.controls if self._rows is not None else {}
        buttons = {one.description: one for one in self._buttons.values()}
        return {**rows, **self._fields, **buttons, **(self._surely if self._asks else {})}

    @property
    def views(self) -> int:
        """How many views of the desk the front end shows, as far as it has said."""
        return self.box._view_count or 0

    @property
    def decided(self) -> bool:
        """Whether there is a decision; then the desk can't be changed any more."""
        return self._decision is not None

    @property
    def decision(self) -> Decision:
        """The decision; in an unattended run, the script's.

        Raises `NotDecided` before a person has decided, and `NobodyThere` in an unattended run without a script.
        """
        if self._decision is None and presence.nobody(self.views):
            if self.script is None:
                raise presence.NobodyThere()
            self.play(self.script)
        if self._decision is None:
            self._stops += 1
            self.box.add_class(f"pxl-stop-{self._stops}")  # the handler brings the desk into view
            presence.stop(self._fence.waits)
        return self._decision

    def play(self, gestures: Sequence[script.Gesture]) -> None:
        """Press and type on the real controls, as a person would; see `script.play`."""
        person, self._by = self._by, SCRIPT
        try:
            script.play(self, gestures)
        finally:
            self._by = person

    def _edit(self, draft: Draft) -> None:
        if not self.decided:  # else it was typed too late
            self._sheet.draft = draft
            self._refresh()

    def _refresh(self) -> None:
        if not self.decided:
            self._fence.typed()
            self._show()

    def _show(self) -> None:
        self._head.value = text.head(self._sheet)
        if self._rows is not None:
            self._rows.show()
            self._changed.value = summary.changed(self.draft)
        answers = self._answers
        self._stand.value = self._sheet.status(answers)
        for verdict, pressed in self._buttons.items():
            pressed.disabled = isinstance(answers[verdict], str)
        self._show_bar(asks=False)

    @property
    def _answers(self) -> dict[Verb, Decision | str]:
        typed = {label: field.value.strip() for label, field in self._fields.items()}
        return self._sheet.answers(typed, self._by)

    @property
    def _asks(self) -> bool:
        """Whether the second question before a yes that can't be undone is shown."""
        return bool(self._sure_bar.layout.display == "")

    def _show_bar(self, asks: bool) -> None:
        self._bar.layout.display = "none" if asks else ""
        self._sure_bar.layout.display = "" if asks else "none"

    def _back(self) -> None:
        self._refresh()
        focus(self._buttons["approve"])

    def _press(self, verdict: Verb, surely: bool = False) -> None:
        """Decide, behind everything that was typed before the press."""
        if self.decided:
            return
        if self._fence.waits:  # the first press counts
            self._fence.ask_again()
        elif not self._fence.behind(lambda: self._decide(verdict, surely)):
            self._stand.value = "<p><strong>Writing it down …</strong></p>"

    def _decide(self, verdict: Verb, surely: bool) -> None:
        sure = (surely and self._asks) or self._by == SCRIPT  # the author of the script knew the plan
        self._show()
        decision = self._answers[verdict]
        if isinstance(decision, str):  # text typed before the click arrived with it
            return
        if verdict == "approve" and not sure and (warning := summary.warning(self.draft)):
            self._stand.value = warning
            self._show_bar(asks=True)
            focus(self._surely["Back to the plan"])
            return
        if self._rows is not None:
            self._rows.close()
        self._decision = decision
        self._close(decision)

    def _close(self, decision: Decision) -> None:
        """Leave nothing but the words of the decision; the focus goes to them at once, before a person has put it elsewhere."""
        headline, *more = summary.verdict(decision, self._sheet.question)
        below = "".join(f"<p>{isolated(line)}</p>" for line in more)
        mark = looks.pill(looks.DECIDED.get(decision.verdict, looks.CHANGED)._replace(word=headline))
        self._stand.value = f"<p>{mark}</p>{below}"
        focus(self._stand)
        for control in self.controls.values():
            control.disabled = True
        for gone in (self._asked, self._bar, self._sure_bar):
            gone.layout.display = "none"
        if self._was_shown and decision.by != SCRIPT and presence.kernel() is not None:
            renew_still(self.box, *self._still(), self._still_name)

    def _still(self) -> tuple[str, str]:
        """The picture below the desk as text and as HTML. It leaves out a script's decision, because nbval compares it."""
        parts = self._parts
        if self._decision is not None and self._decision.by != SCRIPT:
            parts = text.parts(self._sheet, self._decision)
        html = (part._repr_html_() if isinstance(part, Figure) else written(part) for part in parts)
        return "\n".join(map(str, parts)), "\n".join(html)

    def __repr__(self) -> str:
        return "\n".join(map(str, self._parts))

    def _ipython_display_(self) -> None:
        """Show the desk in the output of the cell that is running; in any cell, as often as you like."""
        self._fence.begin_anew()
        self._was_shown = True
        show_widget(self.box, *self._still(), self._still_name)
