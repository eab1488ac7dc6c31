"""Every exercise starts unsolved, accepts what is right, tells what is wrong, and notices a changed solution."""

import ast
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from exercises.checker import book, data
from exercises.checker.checks import lesson_12
from exercises.checker.exercise import of_lesson, shown
from exercises.checker.verbs import Outcome, judged
from tests.exercises.answers import ALL, ANSWERS, SAME, SAYS, Answers, exercise_of, run_cell
from tests.exercises.mutants import mutants, plain, region

SECONDS = 0.5  # of CPU time for a mutant, several times what a solution takes; one that never ends is rejected by then
WAITING = 3.0  # seconds on the wall for a mutant that waits
each_exercise = pytest.mark.parametrize("answers", ALL, ids=lambda answers: answers.id)
FACTS = {facts.id: facts for lesson in book.lessons() for facts in book.facts(lesson)}
WRONG = [(answers, number) for answers in ALL for number in range(len(answers.wrong))]


@pytest.fixture(autouse=True)
def folders_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checks make 3,000 folders and a hundred journals, for which a disk takes a tenth of the seconds."""
    if Path("/dev/shm").is_dir():
        monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")


def outcome(answers: Answers, cell: str, draw: bool = False, mutant: bool = False) -> Outcome:
    namespace = answers.namespace()
    ended = run_cell(cell, namespace, answers.id)
    if ended.error is not None:
        return Outcome("raised", f"the cell itself raised {type(ended.error).__name__}: {ended.error}")
    return judged(answers.id, namespace, SECONDS if mutant else None, draw, WAITING if mutant else None)


def as_stored(answers: Answers, cell: str, result: Outcome) -> bool:
    """Whether the source notebook has this message; an answer to 10.2 counts its calls, which are more there."""
    return "SEEN = {}" in cell or result.text == answers.printed[cell]


@pytest.mark.parametrize("lesson", book.lessons())
def test_the_notebook_and_the_checks_name_the_same_exercises(lesson: str) -> None:
    ids = [facts.id for facts in book.facts(lesson)]
    cells = book.cells(book.source_of(lesson))
    headings = [match[0] for cell in cells for match in book.HEADING.findall(cell.source)]
    assert headings == ids, "below each heading stands its line: *Kind · difficulty n of 5 · m minutes · about k lines*"
    assert list(of_lesson(lesson)) == sorted(ids) == ids
    assert list(data._of_lesson(lesson)) == ids, "the YAML file has the data of these exercises, and of no other"
    assert [id.split(".")[0] for id in ids] == [lesson] * len(ids)
    assert 3 <= len(ids) <= 6
    assert len({facts.kind for facts in book.facts(lesson)}) >= 3, "a lesson mixes its kinds"
    for cell in cells:
        kind, id = ANSWERS & set(cell.tags), exercise_of(cell)
        assert bool(kind) == bool(id), f"a kind and an id, not {cell.tags}"
        assert not id or (id in ids and len(cell.tags) == 2), cell.tags


@each_exercise
def test_an_exercise_has_what_the_readme_promises(answers: Answers) -> None:
    facts, one = FACTS[answers.id], of_lesson(answers.id[:2])[answers.id]
    assert len(answers.wrong) >= 3, "three plausible wrong answers"
    assert answers.alternatives, "a second right answer, tagged `alternative`"
    for cell in answers.wrong:
        assert SAYS.search(cell), "a wrong answer says which message it must get: `# says: …`"
    for cell in [*answers.wrong, *answers.alternatives]:
        assert f'\ncheck("{answers.id}")' in cell, "the cell ends with its check, so that the message is stored"
    nudge, question = one.hints
    assert (nudge[-1] == "?", question[-1] == "?") == (False, True), "hints nudge first and then ask"
    assert max(len(hint.split()) for hint in one.hints) <= 50
    telling = [line.strip() for line in book.solved(answers.answer).splitlines() if len(line.strip()) > 12]
    assert not [line for line in telling if line in nudge or line in question], "a hint never tells the answer"
    (text,) = [c.source for c in book.cells(book.source_of(answers.id[:2])) if c.source.startswith(f"## {answers.id} ")]
    assert facts.kind not in ("predict", "design") or "\n**Judged by:** " in text
    written = len(region(answers.answer))
    assert facts.lines <= written + 1, "more lines than the solution has"
    assert facts.kind == "repair" or facts.lines >= written / 2, "the line counts what the learner writes"
    assert re.search(r"[.?]['\"]?$", one.learned), "a sentence that is shown when the answer is right"
    assert one.wanted.endswith("."), "the docstring says what is wanted"


@each_exercise
def test_stubs_are_not_started_and_solutions_are_right(answers: Answers) -> None:
    for cell in (book.stub(answers.answer), ""):
        result = outcome(answers, cell)
        assert result.status == "not started", result.text
    solution = book.solved(answers.answer)
    for cell in (solution, *answers.alternatives):
        result = outcome(answers, cell, draw=cell == solution)
        assert result.status == "right", f"{result.text}\n\n{cell}"
        assert cell == solution or ast.dump(ast.parse(cell)) != ast.dump(ast.parse(solution))
        assert cell == solution or as_stored(answers, cell, result), "run `make exercises`"


@pytest.mark.parametrize(
    ("answers", "number"),
    [pytest.param(*one, marks=[pytest.mark.slow] if one[1] else [], id=f"{one[0].id}-{one[1]}") for one in WRONG],
)
def test_the_wrong_answer_gets_its_message(answers: Answers, number: int) -> None:
    cell = answers.wrong[number]
    result = outcome(answers, cell)
    assert result.status in ("wrong", "raised"), f"{result.text}\n\n{cell}"
    assert as_stored(answers, cell, result), "run `make exercises`"
    told = " ".join(result.text.split())
    missing = [wording for wording in SAYS.findall(cell) if " ".join(wording.split()) not in told]
    assert not missing, f"not said: {missing}\n{result.text}"
    heads = ["expected", "rule"] if result.status == "wrong" else ["expected"]
    first = ["you wrote"] if "\n  you wrote" in result.text else ["called", "result"]
    assert [head for head in first + heads if f"\n  {head} " not in result.text] == [], result.text


@pytest.mark.slow
@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.weekly)])
@each_exercise
def test_a_changed_solution_is_rejected(answers: Answers, every: int) -> None:
    changed = mutants(answers.answer)
    same = [plain(label) for cell in answers.equivalents for label in SAME.findall(cell)]
    assert len(changed) >= 2, "nothing to mutate: the solution stands between the markers"
    tried = [one for one in changed[::every] if every == 1 or one.label not in same]
    alive = [one for one in tried if outcome(answers, one.source, mutant=one.label not in same).status == "right"]
    missed = [one.label for one in alive if one.label not in same]
    changing = len(changed) - len(alive) + len(missed)
    report = "\n".join(f"# same: {label}" for label in missed)
    assert len(missed) <= 0.05 * changing, (
        f"{len(missed)} of {changing} mutants pass. Sharpen the check, or show in a cell tagged `equivalent` "
        f"that they behave the same:\n{report}"
    )
    if every > 1:
        return
    stale = [label for label in same if label not in [one.label for one in alive]]
    assert not stale, f"these are no survivors any more: {stale}"
    for cell in answers.equivalents:
        assert SAME.search(cell), "the cell names its mutants: `# same: old -> new`"
        wanted = value_of(answers, book.solved(answers.answer), cell)
        for one in alive:
            if one.label in map(plain, SAME.findall(cell)):
                assert value_of(answers, one.source, cell) == wanted, f"it shows a difference: {one.label}"


def value_of(answers: Answers, answer: str, cell: str) -> str:
    """The value of a cell's last expression, with that answer; an exception counts as a value."""
    namespace: dict[str, Any] = answers.namespace()
    run_cell(answer, namespace)
    tree = ast.parse(cell)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr), "the cell ends with the written input, an expression"
    ended = run_cell(ast.unparse(tree), namespace)
    assert ended.error is None, ended.error
    ended = run_cell(f"_value = {ast.unparse(last)}", namespace)
    return shown(ended.error) if ended.error else shown(namespace["_value"])


