"""The command: ``python -m planexec_lab.scoreboard [TASK …]`` prints the scoreboard."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from planexec_lab.scoreboard import assumptions, goals, published, race, rows, settings, tasks
from planexec_lab.variations import VARIATIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; return 0, or 2 for a wrong call."""
    parser = argparse.ArgumentParser(
        prog="python -m planexec_lab.scoreboard", description="Every variation on the same tasks, on a virtual clock."
    )
    known = ", ".join(tasks())
    parser.add_argument("task", nargs="*", help=f"the tasks, by default all: {known}")
    options = parser.parse_args(arguments)
    if unknown := [task for task in options.task if task not in tasks()]:
        parser.error(f"there is no task {unknown[0]!r}; there are: {known}")
    every = []
    for task in options.task or tasks():
        on_task = list(rows(VARIATIONS, [task]))
        every += on_task
        print(settings(on_task).text, race(on_task).text, sep="\n\n", end="\n\n")
    print(goals(every).text, end="\n\n")
    print("Assumed:", assumptions.in_words(), "", "Published, and not measured here:", published.in_words(), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
