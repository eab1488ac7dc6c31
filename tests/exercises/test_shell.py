"""The small shell of a browser tab does what the real one does: on scripts drawn by lot, and in the check of 12.2."""

import os
import re
import subprocess
from pathlib import Path
from random import Random

import pytest
import yaml

from exercises.checker.checks import lesson_12
from exercises.checker.checks.shell import Unknown, run
from tests.exercises.answers import SAYS, of_lesson
from tests.exercises.test_each_exercise import outcome

needs_a_shell = pytest.mark.skipif(not os.path.exists("/bin/sh"), reason="there is no /bin/sh to compare with")
VARIABLES = {
    "PATH": "/usr/bin:/bin",
    "LC_ALL": "C",
    "a": "one",
    "b": " two  words ",
    "c": "",
    "d": "; touch ran",
    "e": "$(touch ran) `touch ran`",
    "f": 'it\'s "so" *',
    "g": "x\ny\\n",
}
SCRIPTS = 150


GRAMMAR: dict[str, list[str]] = yaml.safe_load(Path(__file__).with_name("shell.yaml").read_text(encoding="utf-8"))


def script(chance: Random) -> str:
    """A script by lot: mostly one that a shell can read."""
    text = written("script", chance)
    if chance.random() < 0.1:  # something is missing, or too much
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(["'", '"', ")", ";", "|", "&&", "`", "\\"]) + text[at:]
    return text


def written(rule: str, chance: Random) -> str:
    """A text by a rule of the grammar, whose alternatives have the names of other rules in angle brackets."""
    return re.sub("<(\\w+)>", lambda name: written(name[1], chance), chance.choice(GRAMMAR[rule]))


def folder(path: Path) -> Path:
    path.mkdir()
    for name in ("f1", "f2"):
        (path / name).write_text(f"{name} *\n")
    return path


def left(path: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in path.iterdir()}


@needs_a_shell
def test_it_does_what_the_real_shell_does(tmp_path: Path) -> None:
    known = 0
    for seed in range(SCRIPTS):
        text = script(Random(seed))
        ours, theirs = folder(tmp_path / f"{seed} ours"), folder(tmp_path / f"{seed} theirs")
        try:
            came = run(text, VARIABLES, ours)
        except Unknown:
            continue
        known += 1
        done = subprocess.run(
            ["/bin/sh", "-c", text],
            cwd=theirs,
            env=VARIABLES,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert came.printed == done.stdout.decode(), f"{seed}: {text}"
        assert (came.code == 0) == (done.returncode == 0), f"{seed}: {text}"
        assert left(ours) == left(theirs), f"{seed}: {text}"
    assert known > 0.9 * SCRIPTS


@pytest.mark.parametrize(
    "text",
    ["if true; then x; fi", "(true)", "x=$((1+1))", "cat << END", "sed s/a/b/ ~/x", "echo 'a\\nb'", "/bin/rm x", "a $$ b",
     "cat ../x", "cat 2> x", "printf %d 1", "cat -n x", "true &&\ntrue", "for", "eval x"],
)  # fmt: skip
def test_what_it_does_not_know_it_says(text: str, tmp_path: Path) -> None:
    with pytest.raises(Unknown):
        run(text, VARIABLES, tmp_path)
    assert left(tmp_path) == {}


def test_a_program_is_found_on_the_path_alone(tmp_path: Path) -> None:
    assert run("touch x", {"PATH": "/usr/bin"}, tmp_path).code == 0
    assert run("touch y", {"PATH": "elsewhere"}, tmp_path).code == 127
    assert list(left(tmp_path)) == ["x"]


@pytest.mark.parametrize("kind", ["solution", "alternatives", "wrong"])
def test_the_check_says_the_same_without_a_real_shell(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = of_lesson("12")["12.2"]
    cells = {"solution": [answers.answer], "alternatives": answers.alternatives, "wrong": answers.wrong}[kind]
    monkeypatch.setattr(lesson_12, "has_a_shell", lambda: False)
    for cell in cells:
        told = outcome(answers, cell)
        assert (told.status == "right") == (kind != "wrong"), told.text
        assert all(" ".join(says.split()) in " ".join(told.text.split()) for says in SAYS.findall(cell)), told.text
