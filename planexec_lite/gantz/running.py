"""Runs a script with the shell: bounded in time and output, with an environment of a few variables, and ended as a whole."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Protocol, TypedDict

from planexec_lite.meter import current

PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""The variables of this process that a script sees, where they are set; all others are given by name."""

SHELL = "/bin/sh"
_GRACE = 2.0  # seconds between the polite signal and the other one
_TICK = 0.02  # seconds: how often it is looked whether the shell has ended


class Done(TypedDict):
    """What a script came to: its exit code, and what it wrote."""

    exit_code: int
    stdout: str
    stderr: str


class Runner(Protocol):
    """What runs a script, as `run` does."""

    def __call__(
        self, script: str, variables: Mapping[str, str], folder: Path, *, timeout: float, most: int
    ) -> Done: ...


class _Kept:
    """The first and the last of what was written, and how much there was between."""

    def __init__(self, most: int) -> None:
        self.head, self.tail, self.count = bytearray(), bytearray(), 0
        self.first, self.last = most - most // 3, most // 3

    def add(self, data: bytes) -> None:
        self.count += len(data)
        room = max(self.first - len(self.head), 0)
        self.head += data[:room]
        self.tail += data[room:]
        del self.tail[: max(len(self.tail) - self.last, 0)]

    def text(self) -> str:
        """The text; bytes that are no text are shown as ``\\xff``."""
        left_out = self.count - len(self.head) - len(self.tail)
        head, tail = (bytes(part).decode(errors="backslashreplace") for part in (self.head, self.tail))
        return f"{head} … [{left_out:,} bytes left out] … {tail}" if left_out else head + tail


def environment(more: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that a script sees: a few of this process, and those that are given."""
    return {name: os.environ[name] for name in PASSED_ON if name in os.environ} | dict(more)


def run(script: str, variables: Mapping[str, str], folder: Path, *, timeout: float, most: int) -> Done:
    """Run `script` in `folder`, and return what it wrote, shortened to `most` bytes of each.

    It reads nothing: its standard input is empty. When the shell has ended, or after `timeout` seconds, everything that
    it has started and that is still there is ended too, but for a program that left its process group.

    Raises `TimeoutError` when it took too long, `RuntimeError` where there is no shell, or where it can't be started.
    """
    if sys.platform == "emscripten" or os.name != "posix":
        raise RuntimeError(f"a script of a manifest needs {SHELL}, which is not to be had here; use Linux or macOS")
    meter = current.get()
    left = meter.left if meter is not None and meter.at is None else None
    seconds = timeout if left is None else min(timeout, left)
    pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        shell = subprocess.Popen(
            [SHELL, "-c", script], cwd=folder, env=dict(variables), start_new_session=True, bufsize=0, **pipes
        )
    except (OSError, ValueError) as error:
        raise RuntimeError(f"the script can't be started: {error}") from None
    out, err = _Kept(most), _Kept(most)
    try:
        in_time = _heard(shell, {shell.stdout: out, shell.stderr: err}, monotonic() + seconds)
    finally:
        _end(shell)
    if not in_time:
        raise TimeoutError(f"it took longer than {seconds:g} s, and was ended{_said(err)}")
    return Done(exit_code=shell.returncode, stdout=out.text(), stderr=err.text())


def _said(kept: _Kept) -> str:
    text = kept.text().strip()
    return f"; it wrote: {text}" if text else ""


def _heard(shell: subprocess.Popen[bytes], kept: Mapping[Any, _Kept], until: float) -> bool:
    """Read what the shell writes until it has ended, and say whether it did in time."""
    with selectors.DefaultSelector() as both:
        for stream in kept:
            both.register(stream, selectors.EVENT_READ)
        ended = False
        while both.get_map() and monotonic() < until:
            for key, _ in both.select(min(_TICK, max(until - monotonic(), 0))):
                if data := os.read(key.fd, 65536):
                    kept[key.fileobj].add(data)
                else:
                    both.unregister(key.fileobj)
            if not ended and _has_ended(shell):
                ended, until = True, min(until, monotonic() + _GRACE)
                _signal(shell, signal.SIGKILL)  # what it left behind may hold its output open
    if ended:
        return True
    pause = 0.0005
    while not _has_ended(shell):  # it has closed its output, and is about to end, or goes on
        if monotonic() >= until:
            return False
        sleep(pause)
        pause = min(2 * pause, _TICK)
    return True


def _has_ended(shell: subprocess.Popen[bytes]) -> bool:
    """Whether the shell has ended. It stays known to the system, so that its group's number is nobody else's."""
    if shell.returncode is not None:
        return True
    if not hasattr(os, "waitid"):
        return shell.poll() is not None
    return os.waitid(os.P_PID, shell.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(shell: subprocess.Popen[bytes]) -> None:
    """End the shell's process group, by its number: politely, and after a while by force."""
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
