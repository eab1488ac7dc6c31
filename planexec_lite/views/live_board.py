"""A board and a graph that follow a run while it goes on. They only read: the run does not know that it is watched."""

from __future__ import annotations

import time
from typing import Any

import ipywidgets as w

from planexec_lite.run import Run
from planexec_lite.views.board import board
from planexec_lite.views.figure import Figure
from planexec_lite.views.graph import graph
from planexec_lite.views.words import count

SHARE = 5  # drawing takes at most one part in so many of the time
STYLE = """<style>
.pxl-live p {margin: 2px; line-height: 1.45; font-size: 13px; color: var(--jp-ui-font-color1, inherit)}
.pxl-live figure {margin-bottom: 8px !important}
</style>"""
BEFORE = "Nothing has run yet: the board and the graph come with the run"


class Live:
    """A picture that follows a run: show it in a cell, and give it to the run as its `watch`.

    What it shows in a notebook that is stored is the state at the moment when the cell was run, as text.
    """

    def __init__(self) -> None:
        self._said, self._graph, self._board = w.HTML(f"<p>{BEFORE}.</p>"), w.HTML(), w.HTML()
        self.box = w.VBox([w.HTML(STYLE), self._said, self._graph, self._board])
        self.box.add_class("pxl-live")
        self._shown: Figure | None = None
        self._due = 0.0

    def __call__(self, run: Run) -> None:
        """Show where `run` stands, unless the picture before is very young; the last one is always shown."""
        if run.board.in_flight and time.monotonic() < self._due:
            return
        started = time.monotonic()
        self._shown = board(run)
        done, steps = len(run.results), len(run.plan.steps)
        words = f"{run.status.capitalize()}: {done} of {count(steps, 'step')} done."
        self._said.value = f'<p role="status">{words}</p>'
        self._graph.value = graph(run)._repr_html_()
        self._board.value = self._shown._repr_html_()
        now = time.monotonic()
        self._due = now + (now - started) * (SHARE - 1)

    def __repr__(self) -> str:
        return self._shown.text if self._shown is not None else BEFORE

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        widget: dict[str, Any] = self.box._repr_mimebundle_() or {}
        page = {"text/html": self._shown._repr_html_()} if self._shown is not None else {}
        return {**widget, "text/plain": repr(self), **page}


def live() -> Live:
    """Return a board and a graph that follow a run in real time.

    Show it in one cell, then run with ``watch``::

        screen = views.live()
        screen
        run = execute(plan, executor, workers=Pool(threads), watch=screen)
    """
    return Live()
