"""Kernels that are forked from one process, which has imported other people's slow packages before.

A fresh kernel spends most of its first second on these imports. A forked one has them already, and nothing of this project:
otherwise a cell that forgets an import could pass. ``python .ci/forked_kernels.py`` is that process.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PACKAGES = ("ipykernel.kernelapp", "IPython.core.completer", "matplotlib_inline.backend_inline", "pydantic", "openai",
            "openai.types.chat", "ipywidgets", "nbformat")  # fmt: skip


class Kernel:
    """A forked kernel, as far as jupyter_client uses its process."""

    stdin = stdout = stderr = returncode = None

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """None while the kernel is alive; its parent collects the status."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return 0
        return None

    def wait(self) -> int:
        while self.poll() is None:
            time.sleep(0.01)
        return 0

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start() -> int:
    """Let jupyter_client fork the kernels of this process; return the id of their parent."""
    from jupyter_client.provisioning import local_provisioner

    parent = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdin is not None
    assert parent.stdout is not None
    parent.stdout.readline()

    def launch(command: list[str], env: dict[str, str], cwd: str, **_: Any) -> Kernel:
        assert command[1:3] == ["-m", "ipykernel_launcher"], command
        print(json.dumps([command[3:], env, cwd]), file=parent.stdin, flush=True)
        return Kernel(int(parent.stdout.readline()))  # type: ignore[union-attr]

    local_provisioner.launch_kernel = launch
    return parent.pid


def _become_a_kernel(arguments: list[str], env: dict[str, str], cwd: str) -> None:
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    print(os.getpid(), flush=True)
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)
    os.dup2(empty, 1)
    os.environ.clear()
    os.environ.update(env)
    os.chdir(cwd)
    random.seed()
    from ipykernel.kernelapp import launch_new_instance

    sys.argv = [str(Path(sys.prefix, "ipykernel_launcher.py")), *arguments]
    launch_new_instance()


def main() -> None:
    del sys.path[0]  # this folder, which no kernel has
    os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"  # as a kernel sets it
    for package in PACKAGES:
        importlib.import_module(package)
    gc.freeze()  # so that no kernel looks at these packages again, and copies their memory
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    print("ready", flush=True)
    while line := sys.stdin.readline():  # ends with the process that asked
        if not os.fork():
            try:
                _become_a_kernel(*json.loads(line))
            finally:
                os._exit(0)


if __name__ == "__main__":
    main()
