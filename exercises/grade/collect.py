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
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from exercises.grade.lessons import all_tasks, given, ids_of_cells, is_python, places, unchanged

KINDS, LEFT_OUT = (".ipynb", ".zip"), {".ipynb_checkpoints", "__MACOSX"}
LARGEST, LONGEST_ANSWER = 20_000_000, 100_000  # bytes of a notebook, characters of an answer
LARGEST_ZIP, MOST_FILES = 300_000_000, 5_000  # bytes and files that are read from a zip
MOST_CELLS = 200  # cells of a notebook beside the answers and the given ones
DEEPEST = 3  # zips in zips
NO_ANSWER = "no cell of it is an answer"
BROKEN = {".ipynb": "broken JSON", ".zip": "a broken or encrypted zip"}
PARTS = {"cell_type": str, "id": str, "metadata": dict, "source": (str, list)}  # of a cell
PATTERNS = (
    re.compile(r"^(?P<who>.+?)_(?P<number>\d+)_assignsubmission_"),  # Moodle: Ada Lovelace_1234_assignsubmission_file_
    re.compile(r"^(?P<who>[^_]+?)_(?:LATE_)?(?P<number>\d+)_\d+_"),  # Canvas: lovelaceada_LATE_12_345_name.ipynb
    re.compile(
        r"^(?P<number>\d+)-\d+ - (?P<who>.+?) - \w{3,} \d"
    ),  # Brightspace: 12-34 - Ada Lovelace - Nov 27, 2026 720 AM
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


class Unreadable(Exception):
    """A file can't be graded; the message says why."""


@dataclass(frozen=True)
class Handed:
    """A submitted notebook.

    Attributes:
        student: its student.
        moment: its time, 14 digits.
        where: its place in the folder.
        answers: the answers by exercise.
        own: the learner's other cells, by the given cell or the exercise before them.
        number: the student's number in the name of the file, if the name has one.
        damaged: whether a part of a cell has a wrong type, for example null metadata; the part is left out.
    """

    student: str
    moment: str
    where: str
    answers: dict[str, str]
    own: dict[str, list[str]] = field(default_factory=dict)
    number: str = ""
    damaged: bool = False


@dataclass
class Class:
    """The submissions of a class, the unreadable files with the reasons, and the students of the roster."""

    handed: list[Handed] = field(default_factory=list)
    problems: list[tuple[str, str, str]] = field(default_factory=list)  # student, where, reason
    roster: dict[str, str] = field(default_factory=dict)  # key (id, name, "last first", …) -> id
    namesakes: list[str] = field(default_factory=list)  # names that two students have


def collect(folder: Path, roster: Path | None = None) -> Class:
    """Read a folder. Skip files that are neither notebooks nor zips."""
    read = Class(roster=_roster(roster) if roster else {})
    for path in sorted(folder.rglob("*")):
        parts = tuple(map(printable, path.relative_to(folder).parts))
        if path.suffix.lower() not in KINDS or not LEFT_OUT.isdisjoint(parts):
            continue
        if path.is_symlink():
            read.problems.append((_student(parts, read.roster), parts[-1], "a link, which is not followed"))
        elif path.is_file():
            moment = _stamp(path) or time.strftime("%Y%m%d%H%M%S", time.gmtime(path.stat().st_mtime))
            if path.stat().st_size > (LARGEST_ZIP if path.suffix.lower() == ".zip" else LARGEST):
                read.problems.append((_student(parts, read.roster), "/".join(parts), "too large"))
            else:
                _read(read, parts, path, moment)
    _refuse_strangers(read)
    _tell_namesakes_apart(read)
    return read


def _refuse_strangers(read: Class) -> None:
    """Leave out what a zip contains in the name of a student who handed in elsewhere: nobody hands in for others."""
    homes = {one.student for one in read.handed if _home(one.where, one.student)}
    kept = []
    for one in read.handed:
        if one.student not in homes or _home(one.where, one.student):
            kept.append(one)
        else:
            zipped = one.where.partition("/")[0]
            reason = f"it contains a notebook of {one.student}, who handed in elsewhere; left out"
            read.problems.append((_student((zipped,), read.roster), zipped, reason))
    read.handed = kept


def _home(where: str, student: str) -> bool:
    """Return whether the name of the folder, the zip or the file says who handed it in."""
    parts = tuple(where.split("/"))
    return _outside(parts) != parts or not parts[0].lower().endswith(".zip") or parts[0][:-4] == student


def printable(text: str) -> str:
    """Return a text in which characters that can't be printed, such as a line's end or a broken byte, are written as escapes."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def _tell_namesakes_apart(read: Class) -> None:
    """Give students of one name, who handed in the same lesson under two numbers, a name each, and say so."""
    numbers: dict[tuple[str, str], set[str]] = {}
    for one in read.handed:
        for lesson in {id.partition(".")[0] for id in one.answers}:
            numbers.setdefault((one.student, lesson), set()).add(one.number)
    namesakes = {student for (student, _), several in numbers.items() if len(several - {""}) > 1}
    read.handed = [
        replace(one, student=f"{one.student} ({one.number or 'no number'})") if one.student in namesakes else one
        for one in read.handed
    ]
    read.namesakes = sorted(namesakes)


def _read(read: Class, parts: tuple[str, ...], file: Path | bytes, moment: str, deep: int = 0) -> None:
    """Read a file, which can be inside a zip."""
    student, where = _student(parts, read.roster), "/".join(parts)
    moment = _moment(" ".join(part for part in parts if part == parts[-1] or "+" in part)) or moment
    try:
        content = file.read_bytes() if isinstance(file, Path) else file
        if parts[-1].lower().endswith(".zip"):
            handed, problems = len(read.handed), len(read.problems)
            for name, member, dated in _members(content, deep):
                inner = tuple(map(printable, name.split("/")))
                _read(read, (*parts, *inner), member, _moment(parts[-1]) or dated, deep + 1)
            inside = read.problems[problems:]
            if len(read.handed) > handed:  # an export of the tab contains lessons, too
                inside = [each for each in inside if each[2] != NO_ANSWER]
            if len(inside) > 1:
                inside = [(student, where, f"{len(inside)} files in it; the first: {inside[0][2]}")]
            read.problems[problems:] = inside
            return
        answers, own, damaged = _answers(json.loads(content))
        read.handed.append(Handed(student, moment, where, answers, own, _number(parts), damaged))
    except OSError:
        read.problems.append((student, where, "no right to read it, or it was deleted meanwhile"))
    except Exception as problem:  # a hostile file can raise anything
        broken = BROKEN[Path(parts[-1].lower()).suffix]
        read.problems.append((student, where, str(problem) if isinstance(problem, Unreadable) else broken))


def _members(content: bytes, deep: int) -> Iterator[tuple[str, bytes, str]]:
    """Yield name, content and time of the notebooks and zips in a zip."""
    left = LARGEST_ZIP
    if deep >= DEEPEST:
        raise Unreadable("zips in zips in zips")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        if len(archive.infolist()) > MOST_FILES:
            raise Unreadable("too many files")
        for info in sorted(archive.infolist(), key=lambda info: info.filename):
            name = info.filename.replace("\\", "/")
            if not name.lower().endswith(KINDS) or not LEFT_OUT.isdisjoint(name.split("/")):
                continue
            with archive.open(info) as member:
                data = member.read(LARGEST + 1)
            left -= len(data)
            if len(data) > LARGEST or left < 0:
                raise Unreadable("too large")
            yield name, data, "{:04}{:02}{:02}{:02}{:02}{:02}".format(*info.date_time)


def _answers(raw: Any) -> tuple[dict[str, str], dict[str, list[str]], bool]:
    """Return the answers of a notebook, the learner's other cells by the place before them, and whether a cell is damaged.

    The cells of an exercise are joined, because a split cell keeps its tags; a cell that is still as given adds nothing.
    """
    answers: dict[str, str] = {}
    own: dict[str, list[str]] = {}
    place, damaged = "", False
    if isinstance(raw, dict) and "worksheets" in raw:
        raise Unreadable("a notebook of an old format; open it in JupyterLab and save it")
    if not isinstance(raw, dict) or not isinstance(raw.get("cells"), list):
        raise Unreadable("not a notebook")
    for given_cell in raw["cells"]:
        cell, tags, text, whole = _parts(given_cell)
        damaged |= not whole
        if cell.get("cell_type") != "code":
            continue
        id = (
            next((tag for tag in tags if tag in all_tasks()), None)
            if "answer" in tags
            else ids_of_cells().get(cell.get("id"))
        )
        if len(text) > LONGEST_ANSWER:
            raise Unreadable(f"a cell ({id or 'no answer'}) has more than {LONGEST_ANSWER:,} characters")
        if not is_python(text):
            text = MAGIC.sub("", text)
        place = id or (cell.get("id") if cell.get("id") in places() else place)
        if id is None:
            if text.strip() not in given():
                own.setdefault(place, []).append(text)
        elif id not in answers or unchanged(id, answers[id]):
            answers[id] = text
        elif not unchanged(id, text):
            answers[id] += f"\n{text}"
    if sum(map(len, own.values())) > MOST_CELLS:
        raise Unreadable(f"more than {MOST_CELLS} cells beside the answers")
    if not answers:
        raise Unreadable("its cells are damaged" if damaged else NO_ANSWER)
    return answers, own, damaged


def _parts(cell: Any) -> tuple[dict[str, Any], list[Any], str, bool]:
    """Return the parts of a cell that have the right type, its tags and its source, and whether no part has a wrong type."""
    if not isinstance(cell, dict):
        return {}, [], "", False
    parts = {name: cell[name] for name, kind in PARTS.items() if isinstance(cell.get(name), kind)}
    tags, lines = parts.get("metadata", {}).get("tags", []), parts.get("source", "")
    text = "".join(line for line in lines if isinstance(line, str))
    whole = parts.keys() == cell.keys() & PARTS.keys() and isinstance(tags, list)
    whole = whole and all(isinstance(line, str) for line in lines)
    return parts, tags if isinstance(tags, list) else [], text.encode("utf-8", "backslashreplace").decode(), whole


def _outside(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts that the student of a file is read from: those inside a zip only if the zip names no student.

    So a student's zip can't hand in for others.
    """
    zips = [place for place, part in enumerate(parts) if part.lower().endswith(".zip")]
    if not zips:
        return parts
    outside = parts[: zips[0] + 1]
    named = len(outside) > 1 or any(pattern.match(outside[0]) for pattern in (*PATTERNS, NAME_OF_FILE))
    return outside if named else parts


def _number(parts: tuple[str, ...]) -> str:
    """Return the student's number in the path, or ""."""
    matches = (
        pattern.match(part) for part in _outside(parts) for pattern in PATTERNS if "number" in pattern.groupindex
    )
    return next((match["number"] for match in matches if match), "")


def _student(parts: tuple[str, ...], roster: dict[str, str]) -> str:
    """Return the student who submitted the file at this path."""
    parts = _outside(parts)
    named = [match["who"] for part in parts for pattern in PATTERNS if (match := pattern.match(part))]
    places = list(parts)
    if stage := next((stage for stage in STAGES if stage in parts[:-2]), ""):
        places = list(parts[parts.index(stage) + 1 :])
        named = []
    stem = re.sub(r"\.\w+$", "", places[0])
    of_file = NAME_OF_FILE.match(places[0]) if len(places) == 1 or places[0].lower().endswith(".zip") else None
    guesses = [*named, of_file["who"] if of_file else stem if len(places) == 1 or "." in places[0] else places[0]]
    known = [roster[_key(guess)] for guess in [*guesses, *parts] if roster.get(_key(guess))]
    return known[0] if known else guesses[0].strip() or "unnamed"


def _roster(path: Path) -> dict[str, str]:
    """Read a roster: a CSV file whose first column is the id; the others can be names or addresses.

    A name of two students means neither.
    """
    by_key: dict[str, str] = {}
    with path.open(encoding="utf-8-sig", newline="") as file:
        for row in list(csv.reader(file))[1:]:
            for cell in row:
                first, _, last = cell.strip().rpartition(" ")
                for text in (cell, f"{last} {first}", cell.partition("@")[0]):
                    if _key(text):
                        known = by_key.setdefault(_key(text), row[0].strip())
                        by_key[_key(text)] = known if known == row[0].strip() else ""
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
