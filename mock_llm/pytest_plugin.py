"""The pytest plugin: the fixture `mock_llm`, with a script next to the test file.

    def test_the_agent_answers(mock_llm):     # test_agent.py, with the script test_agent.yaml
        assert agent("How is the weather?") == "It rains."    # the agent makes its own OpenAI()

During such a test, every plain `OpenAI()` in this process or in its child processes reaches the script. The test fails
if the script could not answer a call, even if the agent caught the error; if scenes have answered no call; or if the
agent makes too many calls.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import sys
import sysconfig
import types
import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

import pytest

from .api import error_response
from .llm import MockLLM
from .script import read_scenes
from .serve import API_KEY, BASE_URL, Handle, intercepted, serve
from .types import HttpRequest, HttpResponse, suggestion, unprocessable

Transport = Literal["auto", "in-process", "loopback"]
Reaction = Literal["fail", "ignore"]
MARKER = "mock_llm"
MARKER_HELP = (
    "mock_llm(*scripts, scenes=[name, …], unused='fail'|'ignore', errors='fail'|'ignore', max_calls=100, "
    "transport='auto'|'in-process'|'loopback'): the script of the fixture mock_llm; files are relative to the test's folder"
)
OPENAI = "https://api.openai.com/v1"
ANTHROPIC = "https://api.anthropic.com"
LIBRARIES = (
    *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    str(Path(__file__).parent),
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings of a test, from its markers or from pytest's settings.

    Args:
        unused: what to do if a scene has answered no call.
        errors: what to do if the script could not answer a call.
        max_calls: how many calls the agent can make.
        transport: "auto": clients that use httpx are answered in this process, and a server on 127.0.0.1 answers all
            others. "in-process": there is no server. "loopback": the server answers every client that reads its
            address.
    """

    unused: Reaction = "fail"
    errors: Reaction = "fail"
    max_calls: int = 100
    transport: Transport = "auto"


SETTINGS = {
    "unused": ("what to do if a scene has answered no call", get_args(Reaction)),
    "errors": ("what to do if the script could not answer a call", get_args(Reaction)),
    "max_calls": ("how many calls an agent can make in a test", ()),
    "transport": ("how clients reach the script", get_args(Transport)),
}


@dataclass(frozen=True)
class ScriptedTest:
    """A running test with its script.

    Args:
        recording: whether a real endpoint answers.
        places: where the agent got each error: "agent.py:12: ", or nothing over HTTP.
    """

    llm: MockLLM
    settings: Settings
    recording: bool
    places: dict[str, str] = field(default_factory=dict)

    def respond(self, request: HttpRequest, in_process: bool) -> HttpResponse:
        """Answer a request, or end the test if the agent has made too many calls."""
        if request.method == "POST" and len(self.llm.calls) >= self.settings.max_calls:
            message = self._too_many_calls()
            self.places.setdefault(message, _place())
            if in_process:
                # pytest.fail raises a BaseException, so an agent that catches every Exception ends too.
                pytest.fail(f"{self.places[message]}{message}", pytrace=False)
            return error_response(unprocessable("too_many_calls", message))
        response = self.llm.respond(request)
        if response.status >= 400:
            for message in self.llm.errors:
                self.places.setdefault(message, _place())
        return response

    def problem(self) -> str | None:
        """Return why a test that passes otherwise should fail, or None."""
        if self.places and self.settings.errors == "fail":
            errors = [f"{place}{message}" for message, place in self.places.items()]
            return "\n\n".join([*errors, "If the test expects this: @pytest.mark.mock_llm(errors='ignore')"])
        if self.recording or self.settings.unused == "ignore":
            return None
        ignore = "mark the test: @pytest.mark.mock_llm(unused='ignore')"
        if not self.llm.scenes and not self.llm.calls:
            return f"The script has no scenes, and the agent made no call. Write a scene, or {ignore}"
        if unused := self.llm.unused:
            names = "".join(f"\n  {scene}" for scene in unused)
            return f"{len(unused)} of {len(self.llm.scenes)} scenes answered no call:{names}\nRemove them, or {ignore}"
        return None

    def _too_many_calls(self) -> str:
        lines = [f"The agent has made {self.settings.max_calls} calls, the maximum for a test."]
        scene, count = Counter(call.scene for call in self.llm.calls).most_common(1)[0]
        if scene is not None:
            lines.append(f"The scene {scene!r} answered {count} of them. If it is for one turn only, add `turn` to it.")
        return "\n".join([*lines, "To allow more calls: @pytest.mark.mock_llm(max_calls=…)"])


