"""The interviewer: each card's own answer is right, other texts are not, and the same answers give the same interview."""

import json
import random
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from exercises.checker import record
from exercises.interview import cards, interviewer, schedule
from exercises.interview.__main__ import main
from exercises.interview.cards import Card
from exercises.interview.interviewer import Mark, by_model, by_wording, conversation, mark
from exercises.interview.practice import END, Practice, drill, mock
from exercises.interview.samples import FILE
from exercises.interview.wording import covers, neighbours, numbers, sentences
from exercises.interview.words import FUNCTION, stem, tokens

CARDS = cards.load()
SAMPLES: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
each_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)


def own(card: Card) -> str:
    return f"{card.short} {card.long}"


def score(card: Card, answer: str) -> int:
    return Mark(card, (answer,), by_wording(card, answer)).score


def words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text)


def wordings(card: Card) -> list[str]:
    return [one.strip(" ?").replace("|", " ") for idea in card.ideas for one in idea.accept.split(";")]


def mixed(words: list[str], card: Card) -> str:
    return " ".join(random.Random(card.id).sample(words, len(words)))


def between(card: Card, joints: list[str]) -> str:
    """The wordings as sentences, with other words before each of their words."""
    luck = random.Random(card.id)
    spread = ([f"{luck.choice(joints)} {word}" for word in one.split()] for one in wordings(card))
    return " ".join(" ".join(words).capitalize() + "." for words in spread)


SALADS: dict[str, Callable[[Card], str]] = {
    "all words of the wordings": lambda card: " ".join(wordings(card)),
    "the words of each sentence, shuffled": lambda card: " ".join(
        mixed(words(part), card).capitalize() + "." for part in re.split(r"(?<=[.!?])\s+", own(card))
    ),
    "function words between": lambda card: between(card, "the a of to is it in and that for by with so if".split()),
    "the ideas without function words": lambda card: " ".join(
        " ".join(word for word in words(idea.say) if word.lower() not in FUNCTION) + "." for idea in card.ideas
    ),
}


@each_card
def test_own_answers_and_ideas_count_and_echoes_and_negations_do_not(card: Card) -> None:
    found = by_wording(card, own(card))
    assert (Mark(card, (own(card),), found).score >= 90, found.flags) == (True, ())
    assert score(card, "") == 0
    assert score(card, card.question) <= 20
    for place, idea in enumerate(card.ideas):
        assert place in by_wording(card, idea.say).quotes, idea.say
        assert place not in by_wording(card, f"It is not true that {idea.say[0].lower()}{idea.say[1:]}").quotes
        assert idea.ask.endswith("?")


@pytest.mark.parametrize("name", SALADS)
def test_of_174_salads_at_most_one_gets_more_than_forty_points(name: str) -> None:
    assert len([card.id for card in CARDS if score(card, SALADS[name](card)) > 40]) <= 1


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.weekly)])
def test_another_cards_answer_has_at_most_twenty_points(every: int) -> None:
    pairs = [(card, other) for card in CARDS for other in CARDS if card is not other][::every]
    assert [(card.id, other.id) for card, other in pairs if score(card, own(other)) > 20] == []


SPOKEN = yaml.safe_load(Path(__file__).with_name("spoken.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", SPOKEN["sentences"], ids=lambda case: case["text"])
def test_a_wording_is_stated_in_a_sentence_in_order_not_negated(case: dict[str, Any]) -> None:
    parts = sentences(case["text"])
    assert any(covers(case["wording"], one) for one in (*parts, *neighbours(parts))) == case["stated"]


@pytest.mark.parametrize("case", SPOKEN["answers"], ids=lambda case: case["card"])
def test_an_answer_in_a_learners_own_words_is_judged_by_its_meaning(case: dict[str, str]) -> None:
    assert interviewer.grade(mark(case["card"], case["text"]).score) == case["grade"]


def test_an_answer_that_was_not_recognized_is_not_judged_and_the_report_says_so() -> None:
    marks = [
        mark("saga", text)
        for text in ("It was a nice thing to have in our team for many years now.", "", "I don't know.")
    ]
    assert [one.grade for one in marks] == ["not judged", "weak", "weak"]
    assert "I could not judge 1 of 3 answers; they count 0 points." in str(interviewer.report(marks))
    assert "not judged\n  ? I can't judge this; say it with: " in interviewer.details(marks[0])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I can't, we cannot, she won\u2019t, they don't", "i can not , we can not , she will not , they do not"),
        ("It's Bob's; he'd say we'll, they're, I've, I'm", "it is bobs , he say we , they , i , i"),
        ("re-run a/b, snake_case", "re run a b , snake case"),
        ("one \u2013 two \u2014 three: (four) five, , five five", "one , two , three , four , five , five"),
        ("#1 costs $5 in v2.3", "#1 costs $5 in v2.3"),
        ("roll back side by side, at the same time; back at the same", "undo parallel , parallel , back at the same"),
    ],
)
def test_words_have_no_contractions_and_one_word_for_a_phrase(text: str, expected: str) -> None:
    assert " ".join(tokens(text)) == expected


