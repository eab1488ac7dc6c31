"""The fixture `mock_llm`: which clients reach the script, when a test fails, and what is recorded."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mock_llm import MockLLM
from tests.guards import books

pytestmark = pytest.mark.wide  # each test starts pytest in a process of its own
LOOPBACK = True
Run = Callable[..., tuple[dict[str, str], str]]
AGENT = """
import json, os, subprocess, sys, urllib.request
from openai import AsyncOpenAI, OpenAI

os.environ.setdefault("OPENAI_API_KEY", "sk-of-before")
early = OpenAI(base_url="https://api.openai.com/v1")  # made when the module is loaded, before any test
HELLO = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def ask(client=None, **options):
    client = client or OpenAI(**options)
    return client.chat.completions.create(**HELLO).choices[0].message.content


async def ask_async(client=None):
    client = client or AsyncOpenAI()
    return (await client.chat.completions.create(**HELLO)).choices[0].message.content


def ask_without_httpx():
    url, headers = os.environ["OPENAI_BASE_URL"] + "/chat/completions", {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(HELLO).encode(), headers)
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]


def ask_politely():
    try:
        return ask()
    except Exception:
        return "try again later"


def ask_elsewhere():
    program = "import agent; print(agent.ask())"
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
"""
REACHED = """
import asyncio, os, socket
import pytest
from openai import AsyncOpenAI
from agent import HELLO, ask, ask_async, ask_elsewhere, ask_without_httpx, early

kept = AsyncOpenAI(base_url="https://eu.api.openai.com/v1", api_key="sk")

