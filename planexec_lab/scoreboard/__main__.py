"""The command: ``python -m planexec_lab.scoreboard [TASK …]`` prints the scoreboard."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from textwrap import fill

from planexec_lab.scoreboard import assumptions, goals, published, race, rows, settings, tasks
from planexec_lab.variations import VARIATIONS

WIDTH = 100  # columns


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables, with progress on stderr; return 0, 2 for a wrong call, or 130 if it was interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m planexec_lab.scoreboard", description="Every variation on the same tasks, on a virtual clock."
    )
    known = ", ".join(tasks())
    parser.add_argument("task", nargs="*", help=f"the tasks, by default all: {known}")
    options = parser.parse_args(arguments)
    if unknown := [task for task in options.task if task not in tasks()]:
        parser.error(f"there is no task {unknown[0]!r}; there are: {known}")
    try:
        _print_tables(options.task or list(tasks()))
    except KeyboardInterrupt:
        print("interrupted: the rest of the tables is missing", file=sys.stderr)
        return 130
    return 0


def _print_tables(names: Sequence[str]) -> None:
    every = []
    for number, task in enumerate(names, 1):
        print(f"task {number} of {len(names)}: {task}", file=sys.stderr, flush=True)
        on_task = list(rows(VARIATIONS, [task]))
        every += on_task
        _print(settings(on_task).text, "", race(on_task).text, "")
    _print(goals(every).text, "")
    _print("Assumed:", assumptions.in_words(), "", "Published, and not measured here:", published.in_words())


def _print(*texts: str) -> None:
    for line in "\n".join(texts).split("\n"):
        last_cell = line.rfind("  ") + 2
        indent = last_cell if 4 < last_cell < WIDTH - 10 else 4
        print(fill(line, WIDTH, subsequent_indent=" " * indent, replace_whitespace=False), flush=True)


if __name__ == "__main__":
    sys.exit(main())
