"""A board and a graph that follow a running run. They only read it."""

from __future__ import annotations

import time

import ipywidgets as w

from planexec_lab.views.board_table import changed_last, part, window
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.wording import count
from planexec_lab.views.graph_drawing import graph
from planexec_lab.views.widgets.status_region import StatusRegion
from planexec_lab.views.widgets.widget_output import STYLE, show_widget
from planexec_lite.run import Run

SHARE = 10  # drawing takes at most 1/SHARE of the time
TENTHS = 10
BEFORE = "Nothing has run yet: the board and the graph come with the run"
NO_GRAPH = "The graph of such a large plan is drawn by views.graph(run)."


class Live:
    """A picture that follows the run: show it in a cell, and give it to the run as its `watch`.

    A plan of up to 40 steps is shown whole, with its graph. Of a larger one the board shows the rows around what
    changes, and counts the others. The last state is always shown.

    A stored notebook shows the state at the moment when the cell was run, as text.
    """

    def __init__(self) -> None:
        self._status = StatusRegion(f"{BEFORE}.", seen=False)
        self._line, self._graph, self._board = w.HTML(f"<p>{BEFORE}.</p>"), w.HTML(), w.HTML()
        self.box = w.VBox([w.HTML(STYLE), self._status.box, self._line, self._graph, self._board])
        self.box.add_class("pxl-run").add_class("pxl-live")
        self._shown: Figure | None = None
        self._due = 0.0
        self._tenth: tuple[str, bool, int] | None = None

    def __call__(self, run: Run) -> None:
        """Show the state of `run`, unless drawing would take too much of the run's time; the last state is always shown."""
        last = not run.board.in_flight
        if not last and time.monotonic() < self._due:
            return
        started = time.monotonic()
        self._tell(run)
        self._draw(run)
        now = time.monotonic()
        self._due = now + (now - started) * (SHARE - 1)

    def _tell(self, run: Run) -> None:
        """Describe the progress aloud, at each tenth, and when the status or the failures change; the board shows it."""
        done, steps = len(run.results), len(run.plan.steps)
        words = f"{run.status.capitalize()}: {done:,} of {count(steps, 'step')} done."
        self._line.value = ""
        tenth = run.status, bool(run.board.failed), TENTHS * done // max(steps, 1)
        if tenth != self._tenth:
            self._tenth = tenth
            self._status.say(words)

    def _draw(self, run: Run) -> None:
        """Draw the board, and the graph of a plan that is shown whole."""
        shown = window(run.board, run.events)
        latest = changed_last(run.events) if run.board.in_flight else None
        self._shown = part(run.board, shown, latest)
        self._graph.value = graph(run)._repr_html_() if shown.whole else f"<p>{NO_GRAPH}</p>"
        self._board.value = self._shown._repr_html_()

    def __repr__(self) -> str:
        return self._shown.text if self._shown is not None else BEFORE

    def _ipython_display_(self) -> None:
        show_widget(self.box, repr(self), self._shown._repr_html_() if self._shown is not None else "")


def live() -> Live:
    """Return a board and a graph that follow a run in real time.

    Show it in one cell, then run with ``watch``::

        screen = views.live()
        screen
        run = execute(plan, executor, workers=Pool(threads), watch=screen)
    """
    return Live()
