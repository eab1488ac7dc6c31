"""What imports cost, each in a fresh process, interleaved: ours beside pydantic, sqlite3 and one model."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.bench.timing import Row, beside

ROOT = Path(__file__).parents[2]
OURS = "import planexec_lite"
THEIRS = """
import sqlite3, pydantic
class Model(pydantic.BaseModel):
    name: str
"""


def seconds(code: str) -> float:
    """How long `code` takes in a fresh interpreter, without the start of the interpreter."""
    timed = f"from time import perf_counter as now; began = now()\n{code}\nprint(now() - began)"
    command = [sys.executable, "-c", timed]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    return float(done.stdout.splitlines()[-1])


def interleaved(codes: Mapping[str, str], times: int) -> dict[str, list[float]]:
    """Seconds of each piece of code in every round, after one round that brings the files into the cache."""
    taken: dict[str, list[float]] = {name: [] for name in codes}
    for turn in range(times + 1):
        for name, code in codes.items():
            spent = seconds(code)
            if turn:
                taken[name].append(spent)
    return taken


def measure(times: int) -> list[Row]:
    """One row, in milliseconds."""
    taken = interleaved({"ours": OURS, "theirs": THEIRS}, times)
    return [beside("import planexec_lite", taken, "ours", "theirs", 1e3, "ms", most=1.3)]
