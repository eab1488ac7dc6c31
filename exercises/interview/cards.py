"""The interview cards: questions of the lessons with why they are asked, a short and a long answer, and follow-ups.

All cards are in ``cards.json``. A lesson shows its cards with ``show("05")``, and
``show("why-plan", "when-no")`` shows two cards; `exercises.interview.quiz` asks about them, and
``python -m exercises.interview.cards --anki FILE`` exports them to Anki.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal

from mock_llm import command

if TYPE_CHECKING:
    from planexec_lab.views import Figure

FILE = Path(__file__).with_name("cards.json")
LESSONS = tuple(f"{number:02d}" for number in range(18))
KINDS = ("question", "mistake", "comparison")
LEVELS = {1: "first round", 2: "second round", 3: "senior"}


@dataclass(frozen=True)
class Choice:
    """One answer of a quiz: its text, whether it is right, and why or why not."""

    text: str
    right: bool
    because: str


@dataclass(frozen=True)
class Quiz:
    """One question with choices, of which exactly one is right."""

    ask: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class FollowUp:
    """A follow-up question and its answer."""

    ask: str
    say: str


@dataclass(frozen=True)
class Idea:
    """One idea of a good answer.

    Args:
        say: the idea in one sentence.
        ask: the question of an interviewer who misses it; it does not give the idea away.
        accept: the accepted wordings, separated by semicolons (see `wording`).
    """

    say: str
    ask: str
    accept: str


@dataclass(frozen=True)
class RedFlag:
    """A claim that costs points: what it is, and the wordings by which it is recognized."""

    say: str
    accept: str


@dataclass(frozen=True)
class Card:
    """One card.

    Args:
        id: the permanent name of the card, which Anki uses too.
        lesson: "00" to "17".
        cell: the id of the cell in the lesson's notebook that shows it; empty for the lesson as a whole.
        kind: a "question", a common "mistake", or a "comparison".
        level: 1 for the first round, 2 for the second, 3 for senior interviews.
        tags: subjects, in lower case, without spaces.
        question: the question in an interviewer's words.
        why: the reason for the question.
        short: the answer in one or two sentences.
        long: the same as a story of half a minute: a situation, the failure, the fix. It needs no other text.
        follow_ups: the next questions.
        ideas: three to five ideas that a good answer contains.
        red_flags: claims that cost points.
        code: the lines that the question is about; empty for most cards.
        quiz: the same subject as a question with choices; None for most cards.
    """

    id: str
    lesson: str
    cell: str
    kind: Literal["question", "mistake", "comparison"]
    level: int
    tags: tuple[str, ...]
    question: str
    why: str
    short: str
    long: str
    follow_ups: tuple[FollowUp, ...]
    ideas: tuple[Idea, ...]
    red_flags: tuple[RedFlag, ...]
    code: str = ""
    quiz: Quiz | None = None


@cache
def load(path: Path = FILE) -> tuple[Card, ...]:
    """Read the cards, in the order of the file. Raises `ValueError` with every fault that `faults` finds."""
    data = json.loads(path.read_text(encoding="utf-8"))
    if problems := faults(data):
        raise ValueError(f"{path.name}:\n" + "\n".join(problems))
    return tuple(_card(fields) for fields in data)


def of(lesson: str) -> list[Card]:
    """Return the cards of a lesson. Raises `ValueError` when it has none."""
    if not (cards := [card for card in load() if card.lesson == lesson]):
        raise ValueError(f"no card belongs to lesson {lesson!r}; there are: {', '.join(lessons())}")
    return cards


def lessons() -> list[str]:
    """The lessons that have cards, in order."""
    return sorted({card.lesson for card in load()})


def _card(fields: dict[str, Any]) -> Card:
    quiz = fields.get("quiz")
    return Card(**fields | {
        "tags": tuple(fields["tags"]),
        "follow_ups": tuple(FollowUp(**one) for one in fields["follow_ups"]),
        "ideas": tuple(Idea(**one) for one in fields["ideas"]),
        "red_flags": tuple(RedFlag(**one) for one in fields["red_flags"]),
        "quiz": Quiz(quiz["ask"], tuple(Choice(**one) for one in quiz["choices"])) if quiz else None,
    })  # fmt: skip


_OPTIONAL = {"code", "quiz"}
_FIELDS = set(Card.__annotations__) - _OPTIONAL


def faults(cards: list[dict[str, Any]]) -> list[str]:
    """Return all faults of the cards in the file, one line each."""
    problems, seen = [], set[str]()
    for fields in cards:
        id = str(fields.get("id"))
        own = [f"{name} is missing" for name in sorted(_FIELDS - set(fields))]
        own += [f"{name} is not a field" for name in sorted(set(fields) - _FIELDS - _OPTIONAL)]
        own += ["the id is not unique"] if id in seen else []
        seen.add(id)
        problems += [f"{id}: {fault}" for fault in own or _wrong_values(fields)]
    return problems


def _wrong_values(fields: dict[str, Any]) -> Iterable[str]:
    words = [fields[name] for name in ("id", "question", "why", "short", "long")]
    words += [one[part] for one in fields["follow_ups"] for part in ("ask", "say")]
    if fields["lesson"] not in LESSONS:
        yield f"there is no lesson {fields['lesson']!r}"
    if fields["kind"] not in KINDS:
        yield f"kind {fields['kind']!r} is not in {', '.join(KINDS)}"
    if fields["level"] not in LEVELS:
        yield f"level {fields['level']!r} is not in {', '.join(map(str, LEVELS))}"
    if not fields["tags"] or any(tag != tag.lower() or " " in tag for tag in fields["tags"]):
        yield "tags must be lower-case words, at least one"
    words += [one[part] for one in fields["ideas"] for part in ("say", "ask", "accept")]
    words += [one[part] for one in fields["red_flags"] for part in ("say", "accept")]
    if not 3 <= len(fields["ideas"]) <= 5:
        yield "there must be three to five ideas"
    if not fields["follow_ups"]:
        yield "a follow-up is missing"
    if quiz := fields.get("quiz"):
        words += [quiz["ask"], *(one[part] for one in quiz["choices"] for part in ("text", "because"))]
        if [one["right"] for one in quiz["choices"]].count(True) != 1 or len(quiz["choices"]) < 3:
            yield "a quiz must have at least three choices, exactly one of them right"
    if (code := fields.get("code")) is not None and (not code.strip() or code != code.strip() or "\t" in code):
        yield "code must have no tabs and no blanks at its ends"
    if any(not text.strip() or text != text.strip() or "\n" in text or "\t" in text for text in words):
        yield "a text is empty, or contains a line break, a tab, or blanks at its ends"


def named(*names: str) -> list[Card]:
    """Return cards by id, and all cards of a lesson by its number, each once, in the order of `names`.

    Raises `ValueError` for an unknown card or lesson, or without names.
    """
    if not names:
        raise ValueError(f"name a lesson or cards; there are the lessons {', '.join(lessons())}")
    by_id = {card.id: card for card in load()}
    chosen: dict[str, Card] = {}
    for name in names:
        if not (name in by_id or str(name).isdigit()):
            near = get_close_matches(str(name), by_id, 3)
            raise ValueError(f"there is no card {name!r}" + (f"; do you mean {' or '.join(near)}?" if near else ""))
        chosen |= {card.id: card for card in ([by_id[name]] if name in by_id else of(name))}
    return list(chosen.values())


def show(*names: str) -> Figure:
    """Cards as a figure, by lesson, ``show("05")``, or by their ids: the question and its reason are visible, the
    answer is folded away. Raises `ValueError` like `named`."""
    from planexec_lab.views import Figure  # slow to load, and the export does not need it

    cards = named(*names)
    title = f"{len(cards)} answer{'s' * (len(cards) != 1)} to say aloud"
    if len(names) == 1 and names[0] == cards[0].lesson:
        title = f"Lesson {names[0]}: {title}"
    text = "\n".join([title, *(line for card in cards for line in _lines(card))])
    return Figure(title, text, title, "", 720, table=_html(title, cards))


def _lines(card: Card) -> list[str]:
    """Return the lines of a card in the text form."""
    follow_ups = [f"{one.ask} {one.say}" for one in card.follow_ups]
    paragraphs = [
        card.short,
        f"Why it is asked: {card.why}",
        f"More: {card.long}",
        *(f"Then: {one}" for one in follow_ups),
    ]
    head = f"{card.question} ({LEVELS[card.level]})"
    code = [f"      {line}" for line in card.code.splitlines()]
    return ["", *wrap(head, 110), *code, *(line for one in paragraphs for line in wrap(one, 108, initial_indent="  ",
            subsequent_indent="    "))]  # fmt: skip


def _html(title: str, cards: list[Card]) -> str:
    from planexec_lab.views.drawing import theme

    plate = f"color:{theme.TEXT};background-color:{theme.PLATE};font-size:13px;line-height:1.45;text-align:left"
    small = f"color:{theme.MUTED};font-size:12px"
    cell = f"{plate};padding:10px {theme.MARGIN}px;border-top:1px solid {theme.HAIR};white-space:normal"
    rows = []
    for card in cards:
        more = "".join(f"<br><em>{escape(one.ask)}</em> {escape(one.say)}" for one in card.follow_ups)
        rows.append(
            f'<tr style="background-color:{theme.PLATE}"><td style="{cell}"><strong>{escape(card.question)}</strong>'
            f"{_code(card, f'{plate};margin:6px 0;border:0')}<br>"
            f'<span style="{small}">{escape(LEVELS[card.level])} · why it is asked: {escape(card.why)}</span>\n'
            f'<details style="{plate}"><summary style="{small}">the answer</summary><strong>{escape(card.short)}</strong>'
            f"<br>{escape(card.long)}{more}</details></td></tr>"
        )
    caption = f"{plate};caption-side:top;padding:14px {theme.MARGIN}px 8px;font-size:{theme.TITLE}px;font-weight:bold"
    table = f"{plate};margin:0;width:100%;border-collapse:collapse;border:0"
    return (
        f'<table style="{table}">\n<caption style="{caption}">{escape(title)}</caption>\n'
        + "\n".join(rows)
        + "\n</table>"
    )


def _code(card: Card, style: str) -> str:
    """Return a card's code as HTML without line breaks, or ""."""
    return f'<pre style="{style}">{escape(card.code).replace(chr(10), "<br>")}</pre>' if card.code else ""


