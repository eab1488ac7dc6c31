"""Bug hunts: each program shows its symptom, its test says why, right fixes pass, wrong ones do not; the command and `%hunt`."""

import ast
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from exercises.checker import record
from exercises.hunts import __main__ as command
from exercises.hunts.catalogue import BEST, HERE, Fix, Hunt, hunts, read
from exercises.hunts.judge import LIMIT, judge, load, run
from tests.exercises.mutants import mutants
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
    verdict = hunt.judged(hunt.fixed(fix), SHORT if late else LIMIT)
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
    assert ask(capsys, "no_backups") == (2, "there is no hunt 'no_backups'; is it no_backup?\n")
    status, text = ask(capsys, "no_backup")
    expected, came = text.partition("Expected:")[2].split("Actual:")
    assert status == 0
    assert "refused, before anything ran" in expected
    assert "migration runs" in came
    status, text = ask(capsys, "no_backup", "--test")
    assert status == 1
    assert text.startswith("○ not started: your copy is unchanged.\n✗ wrong · a plan with an unknown tool is refused")
    assert "-            results[id] = None  # no tool: the step is noted" in ask(capsys, "no_backup", "--solution")[1]

    answer_with("no_backup", "wrong")
    assert ask(capsys, "no_backup", "--test")[1].startswith("✗ wrong · ")
    assert ask(capsys, "no_backup", "--solution")[1].startswith("--- yours\n+++ ours\n")
    (place / "no_backup.py").write_text("def run_plan(steps, tools):\n    return nobody\n", encoding="utf-8")
    assert "raised NameError: name 'nobody' is not defined (line 2)" in ask(capsys, "no_backup", "--test")[1]
    assert "✗ raised an error  2 of 5  A backup that was never made" in ask(capsys)[1]
    answer_with("no_backup")
    status, text = ask(capsys, "no_backup", "--test")
    assert (status, text.splitlines()[0]) == (0, "✓ right")
    assert "Seen in the wild: A tutorial" in text
    assert "The output is correct" in ask(capsys, "no_backup")[1]
    rows = ask(capsys)[1].splitlines()
    assert rows[0] == f"{len(HUNTS)} hunts, 1 right. The columns: lesson, hunt, status, difficulty, title."
    assert [row.split()[1] for row in rows if row[:2].isdigit() and row[2:4] == "  "] == list(hunts())
    assert record.known() == {"hunt no_backup": "right"}


def test_a_program_that_hangs_exits_or_prints_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    hunt = hunts()["waits_for_ever"]
    printed = run(hunt.program, SHORT)
    assert (printed.text.startswith("started: search\n"), printed.ended) == (True, False)
    assert run("while True: print('again')", SHORT).text.startswith("again\nagain")
    assert judge(hunt.test, "import sys\nsys.exit(0)\n").word == "raised"
    assert judge(hunt.test, "import asyncio\nasyncio.run(asyncio.Event().wait())", SHORT).word == "late"
    noisy = 'print("Grüße", end="")\n' + hunt.fixed()
    verdict = hunt.judged(noisy)
    assert (verdict.word, verdict.test) == ("wrong", "the program prints what is expected")
    assert "+ Grüße" in verdict.message


def test_the_program_itself_must_print_what_is_expected() -> None:
    hunt = hunts()["paid_twice"]
    shop = "        self.log, self.address = [], False"
    twice = hunt.fixed().replace(shop, shop + "\n        self.charge()")
    assert judge(hunt.test, twice).word == "right"
    assert hunt.judged(twice).word == "wrong"
    prints = f'if __name__ == "__main__":\n    print({hunt.expected.rstrip()!r})\n'
    assert hunt.judged(twice[: twice.index("if __name__")] + prints).word == "wrong", "our last lines run, not these"
    assert hunt.judged(hunt.fixed()[: hunt.fixed().index("if __name__")].encode()).word == "right"


# Changes of a fix that mean the same.
SAME = {
    "no_backup": ["'; '.join"],
    "migrated_without_backup": ["continue -> break"],
    "two_rooms": ["attempts + 2"],
    "the_old_version_is_back": ["return False -> return None"],
    "half_a_backup": ["missing_ok", "backup}.new_x", "code = 1 -> code = 2"],
}


@each_hunt
def test_a_small_change_of_a_fix_is_refused(hunt: Hunt) -> None:
    fixed, old = hunt.fixed(), set(hunt.program.splitlines())
    lines = {number for number, line in enumerate(fixed.splitlines(), 1) if line not in old}
    alive = [one.label for one in mutants(fixed, lines) if hunt.judged(one.source, SHORT).word == "right"]
    assert [label for label in alive if not any(same in label for same in SAME.get(hunt.name, ()))] == []


@pytest.mark.parametrize("stored", [b"# caf\xe9\n", b"\xff\xfe#\x00", b"def x(:\n", b"x = 1\x00\n"], ids=repr)
def test_unreadable_copies_are_judged_and_kept(stored: bytes, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.begin(hunts()["no_backup"]).write_bytes(stored)
    status, text = ask(capsys, "no_backup", "--test")
    assert (status, text.split(" · ")[0]) == (1, "✗ raised an error")
    assert ask(capsys, "no_backup", "--reset")[0] == 0
    answer_with("no_backup")
    assert "no_backup_kept_2.py" in ask(capsys, "no_backup", "--reset")[1]
    assert (place / "no_backup_kept_1.py").read_bytes() == stored
    assert ask(capsys, "no_backup", "--reset") == (0, "The defect is back.\n"), "there is nothing to keep"


def test_a_cell_opens_a_program_and_tests_what_is_in_it(capsys: pytest.CaptureFixture[str]) -> None:
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "exercises.hunts")
    shell.run_cell("%hunt skipped_for_ever")
    opened = shell.payload_manager.read_payload()[-1]
    assert (opened["source"], opened["replace"]) == ("set_next_input", True)
    assert opened["text"] == "%%hunt skipped_for_ever\n" + hunts()["skipped_for_ever"].program.rstrip()
    for source, word in ((hunts()["skipped_for_ever"].fixed(), "✓ right"), ("x = 1", "✗ raised")):
        capsys.readouterr()
        shell.run_cell(f"%%hunt skipped_for_ever\n{source}")
        assert capsys.readouterr().out.startswith(word)
    shell.run_cell("%hunt skipped_for_evr --hint")
    assert capsys.readouterr().out == "there is no hunt 'skipped_for_evr'; is it skipped_for_ever?\n"
