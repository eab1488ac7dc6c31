"""A program at the other end of two pipes that reads and writes lines: the basis of MCP over stdio."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence


def where_the_kit_is(command: Sequence[str]) -> Mapping[str, str]:
    """The variable by which a server of the kit finds it where it is not installed, as on Colab; for others nothing."""
    program, *options = map(str, command)
    if program == sys.executable and options[:1] == ["-m"] and options[1:] and options[1].startswith("planexec_lab."):
        return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return {}


class Pipe:
    """A program that is reached over its stdin and stdout, line by line.

        with Pipe([sys.executable, "-m", "planexec_lab.mcp", "serve", "kitchen"]) as pipe:
            pipe.write('{"jsonrpc": "2.0", …}')
            answer = pipe.read()

    Args:
        command: the program and its arguments. Its stderr is discarded.

    It ends with the ``with`` block, or with `close`.
    """

    def __init__(self, command: Sequence[str]) -> None:
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        variables = os.environ | where_the_kit_is(command)
        self._child = subprocess.Popen(list(command), env=variables, encoding="utf-8", **streams)  # type: ignore[call-overload]

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def write(self, line: str) -> None:
        """Write a line. Raises `BrokenPipeError` if the program has ended, and `ValueError` if the text has a line break."""
        if "\n" in line or "\r" in line:
            raise ValueError("a message is one line, and this is more; json.dumps makes one of it, without indent")
        print(line, file=self._child.stdin, flush=True)

    def read(self) -> str:
        """Wait for the program's next line. Raises `EOFError` if the program has ended."""
        line: str = self._child.stdout.readline()
        if not line:
            raise EOFError("the program has ended")
        return line.rstrip("\n")

    def close(self) -> None:
        """Close its stdin, so that it ends, and wait for that; one that does not end is killed."""
        try:
            self._child.stdin.close()
            self._child.wait(5)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            pass
        finally:  # an interrupt while it is waited for leaves no program behind
            if self._child.poll() is None:
                self._child.kill()
                self._child.wait()
            self._child.stdout.close()
