"""A board and a graph that follow a run while it goes on. They only read: the run does not know that it is watched."""

from __future__ import annotations

import time

import ipywidgets as w

from planexec_lite.loop.run import Run
from planexec_lite.views.board_table import MOST, Window, changed, part, window
from planexec_lite.views.drawing.figure import Figure
from planexec_lite.views.drawing.wording import count
from planexec_lite.views.graph_drawing import graph
from planexec_lite.views.widgets.status_region import StatusRegion
from planexec_lite.views.widgets.stylesheet import WIDGET, Stylesheet
from planexec_lite.views.widgets.widget_output import show_widget
from planexec_lite.views.widgets.window_bar import WindowBar

SHARE = 10  # drawing takes at most one part in so many of the time
LINE, PICTURE = 40_000, 120_000  # bytes for 1,000 steps of a large run: for the line of words, and for the board
ENVELOPE = 150  # bytes that a message has beside what it brings
TENTHS = 10
BEFORE = "Nothing has run yet: the board and the graph come with the run"
NO_GRAPH = "The graph of so many steps is drawn by views.graph(run)."


class Live:
    """A picture that follows a run: show it in a cell, and give it to the run as its `watch`.

    A plan of up to 40 steps is shown whole, with its graph. Of a larger one the board shows the rows around what
    changes, and counts the others, and what is sent is bounded: a run of 1,000 steps is told in less than 200 kB. The
    last state is always shown.

    What it shows in a notebook that is stored is the state at the moment when the cell was run, as text.
    """

    def __init__(self) -> None:
        self._status = StatusRegion(f"{BEFORE}.", seen=False)
        self._line, self._graph, self._board = w.HTML(f"<p>{BEFORE}.</p>"), w.HTML(), w.HTML()
        self._sheet = Stylesheet()
        self._css = w.HTML(layout=w.Layout(display="none"))
        self._bar = WindowBar(self._draw)
        self.box = w.VBox([
            w.HTML(WIDGET), self._css, self._status.box, self._line, self._graph, self._bar.box, self._board,
        ])  # fmt: skip
        self.box.add_class("pxl-run").add_class("pxl-live")
        self._run: Run | None = None
        self._shown: Figure | None = None
        self._due = 0.0
        self._sent = {LINE: 0, PICTURE: 0}
        self._tenth: tuple[str, bool, int] | None = None

    def __call__(self, run: Run) -> None:
        """Show where `run` stands, unless that would take too much of the run's time; the last state is always shown."""
        last = not run.board.in_flight
        if not last and time.monotonic() < self._due:
            return
        started = time.monotonic()
        if self._run is not run:
            self._run, self._sent, self._bar.first = run, {LINE: 0, PICTURE: 0}, None
        self._tell(run, last)
        if last or self._may_send(PICTURE, run):
            self._draw()
        now = time.monotonic()
        self._due = now + (now - started) * (SHARE - 1)

    def _may_send(self, kind: int, run: Run) -> bool:
        """Whether what was sent lies below what may have been sent by now.

        That grows with the events, fast at first, and never beyond `kind`, however often steps are tried.
        """
        events, steps = len(run.events), len(run.board.steps)
        return steps <= MOST or self._sent[kind] <= kind * max(steps / 1000, 1) * events / (events + steps / 2)

    def _window(self, run: Run) -> Window:
        return window(run.board, changed(run.events), self._bar.first)

    def _tell(self, run: Run, last: bool) -> None:
        """Put in words how far the run is; aloud at each tenth of it, and where its status or its failures change."""
        done, steps = len(run.results), len(run.plan.steps)
        words = f"{run.status.capitalize()}: {done:,} of {count(steps, 'step')} done."
        if last or self._may_send(LINE, run):
            self._put(self._line, f"<p>{words}</p>", LINE)
            tenth = run.status, bool(run.board.failed), TENTHS * done // max(steps, 1)
            if tenth != self._tenth:
                self._tenth = tenth
                self._status.say(words)

    def _draw(self) -> None:
        """Draw the board as it stands, in the window as it stands."""
        if (run := self._run) is None:
            return
        shown = self._window(run)
        self._shown = part(run.board, shown)
        board, picture = self._sheet.taken_from(self._shown._repr_html_()), f"<p>{NO_GRAPH}</p>"
        if shown.whole:
            picture = self._sheet.taken_from(graph(run)._repr_html_())
        self._put(self._css, self._sheet.html, PICTURE)
        self._put(self._graph, picture, PICTURE)
        self._bar.show(shown)
        self._put(self._board, board, PICTURE)

    def _put(self, place: w.HTML, html: str, kind: int) -> None:
        if place.value != html:
            self._sent[kind] += len(html.encode()) + ENVELOPE
            place.value = html

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
