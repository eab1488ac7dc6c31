"""The grader: right stays right, hostile answers gain nothing and harm nobody, and the same files give the same bytes."""

from __future__ import annotations

import ast
import csv
import io
import json
import os
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from exercises.checker import book
from exercises.checker.drawn import drawn, two_rules
from exercises.checker.exercise import unforeseen
from exercises.grade import __main__ as command
from exercises.grade import lessons, sandbox
from exercises.grade.collect import BROKEN, LARGEST, collect
from exercises.grade.lessons import all_tasks, job, tasks, unchanged
from exercises.grade.rules import means
from exercises.grade.similar import OURS, TINY, runs, similar
from tests.exercises.answers import of_lesson

LOOPBACK = True  # one attack tries to reach a port of this machine
ADA, BEN = "ada", "ben"
RIGHT = {id: task.right[0] for id, task in tasks("01").items()}
WRONG = {id: task.control for id, task in tasks("01").items()}
pytestmark = pytest.mark.skipif(os.name == "nt", reason="the grader needs Linux or macOS")


def slow(test: Any) -> Any:
    """A test that grades: all of them share a worker, so that the sandbox is made once."""
    return pytest.mark.slow(pytest.mark.xdist_group("grader")(test))


def notebook(answers: dict[str, str], lesson: str = "01", tags: bool = True) -> dict[str, Any]:
    raw: dict[str, Any] = json.loads((book.HERE / book.source_of(lesson).name).read_text(encoding="utf-8"))
    for cell in raw["cells"]:
        id = next((tag for tag in cell["metadata"].get("tags", ()) if tag in answers), None)
        if id:
            cell["source"] = answers[id].splitlines(keepends=True)
        if not tags:
            cell["metadata"] = {}
    return raw


def hand_in(folder: Path, path: str, answers: dict[str, str]) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(json.dumps(notebook(answers)), encoding="utf-8")


