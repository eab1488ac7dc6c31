"""Bug hunts: each program shows its symptom, its test says why, right fixes pass, wrong ones do not; the command and `%hunt`."""

import ast
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from exercises.checker import record
from exercises.hunts import __main__ as command
from exercises.hunts.catalogue import BEST, HERE, Fix, Hunt, hunts, read
from exercises.hunts.judge import LIMIT, judge, load, run
from tests.guards import books

HUNTS = list(hunts().values())
SHORT = 0.2  # seconds of CPU time for a program that is known to hang
each_hunt = pytest.mark.parametrize("hunt", HUNTS, ids=lambda hunt: hunt.name)
FIXES = [(one, kind, fix) for one in HUNTS for kind in ("right", "wrong") for fix in one.fixes(kind)]


def hangs(red: str) -> bool:
    return red == "did not end"


@each_hunt
def test_a_program_shows_its_symptom_and_the_test_says_why(hunt: Hunt) -> None:
    late = hangs(hunt.red)
    verdict = judge(hunt.test, hunt.program, SHORT if late else LIMIT)
    assert verdict.word == ("late" if late else "wrong"), verdict
    assert hunt.red in verdict.message
    printed = run(hunt.program, SHORT if late else LIMIT)
    assert (printed.ended, printed.error) == (not late, "")
    assert hunt.expected != printed.text != ""


@pytest.mark.parametrize(("hunt", "kind", "fix"), FIXES, ids=lambda one: getattr(one, "name", one))
def test_a_right_fix_prints_what_is_expected_and_a_wrong_one_stays_red(hunt: Hunt, kind: str, fix: Fix) -> None:
    late = kind == "wrong" and hangs(fix.says)
    verdict = judge(hunt.test, hunt.fixed(fix), SHORT if late else LIMIT)
    assert verdict.word in {"right": ["right"], "wrong": ["late"] if late else ["wrong", "raised"]}[kind], verdict
    if kind == "right":
        assert run(hunt.fixed(fix)).text == hunt.expected
    else:
        assert fix.says
        assert fix.says in verdict.message


@each_hunt
def test_every_function_of_a_test_can_fail(hunt: Hunt) -> None:
    every = {name for name in vars(load(hunt.test)) if name.startswith("test_")}
    passing = set(every)
    wrong = [hunt.fixed(fix) for fix in hunt.fixes("wrong") if not hangs(fix.says)]
    for program in [hunt.program] * (not hangs(hunt.red)) + wrong:
        for name in sorted(passing):
            alone = hunt.test + "".join(f"del {other}\n" for other in every - {name})
            if judge(alone, program).word != "right":
                passing.discard(name)
    assert passing == set(), "these pass whatever the program does"


@each_hunt
def test_a_hunt_is_short_and_its_texts_reveal_nothing(hunt: Hunt) -> None:
    for kind in ("right", "wrong"):
        trees = {ast.dump(ast.parse(hunt.fixed(fix))) for fix in hunt.fixes(kind)}
        assert len(trees) == len(hunt.fixes(kind)) >= 2
        assert ast.dump(ast.parse(hunt.program)) not in trees
    new = {line.strip() for line in hunt.fixed().splitlines()} - {line.strip() for line in hunt.program.splitlines()}
    for hint in hunt.hints:
        assert len(hint.split()) <= 50
        assert not any(line in hint for line in new if len(line) > 8)
    assert hunt.hints[1].endswith("?"), "a nudge first, and then a question"
    assert 15 <= len(hunt.program.splitlines()) <= 65
    assert 1 <= hunt.lines <= 20
    assert (len(hunt.symptom.split()) <= 30, len(hunt.seen.split()) <= 60) == (True, True)
    assert list((books.ROOT / "notebooks").glob(f"{hunt.lesson}_*.ipynb"))


