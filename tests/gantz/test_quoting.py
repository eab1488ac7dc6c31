"""A value stands where the manifest puts it, byte for byte, and is never run: in every quoting, in every shell that is here."""

import contextlib
import random
from pathlib import Path

import pytest

from planexec_lite.gantz import QuotingError, placed, running
from tests.gantz.shells import NEEDS_A_SHELL, SHELLS, Desk, as_sh, told

V = "\0value\0"  # stands for the value in what is expected
CONTEXTS = {  # a script -> what `note` is given, or what `take` reads
    "note -- {{x}}": [("--", V)],
    "note --file={{x}}": [("--file=" + V,)],
    'note "a {{x}} b"': [(f"a {V} b",)],
    "note 'a {{x}} b'": [(f"a {V} b",)],
    "note -- '{{x}}'": [("--", V)],
    'note "it\'s {{x}}"': [(f"it's {V}",)],
    "note 'say \"{{x}}\"'": [(f'say "{V}"',)],
    "note a{{x}}b{{x}}c": [(f"a{V}b{V}c",)],
    "note one -- {{x}} '' two": [("one", "--", V, "", "two")],
    'note "$(printf %s_ -- {{x}})"': [(f"--_{V}_",)],
    "note \"$(printf %s_ \"$(printf '%s.' 'in {{x}}')\")\"": [(f"in {V}._",)],
    "note -- {{x}} && note -- {{x}}": [("--", V), ("--", V)],
    "if note -- {{x}}; then note a{{x}}; fi": [("--", V), ("a" + V,)],
    'for each in a{{x}} b; do note "$each"; done': [("a" + V,), ("b",)],
    'each=a{{x}}; note "$each"': [("a" + V,)],
    "(note -- {{x}})": [("--", V)],
    "{ note -- {{x}}; } >> out.txt; rm out.txt": [("--", V)],
    "! note -- {{x}} || :": [("--", V)],
    "note --\\\n {{x}}": [("--", V)],
    "note '{a,'{{x}}} x{{x}}*": [("{a," + V + "}", "x" + V + "*")],
    "timeout 60 note -- {{x}}": [("--", V)],
    "sh -c 'note \"$1\"' sh a{{x}}": [("a" + V,)],
    "take <<END\na {{x}} b\nEND": f"a {V} b\n",
    "take <<-END\n\t\"{{x}}\" '{{x}}'\n\tEND\n": f"\"{V}\" '{V}'\n",
    "take <<END\n$(printf %s_ 'a {{x}}')\nEND": f"a {V}_\n",
    "printf %s_ a{{x}} | take": f"a{V}_",
}
PIECES = [
    "'", '"', "`", "$(touch CANARY)", "`touch CANARY`", "; touch CANARY;", "| touch CANARY", "& touch CANARY &", "\ntouch CANARY\n",
    "&& touch CANARY",
    "> CANARY", "$HOME", "${HOME}", "$((1+1))", "$x", "*", "?", "[a-z]*", "~", "~root", "{a,b}", "!", "!!", "#",
    "\\", "\\\\", "\n", "\r\n", "\t", " ", "  ", "-", "--", "-rf", "--help", "-n",
    "=", "(", ")", "<(touch CANARY)", "END", "\nEND\n",
    "ä", "日本", "🙂", "\u202e", "\u2028", "\ufeff", "\ue000", "\x01", "\x1b[2J", "\x7f", "%s%n",
    "a", "0", "{{x}}", "{{y}}", "''", '""',
    "';touch CANARY;'", '";touch CANARY;"', "'\"'\"'$(touch CANARY)'\"'\"'", "a[$(touch CANARY)]", "() { :;}; touch CANARY",
    "\\$(touch CANARY)", "\\\ntouch CANARY", "/dev/null", "../../", "é" * 50, "x" * 3000,
]  # fmt: skip


def hostile(count: int, seed: int = 22) -> list[str]:
    """Values made of what shells read specially; the first are the pieces themselves, and the empty one."""
    chance = random.Random(seed)
    made = ["", *PIECES, "y" * 99_000, "\n", "\n\n", " lead", "trail ", "\\n"]
    while len(made) < count:
        made.append("".join(chance.choices(PIECES, k=chance.randint(1, 6))))
    return made[:count]


def expected(wanted: list[tuple[str, ...]] | str, value: str) -> bytes:
    if isinstance(wanted, str):
        return wanted.replace(V, value).encode()
    return b"".join(told(*(word.replace(V, value) for word in words)) for words in wanted)