ANKI_HEAD = """\
#separator:tab
#html:true
#notetype:Basic
#deck:Planner-Executor
#columns:guid\tFront\tBack\tTags
#guid column:1
#tags column:4
"""


def anki(cards: Iterable[Card]) -> str:
    """Return the cards as a text file for Anki (File, Import). Each card is a note with its own id, so that a new import
    updates existing notes and keeps the learning progress."""
    return ANKI_HEAD + "".join(f"{_note(card)}\n" for card in cards)


def _note(card: Card) -> str:
    more = "".join(f"<br><i>{escape(one.ask)}</i> {escape(one.say)}" for one in card.follow_ups)
    code = _code(card, "text-align:left").replace('"', "'")  # a quotation mark would open a quoted field
    front = f"{escape(card.question)}{code}<br><small>{LEVELS[card.level]}</small>"
    back = f"<b>{escape(card.short)}</b><br><br>{escape(card.long)}{more}<br><br><small>Why it is asked: {escape(card.why)}</small>"
    tags = " ".join([f"lesson::{card.lesson}", f"kind::{card.kind}", f"level::{card.level}", *card.tags])
    return "\t".join([f"planexec-{card.id}", front, back, tags])


def main(arguments: list[str] | None = None) -> None:
    """Print the cards of a lesson, or write the file for Anki."""
    parser = argparse.ArgumentParser(
        prog="python -m exercises.interview.cards", description="Interview cards of the lessons."
    )
    parser.add_argument("--lesson", choices=lessons(), help="print only the cards of this lesson")
    parser.add_argument("--anki", type=Path, metavar="FILE", help="write all cards as a text file that Anki imports")
    chosen = parser.parse_args(arguments)
    if chosen.lesson:
        print(show(chosen.lesson))
    if chosen.anki:
        chosen.anki.parent.mkdir(parents=True, exist_ok=True)
        chosen.anki.write_text(anki(load()), encoding="utf-8", newline="\n")
        print(f"{len(load())} cards written to {chosen.anki}")
    if not (chosen.lesson or chosen.anki):
        print("\n".join(f"lesson {lesson}: {len(of(lesson))} cards" for lesson in lessons()))


if __name__ == "__main__":
    command.run(main)
