"""The cards: all subjects are covered, each card is whole, and what is made from them is the same on every run."""

import ast
import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from exercises import cards
from exercises.cards import Card
from planexec_lab.worlds import deploy, kitchen, migration
from planexec_lite import Plan, Simulated, ToolExecutor, execute
from tests.guards import books
from tests.guards.books import ROOT

CARDS = cards.load()
BY_ID = {card.id: card for card in CARDS}
each_card = pytest.mark.parametrize("card", CARDS, ids=lambda card: card.id)

QUESTIONS = {  # what articles on the pattern say that interviewers ask
    "how it differs from Plan-and-Execute": ["plan-and-execute-difference", "confusing-the-two-patterns"],
    "why two agents and not one": ["why-two-agents"],
    "how planner and executor communicate": ["how-they-communicate"],
    "whether there can be several executors": ["several-executors"],
    "what happens when the executor fails": ["executor-fails", "four-verdicts"],
    "what the pattern is, in a sentence and in a picture": ["pattern-in-a-breath", "tech-lead-and-kitchen"],
    "why it is more than one step at a time": ["react-weakness", "whole-plan-or-next-step"],
}
GAINS = {  # what they promise, and what they say it costs
    "better reasoning about the whole": ["why-plan", "who-knows-the-goal"],
    "mistakes caught before they happen": ["catch-mistakes-early", "what-to-validate"],
    "independent steps at the same time": ["what-can-run-at-once", "backup-files-notify"],
    "easier debugging": ["where-did-it-break"],
    "human oversight": ["where-to-put-the-human", "approve-edit-reject-change"],
    "auditable, pausable, resumable": ["plan-as-artifact", "pause-not-wait", "audit-trail"],
    "flexible recovery": ["replan-keeps-work"],
    "reusable executors": ["reusable-executor"],
    "narrower tasks, observability": ["advantages-and-challenges"],
    "extra latency": ["cost-of-planning", "planned-against-react-cost"],
    "weak plans": ["validation-blind", "published-plans-unfit"],
    "handing over state": ["replanner-record", "tight-coupling"],
    "replanning overhead, and loops without an end": ["stop-a-replanning-loop"],
    "tools with well-scoped permissions": ["least-tools"],
    "models, programs and hybrids as executors": ["executor-without-a-model"],
    "replanning after a failure or after each step": ["replan-after-step-or-failure"],
    "incomplete logs in a support audit": ["incomplete-information"],
    "a condition in a plan": ["condition-as-dependency"],
}
MISTAKES = {
    "the same model for both": ["same-model-for-both"],
    "tight coupling": ["tight-coupling"],
    "no evaluation step": ["no-evaluation"],
    "over-detailed plans": ["over-detailed-plan"],
    "confusing the two patterns": ["confusing-the-two-patterns"],
    "over-planning": ["over-planning"],
    "rigid execution": ["rigid-execution"],
    "no rollback plan": ["rollback-list"],
    "the planner can't see the tools": ["planner-cant-see-tools"],
    "a dependency that nobody wrote down": ["missing-edge"],
    "missed steps and the wrong order": ["missed-step-wrong-order"],
    "inefficient execution": ["inefficient-execution"],
    "their own code: a toy planner that knows the answer": ["toy-planner-cheats"],
    "their own code: continue, or wait": ["careless-continue"],
    "their own code: the loop goes on over the old plan": ["published-replan-bug"],
    "their own code: a failure is a text": ["error-by-text"],
    "their own code: results as templates, and 59 sections": ["template-injection", "reference-keeps-type"],
    "their own code: an unknown tool counts as success": ["tool-none-counts-as-success"],
    "their own code: a bare list under a mode for objects": ["json-mode-bare-list"],
    "their own code: the answer is the highest id": ["answer-of-a-plan"],
}
COMPARISONS = {
    "Plan-and-Execute, six rows": ["plan-and-execute-difference"],
    "ReAct and graph agents, six rows": ["pe-react-dag-table"],
    "when to use it": ["when-yes", "when-is-a-graph-worth-it"],
    "when not to use it": ["when-no", "react-or-plan-table"],
    "the variations": ["variations-one-loop", "react-is-a-horizon"],
    "where they disagree: all steps, or one": ["whole-plan-or-next-step"],
    "where they disagree: one agent, or two": ["plan-and-execute-difference"],
    "where they disagree: parallel, or not": ["parallel-none-or-main-reason"],
    "where they disagree: who evaluates": ["who-evaluates"],
}
OURS = re.compile(
    r"\b(?:lessons?|notebooks?|the kit|ours?|the tour)\b|\bmax_\w+|\b(?:PlannerExecutor|NextStepPlanner|LLMPlanner)\b",
    re.I,
)
SUBJECTS = {  # what senior interviewers ask about agents that act
    "calls that must not be repeated": ["idempotency-key", "key-across-replans", "exactly-once"],
    "how a planner is measured": ["measure-a-planner", "golden-plan", "better-offline-worse-live"],
    "a prompt that grows with each replan": ["prompt-grows-with-replans", "what-to-cut-first", "summary-of-the-record"],
    "what a failure means for the rest": ["clean-up-runs-anyway", "which-errors-to-retry", "circuit-breaker"],
    "what is taken back, and how one can be sure": ["what-to-undo", "saga", "walk-every-order"],
    "what a timeout tells": ["timeout-is-a-doubt", "late-result", "choose-a-timeout"],
}
ELSEWHERE = {  # numbers that were measured or published outside the lessons
    "reference-keeps-type": {"59"},
    "backup-files-notify": {"105", "136"},
}


