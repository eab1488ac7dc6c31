"""The output of a widget's cell, and what the page answers: the widget, and below it a still picture that stays.

A notebook stores the id of a widget, never the widget. After a restart of the kernel the id is unknown; JupyterLab then writes
"model not found" and ignores other forms of the same output. So the picture is a separate output, and a style inside the
widget hides it while the widget lives.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from html import escape
from threading import RLock
from typing import Any

import ipywidgets as w
from IPython.display import display, update_display

from planexec_lab.views.drawing import theme

STYLE = """<style>
.pxl-run {max-width: 720px}
.pxl-run, .pxl-run .jupyter-widgets {overflow: visible}
.pxl-run p {margin: 4px 2px; line-height: 1.45; font-size: 13px; color: var(--jp-ui-font-color1, inherit)}
.pxl-run figure {margin-bottom: 8px !important}
.pxl-run td, .pxl-run th, .pxl-run caption, .pxl-run figcaption {line-height: 1.45}
.pxl-run button {width: auto; padding: 0 14px; border-radius: 4px}
.pxl-player .widget-hbox {flex-flow: row wrap; align-items: center; width: 100%}
.pxl-player .widget-text {flex: 1 1 240px; width: auto}
.pxl-player input[type=range] {accent-color: #007A5A; padding: 0; border: 0 !important; background: none}
.pxl-player .pxl-pictures {max-height: max(calc(100vh - 300px), 320px); overflow-y: auto}
.pxl-player .widget-text .widget-label {width: auto; min-width: 40px}
.pxl-run .widget-label {text-align: left; color: var(--jp-ui-font-color1, inherit)}
.pxl-run button:focus-visible, .pxl-run input:focus-visible {
  outline: 2px solid var(--jp-ui-font-color1, currentcolor) !important; outline-offset: 2px !important}
@media (max-width: 600px) {
  .pxl-run table {padding: 6px 8px !important}
  .pxl-run td, .pxl-run th {
    white-space: normal !important; overflow-wrap: break-word; padding-right: 6px !important; font-size: 11px !important}
}
</style>"""  # for a widget that shows a run: the focus ring has the text's colour, which is visible on each theme
VIEW = "application/vnd.jupyter.widget-view+json"
AGAIN = "The state when this cell was run. Run the cell again to use it."
_NOTE = (
    f"margin:8px 0 0;padding:4px {theme.MARGIN}px;color:{theme.MUTED};background-color:{theme.PLATE};border-radius:8px;"
    "font-size:12px"
)
_TEXT = (
    f"margin:8px 0 0;padding:12px {theme.MARGIN}px;color:{theme.TEXT};background-color:{theme.PLATE};border-radius:8px;"
    "font-size:12px;line-height:1.45;white-space:pre-wrap;overflow-wrap:anywhere"
)

_one_at_a_time = RLock()


def on_event(widget: Any, handle: Callable[[Any], None], trait: str = "") -> None:
    """Call `handle` when a button is pressed or a trait changes, one call at a time and in the page's order.

    JupyterLab gives the widgets a second thread of the kernel, which answers while a cell runs. ipykernel 7 sends each
    message to the thread that last changed that widget, so a press can overtake the text that was typed before it, and
    two edits can start from the same plan. So all of it goes to the first thread, behind the cell that runs. Where a
    kernel does not let a widget choose, the calls still wait for each other.

    The page holds back a field's next text until the kernel is idle again after the one before. While a cell awaits,
    ipykernel does not say so, so it is said here.
    """
    comm = widget.comm
    if hasattr(comm, "_reply_subshell_for"):

        def heard(message: Any) -> None:
            try:
                widget._handle_msg(message)
            finally:
                comm.kernel._publish_status("idle", "shell", message)

        comm._reply_subshell_for = lambda data, default: None
        comm.on_msg(heard)

    def called(event: Any) -> None:
        with _one_at_a_time:
            handle(event)

    widget.observe(called, trait) if trait else widget.on_click(called)


def show_widget(widget: w.Box, text: str, page: str = "", name: str = "") -> None:
    """Show `widget` in the cell that runs, with a still picture of it as `text` and as HTML; call it when it is displayed.

    Args:
        widget: a box; it gets one more child, which can't be seen, each time its picture is another one.
        text: what tests compare, and what is shown where there is no HTML.
        page: the same as HTML; by default the text. Equal pictures are equal bytes in every run.
        name: under which `renew_still` finds the picture later; like no other.
    """
    *live, still = outputs(widget, text, page)
    for output in live:
        display(output, raw=True)
    display(still, raw=True, **{"display_id": name} if name else {})


def renew_still(widget: w.Box, text: str, page: str, name: str) -> None:
    """Replace the still pictures of a widget that were shown under a name; strict nbval has no place for that."""
    update_display(outputs(widget, text, page)[-1], display_id=name, raw=True)


def written(text: str) -> str:
    """Return plain text as HTML."""
    return f'<pre dir="auto" style="{_TEXT}">{escape(text, quote=False)}</pre>'


def outputs(widget: w.Box, text: str, page: str = "") -> list[dict[str, Any]]:
    """Return what `show_widget` displays, one output after the other, each by its media types."""
    page = page or written(text)
    name = f"pxl-still-{sha256(page.encode()).hexdigest()[:12]}"
    around = f'<div class="{name}" style="max-width:{theme.WIDEST}px">'
    still = {"text/plain": text, "text/html": f'{around}\n{page}\n<p style="{_NOTE}">{AGAIN}</p>\n</div>'}
    if widget.model_id is None:  # ipywidgets 7 outside a kernel
        return [still]
    hidden = f"<style>.{name} {{display: none}}</style>"
    if all(hidden != getattr(child, "value", None) for child in widget.children):
        widget.children = (*widget.children, w.HTML(hidden, layout=w.Layout(display="none")))
    # written out, since the widgets of ipywidgets 7, as Colab has them, have no `_repr_mimebundle_`
    return [{VIEW: {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}}, still]