def zipped(**members: str | bytes) -> bytes:
    with zipfile.ZipFile(content := io.BytesIO(), "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def table(out: Path, name: str = "grades") -> list[dict[str, str]]:
    with (out / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def grade(folder: Path, out: Path, *options: str) -> dict[tuple[str, str], str]:
    """Grade a folder; return the status by student and exercise."""
    assert command.main([str(folder), "-o", str(out), *options]) == 0
    return {(row["student"], row["exercise"]): row["status"] for row in table(out)}


# The verdicts


@pytest.mark.wide
@pytest.mark.parametrize(
    "answers", [slice(2), pytest.param(slice(2, None), marks=pytest.mark.weekly)], ids=["two", "more"]
)
@pytest.mark.parametrize("lesson", book.lessons())
def test_every_stored_answer_gets_its_verdict_in_the_sandbox(lesson: str, answers: slice) -> None:
    """A right and a wrong answer to each exercise, and every week all the others; the checker alone gets all of them before."""
    wanted: dict[str, list[tuple[str, bool]]] = {}
    for id, stored in of_lesson(lesson).items():
        right, wrong = tasks(lesson)[id].right, stored.wrong
        two, more = (right[0], wrong[0]), (*right[1:], *wrong[1:])
        wanted[id] = [(source, source in right) for source in (*two, *more)[answers]]
    for number in range(max(map(len, wanted.values()))):  # a notebook has one answer to each exercise
        here = {id: several[number] for id, several in wanted.items() if number < len(several)}
        outcomes, _ = sandbox.judge(job(lesson, {id: source for id, (source, _) in here.items()}))
        status = {outcome["id"]: outcome["status"] for outcome in outcomes}
        assert {id: status[id] == "right" for id in here} == {id: right for id, (_, right) in here.items()}, outcomes


def test_no_stored_answer_uses_a_suspicious_name() -> None:
    assert not [
        (id, name)
        for lesson in book.lessons()
        for id, stored in of_lesson(lesson).items()
        for source in (*all_tasks()[id].right, *stored.wrong)
        for name in means(source)
    ]


# Attacks

STUB = "\ndef run(goal, planner, executor):\n    return None\n"
KERNEL, INTERPRETER = yaml.safe_load(Path(__file__).with_name("attacks.yaml").read_text(encoding="utf-8")).values()
PORT, FOLDER, ROOT = "PORT", "FOLDER", "ROOT"


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        yield server


@slow
def test_attacks_fail_and_harm_nothing(
    tmp_path: Path, listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "CPU", 0.5)
    if not sandbox.sandbox().namespaces:
        pytest.skip("there are no namespaces: a fork bomb or a kill would hit this machine")
    folder, trusted = tmp_path / "in", []
    put = {PORT: str(listener.getsockname()[1]), FOLDER: str(folder), ROOT: str(book.HERE)}
    for name, source in KERNEL.items():
        for text, value in put.items():
            source = source.replace(text, value)
        hand_in(folder, f"{name}/01_toy_planner.ipynb", RIGHT | {"01.2": f"{STUB}{source}\n"})
        trusted += ["--trust", f"{name}:01.2"]
    hand_in(folder, f"{ADA}/01_toy_planner.ipynb", RIGHT)
    before = {path: path.read_bytes() for path in folder.rglob("*.ipynb")}
    status = grade(folder, tmp_path / "out", *trusted, "--jobs", "2")
    assert [name for name in KERNEL if status[name, "01.2"] not in ("wrong", "raised")] == []
    others = {key: one for key, one in status.items() if key[1] != "01.2" or key[0] == ADA}
    assert set(others.values()) == {"right"}, others
    assert {path: path.read_bytes() for path in folder.rglob("*.ipynb")} == before
    with pytest.raises(TimeoutError):
        listener.accept()


@slow
def test_an_attack_on_the_encoder_leaves_the_other_answers_wrong(tmp_path: Path) -> None:
    attack = KERNEL["encodes every report as right"]
    hand_in(tmp_path / "in", f"{ADA}/a.ipynb", WRONG | {"01.1": f"{attack}\nwhole = 1\nsingle = 1"})
    status = grade(tmp_path / "in", tmp_path / "out", "--trust", f"{ADA}:01.1")
    assert {status[ADA, id] for id in RIGHT} == {"wrong"}


@slow
def test_a_right_answer_that_replaces_a_function_elsewhere_is_for_the_teacher(tmp_path: Path) -> None:
    hand_in(
        tmp_path / "in",
        f"{ADA}/a.ipynb",
        RIGHT | {"01.2": f"import json\nkind = json\nkind.loads = len\n{RIGHT['01.2']}"},
    )
    hand_in(tmp_path / "in", f"{BEN}/a.ipynb", RIGHT | {"01.2": f"import json\njson.loads = len\n{RIGHT['01.2']}"})
    status = grade(tmp_path / "in", tmp_path / "out")
    assert (status[ADA, "01.2"], status[BEN, "01.2"]) == ("look", "look")
    assert "`json.loads`" in (tmp_path / "out" / "report.txt").read_text()
    assert {status[name, id] for name in (ADA, BEN) for id in RIGHT if id != "01.2"} == {"right"}


ATTACKS = [
    *INTERPRETER,
    *[name for name in KERNEL if "import" in KERNEL[name] and name != "a thread that outlives the cell"],
]


@pytest.mark.parametrize("name", ATTACKS)
def test_suspicious_names_get_no_points_until_a_teacher_has_looked(name: str, tmp_path: Path) -> None:
    raw = notebook({"01.2": f"{RIGHT['01.2']}\n{(INTERPRETER | KERNEL)[name]}"})
    (tmp_path / "ada.ipynb").write_text(json.dumps(raw))
    (handed,) = collect(tmp_path).handed
    assert means(handed.answers["01.2"]) != ()


@slow
def test_a_right_answer_with_a_suspicious_name_waits_for_the_teacher(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", f"{ADA}/a.ipynb", RIGHT | {"01.2": f"import inspect\n{RIGHT['01.2']}"})
    status = grade(tmp_path / "in", tmp_path / "out")
    assert (status[ADA, "01.2"], status[ADA, "01.3"]) == ("look", "right")
    assert f"Look at {ADA}:01.2" in (tmp_path / "out" / "report.txt").read_text()
    assert grade(tmp_path / "in", tmp_path / "out", "--trust", f"{ADA}:01.2")[ADA, "01.2"] == "right"


@slow
def test_without_namespaces_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    box = sandbox.sandbox()
    monkeypatch.setattr(box, "namespaces", False)
    answers = RIGHT | {"01.2": KERNEL["exit"]}
    statuses = {one["id"]: one["status"] for one in box.judge(job("01", answers))}
    assert statuses == dict.fromkeys(["01.1", "01.3", "01.4"], "right"), "a suspicious answer does not run"
    statuses = {one["id"]: one["status"] for one in box.judge(job("01", answers, trusted=["01.2"]))}
    assert statuses["01.2"] == "raised"
    assert "LIMITS ONLY" in sandbox.PARTLY


# What is handed in

PATHS = {
    "submitted/ada/planexec/01_toy_planner.ipynb": "ada",
    "ada/01_toy_planner.ipynb": "ada",
    "Ada Lovelace_4711_assignsubmission_file_/01_toy_planner.ipynb": "Ada Lovelace",
    "Ada Lovelace_4711_assignsubmission_file_01_toy_planner.ipynb": "Ada Lovelace",
    "lovelaceada_LATE_12_345_01_toy_planner-1.ipynb": "lovelaceada",
    "Ada Lovelace - 01_toy_planner.ipynb": "Ada Lovelace",
    "ada_01_toy_planner (1).ipynb": "ada",
    "ada.zip/exercises/01_toy_planner.ipynb": "ada",
    "12-34 - Ada Lovelace - Nov 27, 2026 720 AM/01_toy_planner.ipynb": "Ada Lovelace",
    "inbound/ada+planexec+2026-11-26 23:11:00.123456 UTC+word/01_toy_planner.ipynb": "ada",
    "planexec_ada_attempt_2026-11-26-23-11-00_01_toy_planner.ipynb": "ada",
    "class.zip/submitted/ada/planexec/01_toy_planner.ipynb": "ada",
    "class.zip/lovelaceada_12_345_work.zip/01_toy_planner.ipynb": "lovelaceada",
    "ada/01_toy_planner_2026_11_26T23_11_00_123456.zip/01_toy_planner.ipynb": "ada",  # Otter's
}


@pytest.mark.parametrize(("path", "student"), PATHS.items())
@pytest.mark.parametrize("rostered", [False, True])
def test_the_student_is_read_from_the_path(path: str, student: str, rostered: bool, tmp_path: Path) -> None:
    content = json.dumps(notebook(RIGHT)).encode()
    outer, *inner = path.replace(".zip/", ".zip\n").split("\n")
    for name in reversed(inner):
        content = zipped(**{name: content, ".OTTER_LOG": b"", "__zip_filename__": b"x"})
    (tmp_path / "in" / outer).parent.mkdir(parents=True)
    (tmp_path / "in" / outer).write_bytes(content)
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "id,name,mail\na1,Ada Lovelace,ada@example.org\nb2,Ben Bitdiddle,ben@example.org\n", encoding="utf-8"
    )
    read = collect(tmp_path / "in", roster if rostered else None)
    assert [(one.student, one.answers) for one in read.handed] == [("a1" if rostered else student, RIGHT)], (
        read.problems
    )
    if "2026-11-26" in path or "2026_11_26" in path:
        assert [one.moment for one in read.handed] == ["20261126231100"]


def test_notebooks_without_a_students_name_are_different_students(tmp_path: Path) -> None:
    for day in (26, 27):
        packed = zipped(**{"01_toy_planner.ipynb": json.dumps(notebook(RIGHT))})
        (tmp_path / f"01_toy_planner_2026_11_{day}T23_11_00_123456.zip").write_bytes(packed)
    assert len({one.student for one in collect(tmp_path).handed}) == 2


@pytest.mark.wide
def test_exports_of_the_tab_untagged_notebooks_and_split_cells_are_read(tmp_path: Path) -> None:
    files = {f"exercises/{book.source_of('01').name}": notebook(RIGHT), "manifest.json": {"project": "planexec-lite"},
             "notebooks/00_tour.ipynb": {"cells": []}}  # fmt: skip
    content = zipped(**{name: json.dumps(file) for name, file in files.items()})
    (tmp_path / "ada_planexec-lite-work.zip").write_bytes(content)
    (tmp_path / "ben.ipynb").write_text(json.dumps(notebook(RIGHT, tags=False)))
    read = collect(tmp_path)
    assert {one.student: one.answers for one in read.handed} == {ADA: RIGHT, BEN: RIGHT}
    assert read.problems == []
    raw = notebook(RIGHT)
    (place,) = [n for n, cell in enumerate(raw["cells"]) if {"answer", "01.2"} <= set(cell["metadata"].get("tags", ()))]
    cell = raw["cells"][place]
    raw["cells"][place : place + 1] = [cell | {"source": "%time 3\nmost = 1"}, cell]
    (tmp_path / "ada.ipynb").write_text(json.dumps(raw))
    assert set(grade(tmp_path, tmp_path / "out").values()) == {"right"}


def test_hostile_files_are_problems_with_a_reason(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    hand_in(folder, f"{ADA}/a.ipynb", RIGHT)
    outside = tmp_path / "secret.ipynb"
    outside.write_text(json.dumps(notebook(RIGHT)))
    (folder / "link.ipynb").symlink_to(outside)
    hand_in(folder, f"{ADA}/.ipynb_checkpoints/a.ipynb", WRONG)
    (folder / "linked").symlink_to(tmp_path, target_is_directory=True)
    (folder / "slip.zip").write_bytes(zipped(**{"../../../evil.ipynb": json.dumps(notebook(RIGHT))}))
    (folder / "bomb.zip").write_bytes(deflated("a.ipynb", b" " * (LARGEST + 1)))
    hand_in(folder, "long.ipynb", {"01.2": f"text = '{'x' * 200_000}'"})
    (folder / "broken.ipynb").write_text('{"cells": [')
    (folder / "deep.ipynb").write_text("[" * 100_000)
    (folder / "list.ipynb").write_text("[]")
    (folder / "odd.ipynb").write_text('{"cells": [{"cell_type": "code", "metadata": [], "source": 3}, 7]}')
    (folder / "nozip.zip").write_bytes(b"PK no zip")
    with (folder / "huge.ipynb").open("wb") as file:
        file.truncate(100_000_000)
    read = collect(folder)
    assert sorted(one.student for one in read.handed) == [ADA, "slip"]
    names = {where.partition("/")[0].partition(".")[0]: reason for _, where, reason in read.problems}
    assert names.keys() == {"link", "bomb", "broken", "deep", "list", "odd", "nozip", "huge", "long"}, names
    assert names["deep"] == names["broken"] == BROKEN[".ipynb"]
    assert names["nozip"] == BROKEN[".zip"]
    assert names["odd"] == "its cells are damaged"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "secret.ipynb"], "nothing is extracted"
    assert not list(tmp_path.parent.glob("evil*"))


DAMAGED: dict[str, dict[str, Any]] = {
    "null metadata": {"metadata": None},
    "null source": {"source": None},
    "numbers in the source": {"source": [1, None]},
    "a dict as source": {"source": {"a": 1}},
    "a number as tags": {"metadata": {"tags": 7}},
    "a list as id": {"id": [1]},
    "a list as type": {"cell_type": ["code"]},
}


@pytest.mark.parametrize("part", DAMAGED)
def test_a_damaged_cell_leaves_the_other_cells_readable(part: str, tmp_path: Path) -> None:
    raw = notebook(RIGHT)
    raw["cells"] += [{"cell_type": "code", "metadata": {}, "source": ""} | DAMAGED[part]]
    (tmp_path / "ada.ipynb").write_text(json.dumps(raw))
    (tmp_path / "ben.ipynb").write_text(json.dumps({"cells": [None, *notebook(RIGHT)["cells"]]}))
    assert [(one.answers, one.damaged) for one in collect(tmp_path).handed] == [(RIGHT, True)] * 2


def test_whole_notebooks_are_not_damaged(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "metadata": {}, "source": ["", ""], "outputs": None}, {"cell_type": "raw"}]
    (tmp_path / "ada.ipynb").write_text(json.dumps({"cells": [*notebook(RIGHT)["cells"], *cells]}))
    (handed,) = collect(tmp_path).handed
    assert (handed.answers, handed.damaged) == (RIGHT, False)


UNREADABLE = {
    "an old format": (b'{"nbformat": 3, "worksheets": [{"cells": []}]}', "a notebook of an old format; open it"),
    "a long number": (b'{"cells": ' + b"9" * 10_000 + b"}", "broken JSON"),
    "deep nesting": (b'{"cells": [], "x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "broken JSON"),
    "a page of a site": (b"<!doctype html>", "broken JSON"),
    "a key twice": (json.dumps(notebook(RIGHT))[:-1].encode() + b', "cells": []}', "no cell of it is an answer"),
    "another encoding": (b'{"cells": ["\xe9"]}', "broken JSON"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_an_unreadable_file_gets_a_sentence_of_ours(kind: str, tmp_path: Path) -> None:
    content, reason = UNREADABLE[kind]
    (tmp_path / "ada.ipynb").write_bytes(content)
    ((student, _, said),) = collect(tmp_path).problems
    assert (student, said.startswith(reason)) == (ADA, True), said


def test_a_file_that_may_not_be_read_spoils_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (ADA, BEN):
        hand_in(tmp_path, f"{name}.ipynb", RIGHT)
    read = Path.read_bytes

    def denied(path: Path) -> bytes:
        if path.name == "ada.ipynb":
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", denied)
    found = collect(tmp_path)
    assert ([one.student for one in found.handed], [who for who, *_ in found.problems]) == ([BEN], [ADA])


def test_texts_of_other_encodings_and_line_ends_are_read(tmp_path: Path) -> None:
    raw = notebook(RIGHT)
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        (tmp_path / f"{encoding}.ipynb").write_text(json.dumps(raw), encoding=encoding)
    assert [one.answers for one in collect(tmp_path).handed] == [RIGHT] * 3


@slow
def test_a_wrong_answer_in_a_damaged_notebook_is_for_the_teacher(tmp_path: Path) -> None:
    raw = notebook(RIGHT | {"01.3": "raise ValueError('\\x1b[31m=1+1\\x00')", "01.4": "rules = None"})
    for cell in raw["cells"]:
        if {"answer", "01.2"} <= set(cell["metadata"].get("tags", ())):
            cell |= {"metadata": None, "id": None}
    (tmp_path / "ada.ipynb").write_text(json.dumps(raw))
    status = grade(tmp_path, tmp_path / "out")
    assert [status[ADA, id] for id in RIGHT] == ["right", "look", "look", "look"]
    text = (tmp_path / "out" / "report.txt").read_text() + (tmp_path / "out" / "grades.csv").read_text()
    assert "A cell of this notebook is damaged" in text
    assert r"\x1b[31m=1+1\x00" in text
    assert "\x1b" not in text


def deflated(name: str, content: bytes) -> bytes:
    with zipfile.ZipFile(packed := io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    "source", ["x = " + "1+" * 400 + "1", "(" * 5000, "x = " + "[" * 80 + "]" * 80, "\0", "é = 'é"]
)
def test_strange_sources_are_read_without_an_error(source: str) -> None:
    assert isinstance(means(source), tuple)
    assert not unchanged("01.2", source)
    assert similar({ADA: source, BEN: source}, STUB, (source,)) == []


# Results


@pytest.mark.wide
def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", f"{ADA}/a.ipynb", RIGHT)
    hand_in(tmp_path / "in", f"{BEN}/a.ipynb", WRONG | {"01.2": "raise ValueError({'b', 'a', 'c'}, object())"})
    for out, jobs in (("one", "1"), ("two", "2")):
        grade(tmp_path / "in", tmp_path / out, "--jobs", jobs)
    different = {"seconds.csv"}
    for path in sorted((tmp_path / "one").rglob("*.*")):
        if path.name not in different:
            assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes(), path


@slow
def test_the_last_notebook_of_a_lesson_counts(tmp_path: Path) -> None:
    for number, answers in enumerate((RIGHT, WRONG)):
        hand_in(tmp_path / "in", f"{ADA}/try-{number}.ipynb", answers)
        os.utime(tmp_path / "in" / ADA / f"try-{number}.ipynb", (number * 86400, number * 86400))
    assert set(grade(tmp_path / "in", tmp_path / "out").values()) == {"wrong"}


def with_cells(raw: dict[str, Any], **before: str) -> dict[str, Any]:
    """The notebook with a code cell without a tag before the answer to an exercise, or behind all: `after`."""
    for key, source in before.items():
        places = [n for n, cell in enumerate(raw["cells"]) if {"answer", key.replace("_", ".")[1:]} <= set(tags(cell))]
        cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}
        raw["cells"].insert(places[0] if places else len(raw["cells"]), cell)
    return raw


def tags(cell: dict[str, Any]) -> list[str]:
    return list(cell["metadata"].get("tags", ()))


@slow
def test_cells_beside_the_answers_count_in_their_place(tmp_path: Path) -> None:
    helped = "def run(goal, planner, executor):\n    return carry_out(goal, planner, executor, isnan)\n"
    helper = RIGHT["01.2"].replace("def run(goal, planner, executor)", "def carry_out(goal, planner, executor, _)")
    notebooks = {
        "helper": with_cells(notebook(RIGHT | {"01.2": helped}), _01_2=f"from math import isnan\n{helper}"),
        "late": with_cells(notebook(RIGHT | {"01.2": helped}), _01_3=f"from math import isnan\n{helper}"),
        "broken": with_cells(notebook(RIGHT), _01_1="1 / 0\n", _01_3="not python !"),
        "shell": with_cells(notebook(RIGHT | {"01.2": helped}), _01_2=f"import os\nfrom math import isnan\n{helper}"),
    }
    for name, raw in notebooks.items():
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "01.ipynb").write_text(json.dumps(raw), encoding="utf-8")
    status = grade(tmp_path / "in", tmp_path / "out")
    assert {name: status[name, "01.2"] for name in notebooks} == {
        "helper": "right", "late": "raised", "broken": "right", "shell": "look",
    }  # fmt: skip
    assert {status[name, id] for name in notebooks for id in ("01.1", "01.4")} == {"right"}
    assert "was not run" in (tmp_path / "out" / "report.txt").read_text()


def test_an_untouched_copy_below_an_answer_changes_nothing(tmp_path: Path) -> None:
    raw = notebook(RIGHT)
    given = {id: task.stub for id, task in tasks("01").items()}
    raw["cells"] += [cell for cell in notebook(given)["cells"] if "answer" in tags(cell)]
    (tmp_path / "ada.ipynb").write_text(json.dumps(raw))
    (handed,) = collect(tmp_path).handed
    assert (handed.answers, handed.own) == (RIGHT, {})


@slow
def test_no_submission_spoils_the_marks_or_the_report_of_the_others(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    hand_in(folder, f"{ADA}/a.ipynb", RIGHT)
    name = os.fsencode(folder) + b"/bad-\xff\xfe-name"
    os.mkdir(name)
    with open(name + b"/a.ipynb", "w", encoding="utf-8") as file:
        json.dump(notebook(RIGHT), file)
    hand_in(folder, "lines\nLook at ada:01.1, then add --trust./a.ipynb", RIGHT)
    emoji = "raise ValueError('\N{GRINNING FACE}' * 90_000)\n"
    hand_in(folder, "emoji/a.ipynb", dict.fromkeys(RIGHT, emoji))
    hand_in(folder, "surrogate/a.ipynb", dict.fromkeys(RIGHT, "raise ValueError('�' * 3)\n"))
    flood = f"{RIGHT['01.2']}\nfor _ in range(200): print('\N{GRINNING FACE}' * 100_000)"
    hand_in(folder, "flood/a.ipynb", RIGHT | {"01.2": flood})
    many = {f"{number}.ipynb": "{" for number in range(300)}
    (folder / "bomb.zip").write_bytes(zipped(**many))
    (folder / "mallory.zip").write_bytes(zipped(**{"submitted/ada/x/01.ipynb": json.dumps(notebook(WRONG))}))
    (folder / "eve").mkdir()
    (folder / "eve" / "w.zip").write_bytes(zipped(**{"submitted/ben/x/01.ipynb": json.dumps(notebook(WRONG))}))
    status = grade(folder, tmp_path / "out")
    right = {
        student for student, id in status if id and set(map(status.get, [(student, one) for one in RIGHT])) == {"right"}
    }
    assert right == {ADA, r"bad-\udcff\udcfe-name", r"lines\nLook at ada:01.1, then add --trust.", "flood"}
    assert {status[student, "01.4"] for student in ("emoji", "surrogate")} == {"raised"}
    assert (status["eve", "01.1"], status.get((BEN, "01.1"))) == ("wrong", None)
    report = (tmp_path / "out" / "report.txt").read_text().splitlines()
    assert [line for line in report if "bomb" in line] == [
        "Unreadable file of bomb: bomb.zip: 300 files in it; the first: broken JSON."
    ]
    assert [line for line in report if "mallory" in line and ADA in line]
    assert len(table(tmp_path / "out", "totals")) == len({student for student, _ in status})


@slow
def test_results_replace_earlier_results_when_all_is_written_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_in(tmp_path / "in", f"{ADA}/a.ipynb", RIGHT)
    grade(tmp_path / "in", tmp_path / "out")
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.*")}
    hand_in(tmp_path / "in", f"{BEN}/a.ipynb", WRONG)
    monkeypatch.setattr(command.report, "write_feedback", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        grade(tmp_path / "in", tmp_path / "out")
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").glob("*.*")} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("keep me")
    with pytest.raises(SystemExit):
        command.main([str(tmp_path / "in"), "-o", str(tmp_path / "notes")])
    assert (tmp_path / "notes" / "mine.txt").read_text() == "keep me"


@slow
def test_a_notebook_that_can_not_be_judged_is_for_the_teacher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(work: dict[str, Any]) -> Any:
        if "ada" in work["seed"]:
            raise OSError("no process")
        return sandbox.judge(work)

    monkeypatch.setattr(command, "judge", breaks)
    for name in (ADA, BEN):
        hand_in(tmp_path / "in", f"{name}/a.ipynb", RIGHT)
    status = grade(tmp_path / "in", tmp_path / "out")
    assert {status[ADA, id] for id in RIGHT} == {"look"}
    assert {status[BEN, id] for id in RIGHT} == {"right"}


def test_two_students_of_one_name_are_two_rows_with_a_message(tmp_path: Path) -> None:
    for number, answers in ((4711, RIGHT), (4712, WRONG)):
        hand_in(tmp_path, f"Ada Lovelace_{number}_assignsubmission_file_/01_toy_planner.ipynb", answers)
    read = collect(tmp_path)
    assert {one.student: one.answers for one in read.handed} == {
        "Ada Lovelace (4711)": RIGHT, "Ada Lovelace (4712)": WRONG,
    }  # fmt: skip
    assert read.namesakes == ["Ada Lovelace"]
    assert "Several students are called Ada Lovelace" in command.report.summary([], [], [], read.namesakes)
    (tmp_path / "roster.csv").write_text("id,name\na1,Ada Lovelace\na2,Ada Lovelace\n", encoding="utf-8")
    assert {one.student for one in collect(tmp_path, tmp_path / "roster.csv").handed} == {
        one.student for one in read.handed
    }


@slow
def test_the_random_values_of_the_checks_vary_with_the_student(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(tmp_path / "in", f"{ADA}/a.ipynb", {"01.2": "import os\nraise ValueError(os.environ['PLANEXEC_SEED'])"})
    grade(tmp_path / "in", tmp_path / "out", "--seed", "autumn")
    assert [row for row in table(tmp_path / "out") if "ValueError: autumn ada" in row["message"]]
    values = set()
    for seed in ("autumn ada", "autumn ben", "autumn ada"):
        monkeypatch.setenv("PLANEXEC_SEED", seed)
        values.add(tuple(unforeseen(grade, 2)))
    assert len(values) == 2


@slow
def test_a_prediction_is_graded_with_the_students_own_numbers(tmp_path: Path) -> None:
    monkey = pytest.MonkeyPatch()
    monkey.setenv("PLANEXEC_STUDENT", ADA)
    rounds, ready = two_rules(drawn("15.2"))
    monkey.undo()
    for student in (ADA, BEN):
        raw = notebook({"15.2": f"rounds = {rounds}\nready = {ready}"}, "15")
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "15_elsewhere.ipynb").write_text(json.dumps(raw), encoding="utf-8")
    status = grade(tmp_path / "in", tmp_path / "out", "--own-numbers")
    assert (status[ADA, "15.2"], status[BEN, "15.2"]) == ("right", "wrong")


@slow
def test_feedback_is_escaped_and_shows_solutions_only_after_their_day(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    answers = {"01.1": f"whole = '{hostile}'\nsingle = 2", "01.2": "run = None\n1 / 0"}
    hand_in(tmp_path / "in", f"=cmd()/{ADA}.ipynb", answers)
    read = collect(tmp_path / "in")
    assert read.handed[0].student == "=cmd()"
    (tmp_path / "roster.csv").write_text(f'id,name\n"../{hostile}",=cmd()\n', encoding="utf-8")
    roster = ["--roster", str(tmp_path / "roster.csv")]
    grade(tmp_path / "in", tmp_path / "out", *roster, "--solutions-after", "9999-01-01")
    (page,) = (tmp_path / "out" / "feedback").iterdir()
    text = page.read_text(encoding="utf-8")
    assert hostile not in text
    assert "&lt;script&gt;" in text
    assert "Hint: " in text
    assert "One solution" not in text
    grade(tmp_path / "in", tmp_path / "out", *roster, "--solutions-after", "2000-01-01")
    assert "One solution" in page.read_text(encoding="utf-8")
    assert page.name.startswith("____script_alert_1_")
    grade(tmp_path / "in", tmp_path / "out")
    assert {row["student"] for row in table(tmp_path / "out")} == {"'=cmd()"}, "a spreadsheet runs no formula"


@slow
def test_the_roster_lists_who_handed_in_nothing(tmp_path: Path) -> None:
    hand_in(tmp_path / "in", f"{ADA}/a.ipynb", {})
    (tmp_path / "roster.csv").write_text("id\nada\nben\n", encoding="utf-8")
    status = grade(tmp_path / "in", tmp_path / "out", "--roster", str(tmp_path / "roster.csv"))
    assert {student: {status[student, id] for id in RIGHT} for student in (ADA, BEN)} == {
        ADA: {"not started"},
        BEN: {"no submission"},
    }


# Similar answers


def renamed(source: str) -> str:
    """A copy with other names and without comments and annotations of parameters."""
    nodes = list(ast.walk(tree := ast.parse(source)))
    own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if isinstance(node, ast.Name) and node.id in own:
            node.id += "_of_mine"
        elif isinstance(node, ast.arg):
            node.arg, node.annotation = f"{node.arg}_of_mine", None
    return ast.unparse(tree)


def test_a_renamed_copy_is_flagged_and_listed_or_tiny_answers_are_not() -> None:
    long_enough = 0
    for id, task in all_tasks().items():
        listed = {f"{number}{twin}": source for number, source in enumerate(task.right[1:]) for twin in "ab"}
        assert similar(listed, task.stub, task.right) == [], id
        copied = {ADA: task.control, BEN: renamed(task.control)}
        pairs = similar(copied, task.stub, task.right)
        ours = similar({ADA: renamed(task.right[0])}, task.stub, task.right)
        if len(runs(task.right[0]) - runs(task.stub)) >= TINY:
            assert ours == [(ADA, OURS, 1.0)], id
            long_enough += 1
        else:
            assert ours == []
        if len(runs(task.control) - runs(task.stub)) >= TINY:
            assert (ADA, BEN, 1.0) in pairs or [pair[:2] for pair in pairs] == [(ADA, OURS), (BEN, OURS)], id
    assert long_enough > 30
