"""`python -m exercises.grade FOLDER -o OUT`: grade the submissions of a class. No data leaves this machine."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from textwrap import dedent
from typing import Any

from exercises.grade import report
from exercises.grade.collect import Class, Handed, collect
from exercises.grade.lessons import all_tasks, digest, job, tasks, unchanged
from exercises.grade.report import Row
from exercises.grade.rules import means
from exercises.grade.sandbox import judge
from exercises.grade.similar import similar
from exercises.grade.worker import STOPPED

LOOK = "The answer uses {names}, which no exercise needs. A teacher looks at it before it gets points."
Outcomes = dict[tuple[str, str], dict[str, dict[str, Any]]]  # student and hash of the answers -> exercise -> outcome


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, grade, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m exercises.grade", description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, help="what was handed in: notebooks, zips, exports of the browser tab")
    add("-o", "--out", type=Path, required=True, help="folder for the tables, feedback/ and report.txt")
    add("--roster", type=Path, help="CSV; the first column is the id, the others are names or addresses")
    add(
        "--best",
        action="store_true",
        help="if a learner handed in a lesson several times, take the best notebook instead of the last",
    )
    add("--trust", action="append", default=[], metavar="STUDENT:EXERCISE", help="an answer that you have read")
    add("--solutions-after", type=date.fromisoformat, metavar="DATE", help="feedback has solutions from this day on")
    add("--pseudonyms", metavar="SECRET", help="write pseudonyms instead of ids; pseudonyms.csv has the key")
    add("--forget", metavar="ID", help="remove a student from the results, and list the student's files")
    add("--seed", default="", metavar="WORD", help="with the student's id, it varies the random values of the checks")
    add("--own-numbers", action="store_true", help="each student had own numbers: PLANEXEC_STUDENT was the id")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at the same time (default: all cores)")
    add("--dask", metavar="ADDRESS", help="judge on this Dask cluster, whose machines have the same checkout")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    read = collect(options.folder, options.roster)
    if options.forget:
        files = sorted({one.where for one in read.handed if one.student == options.forget})
        print("Removed:", *report.forget(options.out, options.forget), "Delete these yourself:", *files, sep="\n  ")
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    return grade(read, options)


def grade(read: Class, options: argparse.Namespace) -> int:
    """Judge the submissions, and write the results."""
    attempts = by_lesson(read.handed)
    if not options.best:
        attempts = {key: several[-1:] for key, several in attempts.items()}
    outcomes, separations = judged(attempts, options)
    rows, chosen = [], []
    for (_, lesson), several in sorted(attempts.items()):
        graded = [(one, rows_of(one, lesson, outcomes[key(one)], options.trust)) for one in several]
        handed, own = max(reversed(graded), key=lambda pair: sum(row.points for row in pair[1]))
        chosen.append(handed)
        rows += own
    students = sorted({*read.roster.values(), *(one.student for one in read.handed)})
    lessons = sorted({lesson for _, lesson in attempts})
    absent = [(student, lesson) for student in students for lesson in lessons if (student, lesson) not in attempts]
    rows += [Row(student, id, "no submission", 0, "") for student, lesson in absent for id in tasks(lesson)]
    rows += [Row(student, "", "unreadable", 0, f"A file can't be read: {why}.") for student, _, why in read.problems]
    names = {row.student: row.student for row in rows}
    if options.pseudonyms:
        names = {student: report.pseudonym(student, options.pseudonyms) for student in names}
        report.write_table(options.out, "pseudonyms", sorted(names.items()))
    rows = [replace(row, student=names[row.student]) for row in rows]
    rows.sort(key=lambda row: (row.student, row.exercise))
    pairs = [(id, names[one], names.get(other, other), share) for id, one, other, share in alike(chosen)]
    spent = [(names[one.student], *pair) for one in chosen for pair in seconds(outcomes[key(one)])]
    report.write_grades(options.out, rows)
    report.write_table(options.out, "similar", pairs)
    report.write_table(options.out, "seconds", sorted(spent))
    report.write_feedback(options.out, rows, bool(options.solutions_after and date.today() >= options.solutions_after))
    text = report.summary(rows, pairs, separations)
    (options.out / "report.txt").write_text(text, encoding="utf-8")
    print(text, end="")
    return 0


def by_lesson(handed: Iterable[Handed]) -> dict[tuple[str, str], list[Handed]]:
    """Return the notebooks by student and lesson, the last one last."""
    by_student: dict[tuple[str, str], list[Handed]] = {}
    for one in sorted(handed, key=lambda one: (one.moment, one.where)):
        for lesson in sorted({id.partition(".")[0] for id in one.answers}):
            answers = {id: source for id, source in one.answers.items() if id in tasks(lesson)}
            by_student.setdefault((one.student, lesson), []).append(replace(one, answers=answers))
    return by_student


def judged(attempts: dict[tuple[str, str], list[Handed]], options: argparse.Namespace) -> tuple[Outcomes, list[str]]:
    """Judge each notebook, a student's same answers only once; return the outcomes, and how answers were separated."""
    handed = [(lesson, one) for (_, lesson), several in attempts.items() for one in several]
    jobs = {}
    for lesson, one in handed:
        trusted = [id for id in one.answers if f"{one.student}:{id}" in options.trust]
        own = one.student if options.own_numbers else ""
        jobs[key(one)] = job(lesson, one.answers, f"{options.seed} {one.student}", trusted, own)
    outcomes: Outcomes = {which: {} for which in jobs}
    separations = set()
    with executor(options) as pool:
        waiting = {pool.submit(judge, work): which for which, work in jobs.items() if work["answers"]}
        for count, done in enumerate(as_completed(waiting), 1):
            results, separation = done.result()
            outcomes[waiting[done]] = {result["id"]: result for result in results}
            separations.add(separation)
            bar = "#" * (30 * count // len(waiting))
            print(f"\r[{bar:30}] {count} of {len(waiting)} notebooks", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return outcomes, sorted(separations)


def key(handed: Handed) -> tuple[str, str]:
    """Return what identifies the answers of a student."""
    return handed.student, digest(handed.answers)


@contextmanager
def executor(options: argparse.Namespace) -> Iterator[Executor]:
    """Open the executor that judges: threads that wait for processes on this machine, or a Dask cluster."""
    if not options.dask:
        with ThreadPoolExecutor(max(1, options.jobs)) as pool:
            yield pool
        return
    from distributed import Client

    with Client(options.dask) as client, client.get_executor(pure=False) as cluster:
        yield cluster


def rows_of(handed: Handed, lesson: str, outcomes: dict[str, dict[str, Any]], trusted: Sequence[str]) -> list[Row]:
    """Return the grades of a notebook."""
    rows = []
    for id, task in tasks(lesson).items():
        source = handed.answers.get(id, "")
        outcome = outcomes.get(id, {"status": "raised", "text": STOPPED})
        heading, _, body = outcome["text"].partition("\n")
        status, message = outcome["status"], dedent(body) or heading
        if unchanged(id, source):
            status, message = "not started", ""
        elif (
            f"{handed.student}:{id}" not in trusted
            and (names := means(source))
            and (status == "right" or id not in outcomes)
        ):
            status, message = "look", LOOK.format(names=", ".join(f"`{name}`" for name in names))
        points = task.points if status == "right" else 0
        rows.append(Row(handed.student, id, status, points, message, digest(handed.answers)[:12]))
    return rows


def seconds(outcomes: dict[str, dict[str, Any]]) -> list[tuple[str, float]]:
    """Return the CPU seconds of each exercise."""
    return [(id, outcome["seconds"]) for id, outcome in outcomes.items()]


def alike(chosen: Sequence[Handed]) -> list[tuple[str, str, str, float]]:
    """Return the similar answers: exercise, student, the other student or our solution, share."""
    pairs = []
    for id, task in all_tasks().items():
        answers = {one.student: one.answers[id] for one in chosen if not unchanged(id, one.answers.get(id, ""))}
        pairs += [(id, *pair) for pair in similar(answers, task.stub, task.right)]
    return pairs


if __name__ == "__main__":
    sys.exit(main())
