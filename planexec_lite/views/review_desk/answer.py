"""The lower end of the desk, where a person answers: what they changed, the comment, the grant, and the buttons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ipywidgets as w

from planexec_lite.events import Grant
from planexec_lite.review.reviewers import Answer as Verdict
from planexec_lite.views.review_desk import look, marks, summary, verdict
from planexec_lite.views.review_desk.buttons import button
from planexec_lite.views.review_desk.draft import Draft
from planexec_lite.views.review_desk.focus import focus
from planexec_lite.views.review_desk.gate import COMMENT, Gate

Press = Callable[[Verdict, bool], None]


class Answer:
    """What a person says about the draft above it.

    Args:
        press: takes the verdict whose button was pressed, and whether it was said once more, surely.
        start_over: is called when the edits are to be dropped.
        typed: is called when a field was changed.
        gate: what is asked, where it is not about a plan.
    """

    def __init__(
        self,
        press: Press,
        start_over: Callable[[], None],
        typed: Callable[[], None],
        gate: Gate | None = None,
    ) -> None:
        self._gate = gate
        self._draft: Draft | None = None
        self._changed, self._stand = w.HTML(), w.HTML()
        self._stand.add_class("pxl-status")
        self._comment = w.Textarea(
            description="Comment", rows=2, layout=w.Layout(width="auto"), style={"description_width": "110px"},
            placeholder=COMMENT if gate is None else gate.comment,
        )  # fmt: skip
        self._grant = w.Text(
            description="Later plans", layout=w.Layout(width="auto"), style={"description_width": "110px"},
            placeholder="ask me about each; a number allows so many new steps without asking",
        )  # fmt: skip
        for field in (self._comment, self._grant):
            field.observe(lambda _: typed(), "value")
        self._names: dict[Verdict, str] = dict(verdict.BUTTONS) if gate is None else gate.buttons
        self._buttons = {
            name: button(
                name, partial(press, choice, False), "pxl-main" if name == next(iter(self._names.values())) else ""
            )
            for choice, name in self._names.items()
        }
        if gate is None:  # elsewhere nothing is edited
            self._buttons["Start over"] = button("Start over", start_over, "pxl-quiet")
        self._surely = {
            "Yes, approve": button("Yes, approve", lambda: press("approve", True), "pxl-main"),
            "Back to the plan": button("Back to the plan", lambda: self._back(typed)),
        }
        self._bar, self._sure_bar = w.Box(list(self._buttons.values())), w.Box(list(self._surely.values()))
        for bar in (self._bar, self._sure_bar):
            bar.add_class("pxl-buttons")
        fields = [self._comment] if gate is not None else [self._comment, self._grant]
        self._asked = w.VBox(fields, layout={"grid_gap": "6px"})
        self.box = w.VBox([self._changed, self._asked, self._stand, self._bar, self._sure_bar])
        self.box.add_class("pxl-end")

    @property
    def controls(self) -> dict[str, Any]:
        """The fields and the buttons by name."""
        later = {"Later plans": self._grant} if self._gate is None else {}
        return {**later, "Comment": self._comment, **self._buttons, **(self._surely if self.asks else {})}

    @property
    def asks(self) -> bool:
        """Whether the question stands there that comes before a yes that can't be undone."""
        return bool(self._sure_bar.layout.display == "")

    @property
    def comment(self) -> str:
        """What the planner is told: what stands under "Comment", and the comments on single steps."""
        return self._draft.remarks(self._comment.value) if self._draft else str(self._comment.value.strip())

    @property
    def grant(self) -> Grant | None:
        """What stands under "Later plans", where it is a number of steps."""
        text = self._grant.value.strip()
        return None if not text or self._odd_grant else Grant(int(text))

    def allows(self, choice: Verdict) -> bool:
        """Whether the button for this verdict can be pressed."""
        return not self._buttons[self._names[choice]].disabled

    def show(self, draft: Draft, unseen: Sequence[str] = ()) -> None:
        """Show how the draft stands, and which buttons can be pressed; `unseen` are the steps that were not shown yet."""
        self._draft = draft
        edits = marks.changes(draft.received, draft.plan) if draft.plan is not None else []
        self._changed.value = look.bullets("You changed:", edits, most=len(edits))
        self._stand.value = summary.stand(draft, bool(self.comment), self._odd_grant, unseen)
        if self._gate is None:
            self._buttons["Approve"].disabled = bool(draft.problems or self._odd_grant or unseen)
            self._buttons["Start over"].disabled = not (draft.edited or draft.comments)
            for name in ("Ask for changes", "Reject"):
                self._buttons[name].disabled = not self.comment
        else:
            self._stand.value = self._gate.stand(bool(self.comment))
            for choice, name in self._names.items():
                self._buttons[name].disabled = not self._gate.allows(choice, bool(self.comment))
        self._show_bar(asks=False)

    def ask(self, question: str) -> bool:
        """Ask once more before a yes, if there is a question; its buttons take the place of the others."""
        if question:
            self._stand.value = question
            self._show_bar(asks=True)
            focus(self._surely["Back to the plan"])
        return bool(question)

    def _back(self, typed: Callable[[], None]) -> None:
        typed()
        focus(next(iter(self._buttons.values())))

    def _show_bar(self, asks: bool) -> None:
        self._bar.layout.display = "none" if asks else ""
        self._sure_bar.layout.display = "" if asks else "none"

    def say(self, title: str, more: Sequence[str] = ()) -> None:
        """Say something where it stands how the draft stands."""
        self._stand.value = summary.closed(title, more)

    def close(self, title: str, more: Sequence[str] = ()) -> None:
        """Leave nothing but the words; the focus goes to them at once, before a person can have put it elsewhere."""
        self.say(title, more)
        focus(self._stand)
        for control in self.controls.values():
            control.disabled = True
        for gone in (self._asked, self._bar, self._sure_bar):
            gone.layout.display = "none"

    @property
    def _odd_grant(self) -> bool:
        """Whether something stands in "Later plans" that is no number of steps."""
        text = self._grant.value.strip()
        return bool(text) and not (text.isascii() and text.isdigit() and len(text) < 6)
