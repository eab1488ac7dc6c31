"""All three distributions: wheels and archives are built, installed into empty environments, and run there.

The lessons come from the archive of the source, as a learner would have them who never cloned the project. The scripted model also
runs alone: the wheel of the kit leaves its package out.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from tests.guards import books
from tests.guards.books import ROOT
from tests.guards.readme_rules import snippets

OURS = {"planexec-lite", "planexec-lab", "mock-llm"}
KERNEL = {"argv": ["python", "-m", "ipykernel_launcher", "-f", "{connection_file}"], "language": "python"}
SCRIPT = "scenes: [{name: greet, when: {user: hello}, reply: {text: good day}}]\n"
AGENT_TEST = """
from openai import OpenAI

def test_agent(mock_llm):
    said = OpenAI().chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
    assert said.choices[0].message.content == "good day"
"""
pytestmark = [pytest.mark.wide, pytest.mark.xdist_group("distribution")]


def needed(name: str, extras: set[str], seen: set[str] | None = None) -> set[str]:
    """The distributions that one needs, as they are installed here."""
    seen = set() if seen is None else seen
    for line in metadata.requires(name) or []:
        wanted = Requirement(line)
        if wanted.marker and not any(wanted.marker.evaluate({"extra": extra}) for extra in extras or {""}):
            continue
        if wanted.name not in seen:
            seen.add(wanted.name)
            needed(wanted.name, wanted.extras, seen)
    return seen


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive of a source."""
    safely: dict[str, Any] = (
        {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    )  # the first releases of 3.11 have none
    with tarfile.open(archive) as packed:
        packed.extractall(folder, **safely)


def copy_distribution(name: str, folder: Path) -> None:
    """Put an installed distribution's files into another environment, as an installation would."""
    for file in metadata.files(name) or []:
        source = Path(str(file.locate()))
        if ".." not in file.parts and "__pycache__" not in file.parts and source.is_file():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, folder / file)


def stdout_of(*command: str | Path, cwd: Path, scratch: Path, **changes: str) -> str:
    """What a command prints, with the network cut."""
    environment = books.environment(scratch, **{"PYTHONPATH": "", **changes})
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(folder: Path, scratch: Path, *options: str) -> Path:
    """The wheel of a folder, built without the network."""
    done = books.run("-m", "hatchling", "build", *options, "-d", scratch / "dist", scratch=scratch, cwd=folder)
    assert done.returncode == 0, done.stdout
    assert books.attempts(scratch) == ""
    (wheel,) = (scratch / "dist").glob("*.whl")
    return wheel


