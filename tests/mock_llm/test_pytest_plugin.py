"""The fixture `mock_llm`: a plain `OpenAI()` reaches the script beside the test, and scenes without a call are told."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.guards import books

pytestmark = pytest.mark.slow  # each test starts pytest in a process of its own
LOOPBACK = True
Run = Callable[..., tuple[dict[str, str], str]]
AGENT = """
import os, subprocess, sys
from openai import AsyncOpenAI, OpenAI

os.environ.setdefault("OPENAI_API_KEY", "sk-of-before")
early = OpenAI(base_url="https://api.openai.com/v1")  # made when the module is loaded, before any test
HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def ask(client=None, **options):
    client = client or OpenAI(**options)
    return client.chat.completions.create(**HELLO).choices[0].message.content


async def ask_async():
    async with AsyncOpenAI() as client:
        return (await client.chat.completions.create(**HELLO)).choices[0].message.content


def ask_elsewhere():
    program = "import agent; print(agent.ask())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
"""
REACHED = """
import asyncio, os, socket
import pytest
from agent import ask, ask_async, ask_elsewhere, early

def test_plain(mock_llm):
    assert ask() == "good day"
    assert os.environ["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
    assert len(mock_llm.calls) == 1

def test_async(mock_llm):
    assert asyncio.run(ask_async()) == "good day"

def test_other_process(mock_llm):
    assert ask_elsewhere() == "good day"

@pytest.mark.usefixtures("mock_llm")
def test_made_before_the_test():
    assert ask(early) == "good day"

def test_past_a_proxy(mock_llm, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert ask() == "good day"

@pytest.mark.mock_llm(transport="in-process")
def test_no_socket_at_all(mock_llm, monkeypatch):
    def refuse(*_):
        raise AssertionError("a socket was opened")
    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert ask() == ask(early) == "good day"

@pytest.mark.mock_llm(transport="in-process")
def test_async_in_process(mock_llm):
    assert asyncio.run(ask_async()) == "good day"

def test_after_all_is_as_before():
    assert os.environ.get("OPENAI_BASE_URL") is None
    assert os.environ["OPENAI_API_KEY"] == "sk-of-before"
"""
CHOSEN = """
import pytest
from agent import ask

@pytest.mark.mock_llm("other.yaml")
def test_named(mock_llm):
    assert ask() == "from another file"

@pytest.mark.mock_llm("other.yaml", "more.yaml", unused="ignore")
def test_two(mock_llm):
    assert [scene.name for scene in mock_llm.scenes] == ["other", "more"]

def test_in_python(mock_llm):
    mock_llm.when(user="hello").then("in Python")
    assert ask() == "in Python"

@pytest.mark.mock_llm("missing.yaml")
def test_missing_script(mock_llm):
    pass

@pytest.mark.mock_llm(unsued="ignore")
def test_wrong_word(mock_llm):
    pass

@pytest.mark.mock_llm(transport="pigeon")
def test_wrong_value(mock_llm):
    pass
"""
UNUSED = """
import pytest
from agent import ask

def test_one_is_left(mock_llm):
    ask()

@pytest.mark.mock_llm(unused="ignore")
def test_one_may_be_left(mock_llm):
    ask()

def test_fails_by_itself(mock_llm):
    assert ask() == "something else"

def test_half_a_dialogue(mock_llm):
    mock_llm.when(user="hello", turn=1)
    with pytest.raises(Exception, match="has no reply; go on with"):
        ask()
"""


def scene(name: str, user: str, text: str) -> str:
    return f"  - {{name: {name}, when: {{user: {user}}}, reply: {{text: {text}}}}}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose agent makes its own OpenAI()."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT, encoding="utf-8")
    return folder


@pytest.fixture
def outcomes(project: Path, tmp_path: Path) -> Run:
    """Run a file of tests; its outcomes by name, and what was printed."""

    def run(source: str, script: str = "", *options: str) -> tuple[dict[str, str], str]:
        (project / "test_agent.py").write_text(source, encoding="utf-8")
        if script:
            (project / "test_agent.yaml").write_text(f"scenes:\n{script}", encoding="utf-8")
        arguments = ["-p", "no:cacheprovider", "-p", "no:xdist", "-rA", "--color=no", "--strict-markers", *options]
        paths = os.pathsep.join([str(books.NETWORK_CUT), str(project)])
        done = books.run("-m", "pytest", *arguments, scratch=tmp_path, cwd=project, PYTHONPATH=paths)
        assert books.attempts(tmp_path) == ""
        told = re.findall(r"^(PASSED|FAILED|ERROR) \S+::test_(\w+)", done.stdout, re.M)
        return {name: outcome for outcome, name in told}, done.stdout

    return run


def test_a_plain_client_reaches_the_script_beside_the_test(outcomes: Run) -> None:
    outcome, printed = outcomes(REACHED, scene("greet", "hello", "good day"))
    assert len(outcome) == 8, printed
    assert set(outcome.values()) == {"PASSED"}, printed


def test_a_marker_names_the_scripts(outcomes: Run, project: Path) -> None:
    (project / "other.yaml").write_text("scenes:\n" + scene("other", "hello", "from another file"), encoding="utf-8")
    (project / "more.yaml").write_text("scenes:\n" + scene("more", "bye", "see you"), encoding="utf-8")
    outcome, printed = outcomes(CHOSEN)
    passed = {"named": "PASSED", "two": "PASSED", "in_python": "PASSED"}
    assert outcome == passed | {"missing_script": "ERROR", "wrong_word": "ERROR", "wrong_value": "ERROR"}, printed
    assert "missing.yaml" in printed
    assert "the marker mock_llm has unused and transport, not 'unsued'" in printed
    assert "transport is loopback or in-process, not 'pigeon'" in printed


def test_scenes_without_a_call_fail_the_test_by_name(outcomes: Run) -> None:
    script = scene("greet", "hello", "good day") + scene("part", "bye", "see you")
    outcome, printed = outcomes(UNUSED, script)
    assert outcome == {
        "one_is_left": "FAILED",
        "one_may_be_left": "PASSED",
        "fails_by_itself": "FAILED",
        "half_a_dialogue": "FAILED",
    }, printed
    assert "1 of 2 scenes answered no call:\n  'part' (test_agent.yaml:3)\n" in printed
    assert "@pytest.mark.mock_llm(unused='ignore')" in printed
    assert "'user: hello' has no reply" in printed


def test_the_failure_can_be_switched_off(outcomes: Run) -> None:
    script = scene("greet", "hello", "good day") + scene("part", "bye", "see you")
    outcome, printed = outcomes(UNUSED, script, "--override-ini=mock_llm_unused=ignore")
    assert (outcome["one_is_left"], outcome["one_may_be_left"]) == ("PASSED", "PASSED"), printed
    assert outcome["fails_by_itself"] == "FAILED"
