"""A value arrives where the manifest puts it, byte for byte, and is never run; a script where it could be is refused."""

import random
from pathlib import Path

import pytest

from planexec_lab.gantz import ManifestError, running
from planexec_lab.gantz.script import prepare
from planexec_lite.tools import ToolError
from tests.gantz.shells import NEEDS_A_SHELL, SHELLS, Desk, as_sh, written

V = "\0value\0"  # the value, in what is expected
CONTEXTS = {  # a script -> the arguments of `note`
    "note -- {{x}}": ("--", V),
    "note --file={{x}}": ("--file=" + V,),
    "note name={{ x }}": ("name=" + V,),
    'note "a {{x}} b"': (f"a {V} b",),
    "note 'a {{x}} b'": (f"a {V} b",),
    "note -- '{{x}}'": ("--", V),
    'note "it\'s {{x}}"': (f"it's {V}",),
    "note 'say \"{{x}}\" $HOME'": (f'say "{V}" $HOME',),
    "note a{{x}}b{{x}}c": (f"a{V}b{V}c",),
    "note one -- {{x}} '' two\n": ("one", "--", V, "", "two"),
    "note < /dev/null -- {{x}} 2> /dev/null": ("--", V),
    "note --format='{{.Names}}' --only=name={{x}}": ("--format={{.Names}}", "--only=name=" + V),
    'note --data=\'{"text": "{{x}}"}\' http://localhost': (f'--data={{"text": "{V}"}}', "http://localhost"),
}
PIECES = [
    "'", '"', "`", "$(touch CANARY)", "`touch CANARY`", "; touch CANARY;", "| touch CANARY", "& touch CANARY &", "\ntouch CANARY\n",
    "&& touch CANARY", "> CANARY", "$HOME", "${HOME}", "$((1+1))", "$x", "*", "?", "[a-z]*", "~", "~root", "{a,b}", "!", "!!", "#",
    "\\", "\\\\", "\n", "\r\n", "\t", " ", "  ", "-", "--", "-rf", "--help", "=", "(", ")", "<(touch CANARY)", "END",
    "ä", "日本", "🙂", "\u202e", "\u2028", "\ufeff", "\ue000", "\x01", "\x1b[2J", "\x7f", "%s%n", "a", "0", "{{x}}", "{{y}}",
    "';touch CANARY;'", '";touch CANARY;"', "'\"'\"'$(touch CANARY)'\"'\"'", "a[$(touch CANARY)]", "() { :;}; touch CANARY",
    "\\$(touch CANARY)", "\\\ntouch CANARY", "/dev/null", "../../", "é" * 50, "x" * 3000,
]  # fmt: skip
NAMES = ["PATH", "LD_PRELOAD", "IFS", "BASH_ENV", "ENV", "PS4", "PYTHONPATH", "gantz_value_1", "HOME", "x-y"]


def hostile(count: int) -> list[str]:
    """Values made of what shells read specially; the first are the pieces themselves, and the empty one."""
    chance = random.Random(22)
    made = ["", *PIECES, "y" * 60_000, "\n", "\n\n", " lead", "trail ", "\\n"]
    while len(made) < count:
        made.append("".join(chance.choices(PIECES, k=chance.randint(1, 6))))
    return made


def expected(script: str, value: str) -> bytes:
    return written(*(word.replace(V, value) for word in CONTEXTS[script]))


@pytest.fixture(params=SHELLS)
def desk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(running, "SHELL", as_sh(request.param, tmp_path / "shells"))
    return Desk(tmp_path / "desk")


@NEEDS_A_SHELL
@pytest.mark.slow
def test_hostile_values_arrive_byte_for_byte_and_run_no_command(desk: Desk) -> None:
    for number, value in enumerate(hostile(200)):
        script = list(CONTEXTS)[number % len(CONTEXTS)]
        assert desk.does(script, value) == expected(script, value), (script, value)


@NEEDS_A_SHELL
@pytest.mark.weekly
def test_every_hostile_value_arrives_in_every_place(desk: Desk) -> None:
    for value in hostile(80):
        for script in CONTEXTS:
            assert desk.does(script, value) == expected(script, value), (script, value)