def test_the_readme_lists_each_hunt_and_the_best_first(tmp_path: Path) -> None:
    text = (HERE / "README.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [f"| `{hunt.name}` | {hunt.lesson} | {hunt.symptom} |" for hunt in HUNTS]
    assert tuple(hunts())[:12] == BEST
    text = (HERE / "no_backup.py").read_text(encoding="utf-8")
    for broken in (text.replace("# %% hints", "# hints"), text.replace("Lesson 03", "Lesson three")):
        (tmp_path / "broken.py").write_text(broken, encoding="utf-8")
        with pytest.raises(ValueError, match=r"broken\.py: expected"):
            read(tmp_path / "broken.py")


@pytest.fixture(autouse=True)
def place(file: Path) -> Path:
    return file.parent / "hunts" / "mine"


def ask(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    return command.main(arguments), capsys.readouterr().out


def answer_with(name: str, kind: str = "right") -> Path:
    path = command.begin(hunts()[name])
    path.write_text(hunts()[name].fixed(hunts()[name].fixes(kind)[0]), encoding="utf-8")
    return path


def test_the_command_leads_from_not_started_to_right(capsys: pytest.CaptureFixture[str], place: Path) -> None:
    assert ask(capsys, "never_replan") == (2, "there is no hunt 'never_replan'; is it never_replans?\n")
    status, text = ask(capsys, "lisbon_zero")
    expected, came = text.partition("Expected:")[2].split("Actual:")
    assert status == 0
    assert "Lisbon and Porto." in expected
    assert "Lisbon and Lisbon0." in came
    status, text = ask(capsys, "lisbon_zero", "--test")
    assert status == 1
    assert text.startswith("○ not started: your copy is unchanged.\n✗ wrong · each reference gets its own result")
    assert "-        text = text.replace(name, result)" in ask(capsys, "lisbon_zero", "--solution")[1]

    answer_with("lisbon_zero", "wrong")
    assert ask(capsys, "lisbon_zero", "--test")[1].startswith("✗ wrong · ")
    assert ask(capsys, "lisbon_zero", "--solution")[1].startswith("--- yours\n+++ ours\n")
    (place / "lisbon_zero.py").write_text("def resolve(text, results):\n    return nobody\n", encoding="utf-8")
    assert "raised NameError: name 'nobody' is not defined (line 2)" in ask(capsys, "lisbon_zero", "--test")[1]
    assert "✗ raised an error  2 of 5  A plan works up to step nine" in ask(capsys)[1]
    answer_with("lisbon_zero")
    status, text = ask(capsys, "lisbon_zero", "--test")
    assert (status, text.splitlines()[0]) == (0, "✓ right")
    assert "Seen in the wild: LangGraph's" in text
    assert "The output is correct" in ask(capsys, "lisbon_zero")[1]
    rows = ask(capsys)[1].splitlines()
    assert rows[0] == f"{len(HUNTS)} hunts, 1 right. The columns: lesson, hunt, status, difficulty, title."
    assert [row.split()[1] for row in rows if row[:2].isdigit() and row[2:4] == "  "] == list(hunts())
    assert record.known() == {"hunt lisbon_zero": "right"}


def test_a_program_that_hangs_exits_or_prints_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    hunt = hunts()["waits_for_ever"]
    printed = run(hunt.program, SHORT)
    assert (printed.text.startswith("started: search\n"), printed.ended) == (True, False)
    assert run("while True: print('again')", SHORT).text.startswith("again\nagain")
    assert judge(hunt.test, "import sys\nsys.exit(0)\n").word == "raised"
    assert judge(hunt.test, "import asyncio\nasyncio.run(asyncio.Event().wait())", SHORT).word == "late"
    noisy = 'print("Grüße", end="")\n' + hunt.fixed()
    assert judge(hunt.test, noisy).word == "right"


@pytest.mark.parametrize("stored", [b"# caf\xe9\n", b"\xff\xfe#\x00", b"def x(:\n", b"x = 1\x00\n"], ids=repr)
def test_unreadable_copies_are_judged_and_kept(stored: bytes, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.begin(hunts()["never_replans"]).write_bytes(stored)
    status, text = ask(capsys, "never_replans", "--test")
    assert (status, text.split(" · ")[0]) == (1, "✗ raised an error")
    assert ask(capsys, "never_replans", "--reset")[0] == 0
    answer_with("never_replans")
    assert "never_replans_kept_2.py" in ask(capsys, "never_replans", "--reset")[1]
    assert (place / "never_replans_kept_1.py").read_bytes() == stored
    assert ask(capsys, "never_replans", "--reset") == (0, "The defect is back.\n"), "there is nothing to keep"


def test_a_cell_opens_a_program_and_tests_what_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "exercises.hunts")
    shell.run_cell("%hunt two_cooks_watch")
    opened = shell.payload_manager.read_payload()[-1]
    assert (opened["source"], opened["replace"]) == ("set_next_input", True)
    assert opened["text"] == "%%hunt two_cooks_watch\n" + hunts()["two_cooks_watch"].program.rstrip()
    for source, word in ((hunts()["two_cooks_watch"].fixed(), "✓ right"), ("x = 1", "✗ raised")):
        capsys.readouterr()
        shell.run_cell(f"%%hunt two_cooks_watch\n{source}")
        assert capsys.readouterr().out.startswith(word)
    shell.run_cell("%hunt two_cooks_wach --hint")
    assert capsys.readouterr().out == "there is no hunt 'two_cooks_wach'; is it two_cooks_watch?\n"
