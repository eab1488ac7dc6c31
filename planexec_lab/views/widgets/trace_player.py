"""The trace player: any run, event by event, with the board, the graph and the timeline of that moment."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextlib import suppress
from functools import lru_cache, partial
from typing import NamedTuple

import ipywidgets as w

from planexec_lab.views.board_table import part, window
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.wording import seconds
from planexec_lab.views.graph_drawing import graph
from planexec_lab.views.narration import sentences, trace
from planexec_lab.views.timeline_drawing import timeline
from planexec_lab.views.widgets.status_region import StatusRegion
from planexec_lab.views.widgets.widget_output import STYLE, on_event, show_widget, written
from planexec_lite.run import Run

PAUSE = 0.9  # seconds from one event to the next while it plays
MOST_EVENTS = 400  # that a still picture tells; more would be longer than a lesson
NOT_DRAWN = "The graph and the timeline of such a large plan are drawn by views.graph(run) and views.timeline(run)."


class Moment(NamedTuple):
    """A run after its first `number` events: the latest event and the pictures.

    For a large plan the board shows the rows around the event, and there is neither `graph` nor `timeline`.
    """

    number: int
    narration: str
    board: Figure
    graph: Figure | None
    timeline: Figure | None

    def __str__(self) -> str:
        drawn = [figure.text for figure in (self.graph, self.timeline) if figure is not None] or [NOT_DRAWN]
        return "\n\n".join([self.narration, *drawn, self.board.text])


class Player:
    """A run that can be played: ``player.text(12)`` says what the widget shows after the twelfth event.

    Args:
        run: a run, ended or not. It is read, and never changed.
    """

    def __init__(self, run: Run) -> None:
        self._run = Run(run.events)
        self._narration = sentences(self._run)
        self.at = lru_cache(64)(self._at)
        last = len(self._narration)
        self.number = w.BoundedIntText(description="Event", max=last, value=1, continuous_update=True)
        self.back, self.play, self.next = (w.Button(description=words) for words in ("Back", "Play", "Next"))
        # No button is put out of use at an end of the run: it would lose the focus there
        on_event(self.back, partial(self._go, -1))
        on_event(self.next, partial(self._go, 1))
        on_event(self.play, lambda _: self._stop() if self.playing else self._start())
        self.play.add_class("pxl-play")
        self._loop: asyncio.AbstractEventLoop | None = None  # the kernel's; without one, the player does not play
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()
        self._task: Future[None] | None = None
        self.play.disabled = self._loop is None
        on_event(self.number, lambda _: self._show(), "value")
        self._status = StatusRegion("")
        pictures = self._graph, self._timeline, self._board = w.HTML(), w.HTML(), w.HTML()
        controls = w.HBox([self.back, self.play, self.next, self.number])
        self.box = w.VBox([w.HTML(STYLE), controls, self._status.box, w.VBox(pictures).add_class("pxl-pictures")])
        self.box.add_class("pxl-run").add_class("pxl-player")
        self._show()

    def text(self, number: int | None = None) -> str:
        """Return the player's pictures after event `number`, 0 being before the first; by default, at its position.

        Raises `ValueError` for a number that the run does not have.
        """
        return str(self.at(self.number.value if number is None else number))

    def _at(self, number: int) -> Moment:
        last = len(self._narration)
        if not 0 <= number <= last:
            raise ValueError(f"there is no event {number}: this run has the events 1 to {last}")
        run = Run(self._run.events[:number])
        narration = "Nothing has happened yet"
        if number:
            time = seconds(run.events[-1].at, self._run.makespan)
            narration = f"Event {number} of {last}, at {time}: {self._narration[number - 1]}"
        shown = window(run.board, run.events)
        drawn = (graph(run), timeline(run)) if shown.whole else (None, None)
        return Moment(number, narration, part(run.board, shown), *drawn)

    @property
    def playing(self) -> bool:
        """Whether the events go by by themselves."""
        return self._task is not None

    def _start(self) -> None:
        """Play from the current position, or from the start if the player is at the end."""
        if self._loop is None:
            return
        if self.number.value == self.number.max:
            self.number.value = 0
        self.play.description = "Pause"
        self._task = asyncio.run_coroutine_threadsafe(self._play(), self._loop)  # a click can come on another thread

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task, self.play.description = None, "Play"

    async def _play(self) -> None:
        while self.number.value < self.number.max:
            await asyncio.sleep(PAUSE)
            self._go(1)
        self._stop()

    def _go(self, by: int, _: object = None) -> None:
        self.number.value = min(max(self.number.value + by, 0), self.number.max)

    def _show(self) -> None:
        moment = self.at(self.number.value)
        self._status.say(moment.narration)
        self._graph.value = moment.graph._repr_html_() if moment.graph is not None else ""
        self._timeline.value = moment.timeline._repr_html_() if moment.timeline is not None else f"<p>{NOT_DRAWN}</p>"
        self._board.value = moment.board._repr_html_()

    def __repr__(self) -> str:
        return trace(self._run)

    def _ipython_display_(self) -> None:
        """Show the widget; its still picture is the last board and the sentences about all events."""
        events = len(self._narration)
        words = repr(self) if events <= MOST_EVENTS else f"{events:,} events: views.player(run) shows them one by one"
        show_widget(self.box, repr(self), f"{self.at(events).board._repr_html_()}\n{written(words)}")


def player(run: Run) -> Player:
    """Show a run as a player: buttons, a scrubber and keys to go through its events, and the pictures at that moment.

    In JupyterLab the arrows, Home and End move from event to event, and the space bar plays. It opens on the first event.
    """
    return Player(run)
