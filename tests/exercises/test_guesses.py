"""Predictions: how a guess is judged, what is kept of it, and what the page of guesses shows."""

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from exercises.authors import reveals
from exercises.checker.guesses import Guess, board, compare, guesses, kind_of
from planexec_lab.views.review_desk import presence
from tests.guards.books import APPENDIX, LESSONS

RIGHT: list[tuple[Any, Any]] = [
    (53, 53), ("53", 53.0), ("5b", "5b"), (6, "6"), (" 6 ", "6"), (True, True), ("no", False), (["6"], {"6"}),
    ("6", ["6"]), ([6, "5b"], ["5b", "6"]), ([105, 136, 136], [136.0, 136.0, 105.0]), ({5: 7, 6: 8}, {"5": 7.0, "6": 8.0}),
]  # fmt: skip
NEAR: list[tuple[Any, Any]] = [(41, 53), (66, 53), (["5", "6"], ["6"]), ({"5": 7, "6": 0}, {"5": 7, "6": 8}), (-4, -5)]
WRONG: list[tuple[Any, Any]] = [
    (32, 53), (1, 0), ("6", "5"), (True, False), (["1", "2", "3"], ["3"]), ([], ["6"]), ({}, {"5": 7}), ({"9": 7}, {"5": 7}),
    (float("inf"), 53), ([136, 105], [136, 136, 136, 105, 105]),
]  # fmt: skip
OTHER: list[tuple[Any, Any]] = [
    ("many", 53), (None, 53), (True, 53), ([53], 53), (float("nan"), 53), ("perhaps", True), (3, True), (7, {"5": 7}),
    ({"5": "early"}, {"5": 7}), (["5"], "5"), ({"5": 1}, "5"), (None, ["5"]),
]  # fmt: skip


def told(capsys: pytest.CaptureFixture[str], *args: Any) -> str:
    compare("99.1", *args)  # no lesson has this prediction, so no text follows
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("verdict", "guess", "outcome"),
    [(verdict, *one) for verdict, some in {"Right": RIGHT, "Near": NEAR, "Wrong": WRONG}.items() for one in some],
)
def test_a_guess_is_judged(verdict: str, guess: Any, outcome: Any, file: Path, capsys: Any) -> None:
    assert told(capsys, guess, outcome).endswith(f"{verdict}.\n")
    assert [one.verdict for one in guesses()] == [verdict.lower()]
    assert guesses()[0].kind == kind_of(outcome)


@pytest.mark.parametrize(("guess", "outcome"), OTHER)
def test_a_guess_of_another_form_is_named_and_not_kept(guess: Any, outcome: Any, file: Path, capsys: Any) -> None:
    assert " is not " in told(capsys, guess, outcome)
    assert not file.exists()


def test_the_first_guess_counts_and_texts_come_last(file: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(capsys, 32, 53) == "Your guess: 32.\nIt was: 53. Wrong.\n"
    assert told(capsys, 53, 53) == "Your guess: 53.\nIt was: 53. Right.\n"
    assert guesses() == [Guess("99.1", 32.0, 53, "wrong")]


def test_a_page_shows_the_verdict_with_symbol_and_colours(file: Path, capsys: Any, monkeypatch: Any) -> None:
    request = {"msg_type": "execute_request", "content": {"allow_stdin": True}}
    page = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", page)
    monkeypatch.setattr(presence, "request", lambda: request)
    assert told(capsys, 53, 53).endswith("It was: 53. \x1b[38;2;0;90;66;48;2;207;235;224m ✓ Right. \x1b[0m\n")
    request["content"]["allow_stdin"] = False  # nbval, a build
    assert told(capsys, 53, 53).endswith("It was: 53. Right.\n")
    monkeypatch.setattr("exercises.checker.guesses.reveal", lambda id: f"The reason for {id}.")
    assert told(capsys, ..., 53) == "No guess.\nIt was: 53\n\nThe reason for 99.1.\n\n"


def test_a_guess_in_a_file_that_can_not_be_written_is_passed_over(file: Path, capsys: Any) -> None:
    file.mkdir(parents=True)
    assert "Right." in told(capsys, 53, 53)


EXAMPLE = [
    Guess("00.2", "7", "7", "right"),
    Guess("01.1", 32, 53, "wrong"),
    Guess("02.1", 5, 5.6, "near"),
    Guess("03.1", ["1", "2"], ["1"], "near"),
    Guess("03.3", True, False, "wrong"),
]


def test_the_board_counts_by_verdict_and_by_kind() -> None:
    figure = board(EXAMPLE)
    assert figure.text.startswith("5 guesses: 1 right, 2 near, 2 wrong")
    assert "number: 1 of 2 right or near" in figure.text
    assert "<" in figure._repr_html_()


def test_every_text_belongs_to_a_prediction_or_task_of_its_lesson() -> None:
    for path in sorted(reveals.FOLDER.glob("*.md")):
        (lesson,) = [book for book in [*LESSONS, *APPENDIX] if book.name.startswith(f"{path.stem}_")]
        source = "\n".join(cell.source for cell in nbformat.read(lesson, as_version=4).cells)
        for heading, text in reveals.sections(path.stem).items():
            assert text
            assert f'compare("{heading}"' in source or (heading == "task" and "attempt(" in source), heading
