"""Read the submissions of a class below a folder: notebooks and zips, such as exports of the browser tab.

This module extracts no zip and follows no link: it reads a notebook into memory, up to a maximum size. The path names the
student, as nbgrader, Moodle, Canvas and Classroom name files; otherwise the name of the first folder, the zip, or the file does.
"""

from __future__ import annotations

import csv
import io
import json
import re
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from exercises.grade.lessons import all_tasks, ids_of_cells, is_python

KINDS, LEFT_OUT = (".ipynb", ".zip"), {".ipynb_checkpoints", "__MACOSX"}
LARGEST, LONGEST_ANSWER = 20_000_000, 100_000  # bytes of a notebook, characters of an answer
LARGEST_ZIP, MOST_FILES = 1_000_000_000, 10_000  # bytes and files that are read from a zip
DEEPEST = 3  # zips in zips
NO_ANSWER = "no cell of it is an answer"
PATTERNS = (
    re.compile(r"^(?P<who>.+?)_\d+_assignsubmission_"),  # Moodle: Ada Lovelace_1234_assignsubmission_file_
    re.compile(r"^(?P<who>[^_]+?)_(?:LATE_)?\d+_\d+_"),  # Canvas: lovelaceada_LATE_12_345_name.ipynb
    re.compile(r"^\d+-\d+ - (?P<who>.+?) - \w{3,} \d"),  # Brightspace: 12-34 - Ada Lovelace - Nov 27, 2026 720 AM
    re.compile(r"^(?P<who>.+?) - .+\.(?:ipynb|zip)$"),  # Classroom: Ada Lovelace - name.ipynb
    re.compile(r"^.+_(?P<who>[^_]+)_attempt_\d{4}-"),  # Blackboard: name_ada_attempt_2026-11-27-07-20-11_name.ipynb
    re.compile(
        r"^(?P<who>[^+]+)\+[^+]+\+\d{4}-"
    ),  # nbgrader's exchange: ada+name+2026-11-27 07:20:11.123456 UTC+secret
)
STAGES = ("submitted", "autograded")  # nbgrader: submitted/ada/name/name.ipynb
NAME_OF_FILE = re.compile(r"^(?P<who>(?!\d\d_).+?)[ _-]+(?:\d\d_\w+|planexec-lite-work)(?: ?\(\d+\)|-\d+)?\.\w+$")
MAGIC = re.compile(r"(?m)^\s*(?:[%!].*|\S+\?{1,2}\s*)$")
# In nbgrader's timestamp.txt and exchange, and in the names of Otter and Blackboard.
MOMENT = re.compile(r"(\d{4})[-_](\d\d)[-_](\d\d)[-T _](\d\d)[-:_](\d\d)[-:_](\d\d)")


@dataclass(frozen=True)
class Handed:
    """A submitted notebook: its student, its time (14 digits), its place, and the answers by exercise."""

    student: str
    moment: str
    where: str
    answers: dict[str, str]


@dataclass
class Class:
    """The submissions of a class, the unreadable files with the reasons, and the students of the roster."""

    handed: list[Handed] = field(default_factory=list)
    problems: list[tuple[str, str, str]] = field(default_factory=list)  # student, where, reason
    roster: dict[str, str] = field(default_factory=dict)  # key (id, name, "last first", …) -> id


def collect(folder: Path, roster: Path | None = None) -> Class:
    """Read a folder. Skip files that are neither notebooks nor zips."""
    read = Class(roster=_roster(roster) if roster else {})
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if path.suffix.lower() not in KINDS or not LEFT_OUT.isdisjoint(parts):
            continue
        if path.is_symlink():
            read.problems.append((_student(parts, read.roster), path.name, "a link, which is not followed"))
        elif path.is_file():
            moment = _stamp(path) or time.strftime("%Y%m%d%H%M%S", time.gmtime(path.stat().st_mtime))
            if path.stat().st_size > (LARGEST_ZIP if path.suffix.lower() == ".zip" else LARGEST):
                read.problems.append((_student(parts, read.roster), "/".join(parts), "too large"))
            else:
                _read(read, parts, path.read_bytes(), moment)
    return read