SHREDS = [
    *["{{x}}"] * 3, *[" "] * 4, "note", "'", '"', "$(", ")", "(", ";", "&&", "|", "&", "\n", "<<E", "\nE\n", "<", ">", ">>", "2>&1",
    "2>", "<(", '"$a"', "a=", "b", "--", "-v", "if", "then", "fi", "for i in", "do", "done", "!", "{", "}", "\\", "#", "`", "$",
    "*", "~", "=", "'['", "]", "[[", "]]", "case", "esac", "$((", "))", "$'", "sh", "-c", "-eq", "echo", ":", "-", "\t", "set",
]  # fmt: skip
BITES = [
    "$(touch CANARY)", "`touch CANARY`", "; touch CANARY;", "\ntouch CANARY\n", "'; touch CANARY; '", '"; touch CANARY; "',
    "a[$(touch CANARY)]", "x=$(touch CANARY)", "touch CANARY", ")\ntouch CANARY", "a b\t* $HOME",
]  # fmt: skip


@NEEDS_A_SHELL
@pytest.mark.weekly
def test_in_random_scripts_no_value_is_run_or_split(desk: Desk) -> None:
    chance, accepted = random.Random(22), 0
    while accepted < 300:
        script = " ".join(
            ["note"] * (chance.random() < 0.6) + chance.choices(SHREDS, k=chance.randint(2, 9)) + ["{{x}}"]
        )
        try:
            ready = prepare(script, ["x"])
        except ManifestError:
            continue
        accepted += 1
        value = chance.choice(BITES)
        desk.written.write_bytes(b"")
        running.run(ready.text, desk.env | {ready.variables["x"]: value}, desk.work, timeout=9.0)
        assert not (desk.work / "CANARY").exists(), (script, value)
        told = desk.written.read_bytes().split(b"\0")
        assert all(value.encode() in one for one in told if value[:3].encode() in one), (script, value)