def words_of(card: Card) -> list[str]:
    texts = [card.question, card.why, card.short, card.long]
    texts += [part for one in card.follow_ups for part in (one.ask, one.say)]
    if card.quiz:
        texts += [card.quiz.ask, *(part for one in card.quiz.choices for part in (one.text, one.because))]
    return texts


def notebook(lesson: str) -> Any:
    """The notebook of a lesson, None as long as there is none."""
    paths = sorted((ROOT / "notebooks").glob(f"{lesson}_*.ipynb"))
    return nbformat.read(paths[0], as_version=4) if paths else None


def test_there_are_cards_for_every_lesson() -> None:
    assert len(CARDS) >= 60
    assert all(len(cards.of(f"{lesson:02}")) >= 3 for lesson in range(13))


@pytest.mark.parametrize(
    ("subject", "ids"),
    [*QUESTIONS.items(), *GAINS.items(), *MISTAKES.items(), *COMPARISONS.items(), *SUBJECTS.items()],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_every_subject_of_the_articles_and_of_seniors_has_a_card(subject: str, ids: list[str]) -> None:
    assert ids
    assert [id for id in ids if id not in BY_ID] == []


def test_mistakes_and_comparisons_are_marked_as_such() -> None:
    assert {BY_ID[ids[0]].kind for ids in MISTAKES.values()} == {"mistake"}
    assert {BY_ID[ids[0]].kind for ids in COMPARISONS.values()} == {"comparison"}


@each_card
def test_the_cell_of_a_card_is_in_its_lesson(card: Card) -> None:
    book = notebook(card.lesson)
    if book is None:
        assert card.cell == "", f"lesson {card.lesson} does not exist yet"
    else:
        assert card.cell in ["", *(cell.id for cell in book.cells)]


@each_card
def test_the_numbers_of_a_card_are_in_its_lesson_or_a_linked_appendix(card: Card) -> None:
    book = notebook(card.lesson)
    if book is None:
        pytest.skip("the lesson does not exist yet")
    pages = re.findall(r"\]\((appendix/\w+\.ipynb)\)", json.dumps(book))
    books_of_lesson = [book, *(nbformat.read(ROOT / "notebooks" / page, as_version=4) for page in pages)]
    shown = json.dumps(books_of_lesson, ensure_ascii=False)
    numbers = re.findall(
        r"(?<![\w.])\d[\d,]*\.\d+|(?<![\w.#$])\d[\d,]*\d(?![\w.]*\w)", " ".join([card.short, card.long])
    )
    missing = [
        n for n in numbers if n not in shown and n not in ELSEWHERE.get(card.id, set()) and n not in cards.LESSONS
    ]
    assert missing == []


def test_numbers_of_parallel_work_are_those_of_the_worlds() -> None:
    def length(plan: Plan, tools: Any, slots: int) -> float:
        run = execute(plan, ToolExecutor(tools), workers=Simulated(slots))
        assert run.makespan is not None
        return run.makespan

    dinner, release = Plan.parse(kitchen.PLAN), Plan.parse(deploy.PLAN)
    minutes = [length(dinner, kitchen.World().tools, slots) / 60 for slots in (1, 4, 5)]
    seconds = [length(release, deploy.World().tools, slots) for slots in (1, 2)]
    assert (minutes, seconds) == ([170, 95, 95], [386, 266])
    assert dinner.critical_path(dinner.durations(kitchen.World().tools))[1] / 60 == 95
    assert "170 minutes with one cook, 95 with four" in BY_ID["critical-path"].long
    assert "386 seconds with one worker, 266 with two" in BY_ID["why-plan"].long


@each_card
def test_a_card_is_plain_and_has_a_breath_and_a_long_answer(card: Card) -> None:
    assert re.findall(r"\b(?:simply|obviously|of course|easily)\b|!(?=\s|$)", " ".join(words_of(card)), re.I) == []
    assert len(card.short.split()) <= 45, "the short answer is said in a breath"
    assert 30 <= len(card.long.split()) <= 90, "the long answer is said in half a minute"
    assert all(len(one.say.split()) <= 90 for one in card.follow_ups)
    assert len(card.why.split()) <= 20
    assert card.question.endswith(("?", ".")), card.question


@each_card
def test_what_is_said_in_an_interview_stands_alone(card: Card) -> None:
    said = [text for text in words_of(card) if text != card.why]
    assert [text for text in said if OURS.search(text)] == [], (
        "an interviewer knows no lesson and none of the kit's names"
    )


def test_a_third_of_the_cards_is_for_senior_interviews() -> None:
    senior = [card for card in CARDS if card.level == 3]
    assert 3 * len(senior) >= len(CARDS)
    assert all(len(card.follow_ups) >= 2 for card in senior), "a senior is asked further"


def test_the_loop_of_the_replan_card_does_what_the_card_says(capsys: pytest.CaptureFixture[str]) -> None:
    planner = SimpleNamespace(
        plan=lambda goal: SimpleNamespace(tasks=["a", "b", "c"]),
        replan=lambda goal, completed, error: print("told", completed) or SimpleNamespace(tasks=["new"]),
    )
    executor = SimpleNamespace(execute=lambda task: print(task) or SimpleNamespace(success=task != "b", error="no"))
    exec(BY_ID["published-replan-bug"].code, {"planner": planner, "executor": executor, "goal": ""})
    assert capsys.readouterr().out.splitlines() == ["a", "b", "told []", "c"], "the new plan never runs"


def test_the_migration_of_the_articles_needs_two_workers() -> None:
    plan, seconds = Plan.parse(migration.PARALLEL_PLAN), []
    for slots in (1, 2, 3):
        world = migration.World()
        world.write_migration(migration.SCRIPT)
        seconds.append(execute(plan, ToolExecutor(world.tools), workers=Simulated(slots)).makespan)
    assert seconds == [136, 105, 105]
    assert "105 seconds, against 136 with one. But two take 105 as well" in BY_ID["backup-files-notify"].long


def test_questions_are_different() -> None:
    assert len({card.question for card in CARDS}) == len(CARDS)


def card_as_data(**changes: Any) -> dict[str, Any]:
    first: dict[str, Any] = json.loads(cards.FILE.read_text(encoding="utf-8"))[0]
    return first | changes


CHOICE = {"text": "a", "right": False, "because": "b"}
BAD_CARDS: dict[str, list[dict[str, Any]]] = {
    "the id is not unique": [card_as_data(), card_as_data()],
    "colour is not a field": [card_as_data(colour="red")],
    "why is missing": [{name: value for name, value in card_as_data().items() if name != "why"}],
    "there is no lesson '99'": [card_as_data(lesson="99")],
    "kind 'joke' is not in": [card_as_data(kind="joke")],
    "level 9 is not in": [card_as_data(level=9)],
    "tags must be lower-case words": [card_as_data(tags=["Two words"])],
    "a follow-up is missing": [card_as_data(follow_ups=[])],
    "exactly one of them right": [card_as_data(quiz={"ask": "q", "choices": [CHOICE] * 3})],
    "at least three choices": [card_as_data(quiz={"ask": "q", "choices": [CHOICE, CHOICE | {"right": True}]})],
    "a text is empty": [card_as_data(short=" ")],
    "code must have no tabs": [card_as_data(code="\tpass")],
    "contains a line break": [card_as_data(long="one\ntwo")],
}


@pytest.mark.parametrize(("wanted", "stored"), BAD_CARDS.items(), ids=list(BAD_CARDS))
def test_a_bad_card_is_named(wanted: str, stored: list[dict[str, Any]], tmp_path: Path) -> None:
    path = tmp_path / "cards.json"
    path.write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(ValueError, match=r"cards\.json:\npattern-in-a-breath: ") as raised:
        cards.load(path)
    assert wanted in str(raised.value)


def test_the_file_is_written_in_one_way() -> None:
    text = cards.FILE.read_text(encoding="utf-8")
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False) + "\n"


