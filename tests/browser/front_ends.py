"""Other front ends than the environment's own, each started in an environment of its own, with notebooks of two cells."""

import os
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
import pytest

from tests.browser.lab import free_port
from tests.guards.books import ROOT

NEEDS = ["pydantic>=2.11,<3", "matplotlib>=3.10,<4"]
SETUP = "from planexec_lite import *\nfrom planexec_lab import views\nfrom tests.views.desks import PLAN, TOOLS"
SHOW = 'desk = views.desk(PLAN, TOOLS, script=["Approve"])\ndesk'
READ = """import json
decision = desk.decision
grant = decision.grant and decision.grant.new_steps
print(json.dumps([decision.verdict, decision.by, decision.comment, grant, decision.of == PLAN.hash]))"""


def book(path: Path, *cells: str) -> Path:
    """Write a notebook with these code cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(made, path)
    return path


@contextmanager
def served(python: Path, folder: Path, *command: str, **variables: str) -> Iterator[str]:
    """The address of a server that an environment's `command` starts in a folder, with nothing of this user's."""
    port = free_port()
    own = {"HOME": "home", "JUPYTER_RUNTIME_DIR": "runtime", "JUPYTER_CONFIG_DIR": "config"}
    own |= {"JUPYTER_DATA_DIR": "data", "IPYTHONDIR": "ipython"}
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PLANEXEC_", "VIRTUAL_ENV"))}
    env |= {name: str(folder / value) for name, value in own.items()}
    env |= {"PYTHONPATH": str(ROOT), "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"} | variables
    log = folder / "server.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            [str(python.parent / command[0]), *command[1:], f"--port={port}", "--no-browser"],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=written,
            stderr=subprocess.STDOUT,
        )
        try:
            address = f"http://127.0.0.1:{port}"
            if not _answers(address, server):
                pytest.fail(f"{command[0]} does not answer:\n{log.read_text(encoding='utf-8')[-3000:]}")
            yield address
        finally:
            server.terminate()
            server.wait(30)


def _answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    """Whether the server answers, before it ends by itself or two minutes are over."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(240):
        try:
            direct.open(f"{address}/static/favicon.ico", timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            try:
                server.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
            return False
        else:
            return True
    return False
