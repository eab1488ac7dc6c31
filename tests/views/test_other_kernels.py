"""Player, live board, quiz and desk in the kernels of other times: Colab's ipykernel 6, IPython 7 and ipywidgets 7, and today's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.guards.books import ROOT
from tests.mock_llm.test_other_clients import make_environment

LOOPBACK = True
COLAB = ("ipykernel==6.17.1", "ipywidgets==7.7.1", "ipython==7.34.0", "pydantic>=2", "matplotlib", "pyyaml")
VIEW = "application/vnd.jupyter.widget-view+json"
SHOWN = [[VIEW], ["text/html", "text/plain"]]
FOUND = {
    "setup": [],
    "live board": SHOWN,
    "run": [],
    "live board, after": SHOWN,
    "player": SHOWN,
    "large player": SHOWN,
    "quiz": SHOWN,
    "desk": SHOWN,
}
SAID = [
    "Event 3 of 11, at 0 s: step 1 starts: act(n=1)",
    "Event 4 of 11, at 1 s: step 1 gives 1",
    "Event 11 of 11, at 4 s: the run has finished: 4 steps done",
    "Showing 40 of 60 steps: rows 1 to 40. 60 done.",
    "nobody has decided yet: press a button above, then run this cell and those below",
    "approve",
]


def check(python: Path, *versions: str) -> None:
    program = Path(__file__).parent / "others" / "in_a_kernel.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    done = subprocess.run(
        [str(python), str(program)], capture_output=True, text=True, check=False, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    if versions:
        assert told["versions"] == list(versions)
    assert told["outputs"] == FOUND
    assert told["said"] == SAID


@pytest.mark.slow
def test_they_are_shown_and_move_in_the_kernel_of_this_environment() -> None:
    check(Path(sys.executable))


@pytest.mark.wide
@pytest.mark.slow
def test_they_are_shown_and_move_in_colab_s_kernel(tmp_path: Path) -> None:
    check(make_environment(tmp_path / "env", *COLAB), "7.34.0", "6.17.1", "7.7.1")
