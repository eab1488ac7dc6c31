"""What stands beside the rows: the plan's graph, what it will take and cost, and a dry run."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import ipywidgets as w

from planexec_lite.plan import Plan
from planexec_lite.views.graph_drawing import graph
from planexec_lite.views.review_desk import summary
from planexec_lite.views.review_desk.buttons import button
from planexec_lite.views.review_desk.draft import Draft
from planexec_lite.views.review_desk.dry_run import dry_run, obstacle
from planexec_lite.views.review_desk.estimate import durations, estimate
from planexec_lite.views.timeline_drawing import timeline

MOST = 60  # steps of a plan whose graph is drawn


class Beside:
    """The pictures of the plan as it stands.

    Args:
        current: returns the draft as it stands.
    """

    def __init__(self, current: Callable[[], Draft]) -> None:
        self.current = current
        self._graph, self._words, self._outcome = w.HTML(), w.HTML(), w.HTML()
        self.button = button("Dry run", self.press, "pxl-quiet", w.Layout(width="auto", align_self="flex-start"))
        self.box = w.VBox([self._graph, self._words, self.button, self._outcome])
        self.box.add_class("pxl-beside")
        self._tried = ""  # the hash of the plan that the dry run is about

    @property
    def controls(self) -> dict[str, Any]:
        """What can be pressed, by name."""
        return {"Dry run": self.button}

    def show(self, draft: Draft) -> None:
        """Show the graph of the draft and what is expected of it; the dry run of another plan goes away."""
        plan = draft.plan
        fit = plan is not None and not draft.problems
        if plan is not None and fit:
            taken = durations(plan, draft.toolbox)
            drawn = 1 < len(plan.steps) <= MOST
            self._graph.value = _picture("The graph of the plan", graph(plan, durations=taken or None)) if drawn else ""
        why = obstacle(plan, draft.toolbox, draft.done) if plan is not None and fit else ""
        expected = estimate(plan, draft.toolbox) if plan is not None and fit else ""
        more = f"<p>{escape(why)}</p>" if why else ""
        self._words.value = f"<p>{escape(expected)}</p>" + more + summary.beside_steps(draft.received)
        self.button.disabled = not fit or bool(why)
        self.button.layout.display = "none" if why else ""
        if plan is None or plan.hash != self._tried:
            self._outcome.value = self._tried = ""

    def press(self) -> None:
        """Try the plan on a copy of the world, and show how it went."""
        draft = self.current()
        if draft.plan is None or draft.problems or self.button.disabled:
            return
        self._tried, self._outcome.value = draft.plan.hash, "<p>The plan is tried on a copy of the world …</p>"
        self._outcome.value = _tried(draft, draft.plan)

    def close(self) -> None:
        """Leave nothing to press."""
        self.button.layout.display = "none"


def _tried(draft: Draft, plan: Plan) -> str:
    try:
        run = dry_run(plan, draft.toolbox, draft.done)
    except Exception as error:  # a world that can't be copied after all is no reason to lose the desk
        return f"<p>The dry run broke off: {escape(type(error).__name__)}: {escape(str(error))}</p>"
    how = f"{run.status}: {run.reason}" if run.reason else run.status
    outcome = f"<p>Tried on a copy; the world itself was not touched. The dry run {escape(how)}.</p>"
    return outcome + _picture("The timeline of the dry run", timeline(run))


def _picture(name: str, figure: Any) -> str:
    """A figure in a box that scrolls where the window is narrow."""
    return f'<div class="pxl-picture" role="group" tabindex="0" aria-label="{name}">{figure._repr_html_()}</div>'
