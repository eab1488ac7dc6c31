"""Memory, each in a fresh process: the peak of the whole process, and what a run allocates at its peak.

The first is what the system counts as resident (VmHWM on Linux, ru_maxrss elsewhere), so the interpreter, pydantic, the
JSON text, the plan, the events and the board are all in it. The second is tracemalloc's peak from the plan's text on:
the interpreter and the imports are not in it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.bench.plans import SHAPES
from tests.bench.timing import Row

ROOT = Path(__file__).parents[2]
MOST = 100.0  # MB at the peak of the process
WORK = {
    "ours": "run = ours.whole(text, TOOLS, Inline()); assert run.status == 'finished'",
    "asyncio": "peers.with_asyncio(peers.read(text), {'add': add})",
}
PROGRAM = """
import sys, tracemalloc
from planexec_lite import Inline
from tests.bench import ours, peers
from tests.bench.memory import peak
from tests.bench.plans import SHAPES, TOOLS, add, text_of
text = text_of(SHAPES[{shape!r}], {steps})
if {traced}:
    tracemalloc.start()
{work}
print(tracemalloc.get_traced_memory()[1] / 1e6 if {traced} else peak())
"""


def peak() -> float:
    """The most memory that this process has held so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


def megabytes(who: str, shape: str, steps: int, traced: bool) -> float:
    """What one run takes in a fresh process."""
    program = PROGRAM.format(shape=shape, steps=steps, traced=traced, work=WORK[who])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True, timeout=300
    )
    return float(done.stdout)


def measure(steps: int) -> tuple[list[Row], list[Row]]:
    """The peak of the process beside the most that it may be, and what the run allocates beside asyncio's."""
    whole = [
        Row(f"{shape}, {steps:,} steps", megabytes("ours", shape, steps, False), MOST, "MB", 1.0) for shape in SHAPES
    ]
    held = [
        Row(
            f"{shape}, {steps:,} steps",
            megabytes("ours", shape, steps, True),
            megabytes("asyncio", shape, steps, True),
            "MB",
        )
        for shape in SHAPES
    ]
    return whole, held