@pytest.fixture
def no_connection(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was opened")
    monkeypatch.setattr(socket.socket, "connect", refuse)

@pytest.mark.usefixtures("no_connection")
def test_plain(mock_llm):
    assert ask() == ask(early) == "good day"
    assert os.environ["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
    assert len(mock_llm.calls) == 2

@pytest.mark.parametrize("client", [None, kept])
def test_async_in_several_loops(mock_llm, client):
    assert [asyncio.run(ask_async(client)) for _ in range(3)] == ["good day"] * 3

def test_other_process(mock_llm):
    assert ask_elsewhere() == ask_without_httpx() == "good day"

@pytest.mark.usefixtures("mock_llm")
def test_past_a_proxy(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask() == ask_elsewhere() == ask_without_httpx() == "good day"

@pytest.mark.mock_llm(transport="loopback")
def test_loopback(mock_llm, no_connection):
    with pytest.raises(AssertionError, match="a connection was opened"):
        ask()
    assert ask(early) == "good day"

@pytest.mark.mock_llm(transport="in-process")
def test_no_socket_at_all(mock_llm, monkeypatch):
    monkeypatch.setattr(socket, "socket", None)
    assert ask() == ask(early) == "good day"
    assert os.environ["OPENAI_BASE_URL"].endswith(".invalid/v1")

def test_deadline(mock_llm):
    mock_llm.when(user="hello", turn=1).fails("timeout", times=None).then("late")
    async def impatient():
        async with asyncio.timeout(0.2):
            await AsyncOpenAI().chat.completions.create(**HELLO)
    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    assert ask_without_httpx

def test_after_all_is_as_before():
    assert {name: os.environ.get(name) for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "NO_PROXY")} == {
        "OPENAI_BASE_URL": None, "OPENAI_API_KEY": "sk-of-before", "NO_PROXY": os.environ.get("no_proxy")
    }
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

@pytest.mark.mock_llm("other.yaml", "more.yaml", scenes=["other"])
def test_some_scenes(mock_llm):
    assert ask() == "from another file"

def test_in_python(mock_llm):
    mock_llm.when(user="hello").then("in Python")
    assert ask() == "in Python"

def test_added(mock_llm):
    mock_llm.add({"name": "a", "reply": {"text": "added"}})
    assert ask() == "added"

def test_of_its_own(mock_llm):
    assert ask() == "from its own file"

@pytest.mark.parametrize("n", [pytest.param(n, marks=pytest.mark.mock_llm(*files, **given)) for n, (files, given) in enumerate([
    (["missing.yaml"], {}),
    (["other.yaml"], {"scenes": "othre"}),
    ([], {"unsued": "ignore"}),
    ([], {"transport": "pigeon"}),
    ([], {"max_calls": "many"}),
])])
def test_wrong(mock_llm, n):
    pass
"""
HONEST = """
import concurrent.futures, openai, pytest
from agent import HELLO, ask, ask_elsewhere, ask_politely

def test_one_is_left(mock_llm):
    ask()

@pytest.mark.mock_llm(unused="ignore")
def test_one_may_be_left(mock_llm):
    ask()

@pytest.mark.mock_llm("missed.yaml")
def test_swallowed(mock_llm):
    assert ask_politely() == ask_politely() == "try again later"

@pytest.mark.mock_llm("missed.yaml", errors="ignore", unused="ignore")
def test_swallowed_on_purpose(mock_llm):
    assert ask_politely() == "try again later"

@pytest.mark.mock_llm("missed.yaml")
def test_swallowed_in_a_child(mock_llm):
    with pytest.raises(Exception):
        ask_elsewhere()

@pytest.mark.mock_llm("missed.yaml")
def test_not_caught(mock_llm):
    ask()

@pytest.mark.mock_llm("missed.yaml")
def test_refused_by_the_real_api(mock_llm):
    openai.OpenAI().chat.completions.create(**HELLO, temperature=3)

@pytest.mark.mock_llm("missed.yaml")
def test_other_answer(mock_llm):
    assert ask_politely() == "good day"

@pytest.mark.mock_llm("empty.yaml")
def test_no_scene(mock_llm):
    pass

@pytest.mark.mock_llm("empty.yaml")
def test_not_served(mock_llm):
    with pytest.raises(openai.NotFoundError):
        openai.OpenAI().embeddings.create(model="m", input="hello")

@pytest.mark.mock_llm("empty.yaml")
def test_half_a_dialogue(mock_llm):
    mock_llm.when(user="hello", turn=1)
    ask_politely()

@pytest.mark.mock_llm("empty.yaml", max_calls=3)
def test_endless(mock_llm):
    mock_llm.when(user="hello").then("again")
    while ask_politely() != "done":
        pass

@pytest.mark.mock_llm("empty.yaml", max_calls=3)
def test_endless_in_a_thread(mock_llm):
    mock_llm.when(user="hello").then("again")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        assert pool.submit(lambda: [ask() for _ in range(3)]).result()
        pool.submit(ask).exception()
"""
RECORDED = """
import pytest
from agent import ask, ask_without_httpx

@pytest.mark.parametrize("which", ["a/b", "a:b"])
def test_to_record(mock_llm, which):
    assert ask() == ask_without_httpx() == "from the real one"
    assert [call.scene for call in mock_llm.calls] == ["1: hello"] * 2

def test_with_scenes(mock_llm):
    mock_llm.when(user="hello").then("scripted")
    assert ask() == "scripted"
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

    def run(source: str, script: str = "", *options: str, **changes: str) -> tuple[dict[str, str], str]:
        (project / "test_agent.py").write_text(source, encoding="utf-8")
        if script:
            (project / "test_agent.yaml").write_text(f"scenes:\n{script}", encoding="utf-8")
        arguments = ["-p", "no:cacheprovider", "-p", "no:xdist", "-rA", "--color=no", "--strict-markers", *options]
        paths = os.pathsep.join([str(books.NETWORK_CUT), str(project)])
        done = books.run("-m", "pytest", *arguments, scratch=tmp_path, cwd=project, PYTHONPATH=paths, **changes)
        assert books.attempts(tmp_path) == ""
        lines = re.findall(r"^(PASSED|FAILED|ERROR) \S+::test_(\S+)", done.stdout, re.M)
        return {name: outcome for outcome, name in lines}, done.stdout

    return run


def test_every_kind_of_client_reaches_the_script_beside_the_test(outcomes: Run) -> None:
    outcome, printed = outcomes(REACHED, scene("greet", "hello", "good day"), "--override-ini=mock_llm_unused=ignore")
    assert len(outcome) == 9, printed
    assert set(outcome.values()) == {"PASSED"}, printed


def test_a_marker_or_the_name_of_the_test_chooses_scripts(outcomes: Run, project: Path) -> None:
    (project / "other.yaml").write_text("scenes:\n" + scene("other", "hello", "from another file"), encoding="utf-8")
    (project / "more.yaml").write_text("scenes:\n" + scene("more", "bye", "see you"), encoding="utf-8")
    (project / "test_agent").mkdir()
    own = project / "test_agent" / "test_of_its_own.yaml"
    own.write_text("scenes:\n" + scene("own", "hello", "from its own file"), encoding="utf-8")
    outcome, printed = outcomes(CHOSEN)
    passed = dict.fromkeys(("named", "two", "some_scenes", "in_python", "added", "of_its_own"), "PASSED")
    assert outcome == passed | {f"wrong[{n}]": "ERROR" for n in range(5)}, printed
    for words in (
        "missing.yaml",
        "the script has no scene 'othre'; did you mean 'other'?",
        "the marker mock_llm has no argument 'unsued'; did you mean 'unused'?",
        "transport can't be 'pigeon'; it is one of auto, in-process, loopback",
        "max_calls is a whole number, not 'many'",
    ):
        assert words in printed


def test_a_test_that_its_script_could_not_answer_fails_and_says_so_once(outcomes: Run, project: Path) -> None:
    (project / "missed.yaml").write_text("scenes:\n" + scene("missed", "helo", "good day"), encoding="utf-8")
    (project / "empty.yaml").write_text("scenes: []\n", encoding="utf-8")
    outcome, printed = outcomes(HONEST, scene("greet", "hello", "good day") + scene("part", "bye", "see you"))
    green = {name for name, word in outcome.items() if word == "PASSED"}
    assert green == {"one_may_be_left", "swallowed_on_purpose"}, printed
    assert len(outcome) == 13
    failures, *_ = re.split(r"^=+ (?:PASSES|short test summary info) =+$", printed, flags=re.M)  # CI repeats messages
    reports = {report.split(maxsplit=1)[0]: report for report in re.split(r"^_+ test_", failures, flags=re.M)[1:]}
    for name, words in {
        "one_is_left": "1 of 2 scenes answered no call:\n  'part' (test_agent.yaml:3)\nRemove them, or mark the test: "
        "@pytest.mark.mock_llm(unused='ignore')",
        "swallowed": "agent.py:12: mock_llm has no scene for this request",
        "swallowed_in_a_child": "\nmock_llm has no scene for this request",
        "not_caught": "openai.UnprocessableEntityError: Error code: 422 - mock_llm has no scene for this request",
        "refused_by_the_real_api": "[mock_llm] the bound is 2.",
        "other_answer": "mock_llm has no scene for this request",
        "no_scene": "The script has no scenes, and the agent made no call.",
        "not_served": "/v1/embeddings is not supported by mock_llm",
        "half_a_dialogue": "'user: hello' has no reply; add .then(…)",
        "endless": "The agent has made 3 calls, the maximum for a test.\nThe scene 'user: hello' answered 3 of them.",
        "endless_in_a_thread": "agent.py:12: The agent has made 3 calls",
    }.items():
        assert reports[name].count(words) == 1, reports[name]
        assert reports[name].count("The nearest scene is") <= 1
        assert "_base_client.py" not in reports[name], "frames of libraries are hidden"


def test_recording_writes_a_script_for_each_test_without_scenes(outcomes: Run, project: Path) -> None:
    real = MockLLM([{"name": "real", "when": {"user": "hello"}, "reply": {"text": "from the real one"}}])
    with real.serve() as endpoint:
        settings = {"OPENAI_BASE_URL": endpoint, "OPENAI_API_KEY": "sk-secret"}
        recorded, printed = outcomes(RECORDED, "", "--mock-llm-record", **settings)
    replayed, replay = outcomes(RECORDED)
    assert (len(recorded), set(recorded.values())) == (3, {"PASSED"}), printed
    assert replayed == recorded, replay
    assert len(real.calls) == 4
    scripts = list((project / "test_agent").iterdir())
    assert len(scripts) == 2
    assert all(f"mock_llm recorded test_agent/{script.name}" in printed for script in scripts)
    assert not any("sk-secret" in script.read_text(encoding="utf-8") for script in scripts)