@pytest.fixture(params=SHELLS)
def desk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.setattr(running, "SHELL", as_sh(request.param, tmp_path / "shells"))
    return Desk(tmp_path / "desk")


@NEEDS_A_SHELL
@pytest.mark.slow
def test_every_quoting_gives_a_program_the_value_byte_for_byte(desk: Desk) -> None:
    for value in ["a b", "it's $(touch CANARY) `touch CANARY` \"; touch CANARY #\n*", "\\", "日本 🙂", "a\nEND\nb"]:
        for script, wanted in CONTEXTS.items():
            assert desk.does(script, value) == expected(wanted, value), (script, value)


@NEEDS_A_SHELL
@pytest.mark.slow
def test_hostile_values_run_no_command(desk: Desk) -> None:
    contexts = list(CONTEXTS.items())
    for number, value in enumerate(hostile(300)):
        script, wanted = contexts[number % len(contexts)]
        assert desk.does(script, value) == expected(wanted, value), (script, value)


@NEEDS_A_SHELL
@pytest.mark.wide
def test_a_thousand_hostile_values_run_no_command(desk: Desk) -> None:
    """Each in six quotings, and each of these with two hundred values and more."""
    contexts = list(CONTEXTS.items())
    for number, value in enumerate(hostile(1_000)):
        for place in range(6):
            script, wanted = contexts[(number + 5 * place) % len(contexts)]
            assert desk.does(script, value) == expected(wanted, value), (script, value)


@NEEDS_A_SHELL
def test_text_put_into_the_script_would_run_the_command(tmp_path: Path) -> None:
    """The canary sings: this is what is done where a value becomes part of the script."""
    desk = Desk(tmp_path / "desk")
    script = "note -- {{x}}".replace("{{x}}", "a; touch CANARY")
    running.run(script, desk.env, desk.folder / "work", timeout=60.0, most=1000)
    assert (desk.folder / "work" / "CANARY").exists()


SHREDS = [
    *["{{x}}"] * 3, *[" "] * 4, "note", "take", "printf", "cat", "'", '"', "$(", ")", "(", ";", "&&", "||", "|", "&", "\n", "<<E",
    "\nE\n", "<<'E'", "<<-E", "\n\tE\n", "<", ">", ">>", "2>&1", "$a", "${a}", '"$a"', "a=", "b", "--", "-v", "if", "then", "fi",
    "for i in", "do", "done", "while", "!", "{", "}", "\\", "\\\n", "#", "`", "$", "*", "~", "=", "[", "]", "[[", "]]", "case",
    "esac", "in", "$((", "))", "$'", "${a:-", "sh", "-c", "eval", "env", "export", "read", "test", "echo", ":",
    "-", "\t", "\r", "set", "shift", '"$@"', '"$1"', "local", "x=", "PS4=", "exec", "command",
    "time", "unset", "trap", "cd", "1", "2",
]  # fmt: skip
BITES = [
    "$(touch CANARY)", "`touch CANARY`", "; touch CANARY;", "\ntouch CANARY\n", "'; touch CANARY; '", '"; touch CANARY; "',
    "' \" ; touch CANARY #", "\nE\ntouch CANARY\n", "a[$(touch CANARY)]", "x=$(touch CANARY)", "touch CANARY", ")\ntouch CANARY",
    "}; touch CANARY", "fi; touch CANARY", "\\\ntouch CANARY", "-c touch CANARY",
]  # fmt: skip
WHOLE = "Aq  *\t$HOME Cq"


@NEEDS_A_SHELL
@pytest.mark.wide
def test_in_random_scripts_no_value_is_run_or_split(desk: Desk) -> None:
    """Whatever is not refused, however senseless: the value bites nowhere, and comes whole or not at all."""
    chance, accepted, written = random.Random(22), 0, desk.folder / "written"
    while accepted < 1_500:
        shreds = ["note"] * (chance.random() < 0.6) + chance.choices(SHREDS, k=chance.randint(2, 9)) + ["{{x}}"]
        script = (" " * (chance.random() < 0.4)).join(shreds)
        try:
            ready = placed(script, ["x"])
        except QuotingError:
            continue
        accepted += 1
        value = WHOLE if accepted % 2 else chance.choice(BITES)
        variables = desk.env | {ready.variables["x"]: value}
        with contextlib.suppress(TimeoutError):  # a loop without end, such as: while :; do
            running.run(ready.text, variables, desk.folder / "work", timeout=3.0, most=1000)
        assert not (desk.folder / "work" / "CANARY").exists(), (script, value)
        told = written.read_bytes().split(b"\0") if written.exists() else []
        parts = [one for one in told if b"Aq" in one or b"Cq" in one]
        assert [one for one in parts if WHOLE.encode() not in one] == [], script
        written.unlink(missing_ok=True)


