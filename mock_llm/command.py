"""How the commands of the kit end: at Ctrl-C, and when the reader of their output is gone, without a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

_KIT = ("mock_llm", "planexec_lab", "exercises")


def _loads() -> bool:
    """Whether a command of the kit is being loaded, and not another program that imports the kit."""
    words = sys.orig_argv
    named = words[words.index("-m") + 1] if sys.argv[0] == "-m" and "-m" in words[:-1] else ""
    return named.split(".")[0] in _KIT or sys.argv[0].endswith("mock-llm")


if _loads():  # it takes a second, and Ctrl-C ends it at once
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(main: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process.

    The exit status is that of `main`: 0 for success, 1 for a failure, 2 for wrong use; or 130 after Ctrl-C, and 141 after a
    reader such as ``head -1`` has gone, as the shell's own commands have it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    status: object
    try:
        try:
            status = main()
        except SystemExit as ended:  # by argparse, for example after --help
            status = ended.code
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more at its end
        status = 141
    sys.exit(status)
