"""The puzzles: right answers of several kinds are right, wrong ones are told why, and each begins unsolved."""

import json
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest

from exercises.checker import record
from exercises.checker.book import HERE
from exercises.puzzles import puzzle, solved
from exercises.puzzles.collection import PUZZLES
from exercises.puzzles.verdict import judged
from planexec_lab.views import Figure
from tests.guards.test_lessons import COLUMNS, printed

NOTEBOOK = HERE / "puzzles.ipynb"
each_puzzle = pytest.mark.parametrize("number", range(1, len(PUZZLES) + 1))


class Answer(NamedTuple):
    """An answer to a puzzle; `says` is part of the message that it gets."""

    number: int
    plan: str
    says: str = ""
    more: dict[str, Any] = {}  # noqa: RUF012

    def __repr__(self) -> str:
        return f"{self.number}: {' '.join(str(self.plan).split())[:40]} {self.more or ''} {self.says[:30]}".strip()


def swapped(number: int, *changes: tuple[str, str]) -> str:
    text = PUZZLES[number - 1].plan
    for old, new in changes:
        assert text.count(old) == 1, f"{old!r} stands in the plan {text.count(old)} times"
        text = text.replace(old, new)
    return text


def ordered(number: int, order: str, *changes: tuple[str, str]) -> str:
    """The plan with its lines in another order, as "3 1 2", and words changed."""
    lines = {line.split()[0]: line for line in swapped(number, *changes).strip().splitlines()}
    return "\n".join(lines[id] for id in order.split())


REST = "3b mirror 20 s after 2\n5b announce 5 s after 3b, 4"
TWO_IN_ONE = "1 water 60 s\n2 tea 30 s after 1\n3 eggs 50 s after 1\n4 bread 20 s\n5 plate 10 s after 3, 4"
BACK = "4 website 10 s\n3 service 20 s after 4\n2 cache 30 s after 3\n1 database 60 s after 3"
SHARED = "1 read 20 s\n2 clock 30 s after 1\n3 docs 30 s\n4 test 20 s after 2\n5 report 10 s after 3, 4"
FREE = ("30 s after 1", "30 s")
SLOTS = [{"slots": number} for number in range(6)]
RIGHT = [
    Answer(1, swapped(1, FREE)),
    Answer(1, "a water 60 s\nb coffee 30s\nc pour 10 s after a and b"),
    Answer(2, ordered(2, "3 1 2")),
    Answer(3, ordered(3, "5 4 3 2 1", ("after 2", "after 3, 2"))),
    Answer(4, ordered(4, "5 2 4 1 3"), more={"limits": {"oven": 2}}),
    Answer(5, swapped(5), more=SLOTS[3]),
    Answer(6, ordered(6, "3 4 1 2", ("10 s after 2", "10 s"))),
    Answer(7, swapped(7, ("after 1, 2", "after 1")), more=SLOTS[2]),
    Answer(7, swapped(7, ("after 3, 4", "after 4")), more=SLOTS[3]),
    Answer(8, ordered(8, "4 1 5 2 3 6"), more=SLOTS[2]),
    Answer(9, REST),
    Answer(9, "7 announce 5 s after 6, 4, 2\n6 mirror 20 s after 2, 1"),
    Answer(10, TWO_IN_ONE.replace("after 3, 4", "after 2, 3, 4")),
    Answer(11, "\n".join(reversed(BACK.splitlines()))),
    Answer(12, ordered(12, "1 3 2 4 6 5 7 8", ("after 4, 1", "after 1"))),
    Answer(13, SHARED),
    Answer(13, "\n".join(reversed(SHARED.splitlines()))),
    Answer(13, SHARED.replace("after 2", "after 1, 2")),
]  # fmt: skip
WRONG = [
    Answer(1, ordered(1, "2 1 3"), "the chain 1 → 2 → 3 takes 100 s"),
    Answer(1, swapped(1, ("after 1, 2", "after 2"), FREE), "pour started at 30 s but needs water, which ends at 60 s"),
    Answer(1, swapped(1, FREE, ("after 1, 2", "after 1")), "no edge makes pour wait for coffee"),
    Answer(2, ordered(2, "2 1 3"), "step 3 was ready at 0 s but started at 10 s, because no slot was free"),
    Answer(2, ordered(2, "3 1 2", ("2 beans 10 s", "2 beans 10 s after 1")), "added: rice → beans"),
    Answer(3, swapped(3, ("40 s after 1", "40 s after 1, 2")), "the oven is busy with"),
    Answer(4, swapped(4), "rolls started at 0 s, but the ovens are busy with bread and cake", {"limits": {"oven": 4}}),
    Answer(4, swapped(4), "no slot was free earlier", {"limits": {"oven": 1}}),
    Answer(5, ordered(5, "2 5 1 7 4 3 6"), "the lines were changed", SLOTS[4]),
    Answer(5, swapped(5), "with another slot it takes only 50 s", SLOTS[2]),
    Answer(5, swapped(5), "with fewer slots it also takes 50 s", SLOTS[4]),
    Answer(6, swapped(6, ("after 3, 4", "after 4")), "wait"),
    Answer(6, swapped(6, ("10 s after 3", "10 s")), "1 waits for 3, 3 waits for 2, 2 waits for 1"),
    Answer(7, swapped(7, ("after 1, 2", "after 1")), "it already fails with 2 slots: step 3 fails", SLOTS[3]),
    Answer(7, swapped(7, ("after 1, 2", "after 2")), "with 4 slots it still finishes", SLOTS[4]),
    Answer(8, swapped(8), "100 s of work fit into 50 s with 4 slots", SLOTS[5]),
    Answer(9, "5b announce 5 s after 4", "needs mirror"),
    Answer(9, "3b mirror 20 s after 2", "no step does announce"),
    Answer(10, swapped(10, ("60 s after 2", "60 s")), "water is done twice"),
    Answer(10, TWO_IN_ONE.replace("after 3, 4", "after 3"), "no edge makes plate wait for bread"),
    Answer(10, TWO_IN_ONE.replace("eggs 50 s after 1", "eggs 50 s after 2"), "takes 150 s"),
    Answer(11, BACK.replace("1 database 60 s after 3", "1 database 60 s after 2"), "the chain 4 → 3 → 2 → 1"),
    Answer(11, BACK.replace("3 service 20 s after 4", "3 service 20 s"), "needs website"),
    Answer(12, swapped(12, ("after 4, 1", "after 4")), "takes 120 s"),
    Answer(13, SHARED.replace("after 3, 4", "after 4"), "report needs docs but does not wait for it"),
    Answer(13, SHARED.replace("30 s after 1", "30 s"), "clock started at 0 s but needs read, which ends at 20 s"),
    Answer(13, SHARED.replace("3 docs 30 s", "3 docs 30 s after 2"), "the chain"),
]  # fmt: skip
UNREADABLE = [
    Answer(1, "1 water", "'1 water' can't be read; write a line such as: 3 pour 10 s after 1, 2"),
    Answer(1, swapped(1, ("60 s", "6 s")), "step 1: water 6 s is not a job of this puzzle; its jobs are: water 60 s, coffee 30 s"),
    Answer(1, swapped(1, ("coffee", "tea")), "step 2: tea 30 s is not a job of this puzzle"),
    Answer(1, None, "the plan must be a string, not NoneType"),  # type: ignore[arg-type]
    Answer(2, swapped(2), "unexpected argument slots=3: this puzzle takes a plan", SLOTS[3]),
    Answer(2, swapped(2), "unexpected argument cooks=3", {"cooks": 3}),
    Answer(4, swapped(4), "no tool is called or uses 'ovens'", {"limits": {"ovens": 2}}),
    Answer(4, swapped(4), "Error", {"limits": 2}),
    Answer(5, swapped(5), "slots=0: give at least one slot", SLOTS[0]),
    Answer(5, swapped(5), "slots='2' is not a whole number: write, for example, slots=2", {"slots": "2"}),
]  # fmt: skip


