"""Bug hunts: each program shows its symptom and is told why it is wrong; each right fix passes, each wrong one does not."""

import ast
from pathlib import Path

import pytest

from exercises.hunts import __main__ as command
from exercises.hunts.answers import Answer, answers, changed_lines, difference, mended
from exercises.hunts.bench import BENCH, Bench
from exercises.hunts.catalogue import HERE, Hunt, hunts
from exercises.hunts.judge import LIMIT, Verdict, judge, judge_apart, load, run
from tests.guards import books

pytestmark = pytest.mark.slow

HUNTS = list(hunts().values())
SHORT = 0.5  # seconds for a program that is known to hang
each_hunt = pytest.mark.parametrize("hunt", HUNTS, ids=lambda hunt: hunt.name)


def every(kind: str) -> list[object]:
    """Every answer of a kind."""
    return [
        pytest.param(hunt, answer, id=f"{hunt.name}: {answer.name}") for hunt in HUNTS for answer in answers(hunt, kind)
    ]


def program_of(hunt: Hunt, answer: Answer, folder: Path) -> Path:
    """The program, mended or not, as a file."""
    path = folder / f"{hunt.name}.py"
    path.write_text(mended(hunt.program.read_text(encoding="utf-8"), answer.code), encoding="utf-8")
    return path


def said_of(hunt: Hunt, program: Path, hangs: bool) -> Verdict:
    """The verdict: in this process, or apart if the program does not end."""
    return judge_apart(hunt.tests, program, SHORT) if hangs else judge(hunt.tests, program)


@each_hunt
def test_a_program_fails_as_it_is_and_the_message_says_why(hunt: Hunt) -> None:
    verdict = said_of(hunt, hunt.program, hunt.hangs)
    assert verdict.word == ("late" if hunt.hangs else "wrong"), verdict
    assert hunt.red in verdict.message


@each_hunt
def test_a_run_shows_the_symptom(hunt: Hunt) -> None:
    printed = run(hunt.program, SHORT if hunt.hangs else LIMIT)
    assert printed.ended is not hunt.hangs
    assert printed.text != hunt.expected
    assert printed.text
    assert printed.error == ""