@pytest.mark.parametrize("lesson", cards.lessons())
def test_a_lesson_shows_all_that_its_cards_say_in_both_forms(lesson: str) -> None:
    figure = cards.show(lesson)
    html, text = figure._repr_html_(), " ".join(str(figure).split())
    assert html.startswith("<figure")
    assert "<script" not in html
    for card in cards.of(lesson):
        assert all(line in str(figure) for line in card.code.splitlines())
        for words in [card.question, card.short, card.why, card.long, *(one.say for one in card.follow_ups)]:
            assert cards.escape(words) in html
            assert " ".join(words.split()) in text


@pytest.mark.parametrize(
    "path", [path for path in books.LESSONS if path.name[:2] in cards.lessons()], ids=books.name_of
)
def test_a_lesson_ends_with_its_cards_from_the_file(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    (heading,) = [n for n, cell in enumerate(book.cells) if "## Say it in an interview" in cell.source]
    said = book.cells[heading].source.partition("## Say it in an interview")[2]
    assert len(said.split()) < 40, "the answers stand in cards.json, and nowhere else"
    cell = book.cells[heading + 1]
    shown = re.fullmatch(r"from exercises\.cards import show\n\nshow\((.*)\)", cell.source, re.S)
    assert shown is not None
    ids = ast.literal_eval(f"[{shown[1]}]")
    assert 1 <= len(ids) <= 5, "the deck has the others"
    assert {card.lesson for card in cards.named(*ids)} == {path.name[:2]}
    assert "".join(cell.outputs[0].data["text/plain"]) == str(cards.show(*ids))


@pytest.mark.parametrize("lesson", cards.lessons())
def test_what_stands_open_gives_no_answer_away(lesson: str) -> None:
    folded = re.compile(r"<details[^>]*><summary[^>]*>the answer</summary>(.*?)</details>", re.S)
    html = cards.show(lesson)._repr_html_()
    pages = folded.findall(html)
    assert len(pages) == len(cards.of(lesson))
    for card, page in zip(cards.of(lesson), pages, strict=True):
        assert cards.escape(card.question) not in page
        for text in [card.short, card.long, *(one.say for one in card.follow_ups)]:
            assert cards.escape(text) in page
            assert f"<br>{cards.escape(text)}" not in folded.sub("", html)


def test_cards_are_shown_by_their_ids_in_the_order_asked_for() -> None:
    shown = str(cards.show("why-plan", "pattern-in-a-breath", "why-plan"))
    assert shown.startswith("2 answers to say aloud\n")
    assert shown.index(BY_ID["why-plan"].question) < shown.index(BY_ID["pattern-in-a-breath"].question)
    assert str(cards.show("why-plan")).startswith("1 answer to say aloud\n")


def test_lessons_and_ids_are_shown_together() -> None:
    both = cards.named("critical-path", "01")
    assert both == [BY_ID["critical-path"], *cards.of("01")]
    assert str(cards.show("critical-path", "01")).startswith(f"{len(both)} answers to say aloud\n")


def test_a_card_that_does_not_exist_is_an_error_that_names_a_near_one() -> None:
    with pytest.raises(ValueError, match="no card 'why-pla'; do you mean why-plan"):
        cards.show("why-pla")
    with pytest.raises(ValueError, match="name a lesson or cards; there are the lessons 00, 01"):
        cards.show()


def test_show_escapes_what_a_card_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = cards._card(card_as_data(short="a <b> & c"))
    monkeypatch.setattr(cards, "load", lambda: (marked,))
    assert "a &lt;b&gt; &amp; c" in cards.show("00")._repr_html_()
    assert "a <b> & c" in str(cards.show("00"))


def test_a_lesson_without_cards_is_an_error_that_names_those_with() -> None:
    with pytest.raises(ValueError, match="no card belongs to lesson '99'; there are: 00, 01"):
        cards.show("99")


def anki_file(tmp_path: Path, seed: str) -> bytes:
    path = tmp_path / seed / "cards.txt"
    done = books.run("-m", "exercises.cards", "--anki", path, scratch=tmp_path, PYTHONHASHSEED=seed)
    assert done.returncode == 0, done.stdout
    assert f"{len(CARDS)} cards written" in done.stdout
    return path.read_bytes()


@pytest.mark.slow
def test_the_file_for_anki_has_the_same_bytes_on_every_run(tmp_path: Path) -> None:
    first, second = anki_file(tmp_path, "1"), anki_file(tmp_path, "4242")
    assert first == second
    assert b"\r" not in first


def test_the_file_for_anki_is_one_note_a_line_with_its_own_id() -> None:
    head, notes = [], []
    for line in cards.anki(CARDS).splitlines():
        (head if line.startswith("#") else notes).append(line)
    assert {"#separator:tab", "#html:true", "#guid column:1", "#tags column:4"} <= set(head)
    fields = [note.split("\t") for note in notes]
    assert [len(note) for note in fields] == [4] * len(CARDS)
    assert [note[0] for note in fields] == [f"planexec-{card.id}" for card in CARDS]
    assert all('"' not in note for note in notes), "a quotation mark would open a quoted field"
    for card, (_, front, back, tags) in zip(CARDS, fields, strict=True):
        assert cards.escape(card.question) in front
        assert all(cards.escape(text) in back for text in (card.short, card.long, card.why))
        assert tags.split()[0] == f"lesson::{card.lesson}"


@pytest.mark.slow
def test_the_command_prints_a_lesson(tmp_path: Path) -> None:
    done = books.run("-m", "exercises.cards", "--lesson", "03", scratch=tmp_path, PYTHONIOENCODING="utf-8")
    assert done.stdout == f"{cards.show('03')}\n"


PAGES = {name: (ROOT / "exercises" / name).read_text(encoding="utf-8") for name in ("CHEATSHEET.md", "NIGHT_BEFORE.md")}
STOP = re.compile(r"^\| (\d+) \| \[(.+?)\]\((.+?)\) \| (.*?) \| (.*?) \|$", re.M)


def test_the_night_before_takes_ninety_minutes() -> None:
    stops = STOP.findall(PAGES["NIGHT_BEFORE.md"])
    assert sum(int(minutes) for minutes, *_ in stops) == 90
    assert len(stops) == PAGES["NIGHT_BEFORE.md"].count("\n| ") - 1, "every row but the head is a stop"


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_link_to_what_exists(page: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)", PAGES[page])
    assert [link for link in links if not (ROOT / "exercises" / link).exists()] == []


def test_the_stops_name_parts_of_lessons_and_cards_that_exist() -> None:
    for _, _, link, parts, named in STOP.findall(PAGES["NIGHT_BEFORE.md"]):
        ids = re.findall(r"`([\w-]+)`", named)
        assert [card.id for card in cards.named(*ids)] == ids
        if link.startswith("../notebooks"):
            book = nbformat.read(ROOT / "exercises" / link, as_version=4)
            headings = re.findall(r"^## (\d) ·", "\n".join(cell.source for cell in book.cells), re.M)
            assert re.fullmatch(r"\d(, \d)*", parts)
            assert set(parts.split(", ")) <= set(headings)


def test_the_cheat_sheet_is_one_page_and_its_numbers_are_those_of_the_cards() -> None:
    page = PAGES["CHEATSHEET.md"]
    assert len(page.splitlines()) <= 66
    assert len(page.split()) <= 700
    words = " ".join(" ".join(words_of(card)) for card in CARDS)
    assert [number for number in re.findall(r"\d[\d,.]*\d", page) if number not in words] == []
    assert re.findall(r"\b(?:simply|obviously|easily)\b|!(?=\s|$)", page) == []
