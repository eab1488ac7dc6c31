"""Memory: the peak of a fresh process that carries out a plan from JSON, with the interpreter, pydantic, text, and events."""

import subprocess
import sys
from pathlib import Path

from tests.bench.plans import SHAPES
from tests.bench.timing import Row

ROOT = Path(__file__).parents[2]
MOST = 100.0  # MB
PROGRAM = """
from planexec_lite import Inline
from tests.bench.memory import peak
from tests.bench.plans import text_of, whole
assert whole(text_of({shape!r}, {steps}), Inline()).status == "finished"
print(peak())
"""


def peak() -> float:
    """The most memory that this process has held so far, in MB: VmHWM on Linux, ru_maxrss elsewhere."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


def measure(steps: int) -> list[Row]:
    """The peak for each shape, beside the most that it may be."""
    rows = []
    for shape in SHAPES:
        command = [sys.executable, "-c", PROGRAM.format(shape=shape, steps=steps)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=300)
        rows.append(Row(f"{shape}, {steps:,} steps", float(done.stdout), MOST, "MB", 1.0))
    return rows
