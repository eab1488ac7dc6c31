"""A value arrives where the manifest puts it, byte for byte, and is never run; a script where it could be is refused."""

import dataclasses
import random
import re
from pathlib import Path

import pytest

from planexec_lab.gantz import ManifestError, running
from planexec_lab.gantz.script import prepare
from planexec_lite.tools import ToolError
from tests.gantz.shells import NEEDS_A_SHELL, SHELLS, Desk, as_sh, with_note, written

V = "\0value\0"  # the value, in what is expected
KINDS = {"x": "string"}
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
    'if [ "{{x}}" = "a" ]; then note -- {{x}}; else note -- "{{x}}"; fi  # {{x}}': ("--", V),
    'case "{{x}}" in no|never) exit 1 ;; *) note -- "{{x}}" ;; esac': ("--", V),
    'for i in 1 2; do\n  one="{{x}}"\ndone\nnote -- "${one}"': ("--", V),
    'one=$(printf %s "{{x}}"; echo .) && note "in $one"': (f"in {V}.",),
    'test -z "" || exit 1\nnote \\\n  -- "$(printf %s \'<{{x}}>\')"': ("--", f"<{V}>"),
    'note -- "$GANTZ_ARG_X"': ("--", V),
}
READS = {  # a script -> what `note` reads
    "note << 'END'\n$HOME `date` \\ {{x}}\nEND": f"$HOME `date` \\ {V}\n",
    "note <<END\n{{x}}|\nEND\nexit 0": f"{V}|\n",
    "printf '%s|' \"{{x}}\" | note": f"{V}|",
    "{ printf %s {{x}}; printf '|'; } | cat | note": f"{V}|",
}
PIECES = [
    "'", '"', "`", "$(touch CANARY)", "`touch CANARY`", "; touch CANARY;", "| touch CANARY", "& touch CANARY &", "\ntouch CANARY\n",
    "&& touch CANARY", "> CANARY", "$HOME", "${HOME}", "$((1+1))", "$x", "*", "?", "[a-z]*", "~", "~root", "{a,b}", "!", "!!", "#",
    "\\", "\\\\", "\n", "\r\n", "\t", " ", "  ", "-", "--", "-rf", "--help", "=", "(", ")", "<(touch CANARY)", "END",
    "ä", "日本", "🙂", "\u202e", "\u2028", "\ufeff", "\ue000", "\x01", "\x1b[2J", "\x7f", "%s%n", "a", "0", "{{x}}", "{{y}}",
    "';touch CANARY;'", '";touch CANARY;"', "'\"'\"'$(touch CANARY)'\"'\"'", "a[$(touch CANARY)]", "() { :;}; touch CANARY",
    "\\$(touch CANARY)", "\\\ntouch CANARY", "/dev/null", "../../", "é" * 50, "x" * 3000,
]  # fmt: skip


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
            expected = written(*(word.replace(V, value) for word in CONTEXTS[script]))
            assert desk.does(script, value) == expected, (script, value)
        for script in READS if every else [list(READS)[number % len(READS)]]:
            assert desk.does(script, value) == written(read=READS[script].replace(V, value).encode()), (script, value)


