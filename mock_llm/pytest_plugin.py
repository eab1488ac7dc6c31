"""The pytest plugin: the fixture `mock_llm`, with a script next to the test file.

    def test_the_agent_answers(mock_llm):     # test_agent.py, with the script test_agent.yaml
        assert agent("How is the weather?") == "It rains."    # the agent makes its own OpenAI()

During such a test, a plain `OpenAI()` in this process or in its child processes reaches the script. At its end, the
test fails if scenes have answered no call, and lists them.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pytest

from .llm import MockLLM
from .serve import API_KEY, BASE_URL, caught

Transport = Literal["loopback", "in-process"]
Unused = Literal["fail", "ignore"]
MARKER: Final = "mock_llm"
MARKER_HELP: Final = (
    "mock_llm(*scripts, unused='fail'|'ignore', transport='loopback'|'in-process'): the YAML files of the fixture "
    "mock_llm, from the folder of the test; by default the one of the test's own name"
)
SWITCH: Final = "Remove them, or mark the test: @pytest.mark.mock_llm(unused='ignore')"
WATCHED: Final = pytest.StashKey[list[MockLLM]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings and command line options."""
    parser.addini("mock_llm_unused", "what to do if a scene has answered no call: fail, or ignore", default="fail")
    parser.addini("mock_llm_transport", "how OpenAI() reaches the script: loopback, or in-process", default="loopback")
    group = parser.getgroup("mock_llm", "a scripted model")
    group.addoption("--mock-llm-unused", choices=get_args(Unused), help="overrides the setting and the markers")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER_HELP)


@pytest.fixture
def mock_llm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[MockLLM]:
    """A scripted model that every plain `OpenAI()` reaches during the test.

    The script is the YAML file next to the test file with the same name (test_agent.yaml for test_agent.py), or the
    files that the marker `mock_llm` names. Without either it is empty, and the test writes it with `mock_llm.when(…)`.
    """
    llm = MockLLM.load(*_scripts(request.node))
    request.node.stash.setdefault(WATCHED, []).append(llm)
    transport = _setting(request.node, "transport", Transport)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, API_KEY)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ORGANIZATION", "ANTHROPIC_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with caught(llm.respond):
        if transport == "in-process":
            _point(monkeypatch, BASE_URL)
            yield llm
        else:
            with llm.serve() as base_url:
                _point(monkeypatch, base_url)
                yield llm


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a passing test if a scene of its script has answered no call."""
    result = yield
    for llm in item.stash.get(WATCHED, []):
        unused = item.config.getoption("--mock-llm-unused") or _setting(item, "unused", Unused)
        if unused == "fail":
            try:
                llm.assert_all_used()
            except AssertionError as error:
                pytest.fail(f"{error}\n{SWITCH}", pytrace=False)
    return result


def _point(monkeypatch: pytest.MonkeyPatch, base_url: str) -> None:
    """Point new clients to the address, bypassing any proxy."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.setenv(name, base_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", base_url.removesuffix("/v1"))
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [os.environ.get(name), "127.0.0.1", BASE_URL.split("/")[2]]
        monkeypatch.setenv(name, ",".join(filter(None, hosts)))


def _scripts(node: pytest.Item) -> list[Path]:
    """Return the scripts of the nearest marker with scripts, or the script next to the test file."""
    named: tuple[str, ...] = next((mark.args for mark in node.iter_markers(MARKER) if mark.args), ())
    if named:
        return [node.path.parent / name for name in named]
    beside = node.path.with_suffix(".yaml")
    return [beside] if beside.is_file() else []


def _setting(node: pytest.Item, name: str, kinds: Any) -> str:
    """Return the value of the nearest marker, or else of the settings."""
    marks = list(node.iter_markers(MARKER))
    unknown = {word for mark in marks for word in mark.kwargs} - {"unused", "transport"}
    if unknown:
        raise pytest.UsageError(f"the marker mock_llm has unused and transport, not {min(unknown)!r}")
    marked = [str(mark.kwargs[name]) for mark in marks if name in mark.kwargs]
    chosen: str = (marked or [node.config.getini(f"mock_llm_{name}")])[0]
    if chosen not in get_args(kinds):
        raise pytest.UsageError(f"mock_llm: {name} is {' or '.join(get_args(kinds))}, not {chosen!r}")
    return chosen
