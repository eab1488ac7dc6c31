"""A value arrives where the manifest puts it, byte for byte, and is never run; a script where it could be is refused."""

import dataclasses
import random
import re
from pathlib import Path

import pytest
import yaml

from planexec_lab.gantz import ManifestError, running
from planexec_lab.gantz.script import prepare
from planexec_lite.tools import ToolError
from tests.gantz.shells import NEEDS_A_SHELL, SHELLS, Desk, as_sh, with_note, written

KINDS = {"x": "string"}
TABLES = yaml.safe_load(Path(__file__).with_name("scripts.yaml").read_text("utf-8"))
CONTEXTS: dict[str, list[str]] = TABLES["contexts"]
READS: dict[str, str] = TABLES["reads"]
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
        for script in READS if every else [list(READS)[number % len(READS)]]:
            expected = written(read=READS[script].replace("{{x}}", value).encode())
            assert desk.does(script, value) == expected, (script, value)


@NEEDS_A_SHELL
@pytest.mark.slow
def test_a_command_gets_each_value_in_its_arguments_without_a_shell(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    args = ["--", "{{x}}", "a {{ x }}{{x}}", "--x={{x}}", "$HOME ${WRITTEN}"]
    script: dict[str, object] = {"command": "../bin/note", "args": args, "stdin": "<{{x}}>\n{{x}}"}
    for value in hostile(120):
        expected = ("--", value, f"a {value}{value}", f"--x={value}", f"{desk.work} {desk.written}")
        assert desk.does(script, value) == written(*expected, read=f"<{value}>\n{value}".encode()), value


@NEEDS_A_SHELL
@pytest.mark.weekly
def test_in_random_scripts_no_value_is_run_or_split(desk: Desk) -> None:
    chance, accepted = random.Random(22), 0
    while accepted < 300:
        script = " ".join(
            ["note"] * (chance.random() < 0.6) + chance.choices(TABLES["shreds"], k=chance.randint(2, 9)) + ["{{x}}"]
        )
        try:
            ready = prepare(with_note(script), KINDS)
        except ManifestError:
            continue
        accepted += 1
        value = chance.choice(TABLES["bites"])
        desk.written.write_bytes(b"")
        running.run(str(ready.text), desk.env | {ready.variables["x"]: value}, desk.work, timeout=9.0)
        assert not (desk.work / "CANARY").exists(), (script, value)
        for file in filter(Path.is_file, desk.work.iterdir()):  # the next script can run a file of this name
            file.unlink()
        told = desk.written.read_bytes().split(b"\0")
        assert all(value.encode() in one for one in told if value[:3].encode() in one), (script, value)


@NEEDS_A_SHELL
def test_a_value_is_no_variable_and_can_name_a_file_that_is_read_or_written(tmp_path: Path) -> None:
    desk, name = Desk(tmp_path), "it's $(touch CANARY) *"
    for variable in ("PATH", "LD_PRELOAD", "IFS", "BASH_ENV", "ENV", "PS4", "gantz_value_1", "HOME", "x-y"):
        assert desk.does(f"note -- {{{{{variable}}}}}", "/nowhere", variable) == written("--", "/nowhere"), variable
    (desk.work / name).write_text("in it\n", encoding="utf-8")
    assert desk.does("note < {{x}}", name) == written(read=b"in it\n")
    desk.tool("echo out > {{x}}").call({"x": "-o; touch CANARY"})
    assert (desk.work / "-o; touch CANARY").read_text() == "out\n"
    assert not (desk.work / "CANARY").exists()


REFUSED = [(script, why) for why, scripts in TABLES["refused"].items() for script in scripts]


@pytest.mark.parametrize(("script", "why"), REFUSED)
def test_a_script_in_which_a_value_could_be_run_is_refused_with_a_fix(script: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        Desk(tmp_path).tool(script)
    assert why in str(caught.value)
    assert "tool 'act'" in str(caught.value)
    assert any(fix in str(caught.value) for fix in ("separate script file", "parameter", "a separate word"))
    assert "\ue000" not in str(caught.value)


WITHOUT = "pg_dump mydb > backup_$(date +%Y%m%d).sql; case a in a) echo `date` $((1 + 1));; esac"


@pytest.mark.parametrize(
    ("script", "text"),
    [
        (WITHOUT, WITHOUT),
        ("psql mydb < {{x}}", 'psql mydb < "${GANTZ_ARG_X-}"'),
        ("psql --single-transaction --file={{x}} db", 'psql --single-transaction --file="${GANTZ_ARG_X-}" db'),
        ("git commit --message='{{x}}'", "git commit --message=''\"${GANTZ_ARG_X-}\"''"),
        ("scripts/load.sh --name={{x}} {{x}}", 'scripts/load.sh --name="${GANTZ_ARG_X-}" "${GANTZ_ARG_X-}"'),
        ("bin/run {{x}}", 'bin/run "${GANTZ_ARG_X-}"'),
        ("grep -c -- {{x}} file", 'grep -c -- "${GANTZ_ARG_X-}" file'),
        ("echo {{x}} | sed -n '1,5p'", "echo \"${GANTZ_ARG_X-}\" | sed -n '1,5p'"),
        ("cat {{x}} | sed 's/;$//g'", "cat \"${GANTZ_ARG_X-}\" | sed 's/;$//g'"),
        ("rm -rf -- {{x}}", 'rm -rf -- "${GANTZ_ARG_X-}"'),
        ("cat - {{x}}", 'cat - "${GANTZ_ARG_X-}"'),
        ("echo {{x}} > {{x}}; test $? -ne 0", 'echo "${GANTZ_ARG_X-}" > "${GANTZ_ARG_X-}"; test $? -ne 0'),
        ("/opt/shop/pay --transaction={{x}}", '/opt/shop/pay --transaction="${GANTZ_ARG_X-}"'),
        ("echo 'sent {{x}} at noon'", "echo 'sent '\"${GANTZ_ARG_X-}\"' at noon'"),
        ("curl 'https://host/find?q={{x}}'", "curl 'https://host/find?q='\"${GANTZ_ARG_X-}\"''"),
    ],
)
def test_a_safe_script_gets_a_quoted_reference(script: str, text: str) -> None:
    assert prepare(script, KINDS if "{{" in script else {}).text == text


@NEEDS_A_SHELL
def test_a_value_that_a_program_might_take_for_an_option_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for script in ("note {{x}}", 'note "{{x}}"', "note \"\"'{{x}}'", "note {{x}} -- a", "note {{x}}{{x}}"):
        with pytest.raises(ToolError, match=r"a program might take it for an option; give a file as \./-name"):
            desk.tool(script).call({"x": "--help"})
    # here "--" is the argument of an option
    for script in ("git grep --no-index -e -- {{x}}", "sort -T -- {{x}}", "git diff --no-index -S -- {{x}} f.txt"):
        with pytest.raises(ToolError, match="might take it for an option"):
            desk.tool(script).call({"x": "--output=CANARY"})
    assert not desk.written.exists()


@pytest.mark.parametrize("why", TABLES["places"])
def test_a_value_stays_in_its_folder_and_on_its_server(why: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for script, values in TABLES["places"][why].items():
        for value in values:
            with pytest.raises(ToolError, match=re.escape(why)):
                desk.tool(script).call({"x": value})
    assert not desk.written.exists()


def test_a_value_in_code_can_not_end_its_place_in_it(tmp_path: Path) -> None:
    desk, ran = Desk(tmp_path), list[str]()

    def runner(script: str, variables: dict[str, str], *_: object) -> running.Done:
        ran.append(variables["GANTZ_ARG_X"])
        return {"exit_code": 0, "stdout": "", "stderr": ""}

    why = r"parameter 'x' (is (a part of|in quotes inside) code|begins with a backslash)"
    for script, values in TABLES["code"].items():
        call = dataclasses.replace(desk.tool(script).function, runner=runner)  # type: ignore[type-var]
        for value in values["taken"]:
            call(x=value)
        for value in values["refused"]:
            with pytest.raises(ToolError, match=why):
                call(x=value)
        assert ran == values["taken"], script
        ran.clear()


@NEEDS_A_SHELL
def test_an_optional_parameter_that_is_missing_is_no_argument(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.tool("note a {{x}} b'{{x}}' \"{{x}}\"", required=False).call({})
    assert desk.written.read_bytes() == written("a", "b", "")
