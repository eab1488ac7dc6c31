"""mock-llm as a distribution of its own: built from this tree, installed into an empty environment, it answers there.

The kit's own wheel leaves the package to it: together they have no file twice.
"""

from __future__ import annotations

import json
import subprocess
import urllib.request
import zipfile
from pathlib import Path

import pytest

from tests.distributions import built, empty_environment, needed, stdout_of
from tests.guards.books import ROOT

LOOPBACK = True
FOLDER = ROOT / "distributions" / "mock-llm"
EXTRAS = {"openai", "pytest"}
SCRIPT = "scenes: [{name: greet, when: {user: hello}, reply: {text: good day}}]\n"
AGENT_TEST = """
from openai import OpenAI

def test_agent(mock_llm):
    said = OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
    assert said.choices[0].message.content == "good day"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of mock-llm."""
    return built(FOLDER, tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="module")
def empty(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel and what it asks for, and nothing else."""
    folder = tmp_path_factory.mktemp("empty") / "env"
    return empty_environment(folder, needed("mock-llm", EXTRAS), [f"{wheel}[openai,pytest]"])


pytestmark = pytest.mark.wide


@pytest.mark.xdist_group("distribution")
class TestDistribution:
    def test_the_wheel_holds_the_package_its_pages_and_its_types(self, wheel: Path) -> None:
        with zipfile.ZipFile(wheel) as archive:
            names = set(archive.namelist())
        package = {
            f"mock_llm/{path.relative_to(ROOT / 'mock_llm').as_posix()}" for path in (ROOT / "mock_llm").rglob("*.py")
        }
        assert names >= package | {"mock_llm/py.typed", "mock_llm/README.md", "mock_llm/TESTING.md"}
        assert not [name for name in names if not name.startswith(("mock_llm/", "mock_llm-"))]

    def test_the_wheel_of_the_pattern_leaves_it_out_and_needs_pydantic_alone(self, wheel: Path, tmp_path: Path) -> None:
        kit = built(ROOT, tmp_path, "-t", "wheel")
        with zipfile.ZipFile(kit) as archive, zipfile.ZipFile(wheel) as other:
            names = set(archive.namelist())
            assert names.isdisjoint(other.namelist())
            (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
            lines = archive.read(about).decode().splitlines()
        assert {name.split("/")[0].split("-")[0] for name in names} == {"planexec_lite"}
        needed = [line for line in lines if line.startswith("Requires-Dist: ") and "extra ==" not in line]
        assert needed == ["Requires-Dist: pydantic<3,>=2.11"]

    def test_nothing_of_this_tree_is_there_and_the_command_answers(self, empty: Path, tmp_path: Path) -> None:
        asks = "import mock_llm, importlib.util as u; print(mock_llm.__file__, u.find_spec('planexec_lite'))"
        file, kit = stdout_of(empty / "python", "-c", asks, cwd=tmp_path, scratch=tmp_path).split()
        assert (Path(file).is_relative_to(empty.parent), kit) == (True, "None")
        (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
        assert (
            stdout_of(empty / "mock-llm", "check", "script.yaml", cwd=tmp_path, scratch=tmp_path)
            == "1 scenes, no faults\n"
        )
        assert stdout_of(empty / "mock-llm", "--help", cwd=tmp_path, scratch=tmp_path).startswith("usage: mock-llm ")
        command = [empty / "mock-llm", "serve", "script.yaml"]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                base_url = server.stdout.readline().split()[-1]
                body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hello"}]}).encode()
                asked = urllib.request.Request(
                    f"{base_url}/chat/completions", body, {"content-type": "application/json"}
                )
                with urllib.request.urlopen(asked) as response:
                    assert json.load(response)["choices"][0]["message"]["content"] == "good day"
            finally:
                server.terminate()

    def test_the_fixture_is_there_without_a_word_of_setting(self, empty: Path, tmp_path: Path) -> None:
        (tmp_path / "test_agent.py").write_text(AGENT_TEST, encoding="utf-8")
        (tmp_path / "test_agent.yaml").write_text(SCRIPT, encoding="utf-8")
        assert "1 passed" in stdout_of(empty / "python", "-m", "pytest", "-q", cwd=tmp_path, scratch=tmp_path)