REFUSED = {
    "{{x}} --version": "what is run has to be fixed",
    "bin/{{x}}": "what is run has to be fixed",
    "./run_{{x}}": "what is run has to be fixed",
    "ls; {{x}}": "what is run has to be fixed",
    "ls | {{x}}": "what is run has to be fixed",
    "! {{x}}": "what is run has to be fixed",
    "if {{x}}; then ls; fi": "what is run has to be fixed",
    '"$(which ls)" {{x}}': "what is run has to be fixed",
    "env {{x}}": "what is run has to be fixed",
    "env A=1 nice -n 5 {{x}}": "what is run has to be fixed",
    "timeout 5 {{x}}": "what is run has to be fixed",
    "env -u A {{x}}": "the options of env",
    "PATH={{x}} ls": "PATH decides what programs do",
    "LD_PRELOAD={{x}} ls": "LD_PRELOAD decides what programs do",
    "env PYTHONPATH={{x}} python a.py": "PYTHONPATH decides what programs do",
    'p={{x}}; PATH="$p" ls': "PATH decides what programs do",
    "PATH=$(echo {{x}}) ls": "PATH decides what programs do",
    "export PATH={{x}}": "export sets a variable",
    "declare -n a={{x}}": "declare sets a variable",
    "for PATH in {{x}}; do ls; done": "for sets a variable",
    "echo {{x}} | while read PATH; do ls; done": "read sets a variable",
    "printf -v a %s {{x}}": "printf sets a variable",
    "eval echo {{x}}": "eval takes its arguments for code",
    "trap {{x}} EXIT": "trap takes its arguments for code",
    ". {{x}}": ". takes its arguments for code",
    "sh -c {{x}}": "sh runs what it is given",
    "bash -lc 'echo {{x}}'": "bash runs what it is given",
    "sh {{x}}": "sh runs what it is given",
    "echo {{x}} | sh": "sh runs what it is given",
    "sh <<END\n{{x}}\nEND": "sh runs what it is given",
    "python3 -c 'print({{x}})'": "python3 runs what it is given",
    "python -W ignore {{x}}": "python runs what it is given",
    "busybox sh -c {{x}}": "sh runs what it is given",
    "busybox {{x}}": "what is run has to be fixed",
    "perl -I lib {{x}}": "perl runs what it is given",
    "perl -E {{x}}": "perl runs what it is given",
    "tar -xf {{x}}": "tar -xf runs",
    "tar xf {{x}}": "tar xf runs",
    "perl -ne {{x}}": "perl runs what it is given",
    'p={{x}}; sh -c "$p"': "sh runs what it is given",
    "sed s/a/{{x}}/ file": "sed takes its arguments for code",
    "awk '{{x}}' file": "awk takes its arguments for code",
    "sqlite3 db {{x}}": "sqlite3 takes its arguments for code",
    "xargs {{x}}": "xargs takes its arguments for code",
    "ssh host {{x}}": "ssh takes its arguments for code",
    "sudo ls {{x}}": "sudo takes its arguments for code",
    "find . -exec grep {{x}} {} ;": "find runs what stands behind -exec",
    "psql -c {{x}} mydb": "psql -c runs",
    "psql -Atc {{x}} mydb": "psql -Atc runs",
    "psql --command={{x}} mydb": "psql --command= runs",
    "psql -o {{x}} mydb": "psql -o runs",
    "echo {{x}} | psql mydb": "psql runs what it is told",
    "psql mydb <<END\nSELECT '{{x}}';\nEND": "psql runs what it is told",
    "git -c {{x}} log": "git -c runs",
    "tar --to-command={{x}} -x": "tar --to-command= runs",
    "note `note {{x}}`": "backticks",
    'note "`note {{x}}`"': "backticks",
    "note $(( {{x}} + 1 ))": "arithmetic",
    "note $({{x}})": "what is run has to be fixed",
    "note $(cat -- {{x}})": "would be split into words",
    "each={{x}}; note $each": "would be split into words",
    "note ${{x}}": "a $ stands before {{x}}",
    'note "${{x}}"': "a $ stands before {{x}}",
    "note \\{{x}}": "a \\ stands before {{x}}",
    'note "\\{{x}}"': "a \\ stands before {{x}}",
    "note ${a:-{{x}}}": "only ${name} can stand",
    "note $'{{x}}'": "not the same in every shell",
    "take <<< {{x}}": "not the same in every shell",
    "ls |& note {{x}}": "not the same in every shell",
    "take <(note {{x}})": "no file behind it",
    "take <<'END'\n{{x}}\nEND": "whose end is quoted",
    "take <<{{x}}\nEND": "can't hold a value",
    "take <<END\n{{x}}\\\nEND\nEND": "ends with \\",
    "take <<END\n{{x}}\n": "never ends",
    "take <<END {{x}}": "no text",
    "note 2>&{{x}}": "no value can be made safe",
    "case {{x}} in a) ls;; esac": "'case'",
    "[[ {{x}} -eq 1 ]]": "'[['",
    "f() { note {{x}}; }": "functions",
    "a=({{x}})": "functions",
    "(( {{x}} ))": "arithmetic",
    "note {a,{{x}}}": "{ in a word",
    "note 'a {{x}}": "never closed",
    'note "a {{x}}': "never closed",
    "(note {{x}}": "has no )",
    "note {{x}})": "has no (",
    "note {{y}}": "{{y}}, and that is no parameter; there are: x",
    "note": "never uses {{x}}",
    "note \ue000 {{x}}": "private use",
}