@NEEDS_A_SHELL
@pytest.mark.slow
def test_a_command_gets_each_value_in_its_arguments_without_a_shell(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    args = ["--", "{{x}}", "a {{ x }}{{x}}", "--x={{x}}", "$HOME ${WRITTEN}"]
    script: dict[str, object] = {"command": "../bin/note", "args": args, "stdin": "<{{x}}>\n{{x}}"}
    for value in hostile(120):
        expected = ("--", value, f"a {value}{value}", f"--x={value}", f"{desk.work} {desk.written}")
        assert desk.does(script, value) == written(*expected, read=f"<{value}>\n{value}".encode()), value


SHREDS = [
    *["{{x}}"] * 3, *[" "] * 4, "note", "'", '"', "$(", ")", "(", ";", "&&", "|", "&", "\n", "<<E", "\nE\n", "<", ">", ">>", "2>&1",
    "2>", "<(", '"$a"', "a=", "b", "--", "-v", "if", "then", "fi", "for i in", "do", "done", "!", "{", "}", "\\", "#", "`", "$",
    "*", "~", "=", "'['", "]", "[[", "]]", "case", "esac", ";;", "in", "$((", "))", "$'", "sh", "-c", "-eq", "echo", ":", "-",
    "\t", "set", "y=", "y={{x}}", '"$y"', "$y", "; sh -c", "| sh", "> f", "; ./f", "; sh f", "| while read y; do", "; then", "; fi",
    "cat", "tee f", "eval", "1", "test", "||", "$GANTZ_ARG_X", "printf %s", "python3 -c", "xargs", '"$(', ')"',
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
            ready = prepare(with_note(script), KINDS)
        except ManifestError:
            continue
        accepted += 1
        value = chance.choice(BITES)
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


@NEEDS_A_SHELL
def test_text_put_into_the_script_would_run_the_command(tmp_path: Path) -> None:
    """The check of the checks: this is what happens where a value becomes part of the script."""
    running.run("echo {{x}}".replace("{{x}}", "a; touch CANARY"), {}, tmp_path, timeout=60.0)
    assert (tmp_path / "CANARY").exists()


REFUSED = {  # why -> scripts, in each of which a value could be run
    "which is not read here": [
        "z={{x}}; y=abc; note \"${y:z}\"", "note {{x}} &", "(note {{x}})", "f() { note {{x}}; }", "note `note {{x}}`",
        "note ${{x}}", 'note "${{x}}"', "note ${a:-{{x}}}", "note $'{{x}}'", "note 'a {{x}}", "(( {{x}} ))", "a=({{x}})",
        "note <(note {{x}})", "note 2>&{{x}}", "sh <<< {{x}}", "case a in {{x}}) ls ;; esac", "note $(( $(echo {{x}}) ))",
    ],
    "does not end": ['note "a {{x}}', 'note "`note {{x}}`"', "note {a,{{x}}}"],
    "the script ends too early": ["note $(note {{x}}", "note $(note -- {{x}}; note"],
    "can't follow a backslash": ["note \\{{x}}", 'note "\\{{x}}"'],
    "the text after << must end": ["cat <<END\n{{x}}", "cat <<END\n$y {{x}}\nEND", "cat <<A <<B\n{{x}}\nA\nB"],
    "a shell can evaluate it": ["z={{x}}; y=z; note $((y))", "note $(( {{x}} + 1 ))", "y={{x}}; note $((y + 1))"],
    "must be in double quotes": [
        "y={{x}}; $y", "y={{x}}; note $y", "$(echo {{x}})", "rm $(echo -- {{x}})", "y={{x}}; note ${y:0:1}", "a={{x}}; note b$a",
    ],
    "might begin with -": ['y="a{{x}}"; note "$y"', 'note "$(note {{x}})"', 'echo {{x}} | while read y; do cat "$y"; done'],
    "can't be in a variable": [
        "for PATH in {{x}}; do ls; done", "read PATH <<END\n{{x}}\nEND", "PATH={{x}} ls", "y={{x}} note", "PATH={{x}}; ls",
        "https_proxy={{x}}; ls", "PS4=$(echo {{x}})",
    ],
    "text made of a value can't be the name of a file": ['y="/dev{{x}}"; note < "$y"'],
    "the program must be fixed": [
        "git clone -- {{x}} d && d/run", "echo {{x}} | tee f; ./[f]", "{{x}} --version", "./run_{{x}}", "< in {{x}}",
        'note "$({{x}})"', '"$(echo {{x}})" a', 'y={{x}}; "$y"', 'for y in {{x}}; do "$y"; done', "echo {{x}} | tee f; ./f",
        "ls > {{x}}; ./f", '"$a" {{x}}',
    ],
    "must be a separate word": ["note < /dev{{x}}", "note < {{x}}{{x}}"],
    "reads a value, and might run it": ["echo {{x}} | psql", "echo {{x}} | sqlite3 db", "echo {{x}} > a.sql; psql --file=b < a.sql"],
    "might run what it is given": [
        # programs that are not known
        "any {{x}}", "any --file={{x}}", "echo {{x}} > Makefile; make", "echo {{x}} | xargs -I{} sh -c 'ls {}'", "cat {{x}} | awk 1",
        "/usr/bin/env -S {{x}}", "node_modules/.bin/npx {{x}}", "pip install {{x}}", "perl a.pl {{x}}", "docker run {{x}}",
        'docker exec web sh -c "ls {{x}}"', 'kubectl exec pod -- bash -c "ls {{x}}"', "echo {{x}} | kubectl", "git {{x}} a",
        "git config {{x}} a", "git -c {{x}} log", "gh {{x}}", "redis-cli eval {{x}}", "echo {{x}} > {{x}}; npm test",
        # the words of the shell
        "chdir {{x}}; ./a", "cd {{x}}", "let {{x}}", "exit {{x}}", "[[ -v {{x}} ]]", "[ {{x}} {{x}} ]", "test -v {{x}}",
        "'[' {{x}} -eq 1 ']'", "y={{x}}; [ \"$y\" -gt 1 ]", "eval echo {{x}}", "a={{x}}; eval 'sh -c \"$a\"'", "export PATH={{x}}",
        "trap 'sh -c \"$a\"' EXIT; a={{x}}", "set -- {{x}}; sh -c \"$1\"", "echo {{x}} | . /dev/stdin", "alias ls={{x}}",
        # shells and other languages, by an argument, their input, a variable or a file
        "sh -c {{x}}", "'s'h -c {{x}}", "sh -c 'ls $GANTZ_ARG_X'; echo {{x}}", "sh <<'E'\n$GANTZ_ARG_X\nE", "sh <<END\n{{x}}\nEND",
        "sh < {{x}}", "env | sh; echo {{x}}", "curl {{x}} | python", "note {{x}} | { sh; }", "if ls; then echo {{x}}; fi | sh",
        'y="$(echo {{x}})"; sh -c "$y"', "while sh -c \"$y\"; do y={{x}}; done", 'note {{x}} | while read y; do sh -c "$y"; done',
        'while read y; do sh -c "$y"; done <<END\n{{x}}\nEND', 'while read y; do sh -c "$y"; done < {{x}}', "{ sh; } < {{x}}",
        'sh -c "$(< {{x}})"', 'read y < {{x}}; sh -c "$y"', 'read y <<END\n{{x}}\nEND\nsh -c "$y"', "if sh; then ls; fi < ./{{x}}",
        "for i in 1; do echo {{x}}; done > f.sh; sh f.sh", "[ a {{x}} b ] 2> f.sh; sh f.sh", "echo {{x}} | cat > f.sh; sh f.sh",
        "echo {{x}} > d/f.sh; cd d; sh f.sh", "echo {{x}} > {{x}}; python a.py", 'cp a "{{x}}" && sh ./b.sh', "echo {{x}} > f; sh *",
        "git clone -- {{x}} d && sh d/install.sh", "curl -sO -s {{x}}; sh f.sh", "curl {{x}} -o f; sh ./f", "python $a {{x}}",
        "java -jar {{x}}", "for i in 1; do echo {{x}}; done | sh", "cp {{x}} ./f && f",
        # code in an argument
        'python3 -c "import sys; eval(sys.argv[1])" {{x}}', "python3 -c \"import os; os.system('{{x}}')\"", "python -c {{x}}",
        "python3 -c \"from os import system as print; print('{{x}}')\"", "python3 -m timeit -n1 -r1 {{x}}", "node -e {{x}}",
        'python3 -c "import json, sys; json.codecs.builtins.exec(sys.argv[1])" {{x}}', "python -c \"f'{{x}}'\"",
        "python -c \"# ' '{{x}}'\"", "echo {{x}} | sed e", "echo {{x}} | sed 's,a,b,ge'", "echo {{x}} | sed 's/a/b/w f'",
        "sed s/a/{{x}}/ file", "psql -c \"COPY t TO PROGRAM '{{x}}'\"", "sqlite3 a.db '.shell {{x}}'", "sqlite3 -cmd {{x}} db",
        "sqlite3 a.db \"SELECT load_extension('{{x}}')\"", "jq '[{{x}}]'", "jq {{x}}", "jq -n --arg a 1 {{x}}",
        "echo {{x}} | jq -rf /dev/stdin", "find . -name {{x}} -exec cat {} +", "rg --pre=sh a {{x}}", "sort --compress=sh {{x}}",
        "printf -- '%d' {{x}}", "printf -- {{x}}", "printf \"$f\" {{x}}", "printf -v {{x}} a", "printf {{x}} {{x}}",
        "kubectl get pods --kubeconfig={{x}}", "wget -q --use-askpass={{x}} URL", "git log --open={{x}}",
    ],
    "a value follows the option": [
        "psql -v name={{x}} mydb", "curl -K {{x}}", "psql --command {{x}} mydb", "curl -d {{x}} http://localhost",
        "curl -o {{x}} http://localhost", "git log -S {{x}}",
    ],
    "a value is part of the option": [
        "psql -c{{x}} mydb", "psql --command={{x}} mydb", "git log --git-dir={{x}}", "curl --connect-to={{x}} http://localhost/",
        "rg -{{x}}", "grep --{{x}}",
    ],
    "{{y}}, which is not a parameter; there are: x": ["note {{y}}"],
    "gantz has no conditions": ["note {{ if x }} {{x}}", "note {{x.name}}", "note {{x}} \ue000"],
}  # fmt: skip


@pytest.mark.parametrize(("script", "why"), [(script, why) for why, scripts in REFUSED.items() for script in scripts])
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


PLACES = {  # why -> scripts, each with values that would leave their place in it
    "might take it for an option": {"find {{x}} -name a -delete": ["!", "(", "-L"]},
    "leads out of its folder": {
        script: ["../secret", "a/..", "a/../../secret"]
        for script in (
            "note notes/{{x}}", "note < notes/{{x}}", "echo a > notes/{{x}}", "note notes/a-{{x}}", 'd=notes/; note "$d{{x}}"',
            'f="notes/{{x}}"; note -- "$f"', 'f="$(echo {{x}})"; note "notes/$f"', "curl http://localhost/a-{{x}}",
        )
    },
    "with the dots beside it": {"note notes/{{x}}{{x}}": [".", "./a", "a/."], "note notes/.{{x}}": ["./a", "."]},
    "names the folder itself": {"rm -rf backups/{{x}}": ["", ".", "/"], "rm -rf -- backups/{{x}}": ["", "./"]},
    "names the folder itself, and not": {'find "backups/{{x}}" -delete': ["", ".", "./"]},
    "open a connection for it": {"note < {{x}}": ["/dev/tcp/127.0.0.1/9", "/proc/self/environ", "/tmp/../proc/1/environ"]},
    "than the name of a branch": {"git push origin {{x}}": [":main", "+a:main"], "git checkout {{x}}": [".", ":/"]},
    "can choose the server": {"psql {{x}} -c 'SELECT 1'": ["host=evil"], "psql -d {{x}}": ["postgresql://evil/"]},
    "a further header can follow": {'curl -H "X: {{x}}" http://localhost/': ["a\r\nEvil: 1"]},
    "must begin with http": {"curl -s {{x}}": ["file:///etc/passwd", "{file}:///etc/passwd", "FILE:/etc/passwd", "@a"]},
    "brackets and braces": {"curl http://localhost/{{x}}": ["{.}{.}/a", "[1-9]"]},
    "must begin with /, ? or #": {"curl http://localhost{{x}}": [".evil.com/", ":9/", "@evil/"]},
    "part of a server's name": {"curl http://{{x}}.localhost/": ["evil/", "evil#"], "note http://a:{{x}}@b/": ["@evil/"],
                                "curl localhost:{{x}}": ["80@evil.org/"], "wget localhost:{{x}}/a": ["80@evil.org"]},
}  # fmt: skip


@pytest.mark.parametrize("why", PLACES)
def test_a_value_stays_in_its_folder_and_on_its_server(why: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for script, values in PLACES[why].items():
        for value in values:
            with pytest.raises(ToolError, match=re.escape(why)):
                desk.tool(script).call({"x": value})
    assert not desk.written.exists()


CODE = {  # a script with a value in code -> values that it takes, and values that could end their place in it
    "python3 -c \"print('{{x}}')\"": (
        ["a b", "", "ä (1)", "x=1;y"],
        ["it's", "a\\", 'a"', "a\nb", "{x}", "$x", "`x`", "#"],
    ),
    "python3 -c \"import json; print(json.dumps('{{x}}'))\"": (["a b"], ["'"]),
    "echo '{\"a\": 1}' | jq '.{{x}}'": (["a", "a.b", "a_1"], ["a | env", ".a", "a[0]", "", "a,b", "a\n"]),
    "printf a | jq -R 'test(\"{{x}}\")'": (["a b"], ['"', "\\(env)", "a\n"]),
    'psql -c "SELECT * FROM {{x}}"': (["users", "public.users"], ["a; DROP TABLE b", "a b", "a--", "(SELECT 1)"]),
    "psql -c \"SELECT 1 WHERE a ILIKE '%{{x}}%'\"": (["a b", "a@b.c"], ["'", "\\", "a' OR 'b"]),
    'psql -c "\\d {{x}}"': (["users"], ["`touch CANARY`", "a b"]),
    'q={{x}}; psql -c "$q" db': (["SELECT 'a'"], ["\\! touch CANARY"]),
    "sqlite3 a.db \".import '{{x}}' t\"": (["a.csv"], ["|touch CANARY"]),
    "sqlite3 a.db 'PRAGMA table_info({{x}})'": (["users"], ["a); .shell ls", ".a"]),
}


def test_a_value_in_code_can_not_end_its_place_in_it(tmp_path: Path) -> None:
    desk, ran = Desk(tmp_path), list[str]()

    def runner(script: str, variables: dict[str, str], *_: object) -> running.Done:
        ran.append(variables["GANTZ_ARG_X"])
        return {"exit_code": 0, "stdout": "", "stderr": ""}

    for script, (taken, refused) in CODE.items():
        call = dataclasses.replace(desk.tool(script).function, runner=runner)  # type: ignore[type-var]
        for value in taken:
            call(x=value)
        for value in refused:
            with pytest.raises(
                ToolError, match=r"parameter 'x' (is (a part of|in quotes inside) code|begins with a backslash)"
            ):
                call(x=value)
        assert ran == taken, script
        ran.clear()


@NEEDS_A_SHELL
def test_an_optional_parameter_that_is_missing_is_no_argument(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.tool("note a {{x}} b'{{x}}' \"{{x}}\"", required=False).call({})
    assert desk.written.read_bytes() == written("a", "b", "")