def _read(read: Class, parts: tuple[str, ...], content: bytes, moment: str, deep: int = 0) -> None:
    """Read a file, which can be inside a zip."""
    student, where = _student(parts, read.roster), "/".join(parts)
    moment = _moment(" ".join(part for part in parts if part == parts[-1] or "+" in part)) or moment
    try:
        if parts[-1].lower().endswith(".zip"):
            handed, problems = len(read.handed), len(read.problems)
            for name, member, dated in _members(content, deep):
                _read(read, (*parts, *name.split("/")), member, _moment(parts[-1]) or dated, deep + 1)
            if len(read.handed) > handed:  # an export of the tab contains lessons, too
                read.problems[problems:] = [each for each in read.problems[problems:] if each[2] != NO_ANSWER]
            return
        answers = _answers(json.loads(content))
        if not answers:
            raise ValueError(NO_ANSWER)
        read.handed.append(Handed(student, moment, where, answers))
    except Exception as problem:  # a hostile file can raise anything
        reason = "broken JSON" if isinstance(problem, (json.JSONDecodeError, UnicodeDecodeError)) else str(problem)
        read.problems.append((student, where, reason[:200] or type(problem).__name__))


def _members(content: bytes, deep: int) -> Iterator[tuple[str, bytes, str]]:
    """Yield name, content and time of the notebooks and zips in a zip."""
    left = LARGEST_ZIP
    if deep >= DEEPEST:
        raise ValueError("zips in zips in zips")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if len(archive.infolist()) > MOST_FILES:
            raise ValueError("too many files")
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            name = info.filename.replace("\\", "/")
            if not name.lower().endswith(KINDS) or not LEFT_OUT.isdisjoint(name.split("/")):
                continue
            with archive.open(info) as member:
                data = member.read(LARGEST + 1)
            left -= len(data)
            if len(data) > LARGEST or left < 0:
                raise ValueError("too large")
            yield name, data, "{:04}{:02}{:02}{:02}{:02}{:02}".format(*info.date_time)


def _answers(raw: Any) -> dict[str, str]:
    """Return the answer cells of a notebook; the cells of an exercise are joined, because a split cell keeps its tags."""
    answers: dict[str, str] = {}
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        raise ValueError("not a notebook")
    for cell in raw["cells"]:
        if cell.get("cell_type") != "code":
            continue
        tags = cell.get("metadata", {}).get("tags", [])
        id = (
            next((tag for tag in tags if tag in all_tasks()), None)
            if "answer" in tags
            else ids_of_cells().get(cell.get("id"))
        )
        source = cell.get("source", "")
        text = source if isinstance(source, str) else "".join(source)
        if id is not None:
            if len(text) > LONGEST_ANSWER:
                raise ValueError(f"the answer to {id} has more than {LONGEST_ANSWER:,} characters")
            text = text if is_python(text) else MAGIC.sub("", text)
            answers[id] = f"{answers[id]}\n{text}" if id in answers else text
    return answers


def _student(parts: tuple[str, ...], roster: dict[str, str]) -> str:
    """Return the student who submitted the file at this path."""
    named = [match["who"] for part in parts for pattern in PATTERNS if (match := pattern.match(part))]
    places = list(parts)
    if stage := next((stage for stage in STAGES if stage in parts[:-2]), ""):
        places = list(parts[parts.index(stage) + 1 :])
        named = []
    stem = re.sub(r"\.\w+$", "", places[0])
    of_file = NAME_OF_FILE.match(places[0]) if len(places) == 1 or places[0].lower().endswith(".zip") else None
    guesses = [*named, of_file["who"] if of_file else stem if len(places) == 1 or "." in places[0] else places[0]]
    known = [roster[_key(guess)] for guess in [*guesses, *parts] if _key(guess) in roster]
    return known[0] if known else guesses[0].strip() or "unnamed"


def _roster(path: Path) -> dict[str, str]:
    """Read a roster: a CSV file whose first column is the id; the others can be names or addresses."""
    by_key: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in list(csv.reader(file))[1:]:
            for cell in row:
                first, _, last = cell.strip().rpartition(" ")
                for text in (cell, f"{last} {first}", cell.partition("@")[0]):
                    if _key(text):
                        by_key.setdefault(_key(text), row[0].strip())
    return by_key


def _key(text: str) -> str:
    return re.sub(r"\W|_", "", text.casefold())


def _stamp(path: Path) -> str:
    """Return the time in nbgrader's file next to a notebook, or ""."""
    stamp = path.with_name("timestamp.txt")
    if not stamp.is_file() or stamp.is_symlink():
        return ""
    with stamp.open(encoding="utf-8", errors="replace") as file:
        return _moment(file.read(100))


def _moment(text: str) -> str:
    match = MOMENT.search(text)
    return "".join(match.groups()) if match else ""