def test_stems_repetitions_salads_and_red_flags() -> None:
    assert stem("organised") == stem("organizes")
    assert stem("ran") == stem("running")
    assert numbers("1,200 and 3k, 2 million, .5") == [1200, 3000, 2e6, 0.5]
    (card,) = cards.named("idempotency-key")
    assert score(card, f"{card.ideas[0].say} " * 5) == interviewer.FIRST_IDEA
    (card,) = cards.named("design-release-agent")
    first = "I would let a model write the plan as data with its rollback, and a person approves it before the night."
    salad = "plan gate production test key effect disk event approve hash undo of the is to a"
    for joint in ("\n", " "):
        assert score(card, f"{first}{joint}{salad}.") <= score(card, first) == 40
    assert mark("idempotency-key", "A retry is always safe for a payment.").found.flags == (0,)
    assert mark("idempotency-key", "It is not true that a retry is always safe.").found.flags == ()


@pytest.mark.parametrize("id", SAMPLES)
def test_samples_take_sixty_to_ninety_seconds_and_have_three_grades(id: str) -> None:
    assert all(130 <= len(text.split()) <= 220 for text in SAMPLES[id].values())
    assert [interviewer.grade(mark(id, text).score) for text in SAMPLES[id].values()] == ["weak", "passing", "strong"]


def held(asked: list[Card], reply: Callable[[Card, str], str]) -> tuple[list[str], list[Mark]]:
    """Hold an interview; return what the interviewer says, and the marks."""
    talk = conversation(asked, clock=lambda: 0.0)
    lines, now = [next(talk)], asked[0]
    while True:
        now = next((card for card in asked if f" {card.question}" in lines[-1]), now)
        try:
            lines.append(talk.send(reply(now, lines[-1])))
        except StopIteration as end:
            return lines, end.value


