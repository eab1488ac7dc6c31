"""The desk at which a person reviews a plan: its rows, their forms, what was changed, and the decision."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Collection, Sequence
from typing import Any

import ipywidgets as w

from planexec_lite.events import Grant
from planexec_lite.plan import Plan
from planexec_lite.reviewers import Decision
from planexec_lite.tools import Toolbox
from planexec_lite.views.review_desk import look, marks, presence, script
from planexec_lite.views.review_desk.draft import Draft
from planexec_lite.views.review_desk.rows import Rows, button
from planexec_lite.views.review_desk.text import figure

BEAT = 0.1  # seconds; a cell that waits wakes up, because only then ipykernel notices that it is to be interrupted
DARK = ("Ask for changes", "Reject")  # without a comment
VERDICTS = {"approve": "Approved", "reject": "Rejected", "change": "Changes asked for"}


class NotDecided(RuntimeError):
    """Nobody has decided about the plan yet."""


class Review:
    """A plan before a reviewer, as a widget: shown by a cell, decided by a person, read in a later cell.

    Every control has a name, which is its label: ``Approve``, ``Edit 3``, and ``3: tag`` for the field "tag" of step 3.

    Args:
        plan: the plan to review, fit to run or not.
        toolbox: the tools that its steps may call.
        done: ids of the steps that are done already.
        script: what to press and to type where nobody is there; see `play`. A person's session never uses it.
        before: the plan of the round before; what was changed since is listed.
    """

    def __init__(
        self,
        plan: Plan,
        toolbox: Toolbox,
        *,
        done: Collection[str] = (),
        script: Sequence[script.Gesture] | None = None,
        before: Plan | None = None,
    ) -> None:
        self._shown = plan
        self.draft = Draft.of(plan, toolbox, done)
        self.script = script
        self._figure = figure(self.draft)
        self._since = marks.changes(before, plan) if before is not None else []
        self._decision: Decision | None = None
        self._closed = False
        self._by = "reviewer"
        self._build()
        self.edit(self.draft)

    def _build(self) -> None:
        self._rows = Rows(lambda: self.draft, self.edit)
        self._head, self._changed, self._stand = w.HTML(), w.HTML(), w.HTML()
        self._comment = w.Textarea(
            description="Comment", rows=2, layout=w.Layout(width="auto"), style={"description_width": "110px"},
            placeholder="why you reject the plan, or what the planner should change",
        )  # fmt: skip
        self._grant = w.Text(
            description="Later plans", layout=w.Layout(width="auto"), style={"description_width": "110px"},
            placeholder="ask me about each; a number allows so many new steps without asking",
        )  # fmt: skip
        self._grant.observe(lambda _: self._refresh(), "value")
        self._add = button("Add a step", self._rows.add, "pxl-quiet", w.Layout(width="auto", align_self="flex-start"))
        self._buttons = {
            "Approve": button("Approve", self._approve, "pxl-main"),
            "Ask for changes": button("Ask for changes", lambda: self._decide("change")),
            "Reject": button("Reject", lambda: self._decide("reject")),
            "Start over": button("Start over", self._start_over, "pxl-quiet"),
        }
        self._comment.observe(lambda _: self._refresh(), "value")
        self._asked = w.VBox([self._comment, self._grant], layout={"grid_gap": "6px"})
        bar = w.Box(list(self._buttons.values()))
        bar.add_class("pxl-buttons")
        self._bar = bar
        end = w.VBox([self._changed, self._asked, self._stand, bar])
        end.add_class("pxl-end")
        self.box = w.VBox([w.HTML(look.STYLE), self._head, self._rows.box, self._add, end])
        self.box.add_class("pxl-desk")
        self.box._view_count = 0  # from now on the front end says how many views of the desk are open

    @property
    def controls(self) -> dict[str, Any]:
        """What can be pressed or filled in right now, by name."""
        end = {"Add a step": self._add, "Later plans": self._grant, "Comment": self._comment, **self._buttons}
        return {**self._rows.controls, **end}

    @property
    def views(self) -> int:
        """How many views of the desk the front end shows, as far as it has said."""
        return self.box._view_count or 0

    @property
    def decided(self) -> bool:
        """Whether a decision was made."""
        return self._decision is not None

    @property
    def decision(self) -> Decision:
        """The decision; where nobody is there, the one that the script leads to.

        Raises `NotDecided` while a person has yet to decide, or where there is neither a person nor a script.
        """
        if self._decision is None and self.script is not None and presence.nobody(self.views, presence.request()):
            self.play(self.script)
        if self._decision is None:
            raise NotDecided(
                "nobody has decided yet: press Approve, Reject or Ask for changes, then run this cell again"
            )
        return self._decision

    def edit(self, draft: Draft) -> None:
        """Take a new draft and show it."""
        self.draft = draft
        self._refresh()

    def play(self, gestures: Sequence[script.Gesture]) -> None:
        """Press and type on the real controls, as a person would; see `script.play`."""
        self._by = "script"
        script.play(self, gestures)

    async def wait(self, timeout: float | None = None) -> Decision:
        """Return the decision when it is made. Raises `TimeoutError` after `timeout` seconds; the desk then closes."""
        end = math.inf if timeout is None else time.monotonic() + timeout
        try:
            while self._decision is None and time.monotonic() < end:
                await asyncio.sleep(min(BEAT, max(end - time.monotonic(), 0)))
        finally:
            if self._decision is None:
                self._close("Nobody decided.")
        if self._decision is None:
            raise TimeoutError(f"nobody decided within {timeout:g} s; the plan is not approved")
        return self._decision

    def _refresh(self) -> None:
        found = marks.places(self.draft)
        self._rows.show(self.draft, found)
        self._head.value = look.head(self.draft, self._since)
        edits = marks.changes(self.draft.received, self.draft.plan) if self.draft.plan is not None else []
        self._changed.value = look.bullets("You changed:", edits)
        self._stand.value = look.stand(self.draft, bool(self._comment.value.strip()), self._odd_grant)
        self._buttons["Approve"].disabled = bool(self.draft.problems or self._odd_grant)
        self._buttons["Start over"].disabled = not self.draft.edited
        for name in DARK:
            self._buttons[name].disabled = not self._comment.value.strip()

    @property
    def _odd_grant(self) -> bool:
        """Whether something stands in "Later plans" that is no number of steps."""
        text = self._grant.value.strip()
        return bool(text) and not (text.isascii() and text.isdigit() and len(text) < 6)

    def _approve(self) -> None:
        if self.draft.problems or self._odd_grant:  # a click that was on its way when the problem came up
            return
        grant = Grant(int(self._grant.value)) if self._grant.value.strip() else None
        self._decide("approve", plan=self.draft.plan if self.draft.edited else None, grant=grant)

    def _decide(self, verdict: Any, **more: Any) -> None:
        if self._closed:
            return
        self._decision = Decision(
            verdict, by=self._by, comment=self._comment.value.strip(), of=self._shown.hash, **more
        )
        self._close(f"{VERDICTS[verdict]}.")

    def _start_over(self) -> None:
        self._rows.toggle(None)
        self.edit(self.draft.started_over())

    def _close(self, said: str) -> None:
        """Let nothing be changed any more."""
        self._closed = True
        self._rows.close()
        self._stand.value = look.closed(said, self._comment.value)
        for control in self.controls.values():
            control.disabled = True
        for gone in (self._add, self._asked, self._bar):
            gone.layout.display = "none"

    def __repr__(self) -> str:
        return self._figure.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The widget, and beside it the plan as it came: as text, and as a table for viewers without widgets."""
        widget: dict[str, Any] = self.box._repr_mimebundle_() or {}
        return {**widget, "text/plain": self._figure.text, "text/html": self._figure._repr_html_()}
