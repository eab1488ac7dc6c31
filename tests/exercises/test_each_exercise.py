"""Every exercise starts unsolved, accepts what is right, tells what is wrong, and notices a changed solution."""

import ast
import re
from typing import Any

import pytest

from exercises import book
from exercises.checker import Outcome, judged
from exercises.exercise import of_lesson, shown
from tests.exercises.answers import ALL, ANSWERS, SAME, SAYS, Answers, exercise_of, run_cell
from tests.exercises.mutants import Mutant, mutants, plain, region

SECONDS = 0.5  # of CPU time for a mutant, several times what a solution takes; one that never ends is rejected by then
WAITING = 3.0  # seconds on the wall for a mutant that waits
each_exercise = pytest.mark.parametrize("answers", ALL, ids=lambda answers: answers.id)
FACTS = {facts.id: facts for lesson in book.lessons() for facts in book.facts(lesson)}
WRONG = [(answers, number) for answers in ALL for number in range(len(answers.wrong))]


def outcome(answers: Answers, cell: str, draw: bool = False, mutant: bool = False) -> Outcome:
    """What the checker says of a cell."""
    namespace = answers.namespace()
    ended = run_cell(cell, namespace, answers.id)
    if ended.error is not None:
        return Outcome("raised", f"the cell itself raised {type(ended.error).__name__}: {ended.error}")
    return judged(answers.id, namespace, SECONDS if mutant else None, draw, WAITING if mutant else None)


def test_there_is_an_exercise() -> None:
    assert ALL, "exercises/source holds no exercise: the tests below would check nothing"


@pytest.mark.parametrize("lesson", book.lessons())
def test_the_notebook_and_the_checks_name_the_same_exercises(lesson: str) -> None:
    ids = [facts.id for facts in book.facts(lesson)]
    headings = [match[0] for cell in book.cells(book.source_of(lesson)) for match in book.HEADING.findall(cell.source)]
    assert headings == ids, "below each heading stands its line: *Kind · difficulty n of 5 · m minutes · about k lines*"
    assert list(of_lesson(lesson)) == sorted(ids) == ids
    assert 3 <= len(ids) <= 5
    assert [id.split(".")[0] for id in ids] == [lesson] * len(ids)


@pytest.mark.parametrize("lesson", book.lessons())
def test_every_tagged_cell_belongs_to_an_exercise(lesson: str) -> None:
    ids = {facts.id for facts in book.facts(lesson)}
    for cell in book.cells(book.source_of(lesson)):
        kind, id = ANSWERS & set(cell.tags), exercise_of(cell)
        assert bool(kind) == bool(id), f"a kind and an id, not {cell.tags}"
        assert not id or (id in ids and len(cell.tags) == 2), cell.tags


@each_exercise
def test_enough_answers_are_tried(answers: Answers) -> None:
    assert answers.answer, "a cell with the tag `answer` and the exercise's id"
    assert len(answers.wrong) >= 3, "three plausible wrong answers"
    assert answers.alternatives, "a second right answer, tagged `alternative`"
    for cell in answers.wrong:
        assert SAYS.search(cell), "a wrong answer says which message it must get: `# says: …`"
    for cell in [*answers.wrong, *answers.alternatives]:
        assert f'\ncheck("{answers.id}")' in cell, "the cell ends with its check, so that the message is stored"


@each_exercise
def test_the_stub_is_not_started(answers: Answers) -> None:
    result = outcome(answers, book.stub(answers.answer))
    assert result.status == "not started", result.text


@each_exercise
def test_a_missing_answer_is_not_started(answers: Answers) -> None:
    result = outcome(answers, "")
    assert result.status == "not started", result.text


@each_exercise
def test_the_solution_is_right(answers: Answers) -> None:
    result = outcome(answers, book.solved(answers.answer), draw=True)
    assert result.status == "right", result.text


@each_exercise
def test_every_alternative_is_right(answers: Answers) -> None:
    for cell in answers.alternatives:
        result = outcome(answers, cell)
        assert result.status == "right", f"{result.text}\n\n{cell}"
        assert ast.dump(ast.parse(cell)) != ast.dump(ast.parse(book.solved(answers.answer)))


