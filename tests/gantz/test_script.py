"""A value arrives where the manifest puts it, byte for byte, and is never run; a script that the rule can't judge is refused."""

import contextlib
import random
import re
from pathlib import Path

import pytest
import yaml

from planexec_lab.gantz import ManifestError, parsed, running
from planexec_lab.gantz.script import prepare
from planexec_lite.tools import ToolError
from tests.gantz.shells import NEEDS_A_SHELL, SHELLS, Desk, as_sh, with_note, written

TABLES = yaml.safe_load(Path(__file__).with_name("scripts.yaml").read_text("utf-8"))
CONTEXTS: dict[str, list[str]] = TABLES["contexts"]
PIECES: list[str] = [*TABLES["pieces"], "é" * 50, "x" * 3000]


def hostile(count: int) -> list[str]:
    """Values made of what shells read specially; the first are the pieces themselves, and the empty one."""
    chance = random.Random(22)
    made = ["", *PIECES, "y" * 60_000, "\n", "\n\n", " lead", "trail ", "\\n"]
    while len(made) < count:
        made.append("".join(chance.choices(PIECES, k=chance.randint(1, 6))))
    return made


@pytest.fixture(params=SHELLS)
def desk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(running, "SHELL", as_sh(request.param, tmp_path / "shells"))
    return Desk(tmp_path / "desk")


@NEEDS_A_SHELL
@pytest.mark.slow
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.weekly)])
def test_hostile_values_arrive_byte_for_byte_and_run_no_command(desk: Desk, every: bool) -> None:
    for number, value in enumerate(hostile(80 if every else 200)):
        for script in CONTEXTS if every else [list(CONTEXTS)[number % len(CONTEXTS)]]:
            expected = written(*(word.replace("{{x}}", value) for word in CONTEXTS[script]))
            assert desk.does(script, value) == expected, (script, value)


@NEEDS_A_SHELL
@pytest.mark.slow
def test_a_command_gets_each_value_in_its_arguments_without_a_shell(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    args = ["--", "{{x}}", "a {{ x }}{{x}}", "x={{x}}", "$HOME ${WRITTEN}"]
    script: dict[str, object] = {"command": "../bin/note.sh", "args": args}
    for value in hostile(120):
        expected = ("--", value, f"a {value}{value}", f"x={value}", f"{desk.work} {desk.written}")
        assert desk.does(script, value) == written(*expected), value


@NEEDS_A_SHELL
@pytest.mark.weekly
def test_in_random_scripts_no_value_is_run(desk: Desk) -> None:
    chance, accepted = random.Random(22), 0
    while accepted < 300:
        script = "".join(chance.choices(TABLES["shreds"], k=chance.randint(2, 9)))
        try:
            prepare(with_note(script), ["x"])
        except ManifestError:
            continue
        accepted += 1
        value = chance.choice(TABLES["bites"])
        with contextlib.suppress(RuntimeError):  # a program that can't read its arguments
            desk.tool(script, allow=["dash", "empty"]).call({"x": value})
        assert not (desk.work / "CANARY").exists(), (script, value)
        for file in filter(Path.is_file, desk.work.iterdir()):  # the next script can run a file of this name
            file.unlink()


@NEEDS_A_SHELL
def test_a_value_is_no_variable_and_can_name_a_file_that_is_read(desk: Desk) -> None:
    name = "it's $(touch CANARY) *"
    for variable in ("PATH", "LD_PRELOAD", "IFS", "BASH_ENV", "ENV", "PS4", "gantz_value_1", "HOME", "x-y"):
        assert desk.does(f"note {{{{{variable}}}}}", "/nowhere", variable) == written("/nowhere"), variable
    (desk.work / name).write_text("in it\n", encoding="utf-8")
    assert desk.does("note < {{x}}", name) == written(read=b"in it\n")
    script = 'cat {{x}} "../work/{{x}}" 2>&1 | tr n m && grep -c it < {{x}} || false; echo \'"end"\' >> log'
    assert desk.tool(script).call({"x": name})["stdout"] == "im it\nim it\n1\n"
    assert (desk.work / "log").read_text() == '"end"\n'
    assert not (desk.work / "CANARY").exists()


REFUSED = [(script, why) for why, scripts in TABLES["refused"].items() for script in scripts]
DEEP = ["$(", "`", "(", "{ ", '"$(', "${x:-", "$((", "\\", "{{", "["]


@pytest.mark.parametrize(("script", "why"), REFUSED)
def test_a_script_that_the_rule_can_not_judge_is_refused_with_its_rewrite(script: str, why: str) -> None:
    tool = {"name": "act", "parameters": [{"name": "x"}], "script": {"shell": with_note(script)}}
    with pytest.raises(ManifestError) as caught:
        parsed(yaml.safe_dump({"tools": [tool]}))
    assert why in str(caught.value)
    assert "tool 'act', line 2: " in str(caught.value)
    if "parameter" not in why and "conditions" not in why:
        (entry,) = yaml.safe_load(str(caught.value).partition("and write:\n")[2])
        assert entry["script"] == {"command": "sh", "args": ["./act.sh", "{{x}}"]}
        assert parsed(yaml.safe_dump({"tools": [tool | entry]})).tools[0].runnable.checked == ("{{x}}",)


@pytest.mark.parametrize("opening", DEEP)
def test_deeply_nested_text_is_refused(opening: str) -> None:
    for script in (f"echo {opening * 2000}{{{{x}}}}", f"echo {{{{x}}}} {opening * 2000}"):
        with pytest.raises(ManifestError):
            prepare(script, ["x"])


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ({"command": "sh", "args": ["-c", "ls {{x}}"]}, "'sh' might run a value"),
        ({"command": "python3", "args": ["-c", "{{x}}"]}, "'python3' might run a value"),
        ({"command": "find", "args": [".", "-name", "{{x}}"]}, "'find' might run a value"),
        ({"command": "grep", "args": ["--file={{x}}", "a"]}, "the option '--file={{x}}' contains a value"),
        ({"command": "psql", "args": ["{{x}}"]}, "'psql' might run a value"),
        ({"shell": "echo {{x}} | sh"}, "'sh' might run a value"),
    ],
)
def test_a_command_follows_the_same_rule(script: dict[str, object], why: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=re.escape(why)):
        Desk(tmp_path).tool(script)


