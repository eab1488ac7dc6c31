"""Views: pictures of plans and runs that can be compared as text. They read, and never change what they show.

Every view returns a `Figure`: in a notebook it is an HTML figure, elsewhere its text form. The same input gives the same
bytes on every machine. matplotlib is loaded when the first timeline is drawn, ipywidgets when `desk`, `live` or `player` is used.

In the order of reading; each imports only from those before it:

1. `drawing`: colours, text that fits, and the three ways to a figure.
2. `step_remarks`, `narration`: short remarks about steps, and one sentence for each event.
3. `board_table`, `react_thoughts`, `plan_diff`: figures that are tables.
4. `graph_drawing`, `span_tree`, `charts`: figures that are SVG.
5. `timeline_drawing`: figures that matplotlib draws.
6. `widgets`: the live board and the trace player. `review_desk`: a person decides about a question.

Where the words on a picture come from: `drawing.wording` (names of steps, times, lists) and `drawing.theme` (states); on a
timeline `bars` and `label` (the work on a bar), `in_words`, `figures` and `prediction` (headline, caption and notes); on a graph
`graph_figure` and `sketch` (headline and caption) and `step_remarks` (remarks on a card); in the trace and the player `narration`
(a sentence for each event). Reasons for a pause or an end come from the run itself.

No folder or module here has the name of a public function, because importing it would replace the function.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from planexec_lab.views.board_table import board
from planexec_lab.views.charts import bars, curves, tallies
from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.text_fitting import wrapped
from planexec_lab.views.graph_drawing import graph
from planexec_lab.views.ledger_table import ledger
from planexec_lab.views.plan_diff import diff
from planexec_lab.views.react_thoughts import thoughts
from planexec_lab.views.span_tree import spans
from planexec_lab.views.timeline_drawing import durations, timeline, timelines

if TYPE_CHECKING:
    from planexec_lab.views.review_desk import NobodyThere, NotDecided, ScriptError, desk
    from planexec_lab.views.widgets import Fence, live, on_event, player, show_widget

_WIDGETS = {  # name -> folder
    "NobodyThere": "review_desk", "NotDecided": "review_desk",
    "ScriptError": "review_desk", "desk": "review_desk",
    "Fence": "widgets", "live": "widgets", "on_event": "widgets", "player": "widgets", "show_widget": "widgets",
}  # fmt: skip
__all__ = [
    "Fence",
    "Figure",
    "NobodyThere",
    "NotDecided",
    "ScriptError",
    "bars",
    "board",
    "curves",
    "desk",
    "diff",
    "durations",
    "graph",
    "ledger",
    "live",
    "on_event",
    "player",
    "show_widget",
    "spans",
    "tallies",
    "thoughts",
    "timeline",
    "timelines",
    "wrapped",
]


def __getattr__(name: str) -> Any:
    """Load what needs ipywidgets when it is asked for."""
    if name not in _WIDGETS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_WIDGETS[name]}"), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"{name} needs ipywidgets: pip install 'planexec-lab[notebooks]' ({error})") from None
