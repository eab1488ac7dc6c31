"""Runs a script with the shell: bounded in time and output, with few environment variables, and ended with all it started."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any, TypedDict

from planexec_lite.meter import job_meter

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""The variables of this process that a script sees, where they are set; all others are given by name."""

SHELL = "/bin/sh"
MOST = 20_000  # bytes of each output that are kept
_GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_TICK = 0.02  # seconds between two checks of whether the shell has ended


class Done(TypedDict):
    """The outcome of a script: its exit code, and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str


class _Output:
    """The first two thirds and the last third of the kept output, and the total length."""

    def __init__(self) -> None:
        self.head, self.tail, self.count = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.count += len(data)
        room = max(MOST - MOST // 3 - len(self.head), 0)
        self.head += data[:room]
        self.tail += data[room:]
        del self.tail[: max(len(self.tail) - MOST // 3, 0)]

    def text(self) -> str:
        """The text; bytes that are not UTF-8 are shown as ``\\xff``."""
        left_out = self.count - len(self.head) - len(self.tail)
        head, tail = (bytes(part).decode(errors="backslashreplace") for part in (self.head, self.tail))
        return f"{head} … [{left_out:,} bytes left out] … {tail}" if left_out else head + tail


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a script sees: a few of this process, and those that are given."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict(more)


def seconds_left(timeout: float) -> float:
    """Return the seconds that a call can take: `timeout`, or what its step has left."""
    meter = job_meter()
    left = meter.left if meter.at is None else None
    return timeout if left is None else min(timeout, left)


def run(script: str | Sequence[str], variables: Mapping[str, str], folder: Path, timeout: float) -> Done:
    """Run `script` in `folder`, and return what it wrote, shortened to `MOST` bytes of each output.

    A script is text for the shell, or the words of a command, which needs no shell. When it has ended, or after `timeout`
    seconds, every process that it started and that is still in its process group is ended too.

    Raises `TimeoutError` when it took too long, `RuntimeError` where there is no shell, or where it can't be started.
    """
    if sys.platform == "emscripten" or os.name != "posix":
        raise RuntimeError(f"a script of a manifest needs {SHELL}, which this system does not have; use Linux or macOS")
    seconds = seconds_left(timeout)
    words = [SHELL, "-c", script] if isinstance(script, str) else list(script)
    pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "bufsize": 0}
    try:
        shell = subprocess.Popen(words, cwd=folder, env=dict(variables), start_new_session=True, **pipes)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"the script can't be started: {error}") from None
    out, err = _Output(), _Output()
    try:
        in_time = _read_until_end(shell, {shell.stdout: out, shell.stderr: err}, monotonic() + seconds)
    finally:
        _end(shell)
    if not in_time:
        wrote = err.text().strip()
        raise TimeoutError(f"it took longer than {seconds:g} s, and was ended{f'; it wrote: {wrote}' if wrote else ''}")
    return Done(exit_code=shell.returncode, stdout=out.text(), stderr=err.text())


def _read_until_end(shell: subprocess.Popen[bytes], outputs: Mapping[Any, _Output], until: float) -> bool:
    """Read what the shell writes until it has ended, and return whether it ended in time."""
    ended = False
    with selectors.DefaultSelector() as selector:
        for stream in outputs:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map() and monotonic() < until:
            for key, _ in selector.select(min(_TICK, max(until - monotonic(), 0))):
                if data := os.read(key.fd, 65536):
                    outputs[key.fileobj].add(data)
                else:
                    selector.unregister(key.fileobj)
            if not ended and _has_ended(shell):
                ended, until = True, min(until, monotonic() + _GRACE)
                _signal(shell, signal.SIGKILL)  # a process that it left behind can keep its outputs open
    while not ended and monotonic() < until:  # it has closed its outputs
        ended = _has_ended(shell)
        sleep(0.0 if ended else _TICK / 10)
    return ended


def _has_ended(shell: subprocess.Popen[bytes]) -> bool:
    """Return whether the shell has ended, without reaping it: so its group's number belongs to no other process."""
    if not hasattr(os, "waitid"):
        return shell.poll() is not None
    return os.waitid(os.P_PID, shell.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(shell: subprocess.Popen[bytes]) -> None:
    """End the shell's process group: with SIGTERM, and after a while with SIGKILL."""
    _signal(shell, signal.SIGTERM)
    until = monotonic() + _GRACE
    while not _has_ended(shell) and monotonic() < until:
        sleep(_TICK)
    _signal(shell, signal.SIGKILL)
    shell.wait()
    for stream in (shell.stdout, shell.stderr):
        if stream is not None:
            stream.close()


def _signal(shell: subprocess.Popen[bytes], which: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(shell.pid, which)