RUNNING = pytest.StashKey[list[ScriptedTest]]()
RECORDED = pytest.StashKey[list[Path]]()


class Relay:
    """Passes the requests that the server receives to the script of the running test."""

    handle: Handle | None = None

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if self.handle is None:
            return error_response(unprocessable("no_test", "no test with the fixture mock_llm is running"))
        return self.handle(request)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings and command line options."""
    for name, (text, choices) in SETTINGS.items():
        default = getattr(Settings, name)
        parser.addini(
            f"mock_llm_{name}", ": ".join([text, *filter(None, [" or ".join(choices)])]), default=str(default)
        )
    group = parser.getgroup("mock_llm", "a scripted model")
    group.addoption("--mock-llm-unused", choices=get_args(Reaction), help="overrides the setting and the markers")
    group.addoption(
        "--mock-llm-record",
        action="store_true",
        help="tests without scenes reach the real endpoint (OPENAI_BASE_URL or ANTHROPIC_BASE_URL) and become scripts",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", MARKER_HELP)
    config.stash[RECORDED] = []


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """List the recorded scripts."""
    for path in config.stash[RECORDED]:
        if path.exists():
            terminalreporter.line(f"mock_llm recorded {os.path.relpath(path, config.invocation_params.dir)}")


@pytest.fixture(scope="session")
def _mock_llm_server() -> Iterator[tuple[Relay, str | None]]:
    """A server for all tests, and its address; None where no socket can be opened."""
    relay = Relay()
    with contextlib.ExitStack() as server:
        try:
            base_url = server.enter_context(serve(relay))
        except (OSError, RuntimeError):  # RuntimeError: a plugin blocks sockets, or a browser tab has none
            base_url = None
        yield relay, base_url


@pytest.fixture
def mock_llm(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[MockLLM]:
    """A scripted model that every plain `OpenAI()` reaches during the test.

    The script consists of the YAML files next to the test (test_agent.yaml for all tests of test_agent.py, and
    test_agent/test_name.yaml for one test), or of the files that the marker `mock_llm` names. Without either it is
    empty, and the test writes it with `mock_llm.when(…)`.
    """
    settings, names = _settings(request.node)
    scripts = _scripts(request.node)
    llm = MockLLM(_chosen(scripts, names))
    before = os.environ.get("OPENAI_BASE_URL") or OPENAI
    recording = bool(request.config.getoption("--mock-llm-record")) and not scripts
    if recording:
        out = _own_script(request.node)
        messages = f"{(os.environ.get('ANTHROPIC_BASE_URL') or ANTHROPIC).rstrip('/')}/v1"
        llm.record(before, out, lambda note: warnings.warn(pytest.PytestWarning(note), stacklevel=2), messages)
        request.config.stash[RECORDED].append(out)
    test = ScriptedTest(llm, settings, recording)
    request.node.stash.setdefault(RUNNING, []).append(test)
    relay, server = Relay(), None
    if settings.transport != "in-process":
        relay, server = request.getfixturevalue("_mock_llm_server")
    _point(monkeypatch, server or BASE_URL, keep_keys=recording)
    relay.handle = partial(test.respond, in_process=False)
    addresses = [before, server] if server and settings.transport == "auto" else [before]
    with intercepted(partial(test.respond, in_process=True), *addresses):
        yield llm
    relay.handle = None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Fail a passing test for the reasons of `ScriptedTest.problem`, and explain failures of the script in others."""
    tests = item.stash.get(RUNNING, [])
    try:
        result = yield
    except Exception as error:
        for test in tests:
            _explain(error, test)
        raise
    for test in tests:
        if problem := test.problem():
            pytest.fail(problem, pytrace=False)
    return result


