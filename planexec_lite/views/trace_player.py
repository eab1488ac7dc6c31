"""The trace player: any run, event by event, with the board, the graph and the timeline as they stood at that moment."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

import ipywidgets as w

from planexec_lite.run import Run
from planexec_lite.views.board import board
from planexec_lite.views.figure import Figure
from planexec_lite.views.graph import graph
from planexec_lite.views.telling import sentences, trace
from planexec_lite.views.timeline import timeline
from planexec_lite.views.words import seconds

PAUSE = 0.9  # seconds from one event to the next while it plays
LABEL = {"description_width": "50px"}
STYLE = """<style>
.pxl-player {max-width: 720px; overflow: visible}
.pxl-player .jupyter-widgets {overflow: visible}
.pxl-player p {margin: 4px 2px; line-height: 1.45; font-size: 13px; color: var(--jp-ui-font-color1, inherit)}
.pxl-player figure {margin-bottom: 8px !important}
.pxl-player button {width: auto; padding: 0 14px; border-radius: 4px}
.pxl-player .widget-label {text-align: left; color: var(--jp-ui-font-color1, inherit)}
.pxl-player button:focus-visible, .pxl-player input:focus-visible,
.pxl-player .noUi-handle:focus-visible {outline: 2px solid #56B4E9; outline-offset: 1px}
</style>"""


class Moment(NamedTuple):
    """A run as it stood after its first `number` events: what happened last, and the pictures."""

    number: int
    said: str
    board: Figure
    graph: Figure
    timeline: Figure

    def __str__(self) -> str:
        return "\n\n".join([self.said, self.graph.text, self.timeline.text, self.board.text])


class Player:
    """A run that can be played: ``player.text(12)`` says what the widget shows after the twelfth event.

    Args:
        run: a run, ended or not. It is read, and never changed.
    """

    def __init__(self, run: Run) -> None:
        self._run = Run(run.events)
        self._said = sentences(self._run)
        self.at = lru_cache(64)(self._at)
        last = len(self._said)
        ends = {"min": 0, "max": last, "value": last}
        self.slider = w.IntSlider(
            description="Event", **ends, readout=False, layout=w.Layout(width="auto"), style=LABEL
        )
        self.number = w.BoundedIntText(
            description="Number", **ends, layout=w.Layout(width="160px"), style={"description_width": "60px"}
        )
        self.play, self.back, self.next = (w.Button(description=words) for words in ("Play", "Back", "Next"))
        self.play.on_click(lambda _: self._stop() if self.playing else self._start())
        self.back.on_click(lambda _: self._go(-1))
        self.next.on_click(lambda _: self._go(1))
        self._loop = _loop()
        self._task: Future[None] | None = None
        self.play.disabled = self._loop is None
        w.link((self.slider, "value"), (self.number, "value"))
        self.slider.observe(lambda _: self._show(), "value")
        self._words, self._graph, self._timeline, self._board = w.HTML(), w.HTML(), w.HTML(), w.HTML()
        bar = w.HBox([self.play, self.back, self.next, self.number], layout=w.Layout(flex_flow="row wrap"))
        self.box = w.VBox([w.HTML(STYLE), self.slider, bar, self._words, self._graph, self._timeline, self._board])
        self.box.add_class("pxl-player")
        self._show()

    def text(self, number: int | None = None) -> str:
        """Return what the player shows after event `number`, 0 being before the first; by default, where it stands.

        Raises `ValueError` for a number that the run does not have.
        """
        return str(self.at(self.slider.value if number is None else number))

    def _at(self, number: int) -> Moment:
        last = len(self._said)
        if not 0 <= number <= last:
            raise ValueError(f"there is no event {number}: this run has the events 1 to {last}")
        run = Run(self._run.events[:number])
        said = "Nothing has happened yet"
        if number:
            time = seconds(run.events[-1].at, self._run.makespan)
            said = f"Event {number} of {last}, at {time}: {self._said[number - 1]}"
        return Moment(number, said, board(run), graph(run), timeline(run))

    @property
    def playing(self) -> bool:
        """Whether the events go by by themselves."""
        return self._task is not None

    def _start(self) -> None:
        """Play from where the slider stands, or from the start where it stands at the end."""
        if self._loop is None:
            return
        if self.slider.value == self.slider.max:
            self.slider.value = 0
        self.play.description = "Pause"
        self._task = asyncio.run_coroutine_threadsafe(self._play(), self._loop)  # a click may come on another thread

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._task, self.play.description = None, "Play"

    async def _play(self) -> None:
        while self.slider.value < self.slider.max:
            await asyncio.sleep(PAUSE)
            self._go(1)
        self._stop()

    def _go(self, by: int) -> None:
        self.slider.value = min(max(self.slider.value + by, 0), self.slider.max)

    def _show(self) -> None:
        moment = self.at(self.slider.value)
        self._words.value = f'<p role="status">{escape(moment.said)}</p>'
        for place, figure in (
            (self._graph, moment.graph),
            (self._timeline, moment.timeline),
            (self._board, moment.board),
        ):
            place.value = figure._repr_html_()
        self.back.disabled, self.next.disabled = not moment.number, moment.number == self.slider.max

    def __repr__(self) -> str:
        return trace(self._run)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        widget: dict[str, Any] = self.box._repr_mimebundle_() or {}
        return {**widget, "text/plain": repr(self)}


def _loop() -> asyncio.AbstractEventLoop | None:
    """The loop on which the player plays: the kernel's. Where none runs, there is nobody to watch."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def player(run: Run) -> Player:
    """Show a run as a player: a slider and a play button over its events, and the pictures at that moment."""
    return Player(run)
