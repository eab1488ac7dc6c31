"""Write the results: CSV tables, a page of feedback for each student, and a report for the teacher.

Only `seconds.csv` and `report.txt` differ between two runs on the same files.
"""

from __future__ import annotations

import csv
import hashlib
import html
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from exercises.checker.exercise import find
from exercises.grade.lessons import all_tasks

COLUMNS = {
    "grades": ("student", "exercise", "status", "points", "out_of", "message", "submission"),
    "totals": ("student", "right", "points", "out_of"),
    "similar": ("exercise", "student", "other", "share"),
    "seconds": ("student", "exercise", "seconds"),
}
STATUS = {
    "right": "✓ Right",
    "wrong": "✗ Wrong",
    "raised": "✗ Raised an error",
    "not started": "– Not started",
    "look": "? A teacher looks at it",
    "unreadable": "✗ The file can't be read",
    "no submission": "– Nothing was handed in",
}
STYLE = """
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
body { color: #1f1f1f; background: #fff }
pre { background: #f1f3f4; padding: .75rem; font-size: .8rem; overflow-x: auto }
table { border-collapse: collapse }
th, td { border: 1px solid #6e6e6e; padding: .25rem .75rem; text-align: left }
"""


@dataclass(frozen=True)
class Row:
    """The grade of an exercise for a student."""

    student: str
    exercise: str
    status: str
    points: int
    message: str
    submission: str = ""

    @property
    def out_of(self) -> int:
        """The points of a right answer; 0 for a row without an exercise."""
        return all_tasks()[self.exercise].points if self.exercise in all_tasks() else 0


def is_foreign(out: Path) -> bool:
    """Return whether a folder has content that is no result of the grader."""
    return out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "report.txt").is_file()))


@contextmanager
def moved_at_the_end(out: Path) -> Iterator[Path]:
    """Give a new folder, and put it in the place of `out` when all is written; an error leaves `out` as it was."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as folder:
        new, old = Path(folder, "new"), Path(folder, "old")
        new.mkdir()
        yield new
        if out.exists():
            out.rename(old)
        new.rename(out)


def write_table(out: Path, name: str, rows: Iterable[Sequence[object]]) -> None:
    """Write a table; a text that a spreadsheet would run as a formula gets an apostrophe."""
    with (out / f"{name}.csv").open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS[name])
        writer.writerows([_cell(value) for value in row] for row in rows)


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value[:1] in tuple("=+-@\t\r") and value[:1] else value


def write_grades(out: Path, rows: Sequence[Row]) -> None:
    """Write all grades, and the totals per student."""
    of = lambda row: (row.student, row.exercise, row.status, row.points, row.out_of, row.message, row.submission)  # noqa: E731
    write_table(out, "grades", map(of, rows))
    totals = []
    for student in sorted({row.student for row in rows}):
        own = [row for row in rows if row.student == student]
        right = sum(row.status == "right" for row in own)
        totals.append((student, right, sum(row.points for row in own), sum(row.out_of for row in own)))
    write_table(out, "totals", totals)


def write_feedback(out: Path, rows: Sequence[Row], solutions: bool) -> None:
    """Write a page for each student."""
    folder = out / "feedback"
    folder.mkdir(exist_ok=True)
    for student in sorted({row.student for row in rows}):
        page = feedback(student, [row for row in rows if row.student == student], solutions)
        (folder / file_name(student)).write_text(page, encoding="utf-8", errors="backslashreplace")


def file_name(student: str) -> str:
    """Return a safe name for a student's page; a changed id gets a hash, so that two students never share a page."""
    plain = re.sub(r"[^\w-]", "_", student)[:60]
    return (
        f"{plain if plain == student.lower() else f'{plain}-{hashlib.sha256(student.encode()).hexdigest()[:8]}'}.html"
    )


def feedback(student: str, rows: Sequence[Row], solutions: bool) -> str:
    """Return the page of a student: a table, then verdict, message, hint, and perhaps a solution of each exercise."""
    points, out_of = sum(row.points for row in rows), sum(row.out_of for row in rows)
    lines, parts = [], []
    for row in rows:
        task = all_tasks().get(row.exercise)
        title = f"{row.exercise} · {task.facts.title}" if task else "Your files"
        link = f'<a href="#e{_text(row.exercise)}">{_text(title)}</a>'
        lines.append(
            f'<tr><th scope="row">{link}</th><td>{STATUS[row.status]}</td><td>{row.points} of {row.out_of}</td></tr>'
        )
        parts.append(
            f'<h2 id="e{_text(row.exercise)}">{_text(title)}</h2>\n<p><strong>{STATUS[row.status]}</strong></p>'
        )
        parts.append(f'<pre tabindex="0">{_text(row.message)}</pre>' if row.message else "")
        if task and row.status in ("wrong", "raised", "not started"):
            parts.append(f"<p>Hint: {_text(find(row.exercise).hints[0])}</p>")
        if task and solutions:
            parts.append(f"<details><summary>One solution</summary><pre>{_text(task.right[0])}</pre></details>")
    head = '<tr><th scope="col">Exercise</th><th scope="col">Verdict</th><th scope="col">Points</th></tr>'
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>Feedback for {_text(student)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            f"<h1>Feedback for {_text(student)}</h1>\n<p>{points} of {out_of} points.</p>",
            f"<table>\n<thead>{head}</thead>\n<tbody>\n" + "\n".join(lines) + "\n</tbody>\n</table>",
            *filter(None, parts),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _text(value: str) -> str:
    return html.escape(value)


def summary(
    rows: Sequence[Row],
    pairs: Sequence[tuple[str, str, str, float]],
    separations: Sequence[str],
    namesakes: Sequence[str] = (),
) -> str:
    """Return the report for the teacher; it is one line for each message of a row."""
    counts = Counter(row.status for row in rows)
    lines = [f"{len({row.student for row in rows})} students, {len(rows)} rows: {_counted(counts)}."]
    lines += [f"Separation of the answers: {text}" for text in separations]
    lines += [
        f"Several students are called {name}: each has a row, with the number in the file's name. A roster can tell them apart."
        for name in namesakes
    ]
    lines += [f"Unreadable file of {row.student}: {row.message}" for row in rows if row.status == "unreadable"]
    for row in (row for row in rows if row.status == "look"):
        lines.append(f"Look at {row.student}:{row.exercise}, then add --trust. {' '.join(row.message.split())}")
    if pairs:
        lines.append(f"{len(pairs)} similar pairs in similar.csv: a reason to read both, not a verdict.")
    return "\n".join(lines) + "\n"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
