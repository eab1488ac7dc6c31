"""How a cell that waits can hear a person: which kernels and front ends let it, and what their fields still miss.

A cell holds the kernel while it waits. ipykernel 7.4 was the first to handle the messages of widgets beside such a cell,
and it tells nobody when it has: no ``idle`` is sent for them. But a field sends its second change only when the first
one is answered by an ``idle``, so of everything typed the first key arrived and the rest did not. `answered` sends it.

Where it is not known that a press can reach a waiting cell, `deaf` says why, and nothing waits:

===============================  ============================================================
what runs the cell               a press while a cell waits
===============================  ============================================================
JupyterLab 4.6, Notebook 7.6     arrives with ipykernel 7.4 and newer, on the cell's own thread
nbclassic                        the fields do not arrive
ipykernel 6, Colab, JupyterLite  nothing arrives: the cell would wait for ever
a console, Voila, VS Code        not known
===============================  ============================================================
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from planexec_lite.views.review_desk.presence import kernel, request

NEEDS = {"ipykernel": (7, 4), "ipywidgets": (8,)}


def deaf() -> str:
    """Return why a cell that waits would not hear a press here; "" where it is known to hear it."""
    asked = request()
    if asked is None:
        return "there is no notebook here"
    for name, least in NEEDS.items():
        version = getattr(sys.modules.get(name), "__version__", "")
        if tuple(map(int, re.findall(r"\d+", version)[:2])) < least:
            wanted = ".".join(map(str, least))
            return f"{name} {wanted} or newer is needed, and here is {version or 'none'}"
    return "" if _known(asked) else "only JupyterLab and Notebook 7 are known to pass a press on"


def _known(asked: Mapping[str, Any]) -> bool:
    """Whether the request is one of JupyterLab's: it names the cell, and those that were deleted since the last one."""
    metadata = asked.get("metadata", {})
    return asked.get("msg_type") == "execute_request" and {"cellId", "deletedCells"} <= metadata.keys()


@contextmanager
def answered() -> Iterator[None]:
    """Answer every message of a widget while a cell waits, so that its field sends what was typed since."""
    running = kernel()
    handle = getattr(running, "shell_handlers", {}).get("comm_msg")
    if running is None or handle is None:
        yield
        return
    cell = running.get_parent("shell")

    def handled(stream: Any, ident: Any, message: Any) -> Any:
        try:
            return handle(stream, ident, message)
        finally:
            running._publish_status("idle", "shell", parent=message)
            running._publish_status("busy", "shell", parent=cell)  # the cell goes on, and the page shows that it does

    running.shell_handlers["comm_msg"] = handled
    try:
        yield
    finally:
        running.shell_handlers["comm_msg"] = handle
