"""Draw the picture of a run that the README shows.

usage: python .ci/picture.py [FILE]      (.github/run.svg by default)
"""

from __future__ import annotations

import sys
from pathlib import Path

from planexec_lab import views
from planexec_lab.worlds import deploy
from planexec_lite import Plan, Simulated, ToolExecutor, execute

PICTURE = Path(__file__).resolve().parent.parent / ".github" / "run.svg"


def draw(path: Path = PICTURE) -> None:
    """Release the shop on four slots and write the timeline of the run to `path`."""
    run = execute(Plan.parse(deploy.PLAN), ToolExecutor(deploy.World().tools), workers=Simulated(slots=4))
    path.write_text(views.timeline(run).svg, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