@pytest.mark.parametrize(("hunt", "answer"), every("right"))
def test_a_right_answer_passes_and_prints_what_is_expected(
    hunt: Hunt, answer: Answer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = program_of(hunt, answer, tmp_path)
    verdict = said_of(hunt, program, hangs=False)
    assert verdict.word == "right", verdict
    capsys.readouterr()
    exec(compile(program.read_text(encoding="utf-8"), hunt.name, "exec"), {"__name__": "__main__"})
    assert capsys.readouterr().out == hunt.expected


@pytest.mark.parametrize(("hunt", "answer"), every("wrong"))
def test_a_plausible_wrong_answer_stays_red(hunt: Hunt, answer: Answer, tmp_path: Path) -> None:
    verdict = said_of(hunt, program_of(hunt, answer, tmp_path), answer.hangs)
    assert verdict.word in (("late",) if answer.hangs else ("wrong", "error")), verdict
    assert answer.says
    assert answer.says in verdict.message


@each_hunt
def test_every_test_of_a_hunt_can_fail(hunt: Hunt, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    source = hunt.program.read_text(encoding="utf-8")
    wrong = [mended(source, answer.code) for answer in answers(hunt, "wrong") if not answer.hangs]
    idle = {name: test for name, test in vars(load(hunt.tests)).items() if name.startswith("test_")}
    for program in [source] * (not hunt.hangs) + wrong:
        path.write_text(program, encoding="utf-8")
        for name, test in list(idle.items()):
            try:
                test(load(path))
            except Exception:
                del idle[name]
    assert list(idle) == []


@each_hunt
def test_a_hunt_is_short_has_answers_that_differ_and_hints_that_tell_nothing(hunt: Hunt) -> None:
    source = hunt.program.read_text(encoding="utf-8")
    for kind in ("right", "wrong"):
        trees = {ast.dump(ast.parse(mended(source, answer.code))) for answer in answers(hunt, kind)}
        assert len(trees) == len(answers(hunt, kind)) >= 2
        assert ast.dump(ast.parse(source)) not in trees
    right = mended(source, answers(hunt, "right")[0].code)
    new = {line.strip() for line in right.splitlines()} - {line.strip() for line in source.splitlines()}
    for hint in hunt.hints:
        assert len(hint.split()) <= 50
        assert not any(line in hint for line in new if len(line) > 8)
    assert hunt.hints[1].endswith("?"), "a nudge first, and then a question"
    assert 15 <= len(source.splitlines()) <= 65
    assert hunt.difficulty in (1, 2, 3, 4, 5)
    assert hunt.minutes in (5, 10, 20)
    assert 1 <= changed_lines(hunt) <= 20
    assert (len(hunt.symptom.split()) <= 30, len(hunt.wild.split()) <= 60) == (True, True)
    assert list((books.ROOT / "notebooks").glob(f"{hunt.lesson}_*.ipynb"))


def test_the_symptoms_stand_in_the_readme_without_the_causes() -> None:
    text = (HERE / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{hunt.name}` | {hunt.lesson} | {hunt.symptom} |" for hunt in HUNTS]


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setenv(BENCH, str(tmp_path / "mine"))
    return Bench.usual()


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = command.main(arguments)
    printed = capsys.readouterr()
    return status, printed.out + printed.err


def answer_with(bench: Bench, name: str, kind: str = "right") -> Path:
    hunt = hunts()[name]
    bench.begin(hunt)
    return program_of(hunt, answers(hunt, kind)[0], bench.folder)


def test_the_list_shows_every_hunt_and_how_far_one_is(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    answer_with(bench, "never_replans")
    answer_with(bench, "lost_result", "wrong")
    answer_with(bench, "always_53").write_text("def planner(goal:\n", encoding="utf-8")
    status, text = ask(capsys)
    rows = text.splitlines()
    assert status == 0
    assert rows[0] == f"{len(HUNTS)} hunts, 1 solved. First the lesson; before the title, the difficulty."
    assert [row.split()[1] for row in rows[2:-2]] == list(hunts())
    states = {row.split()[1]: row[28:48].strip() for row in rows[2:-2]}
    assert states.pop("never_replans") == "✓ solved"
    assert states.pop("lost_result") == "✗ not yet"
    assert states.pop("always_53") == "✗ raised an error"
    assert set(states.values()) == {"○ not started"}
    assert ask(capsys) == (0, text), "the list says the same when it is asked again"


def test_a_case_shows_what_should_come_and_what_comes(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = ask(capsys, "lisbon_zero")
    expected, came = text.partition("Expected:")[2].split("Actual:")
    assert "Lisbon and Porto." in expected
    assert "Lisbon and Lisbon0." in came
    assert "Find the cause" in came
    answer_with(bench, "lisbon_zero")
    assert "The output is correct" in ask(capsys, "lisbon_zero")[1]


def test_a_case_that_hangs_is_stopped_and_said_so(
    bench: Bench, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "LIMIT", SHORT)
    _, text = ask(capsys, "waits_for_ever")
    came = text.partition("Actual:")[2]
    assert "started: search" in came, "what was printed until then is shown"
    assert "it did not end, so it was stopped" in came


def test_the_test_says_which_of_the_outcomes_it_is(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = ask(capsys, "never_replans", "--test")
    assert status == 1
    assert text.startswith(
        "○ not started: your copy is unchanged.\n✗ not yet · the planner is called after every n steps"
    )
    copy = answer_with(bench, "never_replans", "wrong")
    status, text = ask(capsys, "never_replans", "--test")
    assert (status, text.split(" · ")[0]) == (1, "✗ not yet")
    copy.write_text("def is_due(number, every):\n    return nobody\n", encoding="utf-8")
    status, text = ask(capsys, "never_replans", "--test")
    assert (status, text.split(" · ")[0]) == (1, "✗ raised an error")
    assert "raised NameError: name 'nobody' is not defined (line 2)" in text
    answer_with(bench, "never_replans")
    status, text = ask(capsys, "never_replans", "--test")
    assert (status, text.splitlines()[0]) == (0, "✓ solved")
    assert "Seen in the wild: smolagents" in text


def test_a_program_that_leaves_early_is_an_error_not_a_pass(tmp_path: Path) -> None:
    hunt = hunts()["never_replans"]
    path = tmp_path / "leaves.py"
    for source, message in (
        ("import sys\nsys.exit(0)\n", "without a word"),
        ("import os\nos._exit(3)\n", "without a word"),
    ):
        path.write_text(source, encoding="utf-8")
        verdict = judge_apart(hunt.tests, path)
        assert verdict.word == "error"
        assert message in verdict.message
    noisy = program_of(hunt, answers(hunt, "right")[0], tmp_path)
    noisy.write_text('print("Grüße", end="")\n' + noisy.read_text(encoding="utf-8"), encoding="utf-8")
    assert judge_apart(hunt.tests, noisy).word == "right", "what a program prints does not disturb the verdict"


def test_the_solution_is_the_difference_that_mends_it(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = ask(capsys, "never_replans", "--solution")
    assert "-    return number % every == 1\n" in text
    assert "+    return (number - 1) % every == 0\n" in text
    assert difference(hunts()["never_replans"]) in text


def test_an_unknown_name_is_met_with_the_nearest(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = ask(capsys, "never_replan")
    assert (status, text) == (2, "there is no hunt 'never_replan'; is it never_replans?\n")


@pytest.mark.parametrize("stored", [b"# caf\xe9\n", b"\xff\xfe#\x00", b"def x(:\n", b"x = 1\x00\n"], ids=repr)
def test_a_copy_that_no_python_can_read_is_judged_listed_and_reset(
    stored: bytes, bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    hunt = hunts()["never_replans"]
    bench.begin(hunt).write_bytes(stored)
    status, text = ask(capsys, hunt.name, "--test")
    assert (status, text.split(" · ")[0]) == (1, "✗ raised an error")
    assert command.state(hunt, bench) == "✗ raised an error"
    assert command.main([hunt.name, "--reset"]) == 0
    assert [file.read_bytes() for file in bench.folder.glob(f"{hunt.name}_kept_*.py")] == [stored]
    assert not bench.changed(hunt)


def test_reset_keeps_every_version_of_the_learner(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    for number, text in enumerate(("first = 1\n", "second = 2\n", ""), 1):
        bench.begin(hunts()["never_replans"]).write_text(text, encoding="utf-8")
        assert f"never_replans_kept_{number}.py" in ask(capsys, "never_replans", "--reset")[1]
    kept = sorted(bench.folder.glob("never_replans_kept_*.py"))
    assert [file.read_text(encoding="utf-8") for file in kept] == ["first = 1\n", "second = 2\n", ""]
    assert ask(capsys, "never_replans", "--reset") == (0, "The defect is back.\n"), "there is nothing to keep"
