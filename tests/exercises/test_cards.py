"""The cards: all subjects are covered, each card is whole, and what is made from them is the same on every run."""

import ast
import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from exercises.interview import cards
from exercises.interview.cards import Card
from tests.guards import books
from tests.guards.books import ROOT

CARDS = cards.load()
BY_ID = {card.id: card for card in CARDS}
each_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)

OURS = re.compile(
    r"\b(?:lessons?|notebooks?|the kit|ours?|the tour)\b|\bmax_\w+|\b(?:PlannerExecutor|NextStepPlanner|LLMPlanner)\b",
    re.I,
)
ELSEWHERE = {  # numbers that were measured or published outside the lessons
    "reference-keeps-type": {"59"},
    "backup-files-notify": {"105", "136"},
    "approval-fatigue": {"93", "2026"},  # Anthropic, "Claude Code auto mode", 2026-03
    "tool-poisoning": {"50", "2024"},  # Hines et al., Spotlighting, arXiv:2403.14720
    "when-is-a-graph-worth-it": {"85", "1,971", "2025", "2026"},  # 1,668 chains in GNN4TaskPlan at f1486690
    "billed-twice": {"2026"},  # open-telemetry/semantic-conventions-genai, issue 19
}


def words_of(card: Card) -> list[str]:
    texts = [card.question, card.why, card.short, card.long]
    texts += [part for one in card.follow_ups for part in (one.ask, one.say)]
    if card.quiz:
        texts += [card.quiz.ask, *(part for one in card.quiz.choices for part in (one.text, one.because))]
    return texts


@cache
def notebook(lesson: str) -> Any:
    (path,) = (ROOT / "notebooks").glob(f"{lesson}_*.ipynb")
    return nbformat.read(path, as_version=4)


def test_there_are_cards_for_every_lesson() -> None:
    assert len(CARDS) >= 60
    assert all(len(cards.of(f"{lesson:02}")) >= 3 for lesson in range(13))
    with pytest.raises(ValueError, match="no card 'why-pla'; do you mean why-plan"):
        cards.show("why-pla")
    with pytest.raises(ValueError, match="name a lesson or cards; there are the lessons 00, 01"):
        cards.show()


@each_card
def test_a_card_is_plain_and_its_numbers_are_in_its_lesson(card: Card) -> None:
    assert re.findall(r"\b(?:simply|obviously|of course|easily)\b|!(?=\s|$)", " ".join(words_of(card)), re.I) == []
    assert len(card.short.split()) <= 45, "the short answer is said in a breath"
    assert 30 <= len(card.long.split()) <= 90, "the long answer is said in half a minute"
    assert all(len(one.say.split()) <= 90 for one in card.follow_ups)
    assert len(card.why.split()) <= 20
    assert card.question.endswith(("?", ".")), card.question
    said = [text for text in words_of(card) if text != card.why]
    assert [text for text in said if OURS.search(text)] == [], "an interviewer knows no lesson and none of our names"
    book = notebook(card.lesson)
    assert card.cell in ["", *(cell.id for cell in book.cells)]
    pages = re.findall(r"\]\((appendix/\w+\.ipynb)\)", json.dumps(book))
    books_of_lesson = [book, *(nbformat.read(ROOT / "notebooks" / page, as_version=4) for page in pages)]
    shown = json.dumps(books_of_lesson, ensure_ascii=False)
    numbers = re.findall(r"(?<![\w.])\d[\d,]*\.\d+|(?<![\w.#$])\d[\d,]*\d(?![\w.]*\w)", f"{card.short} {card.long}")
    elsewhere = {*ELSEWHERE.get(card.id, ()), *cards.LESSONS}
    computed = "estimate" in card.tags  # from the numbers of the question
    assert computed or [number for number in numbers if number not in shown and number not in elsewhere] == []


