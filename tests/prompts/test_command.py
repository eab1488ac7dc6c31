"""The command line: a check for CI that is red at a regression."""

import subprocess
import sys
from pathlib import Path

import pytest

from planexec_lab import recorded
from planexec_lab.prompts import Registry
from planexec_lab.prompts.__main__ import main
from planexec_lite.roles.planners import INSTRUCTIONS


@pytest.fixture
def file(tmp_path: Path) -> Path:
    registry = Registry(tmp_path / "prompts.db")
    registry.save("planner", INSTRUCTIONS, "as it came")
    registry.save("planner", recorded.without(INSTRUCTIONS, "failure"))
    registry.release("planner", 1, "production")
    return registry.path


MEASURE = ("--on", "smollm2", "--measure", "ends a step")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("planner", "2", "production", *MEASURE), 0, "+33 (+8 to +53)"),
        (("planner", "production", "2", *MEASURE), 1, "planner 1 is worse than planner 2\n"),
        (("planner", "2", "1", "--on", "family"), 0, "(written, so nothing about a model)"),
        (("planner", "2", "1", "--on", "smollm2"), 2, "could never turn red"),
        (("planner", "2", "1", "--on", "nothing"), 2, "No such file or directory: 'nothing'"),
        (("planner", "2", "7", *MEASURE), 2, "no version 7"),
        (("plannr", "2", "1", *MEASURE), 2, "did you mean 'planner'"),
        (("pl\x1b[2J", "2", "1", *MEASURE), 2, "pl\\x1b[2J"),
        (("planner", "2", "1", *MEASURE, "--tolerance", "2"), 2, "tolerance=2.0"),
        (("planner", "2", "1", "--on", "family", "--measure", "vaild"), 2, "did you mean 'valid'"),
    ],
)
def test_the_check_gives_0_1_or_2(
    arguments: tuple[str, ...], code: int, words: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(file), *arguments]) == code
    told = capsys.readouterr()
    assert words in (told.err if code == 2 else told.out)
    assert not (told.out if code == 2 else told.err)


@pytest.mark.slow
def test_it_runs_as_a_module(file: Path) -> None:
    command = [sys.executable, "-m", "planexec_lab.prompts", "check", file, "planner", "2", "1", "--on", "family"]
    assert subprocess.run(command, capture_output=True).returncode == 0
