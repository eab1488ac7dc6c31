"""Independent clients, each in an environment of its own, call a tool and answer from its result.

The environments are made by uv or pip when the tests run; where they can't be made (no package index can be
reached), the tests are skipped and say so.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import mock_llm
from mock_llm import MockLLM
from tests.environments import make_environment

LOOPBACK = True
pytestmark = [pytest.mark.weekly, pytest.mark.xdist_group("other clients")]
HERE = Path(__file__).parent / "others"
SCRIPT = HERE / "weather.yaml"
ROOT = Path(mock_llm.__file__).parents[1]
CLIENTS = {  # functions of clients.py, and the packages that each needs; `tests/spans` runs four more frameworks
    **dict.fromkeys(("httpx", "aiohttp"), ("httpx", "aiohttp")),
    "litellm": ("litellm",),
    **dict.fromkeys(("langchain", "langgraph"), ("langchain-openai", "langgraph")),
    "pydantic_ai": ("pydantic-ai-slim[openai]>=2",),
    "instructor": ("instructor",),
    "dspy": ("dspy",),
    "haystack": ("haystack-ai",),
    "adk": ("google-adk", "litellm"),
    "agno": ("agno", "openai"),
    "autogen": ("autogen-agentchat", "autogen-ext[openai]"),
    "semantic_kernel": ("semantic-kernel",),
    "crewai": ("crewai",),
    "claude": ("pydantic-ai-slim[anthropic]>=2", "langchain-anthropic>=1", "litellm>=1"),
}
SCENES: dict[str, Any] = yaml.safe_load((HERE / "clients.yaml").read_text("utf-8"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The Python of an environment with these packages; each is made once."""
    made: dict[tuple[str, ...], Path] = {}

    def python(*packages: str) -> Path:
        if packages not in made:
            made[packages] = make_environment(tmp_path_factory.mktemp("other") / "env", *packages)
        return made[packages]

    return python


def run(python: Path, program: str, *arguments: str, **variables: str) -> str:
    """What the program printed; its error fails the test."""
    command = [str(python), str(HERE / program), *arguments]
    given = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240, env=given)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", CLIENTS)
def test_a_client_calls_the_tool_and_answers(environment: Any, name: str, tmp_path: Path) -> None:
    llm = MockLLM([*SCENES["all"], *SCENES.get(name, ())])
    quiet = {"OTEL_SDK_DISABLED": "true", "CREWAI_DISABLE_TELEMETRY": "true", "HOME": str(tmp_path), "PYTHONPATH": ""}
    with llm.serve() as url:
        addresses = {"OPENAI_BASE_URL": url, "OPENAI_API_BASE": url, "ANTHROPIC_BASE_URL": url.removesuffix("/v1")}
        addresses |= {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
        printed = run(environment(*CLIENTS[name]), "clients.py", name, **quiet, **addresses)
    assert printed.splitlines()[-1] == "It has -3 degrees."
    assert [call.error for call in llm.calls] == [None] * len(llm.calls)


@pytest.mark.parametrize("packages", [(), ("openai>=2,<3", "pyyaml>=6", "pytest")], ids=["here", "openai 2"])
def test_the_openai_package_is_served_and_works_in_process(environment: Any, packages: tuple[str, ...]) -> None:
    llm, python = MockLLM.load(SCRIPT), environment(*packages) if packages else Path(sys.executable)
    with llm.serve() as base_url:
        assert run(python, "ask_openai.py", "served", base_url) == run(python, "ask_openai.py", "inside", str(SCRIPT))
    llm.assert_all_used()