def test_the_loop_of_the_replan_card_does_what_the_card_says(capsys: pytest.CaptureFixture[str]) -> None:
    planner = SimpleNamespace(
        plan=lambda goal: SimpleNamespace(tasks=["a", "b", "c"]),
        replan=lambda goal, completed, error: print("told", completed) or SimpleNamespace(tasks=["new"]),
    )
    executor = SimpleNamespace(execute=lambda task: print(task) or SimpleNamespace(success=task != "b", error="no"))
    exec(BY_ID["published-replan-bug"].code, {"planner": planner, "executor": executor, "goal": ""})
    assert capsys.readouterr().out.splitlines() == ["a", "b", "told []", "c"], "the new plan never runs"


def card_as_data(**changes: Any) -> dict[str, Any]:
    first: dict[str, Any] = json.loads(cards.FILE.read_text(encoding="utf-8"))[0]
    return first | changes


CHOICE = {"text": "a", "right": False, "because": "b"}
BAD_CARDS: dict[str, list[dict[str, Any]]] = {
    "the id is not unique": [card_as_data(), card_as_data()],
    "colour is not a field": [card_as_data(colour="red")],
    "why is missing": [{name: value for name, value in card_as_data().items() if name != "why"}],
    "there is no lesson '99'": [card_as_data(lesson="99")],
    "a follow-up is missing": [card_as_data(follow_ups=[])],
    "exactly one of them right": [card_as_data(quiz={"ask": "q", "choices": [CHOICE] * 3})],
    "at least three choices": [card_as_data(quiz={"ask": "q", "choices": [CHOICE, CHOICE | {"right": True}]})],
}


@pytest.mark.parametrize(("wanted", "stored"), BAD_CARDS.items(), ids=list(BAD_CARDS))
def test_a_bad_card_is_named(wanted: str, stored: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    path.write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(ValueError, match=r"cards\.json:\npattern-in-a-breath: ") as raised:
        cards.load(path)
    assert wanted in str(raised.value)


@pytest.mark.parametrize(
    "path", [path for path in books.LESSONS if path.name[:2] in cards.lessons()], ids=books.name_of
)
def test_a_lesson_ends_with_its_cards_from_the_file(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    (heading,) = [n for n, cell in enumerate(book.cells) if "## Say it in an interview" in cell.source]
    said = book.cells[heading].source.partition("## Say it in an interview")[2]
    assert len(said.split()) < 40, "the answers stand in cards.json, and nowhere else"
    cell = book.cells[heading + 1]
    shown = re.fullmatch(r"from exercises\.interview import show\n\nshow\((.*)\)", cell.source, re.S)
    assert shown is not None
    ids = ast.literal_eval(f"[{shown[1]}]")
    assert 1 <= len(ids) <= 5, "the deck has the others"
    assert {card.lesson for card in cards.named(*ids)} == {path.name[:2]}
    assert "".join(cell.outputs[0].data["text/plain"]) == str(cards.show(*ids))


def test_the_command_writes_for_anki_one_note_a_line_with_its_own_id(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "new" / "cards.txt"
    cards.main(["--anki", str(path)])
    assert f"{len(CARDS)} cards written" in capsys.readouterr().out
    lines = path.read_text(encoding="utf-8").splitlines()
    assert {"#separator:tab", "#html:true", "#guid column:1", "#tags column:4"} <= set(lines)
    notes = [line for line in lines if not line.startswith("#")]
    assert not any('"' in note for note in notes), "a quotation mark would open a quoted field"
    for card, (id, front, back, tags) in zip(CARDS, (note.split("\t") for note in notes), strict=True):
        assert id == f"planexec-{card.id}"
        assert cards.escape(card.question) in front
        assert all(cards.escape(text) in back for text in (card.short, card.long, card.why))
        assert tags.split()[0] == f"lesson::{card.lesson}"


def test_the_cheat_sheet_is_one_page_and_its_numbers_are_those_of_the_cards() -> None:
    page = (ROOT / "exercises" / "CHEATSHEET.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 66
    assert len(page.split()) <= 700
    words = " ".join(" ".join(words_of(card)) for card in CARDS)
    assert [number for number in re.findall(r"\d[\d,.]*\d", page) if number not in words] == []
    assert re.findall(r"\b(?:simply|obviously|easily)\b|!(?=\s|$)", page) == []