@NEEDS_A_SHELL
def test_a_parameter_named_like_a_variable_of_the_shell_changes_nothing(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for name in NAMES:
        assert desk.does(f"note -- {{{{{name}}}}}", "/nowhere", name) == written("--", "/nowhere"), name


@NEEDS_A_SHELL
def test_a_value_can_name_a_file_that_is_read_or_written(tmp_path: Path) -> None:
    desk, name = Desk(tmp_path), "it's $(touch CANARY) *"
    (desk.work / name).write_text("in it\n", encoding="utf-8")
    assert desk.does("note < {{x}}", name) == written(read=b"in it\n")
    desk.tool("echo out > {{x}}").call({"x": "-o; touch CANARY"})
    assert (desk.work / "-o; touch CANARY").read_text() == "out\n"
    assert not (desk.work / "CANARY").exists()


@NEEDS_A_SHELL
def test_text_put_into_the_script_would_run_the_command(tmp_path: Path) -> None:
    """The check of the checks: this is what happens where a value becomes part of the script."""
    running.run("echo {{x}}".replace("{{x}}", "a; touch CANARY"), {}, tmp_path, timeout=60.0)
    assert (tmp_path / "CANARY").exists()


PLAIN = "must be one plain command"
FIXED = "the program must be fixed"
FOLLOWS = "a value follows the option"
OPTION = "a value is part of the option"
REFUSED = {
    # more than one command, or what only a shell understands
    "ls; note {{x}}": PLAIN,
    "note {{x}} && ls": PLAIN,
    "note {{x}} &": PLAIN,
    "note {{x}}\nls": PLAIN,
    "(note {{x}})": PLAIN,
    "{ note {{x}}; }": PLAIN,
    "! note {{x}}": PLAIN,
    "note `note {{x}}`": PLAIN,
    'note "`note {{x}}`"': PLAIN,
    "note $({{x}})": PLAIN,
    'note "$(note {{x}})"': PLAIN,
    "note $(( {{x}} + 1 ))": PLAIN,
    "(( {{x}} ))": PLAIN,
    "[[ -v {{x}} ]]": PLAIN,
    "[ -v {{x}} ]": PLAIN,
    "note ${{x}}": PLAIN,
    'note "${{x}}"': PLAIN,
    "note ${a:-{{x}}}": PLAIN,
    "note \\{{x}}": PLAIN,
    'note "\\{{x}}"': PLAIN,
    "note $'{{x}}'": PLAIN,
    "note 'a {{x}}": PLAIN,
    'note "a {{x}}': PLAIN,
    "note {{x}} *": PLAIN,
    "note ~/{{x}}": PLAIN,
    "note # {{x}}": PLAIN,
    "f() { note {{x}}; }": PLAIN,
    "a=({{x}})": FIXED,
    "a={{x}}; eval $a": FIXED,
    "case {{x}} in a) ls;; esac": "'case' can run",
    # what reads the value as code
    "echo {{x}} | xargs -I{} sh -c 'ls {}'": PLAIN,
    "echo {{x}} | . /dev/stdin": PLAIN,
    "echo {{x}} | awk -f -": PLAIN,
    "echo {{x}} | make -f -": PLAIN,
    "echo {{x}} | ed": PLAIN,
    "echo {{x}} | stdbuf -oL sh": PLAIN,
    "cat <<END | xargs touch\n{{x}}\nEND": PLAIN,
    "sh <<END\n{{x}}\nEND": "'sh' can run",
    "sh <<< {{x}}": "'sh' can run",
    "note <(note {{x}})": PLAIN,
    "note 2>&{{x}}": PLAIN,
    "note < /dev{{x}}": "must be a word of its own",
    "note < {{x}}{{x}}": "must be a word of its own",
    "note {{x}}> a": PLAIN,
    # the program, and what is set before it
    "{{x}} --version": FIXED,
    "./run_{{x}}": FIXED,
    "< in {{x}}": FIXED,
    "2> log {{x}}": FIXED,
    "PATH={{x}} ls": FIXED,
    "LD_PRELOAD={{x}} ls": FIXED,
    "a=b note {{x}}": FIXED,
    # interpreters, and programs that start another one
    "bash -c -- {{x}}": "'bash' can run",
    'sh -c -- "ls {{x}}"': "'sh' can run",
    "'s'h -c {{x}}": "'sh' can run",
    "/usr/bin/env -S {{x}}": "'env' can run",
    "env BASH_ENV={{x}} ls": "'env' can run",
    'stdbuf -oL sh -c "ls {{x}}"': "'stdbuf' can run",
    "any --wrapper /bin/sh -c {{x}}": "'sh' can run",
    'any "bash -c {{x}}"': "'bash' can run",
    'docker exec web sh -c "ls {{x}}"': "'docker' can run",
    'kubectl exec pod -- bash -c "ls {{x}}"': "'kubectl' can run",
    "ssh host ls {{x}}": "'ssh' can run",
    "python3 -m timeit -n1 -r1 {{x}}": "'python3' can run",
    "python3.12 -c 'print({{x}})'": "'python3.12' can run",
    "node -e {{x}}": "'node' can run",
    "perl -ne {{x}}": "'perl' can run",
    "ruby {{x}}": "'ruby' can run",
    "awk '{{x}}' file": "'awk' can run",
    "sed s/a/{{x}}/ file": "'sed' can run",
    "xargs {{x}}": "'xargs' can run",
    "find . -exec grep {{x}} file": "'find' can run",
    "find -- {{x}}": "'find' can run",
    "nice {{x}}": "'nice' can run",
    "git bisect run {{x}}": "'run' can run",
    "git submodule foreach {{x}}": "'foreach' can run",
    "tar --file={{x}}": "'tar' can run",
    "adb shell {{x}}": "'adb' can run",
    "npm exec {{x}}": "'npm' can run",
    "any exec {{x}}": "'exec' can run",
    "split --filter={{x}} file": OPTION,
    # commands of the shell itself
    "eval echo {{x}}": "'eval' can run",
    ". {{x}}": "'.' can run",
    "source {{x}}": "'source' can run",
    "trap {{x}} EXIT": "'trap' can run",
    "alias ls={{x}}": "'alias' can run",
    "export PATH={{x}}": "'export' can run",
    "test -v {{x}}": "'test' can run",
    "'[' {{x}} -eq 1 ']'": "'[' can run",
    "jobs -x {{x}}": FOLLOWS,
    "let {{x}}": "'let' can run",
    "exit {{x}}": "'exit' can run",
    # options
    "psql -c {{x}} mydb": FOLLOWS,
    "psql -v name={{x}} mydb": FOLLOWS,
    "printf -v {{x}} a": FOLLOWS,
    "git -c {{x}} log": FOLLOWS,
    "psql --command {{x}} mydb": FOLLOWS,
    "psql -c{{x}} mydb": OPTION,
    "psql --command={{x}} mydb": OPTION,
    "git rebase --exec={{x}}": OPTION,
    "wget -q --use-askpass={{x}} URL": "because of the word 'askpass'",
    "apt-get --option={{x}} update": OPTION,
    "git --git-dir={{x}} status": OPTION,
    "clickhouse-client --query={{x}}": OPTION,
    # programs under other names
    "perl5.36-x86_64-linux-gnu {{x}}": "'perl5.36-x86_64-linux-gnu' can run",
    "tclsh8.6 {{x}}": "'tclsh8.6' can run",
    "setarch x86_64 {{x}}": "'setarch' can run",
    "/lib64/ld-linux-x86-64.so.2 {{x}}": "can run",
    "vim.basic {{x}}": "'vim.basic' can run",
    "sensible-editor {{x}}": "'sensible-editor' can run",
    "sort --compress-program={{x}} file": OPTION,
    "note --{{x}}": OPTION,
    "note -{{x}}": OPTION,
    # parameters
    "note {{y}}": "{{y}}, which is not a parameter; there are: x",
    "note": "never uses {{x}}",
}  # fmt: skip


@pytest.mark.parametrize(("script", "why"), REFUSED.items(), ids=list(REFUSED))
def test_a_script_in_which_a_value_could_be_run_is_refused_with_a_fix(script: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ManifestError) as caught:
        Desk(tmp_path).tool(script)
    assert why in str(caught.value)
    assert "tool 'act'" in str(caught.value)
    assert any(fix in str(caught.value) for fix in ("script file of its own", "parameter", "a word of its own"))


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("psql mydb < {{x}}", 'psql mydb < "${gantz_value_1-}"'),
        ("psql --single-transaction --file={{x}} db", 'psql --single-transaction --file="${gantz_value_1-}" db'),
        ("git commit --message='{{x}}'", "git commit --message=''\"${gantz_value_1-}\"''"),
        ("scripts/load.sh --name={{x}} {{x}}", 'scripts/load.sh --name="${gantz_value_1-}" "${gantz_value_1-}"'),
        ("bin/run {{x}}", 'bin/run "${gantz_value_1-}"'),
        ("grep -c -- {{x}} file", 'grep -c -- "${gantz_value_1-}" file'),
        ("rm -rf -- {{x}}", 'rm -rf -- "${gantz_value_1-}"'),
        ("cat - {{x}}", 'cat - "${gantz_value_1-}"'),
        ("jira --description={{x}}", 'jira --description="${gantz_value_1-}"'),
        ("pay --transaction={{x}}", 'pay --transaction="${gantz_value_1-}"'),
        ("echo 'sent {{x}} at noon'", "echo 'sent '\"${gantz_value_1-}\"' at noon'"),
        ("curl 'https://host/find?q={{x}}'", "curl 'https://host/find?q='\"${gantz_value_1-}\"''"),
    ],
)
def test_a_safe_script_gets_a_quoted_reference(script: str, text: str) -> None:
    assert prepare(script, ["x"]).text == text


