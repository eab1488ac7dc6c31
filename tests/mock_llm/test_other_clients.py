"""Independent clients, each in an environment of its own: openai 2, pydantic-ai, and three clients of Anthropic's API.

The environments are made by uv or pip when the tests run; where they can't be made (no package index can be
reached), the tests are skipped and say so.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import mock_llm
from mock_llm import MockLLM
from tests.environments import make_environment

LOOPBACK = True
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("other clients")]
HERE = Path(__file__).parent / "others"
SCRIPT = HERE / "weather.yaml"
ROOT = Path(mock_llm.__file__).parents[1]


@pytest.fixture(scope="module")
def openai_2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("openai2") / "env", "openai>=2,<3", "pyyaml>=6", "pytest")


@pytest.fixture(scope="module")
def pydantic_ai(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("pydantic_ai") / "env", "pydantic-ai-slim[openai]>=1")


@pytest.fixture(scope="module")
def anthropic_clients(tmp_path_factory: pytest.TempPathFactory) -> Path:
    packages = ("pydantic-ai-slim[anthropic]>=2", "langchain-anthropic>=1", "litellm>=1", "pyyaml>=6")
    return make_environment(tmp_path_factory.mktemp("anthropic") / "env", *packages)


@pytest.fixture
def llm() -> MockLLM:
    return MockLLM.load(SCRIPT)


@pytest.fixture
def base_url(llm: MockLLM) -> Iterator[str]:
    with llm.serve() as url:
        yield url


def run(python: Path, program: str, *arguments: str) -> str:
    """What the program printed; its error fails the test."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [str(python), str(HERE / program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_openai_2_is_served(openai_2: Path, base_url: str, llm: MockLLM) -> None:
    assert run(openai_2, "ask_openai.py", "served", base_url).startswith("2.")
    llm.assert_all_used()


def test_openai_2_works_in_process(openai_2: Path) -> None:
    assert run(openai_2, "ask_openai.py", "inside", str(SCRIPT)).startswith("2.")


def test_the_openai_package_of_this_environment_is_served_and_works_in_process(base_url: str, llm: MockLLM) -> None:
    here = Path(sys.executable)
    assert run(here, "ask_openai.py", "served", base_url) == run(here, "ask_openai.py", "inside", str(SCRIPT))
    llm.assert_all_used()


def test_pydantic_ai_is_served(pydantic_ai: Path, base_url: str, llm: MockLLM) -> None:
    assert run(pydantic_ai, "ask_pydantic_ai.py", base_url)
    assert [call.error for call in llm.calls] == [None] * len(llm.calls)
    assert {call.scene for call in llm.calls} == {"greet", "plan", "look it up", "tell"}


def test_other_clients_of_anthropics_api_call_tools(anthropic_clients: Path) -> None:
    llm = MockLLM()
    llm.when(user="Oslo").calls("weather", city="Oslo").then("It rains.")
    with llm.serve() as base_url:
        assert run(anthropic_clients, "ask_anthropic.py", base_url).split("\n") == ["It rains."] * 6
    assert [call.error for call in llm.calls] == [None] * 12
