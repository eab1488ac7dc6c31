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
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from planexec_lite.views.review_desk.presence import kernel, request

TO_SHOW = 5.0  # seconds that a page has to show a desk after it was loaded again
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


class Page:
    """Whether the page that shows a desk is still there. A page that was loaded again has another session.

    The new page asks for the state of all widgets, and reports a view where the notebook was saved with the desk. If it
    reports none, nothing on it can be pressed, and the cell below would wait for a person who sees no desk.

    Args:
        box: the widget of the desk.
        session: of the page that runs the cell.
    """

    def __init__(self, box: Any, session: str) -> None:
        self.box = box
        self._sessions = {session}
        self._loaded: float | None = None

    def hear(self, session: str) -> None:
        """Take note of a message; the first one of a page asks for the state, in which the desk has no views yet."""
        if session not in self._sessions:
            self._sessions.add(session)
            self._loaded = time.monotonic()
            self.box._view_count = 0

    @property
    def is_lost(self) -> bool:
        """Whether a new page has had time to show the desk and does not."""
        return self._loaded is not None and not self.box._view_count and time.monotonic() - self._loaded > TO_SHOW


def spare_other_pages() -> None:
    """Let the error of this cell drop the requests of its own page alone.

    A kernel drops all requests that have arrived when a cell ends with an error. Those of the page that was left must not
    run without the decision; but a person who runs the cell again on the new page is waiting for it.
    """
    running = kernel()
    if running is None or not hasattr(running, "_abort_queues"):
        return
    session, ended = running.get_parent("shell")["header"].get("session"), datetime.now(UTC)

    def should_handle(stream: Any, message: Any, idents: Any) -> bool:
        header = message["header"]
        dropped = (header["msg_type"], header["session"]) == ("execute_request", session) and header["date"] <= ended
        if dropped:
            running._send_abort_reply(stream, message, idents)
        return not dropped

    def abort_queues(*args: Any) -> None:
        del running._abort_queues
        running.should_handle = should_handle

    running._abort_queues = abort_queues


@contextmanager
def answered(box: Any) -> Iterator[Page]:
    """Answer every message of a widget while a cell waits for the desk `box`, so that its field sends what was typed since."""
    running = kernel()
    handle = getattr(running, "shell_handlers", {}).get("comm_msg")
    if running is None or handle is None:
        yield Page(box, "")
        return
    cell = running.get_parent("shell")
    page = Page(box, cell.get("header", {}).get("session", ""))

    def handled(stream: Any, ident: Any, message: Any) -> Any:
        page.hear(message["header"].get("session", ""))
        try:
            return handle(stream, ident, message)
        finally:
            running._publish_status("idle", "shell", parent=message)
            running._publish_status("busy", "shell", parent=cell)  # the cell goes on, and the page shows that it does

    running.shell_handlers["comm_msg"] = handled
    try:
        yield page
    finally:
        running.shell_handlers["comm_msg"] = handle