def test_all_kinds_and_all_lengths_appear() -> None:
    assert {facts.kind for facts in FACTS.values()} == {"predict", "complete", "repair", "design"}
    assert {facts.minutes for facts in FACTS.values()} == {5, 10, 20}


MORE_WRONG = yaml.safe_load(Path(__file__).with_name("wrong_answers.yaml").read_text(encoding="utf-8"))
MORE = [(id, why, cell) for id, several in MORE_WRONG.items() for why, cell in several.items()]


@pytest.mark.parametrize(("id", "why", "cell"), MORE, ids=[f"{id} {why}" for id, why, _ in MORE])
def test_a_wrong_answer_of_a_kind_is_refused(id: str, why: str, cell: str) -> None:
    (answers,) = [one for one in ALL if one.id == id]
    result = outcome(answers, cell)
    assert result.status in ("wrong", "raised"), why
    assert "the cell itself raised" not in result.text, result.text


RIGHT = yaml.safe_load(Path(__file__).with_name("right_answers.yaml").read_text(encoding="utf-8"))
ODD = [(id, style, cell) for id, several in RIGHT.items() for style, cell in several.items()]


@pytest.mark.parametrize(("id", "style", "cell"), ODD, ids=[f"{id} {style}" for id, style, _ in ODD])
def test_a_right_answer_in_an_odd_style_is_accepted(id: str, style: str, cell: str) -> None:
    (answers,) = [one for one in ALL if one.id == id]
    result = outcome(answers, cell)
    assert result.status == "right", f"{style}: {result.text}"


def test_without_a_shell_the_check_of_scripts_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    (answers,) = [one for one in ALL if one.id == "12.2"]
    monkeypatch.setattr(lesson_12, "has_a_shell", lambda: False)
    assert {outcome(answers, cell).status for cell in (answers.answer, *answers.alternatives)} == {"right"}
    refused = [cell for cell in answers.wrong if outcome(answers, cell).status == "wrong"]
    assert len(refused) >= len(answers.wrong) / 3, "reading finds less than running"