WITHOUT = "pg_dump mydb > backup_$(date +%Y%m%d).sql; case a in a) echo `date` $((1 + 1));; esac"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (WITHOUT, WITHOUT),
        ("psql mydb < {{x}}", 'psql mydb < "${GANTZ_ARG_X-}"'),
        ('./load.sh --name {{x}} "{{x}}"\n', './load.sh --name "${GANTZ_ARG_X-}" "${GANTZ_ARG_X-}"'),
        ("python tools/a.py {{o}}", 'python tools/a.py ${GANTZ_ARG_O+"${GANTZ_ARG_O}"}'),
        ('cat < {{o}}\n\necho "a {{o}}"', 'cat < "${GANTZ_ARG_O-}"\n\necho "a ${GANTZ_ARG_O-}"'),
    ],
)
def test_a_permitted_script_gets_a_quoted_reference(script: str, text: str) -> None:
    assert prepare(script, ["x", "o"] if "{{" in script else [], ["o"]).text == text


@pytest.mark.parametrize("why", TABLES["values"])
def test_a_value_that_is_no_plain_argument_is_refused(why: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for script, values in TABLES["values"][why].items():
        for value in values:
            with pytest.raises(ToolError, match=re.escape(why)):
                desk.tool(script).call({"x": value})
    assert not desk.written.exists()


@NEEDS_A_SHELL
def test_the_manifest_can_allow_a_value_by_its_parameter_or_its_default(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for value, allow in {"-a": "dash", "": "empty"}.items():
        assert desk.tool("note {{x}}", allow=[allow]).call({"x": value})["exit_code"] == 0
        assert desk.tool("note {{x}}", required=False, default=value).call({})["exit_code"] == 0
        with pytest.raises(ToolError):
            desk.tool("note {{x}}", allow=[], default="b").call({"x": value})
    assert desk.written.read_bytes() == written("-a") * 2 + written("") * 2


@NEEDS_A_SHELL
def test_an_optional_parameter_that_is_missing_is_no_argument(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.tool('note a {{x}} "b{{x}}" "{{x}}"', required=False).call({})
    assert desk.written.read_bytes() == written("a", "b", "")