@pytest.mark.parametrize(
    ("answers", "number"),
    [pytest.param(*one, marks=[pytest.mark.slow] if one[1] else [], id=f"{one[0].id}-{one[1]}") for one in WRONG],
)
def test_the_wrong_answer_gets_its_message(answers: Answers, number: int) -> None:
    cell = answers.wrong[number]
    result = outcome(answers, cell)
    assert result.status in ("wrong", "raised"), f"{result.text}\n\n{cell}"
    told = " ".join(result.text.split())
    missing = [wording for wording in SAYS.findall(cell) if " ".join(wording.split()) not in told]
    assert not missing, f"not said: {missing}\n{result.text}"
    heads = ["expected", "rule"] if result.status == "wrong" else ["expected"]
    first = ["you wrote"] if "\n  you wrote" in result.text else ["called", "result"]
    assert [head for head in first + heads if f"\n  {head} " not in result.text] == [], result.text


@pytest.mark.slow
@each_exercise
def test_a_right_answer_is_right_again(answers: Answers) -> None:
    namespace = answers.namespace()
    run_cell(book.solved(answers.answer), namespace)
    assert [judged(answers.id, namespace, draw=False).status for _ in range(3)] == ["right"] * 3


@each_exercise
def test_hints_nudge_first_and_then_ask(answers: Answers) -> None:
    nudge, question = of_lesson(answers.id.split(".")[0])[answers.id].hints
    for hint in (nudge, question):
        assert len(hint.split()) <= 50
    assert not nudge.endswith("?")
    assert question.endswith("?")
    telling = [line.strip() for line in book.solved(answers.answer).splitlines() if len(line.strip()) > 12]
    assert not [line for line in telling if line in nudge or line in question], "a hint never tells the answer"


@each_exercise
def test_predictions_and_designs_say_how_they_are_judged(answers: Answers) -> None:
    facts = FACTS[answers.id]
    (text,) = [c.source for c in book.cells(book.source_of(answers.id[:2])) if c.source.startswith(f"## {answers.id} ")]
    assert facts.kind not in ("predict", "design") or "\n**Judged by:** " in text


@each_exercise
def test_about_so_many_lines_is_about_right(answers: Answers) -> None:
    lines = FACTS[answers.id].lines
    written = len(region(answers.answer))
    assert lines <= written + 1, "more lines than the solution has"
    assert FACTS[answers.id].kind == "repair" or lines >= written / 2, "the line counts what the learner writes"


@each_exercise
def test_the_exercise_says_what_was_learned(answers: Answers) -> None:
    one = of_lesson(answers.id.split(".")[0])[answers.id]
    assert re.search(r"[.?]['\"]?$", one.learned), "a sentence that is shown when the answer is right"
    assert one.wanted.endswith("."), "the docstring says what is wanted"


def survivors(answers: Answers) -> tuple[list[Mutant], int]:
    """The mutants that the check accepts, and how many there are in all."""
    changed, same = mutants(answers.answer), known(answers)
    right = [one for one in changed if outcome(answers, one.source, mutant=one.label not in same).status == "right"]
    return right, len(changed)


def known(answers: Answers) -> list[str]:
    """The labels of the mutants that are shown to behave the same."""
    return [plain(label) for cell in answers.equivalents for label in SAME.findall(cell)]


@pytest.mark.slow
@each_exercise
def test_a_changed_solution_is_rejected(answers: Answers) -> None:
    alive, count = survivors(answers)
    assert count >= 2, "nothing to mutate: the solution stands between the markers"
    same = known(answers)
    missed = [one.label for one in alive if one.label not in same]
    changing = count - (len(alive) - len(missed))
    report = "\n".join(f"# same: {label}" for label in missed)
    assert len(missed) <= 0.05 * changing, (
        f"{len(missed)} of {changing} mutants pass. Sharpen the check, or show in a cell tagged `equivalent` "
        f"that they behave the same:\n{report}"
    )
    stale = [label for label in same if label not in [one.label for one in alive]]
    assert not stale, f"these are no survivors any more: {stale}"
    for cell in answers.equivalents:
        assert SAME.search(cell), "the cell names its mutants: `# same: old -> new`"
        wanted = value_of(answers, book.solved(answers.answer), cell)
        for one in alive:
            if one.label in map(plain, SAME.findall(cell)):
                assert value_of(answers, one.source, cell) == wanted, f"it shows a difference: {one.label}"


def value_of(answers: Answers, answer: str, cell: str) -> str:
    """What the last expression of a cell gives, with that answer; what it raises counts as its value."""
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


@pytest.mark.parametrize("lesson", book.lessons())
def test_a_lesson_mixes_its_kinds(lesson: str) -> None:
    assert len({facts.kind for facts in book.facts(lesson)}) >= 3
