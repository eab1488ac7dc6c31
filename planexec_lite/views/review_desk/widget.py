"""The desk at which a person reviews a plan, as a widget: its rows, their forms, what was changed, and the decision."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import ipywidgets as w

from planexec_lite.executors import Executor
from planexec_lite.loop.run import Run
from planexec_lite.plan import Plan
from planexec_lite.review.reviewers import Answer as Answered
from planexec_lite.review.reviewers import Decision
from planexec_lite.tools import Toolbox
from planexec_lite.views.review_desk import banner, look, marks, presence, script, verdict
from planexec_lite.views.review_desk.access import ACCESS
from planexec_lite.views.review_desk.answer import Answer
from planexec_lite.views.review_desk.draft import Draft
from planexec_lite.views.review_desk.fence import Fence, shown_by
from planexec_lite.views.review_desk.gate import Gate
from planexec_lite.views.review_desk.pauses import gate_of
from planexec_lite.views.review_desk.rows import Rows
from planexec_lite.views.review_desk.still import Still
from planexec_lite.views.review_desk.text import figure
from planexec_lite.views.review_desk.undecided import nobody_there, not_decided

SCRIPT = "script"  # who decides where nobody is


class Review:
    """A plan before a reviewer, as a widget: shown by a cell, decided by a person, read in a later cell.

    Every control has a name, which is its label: ``Approve``, ``Edit 3``, and ``3: tag`` for the field "tag" of step 3.

    Args:
        plan: the plan to review, valid or not.
        toolbox: the tools that its steps may call; or the executor, which says for which steps a model chooses the calls.
        done: ids of the steps that are done already.
        script: what to press and to type where nobody is there; see `play`. A person's session never uses it.
        before: the plan of the round before; what was changed since is listed.
        by: who sits at the desk; the decision carries the name.
        run: the run, where it waits for something else than an approval: then that is decided about, not the plan.
    """

    def __init__(
        self,
        plan: Plan,
        toolbox: Toolbox | Executor,
        *,
        done: Collection[str] = (),
        script: Sequence[script.Gesture] | None = None,
        before: Plan | None = None,
        by: str = "reviewer",
        run: Run | None = None,
    ) -> None:
        self._shown = plan
        self.draft = Draft.of(plan, toolbox, done)
        self.script = script
        since = marks.changes(before, plan) if before is not None else []
        self._gate = None if run is None else gate_of(run, self.draft.toolbox, self._refresh)
        self._rows: Rows | Gate = self._gate or Rows(lambda: self.draft, self.edit, since)
        self._figure = self._gate.figure if self._gate is not None else figure(self.draft)
        self._decision: Decision | None = None
        self._closed = False
        self._by = by
        self._build()
        self._still = Still(self.box, self._figure)
        self.edit(self.draft)

    def _build(self) -> None:
        self._answer = Answer(self._press, self._rows.start_over, self._refresh, self._gate)
        self.box = w.VBox(_dom_classes=["pxl-desk"])
        self._views = shown_by(self.box)
        self._fence = Fence(lambda: 0 if self._by == SCRIPT else self._views(), presence.from_a_page)
        self.box.children = [w.HTML(look.STYLE + ACCESS), self._rows.box, self._answer.box, self._fence.box]

    @property
    def controls(self) -> dict[str, Any]:
        """What can be pressed or filled in right now, by name."""
        return {**self._rows.controls, **self._answer.controls}

    @property
    def views(self) -> int:
        """How many views of the desk the front end shows, as far as it has said."""
        return self._views()

    @property
    def closed(self) -> bool:
        """Whether nothing can be changed any more."""
        return self._closed

    @property
    def decided(self) -> bool:
        """Whether a decision was made."""
        return self._decision is not None

    @property
    def decision(self) -> Decision:
        """The decision; where nobody is there, the one that the script leads to.

        Raises `NotDecided` while a person has yet to decide, and `NobodyThere` where nobody is there and no script.
        """
        if self._decision is None and presence.nobody(self.views):
            if self.script is None:
                raise nobody_there()
            self.play(self.script)
        if self._decision is None:
            banner.stop(not_decided(self._fence.waits))
        return self._decision

    def edit(self, draft: Draft) -> None:
        """Take a new draft and show it; one that was typed when the desk was closed already is too late."""
        if self._closed:
            return
        self.draft = draft
        self._refresh()

    def play(self, gestures: Sequence[script.Gesture]) -> None:
        """Press and type on the real controls, as a person would; see `script.play`."""
        person, self._by = self._by, SCRIPT
        self._rows.show_until()
        try:
            script.play(self, gestures)
        finally:
            self._by = person

    def _refresh(self) -> None:
        if not self._closed:
            self._fence.typed()
            self._show()

    def _show(self) -> None:
        self._rows.show(self.draft, marks.places(self.draft))
        self._answer.show(self.draft, self._rows.unseen(self.draft))

    def _press(self, choice: Answered, surely: bool) -> None:
        """Decide, behind everything that was typed before the press; until then nothing can be changed."""
        if self._closed:
            return
        if self._fence.waits:  # the first press counts
            self._fence.ask_again()
            return
        if not self._fence.behind(lambda: self._decide(choice, surely)):
            self._answer.say("Writing it down …")

    def _decide(self, choice: Answered, surely: bool) -> None:
        sure = (surely and self._answer.asks) or self._by == SCRIPT  # whoever wrote the script had the plan at hand
        self._show()
        if not self._answer.allows(choice):  # what was typed before the press, and came with it, stands against it
            return
        if choice == "approve" and not sure and self._answer.ask(self._rows.question(self.draft)):
            return
        self._decision = Decision(choice, self._by, self._answer.comment, of=self._shown.hash, **self._said(choice))
        lines = verdict.lines(self._decision, self._shown)
        self._close(*lines)
        if self._by != SCRIPT:  # nobody looks then, and nbval compares
            self._still.decided(lines, self._figure if self._gate else figure(self.draft))

    def _said(self, choice: Answered) -> dict[str, Any]:
        """What goes with the verdict, beside who decided, and the comment."""
        if self._gate is not None:
            return {"gate": self._gate.gate, **self._gate.said(choice)}
        if choice != "approve":
            return {}
        return {"plan": self.draft.plan if self.draft.edited else None, "grant": self._answer.grant}

    def _close(self, headline: str, *more: str) -> None:
        """Let nothing be changed any more, and say what was decided."""
        self._rows.close()
        self._closed = True
        self._answer.close(headline, more)
        for control in self.controls.values():
            control.disabled = True

    def __repr__(self) -> str:
        return self._figure.text

    def _ipython_display_(self) -> None:
        self._fence.begin_anew()
        self._still.show()