ANSWERS = [(kind, one) for kind, some in {"right": RIGHT, "wrong": WRONG, "raised": UNREADABLE}.items() for one in some]


@pytest.mark.parametrize(("status", "answer"), ANSWERS, ids=repr)
def test_an_answer_gets_its_verdict_and_the_reason(status: str, answer: Answer) -> None:
    outcome = judged(answer.number, answer.plan, **answer.more)
    assert outcome.status == status, outcome.text
    reason = PUZZLES[answer.number - 1].learned if status == "right" else answer.says
    assert reason in " ".join(outcome.text.split())
    assert status != "wrong" or max(map(len, outcome.text.splitlines())) <= COLUMNS
    assert status != "wrong" or outcome.figures, "the picture is below the words"


@each_puzzle
def test_a_puzzle_begins_unsolved_and_shows_its_run(number: int) -> None:
    outcome = judged(number, PUZZLES[number - 1].plan)
    assert outcome.status == "not started"
    assert outcome.text.startswith(f"Puzzle {number} · Not started\n  result ")
    (figure,) = outcome.figures
    assert isinstance(figure, Figure)
    assert figure.text


def test_a_right_answer_is_remembered(file: Path, capsys: Any) -> None:
    puzzle(1, swapped(1))
    assert not file.exists(), "what is not started is not kept"
    assert solved().title == "0 of 13 puzzles right"
    puzzle(1, swapped(1, FREE))
    puzzle(1, ordered(1, "2 1 3"))
    puzzle(2, ordered(2, "2 1 3"))
    assert json.loads(file.read_text()) == {"puzzle 1": "right", "puzzle 2": "wrong"}
    assert record.board("01").title.startswith("Lesson 01: 0 of"), "a puzzle is no exercise of a lesson"
    assert solved().title == "1 of 13 puzzles right"
    assert "Puzzle 1 · Right" in capsys.readouterr().out
    puzzle(14, "1 water 60 s")
    assert capsys.readouterr().out == "There is no puzzle 14; there are 1 to 13.\n"


def cells() -> list[Any]:
    found: list[Any] = nbformat.read(NOTEBOOK, 4).cells
    return found


def test_the_notebook_begins_every_puzzle_unsolved() -> None:
    calls = [cell for cell in cells() if "puzzle(" in cell.source]
    assert len(calls) == len(PUZZLES) == 13
    for number, cell in enumerate(calls, 1):
        assert f"Puzzle {number} · Not started" in printed(cell), "run `make notebooks`"
