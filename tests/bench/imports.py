"""What `import planexec_lite` costs, beside pydantic, sqlite3 and one model; each in a fresh process, interleaved."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from statistics import median

from tests.bench.timing import Row, ratio

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
    return float(done.stdout)


def measure(times: int) -> list[Row]:
    """One row, in milliseconds."""
    seconds(OURS), seconds(THEIRS)  # the files are in the cache now
    ours, theirs = [], []
    for _ in range(times):
        theirs.append(seconds(THEIRS))
        ours.append(seconds(OURS))
    return [Row("import planexec_lite", median(ours) * 1e3, median(theirs) * 1e3, "ms", 1.3, ratio(ours, theirs))]
