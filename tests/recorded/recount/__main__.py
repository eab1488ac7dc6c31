"""Count each table again and compare the bytes; with --write, store what differs.

usage: CLONES=FOLDER python -m tests.recorded.recount [--write]

FOLDER has bare clones (`git clone --bare https://github.com/OWNER/NAME FOLDER/OWNER+NAME/repo`) of the four repositories that
`airline`, `blocks` and `others` name. `papers` and `judges` are read by people and are not counted. It takes about a minute.
"""

import csv
import io
import sys
from pathlib import Path

import planexec_lab.recorded
from tests.recorded.recount.airline import airline_runs
from tests.recorded.recount.blocks import blocks_examples, blocks_other_words, blocks_plans, blocks_rounds
from tests.recorded.recount.others import invented_tools, leaderboard, task_fixes
from tests.recorded.recount.source import Row

TABLES = Path(planexec_lab.recorded.__file__).with_name("tables")
COUNTED = (
    airline_runs,
    blocks_plans,
    blocks_examples,
    blocks_rounds,
    blocks_other_words,
    invented_tools,
    leaderboard,
    task_fixes,
)


def as_csv(rows: list[Row]) -> bytes:
    """The rows as the bytes of a CSV file."""
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return page.getvalue().encode()


def main() -> int:
    differ = 0
    for count in COUNTED:
        path, found = TABLES / f"{count.__name__}.csv", as_csv(count())
        same = path.exists() and path.read_bytes() == found
        print(f"{path.name}: {'the same bytes' if same else 'DIFFERS'}")
        differ += not same
        if "--write" in sys.argv:
            path.write_bytes(found)
    return min(differ, 1)


if __name__ == "__main__":
    sys.exit(main())
