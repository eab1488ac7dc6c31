"""`python -m exercises.grade FOLDER -o OUT`: grade the submissions of a class. No data leaves this machine."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from datetime import date
from pathlib import Path
from textwrap import dedent
from typing import Any

from mock_llm import command

from exercises.grade import report
from exercises.grade.collect import Class, Handed, collect, printable
from exercises.grade.lessons import all_tasks, digest, job, tasks, unchanged
from exercises.grade.report import Row
from exercises.grade.rules import means
from exercises.grade.sandbox import judge
from exercises.grade.similar import similar

LOOK = "The answer uses {names}, which no exercise needs. A teacher looks at it before it gets points."
REPLACED = "The answer replaced {names}. A teacher looks at it before it gets points."
NOT_RUN = (
    "A cell beside the answers uses {names} and was not run. Perhaps the answer needs it, so a teacher looks at it."
)
NOT_JUDGED = "The grader could not judge this notebook to its end ({why}). A teacher looks at the answer."
DAMAGED = "A cell of this notebook is damaged, perhaps by another program. A teacher looks at the answer."
Outcomes = dict[tuple[str, str], dict[str, dict[str, Any]]]  # student and hash of the answers -> exercise -> outcome


def main(arguments: list[str] | None = None) -> int:
    """Read the arguments, grade, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m exercises.grade", description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, help="what was handed in: notebooks, zips, exports of the browser tab")
    add("-o", "--out", type=Path, required=True, help="folder for the tables, feedback/ and report.txt; it is replaced")
    add("--roster", type=Path, help="CSV; the first column is the id, the others are names or addresses")
    add("--trust", action="append", default=[], metavar="STUDENT:EXERCISE", help="an answer that you have read")
    add("--solutions-after", type=date.fromisoformat, metavar="DATE", help="feedback has solutions from this day on")
    add("--seed", default="", metavar="WORD", help="with the student's id, it varies the random values of the checks")
    add("--own-numbers", action="store_true", help="each student had own numbers: PLANEXEC_STUDENT was the id")
    add("--jobs", type=int, default=os.cpu_count() or 1, help="notebooks at the same time (default: all cores)")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder")
    if report.is_foreign(options.out):
        parser.error(f"{options.out} has files that are no results; give a new folder")
    with report.moved_at_the_end(options.out) as new:
        print(grade(collect(options.folder, options.roster), options, new), end="")
    return 0


def grade(read: Class, options: argparse.Namespace, out: Path) -> str:
    """Judge the submissions, write the results, and return the report."""
    attempts = by_lesson(read.handed)
    outcomes, separations = judged(attempts, options)
    rows = []
    for (_, lesson), handed in sorted(attempts.items()):
        rows += rows_of(handed, lesson, outcomes[key(handed)], options.trust)
    students = sorted({*filter(None, read.roster.values()), *(one.student for one in read.handed)})
    lessons = sorted({lesson for _, lesson in attempts})
    absent = [(student, lesson) for student in students for lesson in lessons if (student, lesson) not in attempts]
    rows += [Row(student, id, "no submission", 0, "") for student, lesson in absent for id in tasks(lesson)]
    rows += [Row(student, "", "unreadable", 0, f"{where}: {why}.") for student, where, why in read.problems]
    rows.sort(key=lambda row: (row.student, row.exercise))
    pairs = alike(list(attempts.values()))
    spent = [(one.student, *pair) for one in attempts.values() for pair in seconds(outcomes[key(one)])]
    report.write_grades(out, rows)
    report.write_table(out, "similar", pairs)
    report.write_table(out, "seconds", sorted(spent))
    report.write_feedback(out, rows, bool(options.solutions_after and date.today() >= options.solutions_after))
    text = report.summary(rows, pairs, separations, read.namesakes)
    (out / "report.txt").write_text(text, encoding="utf-8", errors="backslashreplace")
    return text


def by_lesson(handed: Iterable[Handed]) -> dict[tuple[str, str], Handed]:
    """Return the last notebook of each student and lesson."""
    last = {}
    for one in sorted(handed, key=lambda one: (one.moment, one.where)):
        for lesson in sorted({id.partition(".")[0] for id in one.answers}):
            answers = {id: source for id, source in one.answers.items() if id in tasks(lesson)}
            last[one.student, lesson] = replace(one, answers=answers)
    return last


def judged(attempts: dict[tuple[str, str], Handed], options: argparse.Namespace) -> tuple[Outcomes, list[str]]:
    """Judge each notebook; return the outcomes, and how answers were separated."""
    jobs = {}
    for (_, lesson), one in attempts.items():
        trusted = [id for id in one.answers if f"{one.student}:{id}" in options.trust]
        student = one.student if options.own_numbers else ""
        jobs[key(one)] = job(lesson, one.answers, f"{options.seed} {one.student}", trusted, student, one.own)
    outcomes: Outcomes = {which: {} for which in jobs}
    separations = set()
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        waiting = {pool.submit(judge, work): which for which, work in jobs.items() if work["answers"]}
        for count, done in enumerate(as_completed(waiting), 1):
            try:
                results, separation = done.result()
                separations.add(separation)
            except Exception as problem:  # one notebook must not end the grading of the others
                results = []
                print(f"\n{waiting[done][0]}: not judged ({type(problem).__name__}: {problem})", file=sys.stderr)
            outcomes[waiting[done]] = {result["id"]: result for result in results}
            bar = "#" * (30 * count // len(waiting))
            print(f"\r[{bar:30}] {count} of {len(waiting)} notebooks", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return outcomes, sorted(separations)


def key(handed: Handed) -> tuple[str, str]:
    """Return what identifies the answers of a student."""
    return handed.student, digest(handed.answers, handed.own)


def rows_of(handed: Handed, lesson: str, outcomes: dict[str, dict[str, Any]], trusted: Sequence[str]) -> list[Row]:
    """Return the grades of a notebook."""
    rows = []
    for id, task in tasks(lesson).items():
        status, message = status_of(handed, id, outcomes.get(id), f"{handed.student}:{id}" in trusted)
        if handed.damaged and status != "right":
            status, message = "look", f"{DAMAGED}\n{message}"
        points = task.points if status == "right" else 0
        rows.append(Row(handed.student, id, status, points, message, key(handed)[1][:12]))
    return rows


def status_of(handed: Handed, id: str, outcome: dict[str, Any] | None, trusted: bool) -> tuple[str, str]:
    """Return the status of an answer and the message; what can't be judged is for the teacher to look at."""
    source = handed.answers.get(id, "")
    if unchanged(id, source):
        return "not started", ""
    names = () if trusted else means(source)
    if names and (outcome is None or outcome["status"] == "right"):
        return "look", LOOK.format(names=quoted(names))
    if outcome is None:
        return "look", NOT_JUDGED.format(why="its time was over, or its process ended")
    if outcome["status"] == "right":
        foreign = outcome.get("foreign")
        return ("look", REPLACED.format(names=quoted(foreign))) if foreign and not trusted else ("right", said(outcome))
    left_out = {name for cells in handed.own.values() for cell in cells for name in means(cell)}
    if left_out and not trusted:
        return "look", f"{NOT_RUN.format(names=quoted(sorted(left_out)))}\n{said(outcome)}"
    return outcome["status"], said(outcome)


def said(outcome: dict[str, Any]) -> str:
    """Return the message of an outcome without its heading; control characters are written as escapes."""
    heading, _, body = outcome["text"].partition("\n")
    return "\n".join(map(printable, (dedent(body) or heading).split("\n")))


def quoted(names: Iterable[str]) -> str:
    """Return names as a list in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


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
    command.run(main)
