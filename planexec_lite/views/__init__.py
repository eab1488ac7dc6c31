"""Views: pictures of plans and runs that can be compared as text. They read, and never change what they show.

Every view returns a `Figure`: in a notebook it is an HTML figure, elsewhere its text form. The same input gives the same
bytes on every machine. matplotlib is loaded when the first timeline is drawn, ipywidgets when `review`, `live` or
`player` is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from planexec_lite.views.bars import durations
from planexec_lite.views.board import board
from planexec_lite.views.diff import diff
from planexec_lite.views.figure import Figure
from planexec_lite.views.graph import graph
from planexec_lite.views.sequence import sequence
from planexec_lite.views.thoughts import thoughts
from planexec_lite.views.timeline import timeline
from planexec_lite.views.timelines import timelines

if TYPE_CHECKING:
    from planexec_lite.views.live_board import live
    from planexec_lite.views.review_desk import NobodyThere, NotDecided, Review, ScriptError, review
    from planexec_lite.views.trace_player import player

_WIDGETS = {  # name -> module
    "NobodyThere": "review_desk", "NotDecided": "review_desk", "Review": "review_desk", "review": "review_desk",
    "ScriptError": "review_desk", "live": "live_board", "player": "trace_player",
}  # fmt: skip
__all__ = [
    "Figure",
    "NobodyThere",
    "NotDecided",
    "Review",
    "ScriptError",
    "board",
    "diff",
    "durations",
    "graph",
    "live",
    "player",
    "review",
    "sequence",
    "thoughts",
    "timeline",
    "timelines",
]


def __getattr__(name: str) -> Any:
    """Load what needs ipywidgets when it is asked for."""
    if name not in _WIDGETS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WIDGETS[name]}"), name)
