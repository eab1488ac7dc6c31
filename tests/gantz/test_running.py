"""A script is bounded in time and output, sees a few variables, reads nothing, and leaves nothing running."""

import pickle
import time
from pathlib import Path

import psutil
import pytest

from planexec_lab.gantz import ManifestError, load, running
from planexec_lab.gantz.running import environment, run
from planexec_lab.gantz.toolbox import LONGEST
from planexec_lite import Inline, Plan, ToolExecutor, execute
from planexec_lite.tools import ToolError
from tests.gantz.shells import NEEDS_A_SHELL

pytestmark = NEEDS_A_SHELL


def does(script: str, folder: Path, timeout: float = 60.0, **variables: str) -> dict[str, object]:
    return dict(run(script, environment(variables), folder, timeout))


def gone(pid: int) -> bool:
    """Whether a process is gone, or goes while we look: one that was killed takes a moment."""
    for _ in range(2_000):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.005)
    return False


@pytest.mark.parametrize(
    ("script", "code", "out", "err"),
    [
        ("echo out; echo err >&2; exit 3", 3, "out\n", "err\n"),
        ("kill -9 $$", -9, "", ""),
        ("printf 'a\\377b'", 0, "a\\xffb", ""),
        ("cat; echo end", 0, "end\n", ""),
        ("ls ..", 0, "here\n", ""),
        ("exec >&- 2>&-; sleep 0.1; exit 4", 4, "", ""),
    ],
)
def test_both_outputs_and_the_code_of_a_script_are_told(
    script: str, code: int, out: str, err: str, tmp_path: Path
) -> None:
    (tmp_path / "here").mkdir()
    assert does(script, tmp_path / "here") == {"exit_code": code, "stdout": out, "stderr": err}


def test_output_is_bounded_and_says_what_is_left_out(tmp_path: Path) -> None:
    told = does("i=0; while [ $i -lt 9000 ]; do echo $i; i=$((i + 1)); done; echo err >&2", tmp_path)
    text = str(told["stdout"])
    assert text.startswith("0\n1\n2\n")
    assert text.endswith("8999\n")
    assert "bytes left out" in text
    assert len(text) < running.MOST + 100
    assert told["stderr"] == "err\n"


def test_a_script_sees_a_few_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "of this process")
    names = {line.partition("=")[0] for line in str(does("env", tmp_path, GIVEN="1")["stdout"]).splitlines()}
    assert "GIVEN" in names
    assert names <= {"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "GIVEN", "PWD", "OLDPWD", "SHLVL", "_"}


@pytest.mark.slow
@pytest.mark.parametrize("left", ["sleep 600", "yes"])
def test_what_a_script_leaves_behind_is_ended_with_it(left: str, tmp_path: Path) -> None:
    assert does(f"{left} & echo $! > left", tmp_path)["exit_code"] == 0
    assert gone(int((tmp_path / "left").read_text()))


@pytest.mark.slow
def test_a_script_that_takes_too_long_is_ended_with_all_it_started(tmp_path: Path) -> None:
    script = (
        "sleep 600 & echo $! > first; sh -c 'trap \"\" TERM; echo $$ > second; echo here >&2; sleep 600; sleep 600'"
    )
    with pytest.raises(TimeoutError, match=r"took longer than 1 s, and was ended; it wrote: here"):
        does(script, tmp_path, timeout=1.0)
    assert [gone(int((tmp_path / name).read_text())) for name in ("first", "second")] == [True, True]


MANIFEST = """\
tools:
  - name: say
    description: Say it
    parameters:
      - {name: words, type: string, required: true, description: what is said, allow: [empty]}
      - {name: times, type: integer, default: 1}
      - {name: share, type: number}
      - {name: loud, type: boolean}
    script:
      shell: sh say.sh {{words}} "times={{times}}" {{share}} {{loud}}
  - name: fail
    description: Fail
    parameters: [{name: code, type: integer, required: true}]
    script: {shell: 'ls "why{{code}}"'}
  - name: wait
    description: Wait
    script: {shell: sleep 600}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "gantz.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    (tmp_path / "say.sh").write_text("printf '%s|' -- \"$@\"\n", encoding="utf-8")
    return path


def test_a_manifest_becomes_a_toolbox(manifest: Path) -> None:
    tools = load(manifest, effects={"say": "none"})
    assert tools.names == ("say", "fail", "wait")
    assert tools["say"].signature == "say(words: string, times: integer = 1, share: number, loud: boolean)"
    assert tools["say"].description == "Say it"
    assert (tools["say"].effects, tools["say"].destructive) == ("none", False)
    assert (tools["fail"].effects, tools["fail"].destructive) == ("unknown", True)
    assert tools["say"].required == ("words",)


def test_arguments_are_passed_on_as_text(manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = load(manifest)
    told = {"words": "a b", "times": 3, "share": 0.5, "loud": True}
    assert tools["say"].call(told)["stdout"] == "--|a b|times=3|0.5|true|"
    assert tools["say"].call({"words": "it's\n", "share": 2})["stdout"] == "--|it's\n|times=1|2|"
    assert tools["say"].call({"words": "", "loud": False})["stdout"] == "--||times=1|false|"
    assert pickle.loads(pickle.dumps(tools["say"])).call({"words": "hello"})["stdout"] == "--|hello|times=1|"
    monkeypatch.setattr(running, "MOST", 2 * LONGEST)
    longest = "é" * (LONGEST // 2)
    assert tools["say"].call({"words": longest})["stdout"] == f"--|{longest}|times=1|"


@pytest.mark.parametrize(
    ("params", "why"),
    [
        ({}, "parameter 'words' is missing"),
        ({"words": "a", "word": "b"}, "no parameter 'word'; did you mean 'words'"),
        ({"words": 3}, "words"),
        ({"words": "a", "times": "3; ls"}, "times"),
        ({"words": "a", "times": 1.5}, "times"),
        ({"words": "a", "loud": "yes please"}, "loud"),
        ({"words": "a\0b"}, "contains a NUL character"),
        ({"words": "\ud800"}, "surrogates not allowed"),
        ({"words": "x" * (LONGEST + 1)}, "it has 100,001 bytes, and at most 100,000 are passed on"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(params: dict[str, object], why: str, manifest: Path) -> None:
    with pytest.raises(ToolError) as caught:
        load(manifest)["say"].call(params)
    assert why in str(caught.value)


def test_a_script_that_fails_fails_its_step_with_what_it_wrote(manifest: Path) -> None:
    with pytest.raises(RuntimeError, match=r"fail ended with code \d+: .*why1"):
        load(manifest)["fail"].call({"code": 1})
    plan = Plan.parse([{"id": "1", "tool": "fail", "params": {"code": 1}}])
    run = execute(plan, ToolExecutor(load(manifest)), workers=Inline())
    assert run.status == "failed"
    assert "why" in str(run.reason)


@pytest.mark.slow
def test_the_timeout_of_a_step_ends_its_script(manifest: Path) -> None:
    plan = Plan.parse([{"id": "1", "tool": "wait", "timeout": 0.5}])
    run = execute(plan, ToolExecutor(load(manifest)), workers=Inline())
    assert run.status == "failed"
    assert "timeout of 0.5 s" in str(run.reason)


def test_a_declaration_for_a_tool_that_is_not_there_is_named(manifest: Path) -> None:
    for declared in ({"effects": {"sey": "none"}}, {"destructive": ["sey"]}, {"latency": {"sey": 1.0}}):
        with pytest.raises(ManifestError, match="no tool 'sey'; did you mean 'say'"):
            load(manifest, **declared)  # type: ignore[arg-type]