def strengths() -> list[Callable[[Card, str], str]]:
    return [
        lambda card, line: "I have worked with this for years, and it was always a nice thing to have in the team.",
        lambda card, line: " ".join(idea.say for idea in card.ideas[: (len(card.ideas) + 1) // 2]),
        lambda card, line: own(card),
    ]


@pytest.mark.parametrize("level", cards.LEVELS)
def test_three_strengths_get_three_ordered_grades_twice_the_same(level: int) -> None:
    asked = interviewer.interview(level)
    first, second = ([held(asked, reply) for reply in strengths()] for _ in range(2))
    assert first == second
    means = [sum(one.score for one in marks) / len(marks) for _, marks in first]
    assert [interviewer.grade(mean) for mean in means] == ["weak", "passing", "strong"]
    assert any("I can't judge this; say it with:" in line for line in first[0][0])
    assert sum(map(interviewer.minutes_of, asked)) <= 45


def test_the_interviewer_asks_why_then_the_first_missing_idea() -> None:
    (card,) = cards.named("idempotency-key")
    replies = iter(["With a key.", card.ideas[0].say, "I don't know."])
    lines, (one,) = held([card], lambda card, line: next(replies))
    assert lines[1:] == ["Why?", card.ideas[1].ask]
    assert (len(one.answers), len(one.missed)) == (3, 3)
    lines, _ = held([card], lambda card, line: "I don't know.")
    assert lines[1] == interviewer.RECOVERY
    lines, _ = held([card], lambda card, line: own(card))
    assert lines[1] == f"Good. {card.follow_ups[0].ask}"


def test_questions_fill_the_minutes_and_begin_with_what_is_due() -> None:
    asked = interviewer.interview(1, 10, due=["saga", "what-is-mcp"])
    assert [card.id for card in asked[:2]] == ["saga", "what-is-mcp"]
    assert interviewer.interview(2, 45, seed=1) != interviewer.interview(2, 45)
    with pytest.raises(ValueError, match="give a level of 1, 2 or 3, and at least 5 minutes"):
        interviewer.interview(4)
    assert all(cards.named(*one.ids) for one in interviewer.DRILLS)
    assert len(interviewer.DRILLS) == 10


def test_a_models_quote_that_is_not_in_the_answer_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    (card,) = cards.named("idempotency-key")
    said = "I would attach a unique token, so the other side can recognize it."
    given = {
        "ideas": [
            {"number": 0, "quote": "attach a unique token"},
            {"number": 1, "quote": "created before the first attempt"},
        ],
        "red_flags": [],
    }
    text = json.dumps(given)
    monkeypatch.setattr("planexec_lite.model.asking.ask", lambda *asked: SimpleNamespace(text=text))
    assert by_model(None)(card, said).quotes == {0: "attach a unique token"}
    for form in (
        "I think that it is good.",
        "[" * 100_000,
        '{"ideas": [{"number": 1e999, "quote": "a"}], "red_flags": []}',
    ):
        text = form
        assert by_model(None)(card, own(card)) == by_wording(card, own(card)), "no answer of this form"


@pytest.mark.usefixtures("file")
def test_missed_cards_come_again_sooner_and_progress_shows_them() -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    weak, strong = (mark("critical-path", SAMPLES["critical-path"][name]) for name in ("weak", "strong"))
    schedule.remember([weak], now)
    assert schedule.due(now + timedelta(hours=1)) == ["critical-path"]
    schedule.remember([strong], now + timedelta(hours=1))
    assert schedule.due(now + timedelta(hours=1)) == []
    assert "Interview cards: 1 practised, 100 of 100 points." in str(record.board())


@pytest.mark.usefixtures("file")
def test_the_notebooks_interview_is_used_by_buttons_and_ends_in_a_report() -> None:
    practice = drill(9)
    line, field, buttons, after, _ = practice.widget().children
    answer, unknown, end = buttons.children
    assert "planexec-time 180s" in line.value
    unknown.click()
    assert interviewer.RECOVERY in line.value
    field.value = own(practice.asked[0])
    answer.click()
    answer.click()
    assert practice.marks == [], "an empty field is no answer"
    field.value = "Yes."
    answer.click()
    assert practice.marks[0].card.id == "idempotency-key"
    end.click()
    assert END in line.value
    assert answer.disabled
    assert "<figure" in after.value
    assert "A strong answer" in after.value
    assert mock(1, 5).over is False
    with pytest.raises(ValueError, match="there is no drill 11; there are 1 to 10"):
        drill(11)


@pytest.mark.parametrize("problem", [KeyboardInterrupt(), TimeoutError("no answer in 60 s")], ids=repr)
def test_an_interview_goes_on_after_a_judge_that_failed(problem: BaseException) -> None:
    problems = [problem]

    def judge(card: Card, answer: str) -> interviewer.Found:
        if problems:
            raise problems.pop()
        return by_wording(card, answer)

    practice = Practice("Test", cards.named("idempotency-key"), judge)
    line, field, buttons, _, _ = practice.widget().children
    field.value = own(practice.asked[0])
    buttons.children[0].click()
    assert f"could not be judged ({repr(problem).partition('(')[0]}" in line.value
    assert field.value == own(practice.asked[0]), "it stays in the field"
    buttons.children[0].click()
    assert practice.says.startswith("Good.")
    assert field.value == ""


def test_a_judge_that_fails_repeats_the_probe_and_loses_no_mark() -> None:
    fails = iter([False, True, True, False])

    def judge(card: Card, answer: str) -> interviewer.Found:
        if next(fails):
            raise TimeoutError("no answer")
        return by_wording(card, answer)

    practice = Practice("Test", cards.named("idempotency-key"), judge)
    probe = practice.answer("I would retry the call with some care, if nobody minds that it takes longer.")
    for _ in range(2):
        said = practice.answer("A key.")
        assert said.startswith(probe)
        assert interviewer.NOT_JUDGED in said
    practice.answer(own(practice.asked[0]))
    practice.answer("Yes.")
    assert practice.over
    assert [mark.card.id for mark in practice.marks] == ["idempotency-key"]


def test_the_last_press_counts_while_an_answer_waits_for_its_text() -> None:
    practice = drill(9)
    box = practice.widget()
    box._view_count = 1
    _, field, buttons, _, fence = box.children
    field.value = "half a sent"
    buttons.children[0].click()
    buttons.children[2].click()
    for _ in range(4):
        for post in fence.children:
            post._view_count = 1
    assert practice.over
    assert practice.marks == []


def test_an_answer_is_judged_with_all_that_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    practice, judged = drill(9), list[str]()
    monkeypatch.setattr(practice, "answer", lambda text: judged.append(text) or "Why?")
    box = practice.widget()
    box._view_count = 1
    _, field, buttons, _, fence = box.children
    field.value = "m"
    (post,) = fence.children
    buttons.children[0].click()
    field.value = "my whole answer"  # the page sends it when "m" was answered
    post._view_count = 1
    assert judged == []
    post._view_count = 0
    assert judged == ["my whole answer"]


@pytest.mark.usefixtures("file")
def test_ctrl_c_ends_the_command_with_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (card,) = cards.named("idempotency-key")
    lines = iter([own(card), "", "Yes.", ""])

    def typed(prompt: str) -> str:
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", typed)
    assert main(["--drill", "9"]) == 0
    assert "100 of 100 points" in capsys.readouterr().out
    assert "1 practised" in str(record.board())


@pytest.mark.usefixtures("file")
def test_the_command_asks_and_reports(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = iter(["I don't know.", "", own(cards.named("idempotency-key")[0]), "", "Yes.", ""])

    def read(prompt: str) -> str:
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", read)
    assert main(["--drill", "9"]) == 0
    told = capsys.readouterr().out
    assert interviewer.RECOVERY in told
    assert "100 of 100 points: strong" in told
    monkeypatch.delenv("PLANEXEC_LLM", raising=False)
    with pytest.raises(SystemExit):
        main(["--real"])
    assert "set PLANEXEC_LLM" in capsys.readouterr().err