def test_a_script_without_parameters_stays_word_for_word() -> None:
    script = "pg_dump mydb > backup_$(date +%Y%m%d).sql; case a in a) echo `date` $((1 + 1));; esac"
    assert prepare(script, []).text == script


@NEEDS_A_SHELL
def test_a_value_that_a_program_might_take_for_an_option_is_refused(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for script in ("note {{x}}", 'note "{{x}}"', "note \"\"'{{x}}'", "note {{x}} -- a", "note {{x}}{{x}}"):
        with pytest.raises(
            ToolError, match=r"begins with -, and a program might take it for an option; give a file as \./-name"
        ):
            desk.tool(script).call({"x": "--help"})
    # here "--" is the argument of an option
    for script in ("git grep --no-index -e -- {{x}}", "sort -T -- {{x}}", "git diff --no-index -S -- {{x}} f.txt"):
        with pytest.raises(ToolError, match="might take it for an option"):
            desk.tool(script).call({"x": "--output=CANARY"})
    with pytest.raises(ToolError, match=r"leads out of its folder with \.\."):
        desk.tool("note notes/{{x}}").call({"x": "../secret"})
    with pytest.raises(ToolError, match="some shells open a connection"):
        desk.tool("note < {{x}}").call({"x": "/dev/tcp/127.0.0.1/9"})
    assert not desk.written.exists()


@NEEDS_A_SHELL
def test_an_optional_parameter_that_is_missing_is_no_argument(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.tool("note a {{x}} b'{{x}}' \"{{x}}\"", required=False).call({})
    assert desk.written.read_bytes() == written("a", "b", "")