def _explain(error: Exception, test: ScriptedTest) -> None:
    """Add to an exception what the script has to say: its errors that the agent caught, and the hint of an error that
    the agent did not catch. Such an error shows only the frames of the test and the agent.
    """
    refusals = [call.error for call in test.llm.calls if call.error]
    hints = dict.fromkeys(test.places, "") | {refusal.message: refusal.hint for refusal in refusals}
    for message, hint in hints.items():
        if message.splitlines()[0] in str(error):
            error.__traceback__ = _own_frames(error.__traceback__)
            if hint:
                error.add_note(f"[mock_llm] {hint}")
        elif message in test.places:
            error.add_note(message)


def _own_frames(trace: types.TracebackType | None) -> types.TracebackType | None:
    """Return a traceback without the frames of libraries, such as the many of the OpenAI client."""
    if trace is None:
        return None
    rest = _own_frames(trace.tb_next)
    if _in_library(trace.tb_frame):
        return rest
    return types.TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)


def _in_library(frame: types.FrameType) -> bool:
    return frame.f_code.co_filename.startswith((*LIBRARIES, "<"))


def _place() -> str:
    """Return where the agent made the current call, "agent.py:12: "; nothing if it is in another thread or process."""
    frame: types.FrameType | None = sys._getframe()
    while frame and _in_library(frame):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}: " if frame else ""


def _point(monkeypatch: pytest.MonkeyPatch, base_url: str, keep_keys: bool) -> None:
    """Point new clients to the address."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.setenv(name, base_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", base_url.removesuffix("/v1"))
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        if not (keep_keys and os.environ.get(name)):
            monkeypatch.setenv(name, API_KEY)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ORGANIZATION", "ANTHROPIC_AUTH_TOKEN"):
        if not keep_keys:
            monkeypatch.delenv(name, raising=False)


def _scripts(node: pytest.Item) -> list[Path]:
    """Return the scripts of the nearest marker with scripts, or those next to the test file."""
    named: tuple[str, ...] = next((mark.args for mark in node.iter_markers(MARKER) if mark.args), ())
    if named:
        return [node.path.parent / name for name in named]
    return [path for path in (node.path.with_suffix(".yaml"), _own_script(node)) if path.is_file()]


def _own_script(node: pytest.Item) -> Path:
    """Return the path of the script for this test alone, in a folder with the name of the test file."""
    name = node.nodeid.partition("::")[2].replace("::", ".")
    safe = re.sub(r"[^\w.,=\[\]-]", "_", name)[:120]
    if safe != name:  # two names must not share a file
        safe += f"-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return node.path.with_suffix("") / f"{safe}.yaml"


def _chosen(scripts: Sequence[Path], names: Sequence[str] | None) -> Any:
    """Return the scenes with these names, or all."""
    if names is None:
        return scripts
    scenes = {scene.name: scene for scene in read_scenes(scripts)}
    if unknown := [name for name in names if name not in scenes]:
        raise pytest.UsageError(f"the script has no scene {unknown[0]!r}; {suggestion(unknown[0], scenes, 'it has ')}")
    return [scenes[name] for name in names]


def _settings(node: pytest.Item) -> tuple[Settings, Sequence[str] | None]:
    """Return the settings of a test and the names of its scenes; None for all."""
    given: dict[str, Any] = {name: node.config.getini(f"mock_llm_{name}") for name in SETTINGS}
    for mark in reversed(list(node.iter_markers(MARKER))):  # the nearest marker is the first
        given |= mark.kwargs
    given["unused"] = node.config.getoption("--mock-llm-unused") or given["unused"]
    names = given.pop("scenes", None)
    if unknown := set(given) - set(SETTINGS):
        fix = suggestion(min(unknown), ["scenes", *SETTINGS], "it has ")
        raise pytest.UsageError(f"the marker mock_llm has no argument {min(unknown)!r}; {fix}")
    for name, (_, choices) in SETTINGS.items():
        if choices and given[name] not in choices:
            fix = suggestion(given[name], choices)
            raise pytest.UsageError(f"mock_llm: {name} can't be {given[name]!r}; {fix}")
    if not str(given["max_calls"]).isdigit():
        raise pytest.UsageError(f"mock_llm: max_calls is a whole number, not {given['max_calls']!r}")
    given["max_calls"] = int(given["max_calls"])
    return Settings(**given), [names] if isinstance(names, str) else names
