"""What attacks on the exercises found, and what they did not: no file, program or answer breaks the commands."""

import json
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from exercises import book, record
from exercises.checker import check, judged
from exercises.hunts import __main__ as command
from exercises.hunts.bench import BENCH, Bench
from exercises.hunts.catalogue import Hunt, hunts

pytestmark = pytest.mark.slow
HUNT: Hunt = next(iter(hunts().values()))
ODD_FILES = {
    "a list for a status": '{"01.1": ["right"]}',
    "a notebook": '{"cells": [], "metadata": {}, "nbformat": 4}',
    "an object for a status": '{"01.1": {"a": 1}}',
    "a list": "[]",
    "a text": '"right"',
    "half a file": '{"01.1": "ri',
    "nothing": "",
    "a deep one": "[" * 100_000,
}
STUBBORN = {
    "catches everything while it sleeps": "while True:\n  try:\n    time.sleep(60)\n  except BaseException:\n    pass",
    "begins again in its finally": "def again():\n  try:\n    while True: pass\n  finally:\n    again()\nagain()",
    "waits for a lock that it holds": "lock = threading.Lock()\nlock.acquire()\nlock.acquire()",
    "looks for a pattern that has no end": 're.match("(a+)+$", "a" * 60 + "b")',
    "waits for another program": 'subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"])',
    "waits on a loop": "asyncio.run(asyncio.sleep(60))",
}
IMPORTS = "import asyncio, re, subprocess, sys, threading, time\n"


def answer(body: str) -> dict[str, object]:
    """A namespace with an answer to 01.2 of these lines."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    exec(f"{IMPORTS}def run(goal, planner, executor):\n{lines}", namespace)
    return namespace


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv(BENCH, str(tmp_path))
    return Bench.usual()


@pytest.mark.parametrize("text", ODD_FILES.values(), ids=ODD_FILES)
def test_a_progress_file_of_something_else_counts_as_empty_and_progress_goes_on(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "progress.json"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("PLANEXEC_PROGRESS", str(file))
    assert record.known() == {}
    record.remember("01.2", "wrong")
    assert record.known() == {"01.2": "wrong"}
    assert json.loads(file.read_text(encoding="utf-8")) == {"01.2": "wrong"}


def test_a_progress_file_is_never_half_written_though_two_kernels_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "progress.json"
    monkeypatch.setenv("PLANEXEC_PROGRESS", str(file))
    code = (
        "import sys; from exercises import record; [record.remember(sys.argv[1] + str(n), 'right') for n in range(80)]"
    )
    with ExitStack() as stack:
        commands = ([sys.executable, "-c", code, name] for name in ("a", "b"))
        kernels = [stack.enter_context(subprocess.Popen(command, cwd=book.HERE.parent)) for command in commands]
        looks = []
        while None in [kernel.poll() for kernel in kernels]:
            if file.exists():
                looks.append(file.read_text(encoding="utf-8"))
            time.sleep(0.001)
    assert all(isinstance(json.loads(look), dict) for look in looks)
    assert [kernel.returncode for kernel in kernels] == [0, 0]
    assert set(record.known().values()) == {"right"}
    assert [one.name for one in tmp_path.iterdir()] == ["progress.json"]


@pytest.mark.filterwarnings(
    "ignore:Exception ignored in. <function Popen"
)  # stopped again while it waits for its program
@pytest.mark.parametrize("body", STUBBORN.values(), ids=STUBBORN)
def test_a_stubborn_answer_is_stopped_and_the_next_is_judged(body: str) -> None:
    outcome = judged("01.2", answer(body), seconds=0.2, draw=False, patience=0.5)
    assert outcome.status == "raised"
    assert "the check stopped your answer after" in outcome.text
    assert judged("01.2", answer("return 1"), seconds=3, draw=False).status == "wrong"


def test_an_error_that_can_not_say_what_it_is_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    body = "class Odd(Exception):\n  def __str__(self): raise ValueError\nraise Odd"
    outcome = judged("01.2", answer(body), draw=False)
    assert outcome.status == "raised"
    assert "Odd, in line" in outcome.text


def test_check_never_raises_in_the_notebook(capsys: pytest.CaptureFixture[str]) -> None:
    exec("check('01.2')", {**answer("raise SystemExit"), "check": check})
    exec("check('99.9')", {"check": check})
    printed = capsys.readouterr().out
    assert "Raised an error" in printed
    assert "There is no exercise '99.9'" in printed


@pytest.mark.parametrize("stored", [b"# caf\xe9\n", b"\xff\xfe#\x00", b"def x(:\n", b"x = 1\x00\n"], ids=repr)
def test_a_copy_that_no_python_can_read_is_judged_listed_and_reset(
    stored: bytes, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.begin(HUNT).write_bytes(stored)
    assert command.main([HUNT.name, "--test"]) == 1
    assert "✗ raised an error" in capsys.readouterr().out
    assert bench.changed(HUNT)
    assert command.state(HUNT, bench) == "✗ raised an error"
    assert command.main([HUNT.name, "--reset"]) == 0
    assert [file.read_bytes() for file in bench.folder.glob(f"{HUNT.name}_kept_*.py")] == [stored]
    assert not bench.changed(HUNT)


def test_only_the_beginning_of_what_a_copy_prints_is_shown(bench: Bench) -> None:
    bench.begin(HUNT).write_text("print('x' * 100_000)\nfor n in range(100_000): print(n)\n", encoding="utf-8")
    printed = command.case(HUNT, bench)
    assert len(printed) < 4000
    assert "lines more" in printed


def test_reset_keeps_every_version_of_the_learner(bench: Bench) -> None:
    for text in ("first = 1\n", "second = 2\n", ""):
        bench.begin(HUNT).write_text(text, encoding="utf-8")
        assert command.main([HUNT.name, "--reset"]) == 0
    kept = sorted(bench.folder.glob(f"{HUNT.name}_kept_*.py"))
    assert [file.read_text(encoding="utf-8") for file in kept] == ["first = 1\n", "second = 2\n", ""]