@pytest.mark.parametrize(("script", "why"), REFUSED.items(), ids=list(REFUSED))
def test_a_place_where_no_value_is_safe_is_refused(script: str, why: str) -> None:
    with pytest.raises(QuotingError) as caught:
        placed(script, ["x"])
    assert why in str(caught.value)


@pytest.mark.parametrize(
    "script",
    [
        "psql mydb < {{x}}",
        "psql -v ON_ERROR_STOP=1 --file={{x}} mydb",
        "psql -v wanted={{x}} -f fixed.sql mydb",
        "python -u scripts/load.py {{x}}",
        "python -m http.server {{x}}",
        "sed s/a/b/ < {{x}} > out_$(date +%F)",
        "sort -o {{x}} file",
        "tar -x < {{x}}",
        "perl -pe s/a/b/ {{x}}",
        "/usr/bin/env A=1 nice -n 5 grep -- {{x}} file",
        "grep -c -- {{x}} file",
        "docker ps --format '{{.Names}}' --filter name={{x}}",
        "PATH=$PATH:/opt note a{{x}}",
        "LEVEL={{x}} note",
        'git commit -m "{{x}}"',
        'curl -d \'{"text": "{{x}}"}\' http://localhost',
    ],
)
def test_what_is_safe_is_not_refused(script: str) -> None:
    assert "{{x}}" not in placed(script, ["x"]).text


def test_a_script_without_parameters_stays_word_for_word() -> None:
    script = "pg_dump mydb > backup_$(date +%Y%m%d).sql; case a in a) echo `date` $((1 + 1));; esac"
    assert placed(script, []).text == script


def test_values_that_begin_with_a_dash_are_told_from_the_others() -> None:
    assert placed("note {{x}}", ["x"]).leading == {"x"}
    assert placed('note "{{x}}"', ["x"]).leading == {"x"}
    assert placed("note \"\"'{{x}}'", ["x"]).leading == {"x"}
    assert placed("note a{{x}} --b={{x}} < {{x}}", ["x"]).leading == set()
    assert placed("note -- {{x}}", ["x"]).leading == set()
    assert placed("note -- a; note {{x}}", ["x"]).leading == {"x"}
    assert placed('note "$(cat {{x}})"', ["x"]).leading == {"x"}


@NEEDS_A_SHELL
def test_an_optional_parameter_that_is_missing_is_no_argument(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    ready = placed("note a {{x}} b'{{x}}' \"{{x}}\"", ["x"], optional=["x"])
    running.run(ready.text, desk.env, desk.folder, timeout=60.0, most=1000)
    assert (desk.folder / "written").read_bytes() == told("a", "b", "")
    assert placed("note {{x}}$?", ["x"], optional=["x"]).text == 'note "${gantz_value_1-}"$?'
    assert placed("note {{x}}$(date)", ["x"], optional=["x"]).text == 'note "${gantz_value_1-}"$(date)'
    with pytest.raises(QuotingError, match="must be required, or have a default"):
        placed("take < {{x}}", ["x"], optional=["x"])
