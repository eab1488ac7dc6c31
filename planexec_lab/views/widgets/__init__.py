"""Widgets that show a run: the live board, the trace player and their parts.

Read `widget_output` (the output of a widget's cell), `status_region` (the text that is read aloud), then `live_board` and
`trace_player`. `fence` keeps a press behind what was typed. All of them need ipywidgets.
"""

from planexec_lab.views.widgets.fence import Fence
from planexec_lab.views.widgets.live_board import live
from planexec_lab.views.widgets.trace_player import player
from planexec_lab.views.widgets.widget_output import on_event, renew_still, show_widget, written

__all__ = ["Fence", "live", "on_event", "player", "renew_still", "show_widget", "written"]
