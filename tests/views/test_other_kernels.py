"""Player and desk in the kernels of other times: Colab's ipykernel 6, IPython 7 and ipywidgets 7, and today's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.colab import VERSIONS
from tests.guards.books import ROOT

LOOPBACK = True
ANSWERS = [
    "Event 3 of 11, at 0 s: step 1 starts: act(n=1)",
    "Event 4 of 11, at 1 s: step 1 gives 1",
    "Event 11 of 11, at 4 s: the run has finished: 4 steps done",
    "there is no decision yet",
    "approve",
]


def check(python: Path, *versions: str) -> None:
    program = Path(__file__).parent / "others" / "in_a_kernel.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    done = subprocess.run([python, program], capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout.splitlines()[-1])
    assert printed["answers"] == ANSWERS
    assert printed["versions"] == list(versions) or not versions


@pytest.mark.slow
def test_they_move_in_the_kernel_of_this_environment() -> None:
    check(Path(sys.executable))


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.xdist_group("colab")
def test_they_move_in_colab_s_kernel(colab: Path) -> None:
    check(colab, *(VERSIONS[name] for name in ("ipython", "ipykernel", "ipywidgets")))