def empty_environment(folder: Path, names: Iterable[str], wheels: Sequence[str]) -> Path:
    """Make an environment of the named distributions, copied from this one, and of the wheels; return where its programs are."""
    venv.create(folder, symlinks=os.name != "nt")
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    asks = "import sysconfig; print(sysconfig.get_path('purelib'))"
    libraries = Path(stdout_of(programs / "python", "-c", asks, cwd=folder, scratch=folder).strip())
    for name in names:
        copy_distribution(name, libraries)
    here = [sys.executable, "-m", "pip", "--python", programs / "python", "install", "--quiet", "--no-index"]
    stdout_of(*here, *wheels, cwd=folder, scratch=folder)
    return programs


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of planexec-lite; its archive lies beside it."""
    return built(ROOT, tmp_path_factory.mktemp("kit"))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of mock-llm."""
    return built(ROOT / "distributions" / "mock-llm", tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def source(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked archive of the source."""
    (archive,) = kit.parent.glob("*.tar.gz")
    unpack(archive, folder := tmp_path_factory.mktemp("source"))
    (unpacked,) = folder.iterdir()
    return unpacked


@pytest.fixture(scope="module")
def empty(kit: Path, model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has all three wheels and what the lessons need, and nothing else."""
    folder = tmp_path_factory.mktemp("empty") / "env"
    lab = built(ROOT / "distributions" / "planexec-lab", tmp_path_factory.mktemp("lab"))
    return empty_environment(
        folder, needed("planexec-lab", {"notebooks"}) - OURS, [f"{lab}[notebooks]", str(model), str(kit)]
    )


@pytest.fixture(scope="module")
def pattern(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has planexec-lite, pydantic and nothing else."""
    folder = tmp_path_factory.mktemp("pattern") / "env"
    return empty_environment(folder, needed("planexec-lite", set()), [str(kit)])


@pytest.fixture(scope="module")
def client(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has mock-llm, what it requires, and nothing else."""
    folder = tmp_path_factory.mktemp("client") / "env"
    return empty_environment(folder, needed("mock-llm", {"openai", "pytest"}), [f"{model}[openai,pytest]"])


@pytest.mark.parametrize("package", ["planexec_lite", "planexec_lab", "mock_llm"])
def test_the_wheel_holds_the_package_its_types_and_its_pages(package: str, empty: Path) -> None:
    (installed,) = empty.parent.rglob(f"site-packages/{package}")
    kinds = {".py", ".yaml", ".gz", ".typed", *([".md"] if package == "mock_llm" else [])}
    files = [path for path in (ROOT / package).rglob("*") if path.suffix in kinds]
    assert [path for path in files if not (installed / path.relative_to(ROOT / package)).is_file()] == []


def test_the_archive_holds_what_a_learner_opens(source: Path) -> None:
    for folder in ("notebooks", "exercises", "planexec_lite", "planexec_lab", "mock_llm", "tests", "distributions"):
        assert (source / folder).is_dir()
    assert {path.name for path in (ROOT / "notebooks").glob("*.ipynb")} == {
        path.name for path in (source / "notebooks").glob("*.ipynb")
    }
    assert not {".venv", "build", ".git"} & {path.name for path in source.iterdir()}


def test_the_archive_makes_the_same_wheel(kit: Path, source: Path, tmp_path: Path) -> None:
    assert built(source, tmp_path, "-t", "wheel").read_bytes() == kit.read_bytes()


def test_the_readme_s_first_run_needs_the_pattern_alone(pattern: Path, tmp_path: Path) -> None:
    first = snippets((ROOT / "README.md").read_text(encoding="utf-8"))[0]
    (tmp_path / "first.py").write_text(first.source, encoding="utf-8")
    assert stdout_of(pattern / "python", "first.py", cwd=tmp_path, scratch=tmp_path) == first.promised


def test_a_lesson_runs_there_cell_by_cell(empty: Path, source: Path, tmp_path: Path) -> None:
    for folder in ("notebooks", "exercises"):
        shutil.copytree(source / folder, tmp_path / folder)
    kernel = tmp_path / "share" / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    argv = [str(empty / "python"), *KERNEL["argv"][1:]]
    kernel.write_text(json.dumps({**KERNEL, "argv": argv, "display_name": "Python 3"}), encoding="utf-8")
    lesson = "notebooks/01_toy_planner.ipynb"
    more = {"PYTHONPATH": str(tmp_path), "JUPYTER_PATH": str(tmp_path / "share")}
    command = [empty / "python", "-m", "pytest", "-q", "--nbval", lesson]
    said = stdout_of(*command, cwd=tmp_path, scratch=tmp_path, **more)
    assert " passed" in said
    assert "failed" not in said


def test_the_wheel_of_the_pattern_leaves_it_out_and_needs_pydantic_alone(kit: Path, model: Path) -> None:
    with zipfile.ZipFile(kit) as archive, zipfile.ZipFile(model) as other:
        names = set(archive.namelist())
        assert names.isdisjoint(other.namelist())
        (about,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        lines = archive.read(about).decode().splitlines()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"planexec_lite"}
    requires = [line for line in lines if line.startswith("Requires-Dist: ") and "extra ==" not in line]
    assert requires == ["Requires-Dist: pydantic<3,>=2.11"]


def test_the_scripted_model_and_its_command_need_no_kit(client: Path, tmp_path: Path) -> None:
    asks = "import mock_llm, importlib.util as u; print(mock_llm.__file__, u.find_spec('planexec_lite'))"
    file, lite = stdout_of(client / "python", "-c", asks, cwd=tmp_path, scratch=tmp_path).split()
    assert (Path(file).is_relative_to(client.parent), lite) == (True, "None")
    (tmp_path / "script.yaml").write_text(SCRIPT, encoding="utf-8")
    assert (
        stdout_of(client / "mock-llm", "check", "script.yaml", cwd=tmp_path, scratch=tmp_path)
        == "1 scene, no problems\n"
    )
    assert stdout_of(client / "mock-llm", "--help", cwd=tmp_path, scratch=tmp_path).startswith("usage: mock-llm ")


def test_the_fixture_is_there_without_a_word_of_setting(client: Path, tmp_path: Path) -> None:
    (tmp_path / "test_agent.py").write_text(AGENT_TEST, encoding="utf-8")
    (tmp_path / "test_agent.yaml").write_text(SCRIPT, encoding="utf-8")
    assert "1 passed" in stdout_of(client / "python", "-m", "pytest", "-q", cwd=tmp_path, scratch=tmp_path)
