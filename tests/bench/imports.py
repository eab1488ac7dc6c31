"""The cost of imports, in fresh processes, interleaved: the kit compared with pydantic, sqlite3 and a model."""

import subprocess
import sys
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


def measure(times: int) -> list[Row]:
    """One row, in milliseconds; a round before the first one brings the files into the cache."""
    pairs = [(seconds(OURS), seconds(THEIRS)) for _ in range(times + 1)][1:]
    taken = {"ours": [ours for ours, _ in pairs], "theirs": [theirs for _, theirs in pairs]}
    return [beside("import planexec_lite", taken, "ours", "theirs", 1e3, "ms", most=1.3)]
