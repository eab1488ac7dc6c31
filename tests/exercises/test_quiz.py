"""The quizzes: every choice has an explanation, one is right, and words and widgets say the same."""

import json
from typing import Any

import ipywidgets
import pytest

from exercises.interview import cards
from exercises.interview.quiz import quiz

LESSONS = [lesson for lesson in cards.lessons()[1:] if any(card.quiz for card in cards.of(lesson))]


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_s_questions_and_their_text(lesson: str) -> None:
    asked = quiz(lesson)
    assert 3 <= len(asked.questions) <= 6
    for question in asked.questions:
        assert question.ask in asked.text
        assert question.ask in repr(asked)
        assert len({choice.text for choice in question.choices}) == len(question.choices)
        for choice in question.choices:
            assert len(choice.because.split()) >= 3
            assert choice.text in repr(asked)
            assert choice.because in asked.text
            assert choice.because not in repr(asked), "the questions alone give nothing away"


def test_the_notebook_asks_about_every_lesson_and_gives_no_answer_away() -> None:
    book = json.loads((cards.FILE.parents[1] / "interview.ipynb").read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    assert [source for source in sources if source.startswith("quiz(")] == [f'quiz("{lesson}")' for lesson in LESSONS]
    stored = (cards.FILE.parents[1] / "interview.ipynb").read_text(encoding="utf-8")
    told = [one.because for lesson in LESSONS for question in quiz(lesson).questions for one in question.choices]
    assert [because for because in told if because in stored] == []


def test_neither_place_nor_length_gives_the_right_choice_away() -> None:
    questions = [question for lesson in LESSONS for question in quiz(lesson).questions]
    places = [[choice.right for choice in question.choices].index(True) for question in questions]
    longest = [max(question.choices, key=lambda choice: len(choice.text)).right for question in questions]
    assert all(places.count(place) >= len(questions) / 5 for place in range(3))
    assert longest.count(True) <= len(questions) * 0.6


def test_an_answer_in_words_is_marked_and_explained() -> None:
    question = quiz("01").questions[0]
    answers = [quiz("01").answer(1, letter) for letter in "abc"]
    for words, choice, letter in zip(answers, question.choices, "abc", strict=True):
        mark = "✓ right" if choice.right else "✗ wrong"
        assert words == f"{letter}) {mark}: {choice.because}"
    for number, letter, wanted in ((0, "a", "no question 0"), (1, "z", "no choice 'z'")):
        with pytest.raises(ValueError, match=wanted):
            quiz("01").answer(number, letter)


def parts(box: ipywidgets.VBox) -> list[Any]:
    """The widgets of each question, as (asked, choice, button, said), and the score last."""
    return [part.children if isinstance(part, ipywidgets.VBox) else part for part in box.children]


def test_a_click_explains_the_choice_and_the_first_try_counts() -> None:
    asked = quiz("05")
    *questions, score = parts(asked.widget())
    for (said_first, choice, button, explanation), question in zip(questions, asked.questions, strict=True):
        assert cards.escape(question.ask) in said_first.value
        assert button.disabled, "there is nothing to check before a choice"
        for number, one in enumerate(question.choices):
            choice.index = number
            assert explanation.value == "", "a new choice takes the old explanation away"
            button.click()
            assert cards.escape(one.because) in explanation.value
            assert ("✓ right" in explanation.value) == one.right
    first = [question.choices[0].right for question in asked.questions]
    assert score.value == f"Right at the first try: {first.count(True)} of {len(asked.questions)}."
