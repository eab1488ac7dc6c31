"""The outputs of a cell that ends with a widget, by media type."""

from typing import Any
from unittest.mock import patch

import ipywidgets

from planexec_lab.views.widgets import widget_output


def shown(thing: Any) -> tuple[ipywidgets.Box, list[dict[str, Any]]]:
    """The widget of a cell that ends with `thing`, and the outputs of the cell, one after the other."""
    sent: list[dict[str, Any]] = []
    with (
        patch.object(widget_output, "outputs", wraps=widget_output.outputs) as made,
        patch.object(widget_output, "display", lambda output, raw, **_: sent.append(output)),
    ):
        thing._ipython_display_()
    return made.call_args.args[0], sent


def still(thing: Any) -> dict[str, Any]:
    """The output that stays when the widget of `thing` is gone."""
    return shown(thing)[1][-1]
