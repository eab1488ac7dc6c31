"""A process that is killed in its third step, when a collector has what had ended: ``python -m tests.spans.killed JOURNAL URL``."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from planexec_lab import spans
from planexec_lab.spans import Live
from planexec_lab.spans.from_events import EPOCH
from planexec_lite import Inline, Journal, Plan, Tool, Toolbox, ToolExecutor, execute
from tests.core.shapes import step

PLAN = Plan.parse([step("1", "work"), step("2", "work", "1"), step("3", "last", "2"), step("4", "work", "3")])


def tools(telling: Live | None) -> Toolbox:
    """What the plan calls. The last one kills the process when the spans of two steps have gone."""

    def work() -> str:
        """Do something."""
        return "done"

    def last() -> str:
        """Wait, and be killed."""
        until = time.monotonic() + 20
        while telling is not None and time.monotonic() < until:
            if telling.flush():
                os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    return Toolbox([Tool(work, effects="none"), Tool(last, effects="idempotent")])


if __name__ == "__main__":
    telling = spans.live(spans.otlp(sys.argv[2]), epoch=EPOCH)
    journal = Journal(Path(sys.argv[1]))
    execute(PLAN, ToolExecutor(tools(telling)), workers=Inline(), journal=journal, watch=telling)
