"""pyproject.toml, requirements.lock, environment.yml, the Makefile and the CI workflow agree with each other."""

import json
import os
import re
import stat
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from tests.guards import books
from tests.guards.books import ROOT, TEXT_ONLY

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OTHERS: dict[str, dict[str, Any]] = {
    name: tomllib.loads((ROOT / f"distributions/{name}/pyproject.toml").read_text(encoding="utf-8"))
    for name in ("mock-llm", "planexec-lab")
}
OURS = {*OTHERS, "planexec-lite"}
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8")
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
PAGES = ROOT / ".github" / "workflows" / "pages.yml"
PYTHONS = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if line.startswith("Programming Language")]
PLATFORMS = {
    "linux": {"sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"},
    "macos": {"sys_platform": "darwin", "os_name": "posix", "platform_system": "Darwin"},
    "windows": {"sys_platform": "win32", "os_name": "nt", "platform_system": "Windows"},
}


def pins() -> list[Requirement]:
    return [Requirement(line) for line in LOCK.splitlines() if line and not line.startswith("#")]


def declared() -> list[Requirement]:
    """Every requirement of pyproject.toml that names a distribution of other authors."""
    extras, lab = PROJECT["optional-dependencies"], OTHERS["planexec-lab"]["project"]["optional-dependencies"]
    lines = [*PROJECT["dependencies"], *extras["openai"], *extras["test"], *lab["notebooks"], *lab["mcp"], *lab["otel"]]
    lines += [line for extra in OTHERS["mock-llm"]["project"]["optional-dependencies"].values() for line in extra]
    for other in OTHERS.values():
        lines += [*other["project"]["dependencies"], *other["build-system"]["requires"]]
    return [wanted for wanted in map(Requirement, lines) if wanted.name not in OURS]


def test_the_distributions_need_each_other_from_this_tree() -> None:
    whole: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    version = PROJECT["version"]
    needed = OTHERS["planexec-lab"]["project"]["dependencies"]
    assert needed == [f"mock-llm=={version}", f"planexec-lite=={version}"]
    assert whole["tool"]["uv"]["sources"] == {
        name: {"path": f"distributions/{name}", "editable": True} for name in OTHERS
    }
    assert [name for name in OURS if name in LOCK] == []
    assert PROJECT["dependencies"] == ["pydantic>=2.11,<3"]
    assert PROJECT["optional-dependencies"]["dev"] == ["planexec-lab[notebooks]", "planexec-lite[test]"]


@pytest.mark.parametrize("name", OTHERS)
def test_all_distributions_are_of_one_make(name: str) -> None:
    other, folder = OTHERS[name]["project"], ROOT / "distributions" / name
    alike = ("version", "license", "authors", "requires-python")
    assert [name for name in alike if other[name] != PROJECT[name]] == []
    whole: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert OTHERS[name]["build-system"] == whole["build-system"]
    assert [line.rpartition(" ")[2] for line in other["classifiers"] if "Language" in line] == PYTHONS
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    hook = ROOT / "distributions" / "mock-llm" / "hatch_build.py"
    assert (folder / "hatch_build.py").read_bytes() == hook.read_bytes()


def test_changelog_and_installed_distribution_have_this_version() -> None:
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version, said = re.findall(r"^## (\S+) \((.+)\)$", log, re.M)[0]
    assert version == PROJECT["version"]
    assert re.fullmatch(r"not released yet|\d{4}-\d\d-\d\d", said)
    here = metadata.distribution("mock-llm")
    assert here.version == PROJECT["version"]
    assert {(entry.group, entry.name) for entry in here.entry_points} == {
        ("console_scripts", "mock-llm"),
        ("pytest11", "mock_llm"),
    }
    environment = (ROOT / ".ci" / "environment").read_text(encoding="utf-8")
    assert environment.count("--editable distributions/mock-llm --editable distributions/planexec-lab\n") == 2


def locked(platform: str, python: str, release: int = 9) -> dict[str, str]:
    """Name -> version of what the lock installs on a platform and a Python, such as "3.11", in its release of that number."""
    versions = {"python_version": python, "python_full_version": f"{python}.{release}"}
    place = default_environment() | PLATFORMS[platform] | versions
    chosen = [pin for pin in pins() if pin.marker is None or pin.marker.evaluate(place)]
    names = [canonicalize_name(pin.name) for pin in chosen]
    assert len(names) == len(set(names)), "a package is pinned twice for one place"
    return {name: str(pin.specifier).removeprefix("==") for name, pin in zip(names, chosen, strict=True)}


def test_both_locks_pin_exactly() -> None:
    for pin in pins():
        (specifier,) = pin.specifier
        assert specifier.operator == "=="
        assert "*" not in specifier.version
        assert pin.url is None
    assert not re.search(r"://|--|\s@\s|/", LOCK.replace("# Every", ""))
    lines = (ROOT / ".ci/site/requirements.lock").read_text(encoding="utf-8").splitlines()
    tools = [Requirement(line) for line in lines if not line.startswith("#")]
    assert [[one.operator for one in tool.specifier] for tool in tools] == [["=="]] * len(tools)
    assert [str(tool) for tool in tools if f"\n{tool.name}{tool.specifier}\n" in LOCK] == []
    wanted = [Requirement(line) for line in PROJECT["optional-dependencies"]["site"]]
    pinned = {canonicalize_name(tool.name): str(tool.specifier).removeprefix("==") for tool in tools}
    assert [str(one) for one in wanted if not one.specifier.contains(pinned.get(one.name, "0"))] == [], (
        "run `make lock`"
    )


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("python", PYTHONS)
def test_lock_satisfies_pyproject(platform: str, python: str) -> None:
    versions = locked(platform, python)
    wrong = [
        f"{wanted}: locked {versions.get(canonicalize_name(wanted.name))}"
        for wanted in declared()
        if not wanted.specifier.contains(versions.get(canonicalize_name(wanted.name), "0"), prereleases=True)
    ]
    assert wrong == [], "run `make lock`"


def requirements_of(name: str, extras: set[str]) -> list[Requirement]:
    chosen = []
    for line in metadata.requires(name) or []:
        wanted = Requirement(line)
        places: list[dict[str, str]] = [{"extra": extra} for extra in (extras or {""})]
        if wanted.marker is None or any(wanted.marker.evaluate(place) for place in places):
            chosen.append(wanted)
    return chosen


@pytest.mark.skipif(TEXT_ONLY, reason="the newest allowed versions are not the locked ones")
def test_lock_is_complete_and_installed() -> None:
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    platform = {"darwin": "macos", "win32": "windows"}.get(sys.platform, "linux")
    versions = locked(platform, python, sys.version_info.micro)
    waiting, seen, wrong = [Requirement(str(wanted)) for wanted in declared()], set(), []
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if (name, *sorted(wanted.extras)) in seen:
            continue
        seen.add((name, *sorted(wanted.extras)))
        if versions.get(name) != metadata.version(name):
            wrong.append(f"{name}: locked {versions.get(name)}, installed {metadata.version(name)}")
        waiting += requirements_of(name, set(wanted.extras))
    assert len(seen) > 50
    assert wrong == []


def test_conda_and_containers_install_the_same_environment() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    assert environment["name"] == PROJECT["name"]
    *conda, pip = environment["dependencies"]
    assert pip == {
        "pip": ["-r requirements.lock", "-e .", "-e distributions/mock-llm", "-e distributions/planexec-lab"]
    }
    (python,) = [line for line in conda if line.startswith("python")]
    version = python.removeprefix("python=")
    assert version in PYTHONS
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)
    asked = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    (python,) = re.findall(r"^python:(\d+\.\d+)-", asked["image"])
    assert python in PYTHONS
    assert asked["postCreateCommand"] == "make .venv/.installed"
    settings = asked["customizations"]["vscode"]["settings"]
    assert settings["python.defaultInterpreterPath"] == "${containerWorkspaceFolder}/.venv/bin/python"


@pytest.mark.slow
def test_workflows_fit_their_schema_also_the_one_to_copy(tmp_path: Path) -> None:
    (source,) = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M | re.S)
    (to_copy := tmp_path / "lessons.yml").write_text(source, encoding="utf-8")
    check = ["-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = books.run(*check, WORKFLOW, PAGES, to_copy, scratch=tmp_path)
    assert (done.returncode, books.attempts(tmp_path)) == (0, ""), done.stdout
    assert "--nbval" in str(yaml.safe_load(source)["jobs"])


def test_workflows_run_every_python_and_publish_the_site() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    assert jobs["make"]["strategy"]["matrix"]["python"] == PYTHONS
    assert jobs["conda"]["strategy"]["matrix"]["python"] == PYTHONS
    assert jobs["make"]["strategy"]["matrix"]["os"] == ["ubuntu-latest", "macos-latest"]
    assert jobs["conda"]["runs-on"] == "windows-latest"
    steps = yaml.safe_load(PAGES.read_text(encoding="utf-8"))["jobs"]["site"]["steps"]
    (made,) = [step["run"] for step in steps if "run" in step]
    (folder,) = [step["with"]["path"] for step in steps if "upload-pages-artifact" in step.get("uses", "")]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert made.split()[:2] == ["make", "site"]
    assert f"SITE ?= {folder}\n" in makefile


def test_ci_calls_the_test_command_of_the_readme_and_what_is_wide() -> None:
    script = ROOT / ".ci" / "run"
    commands = [line.partition(" ||")[0] for line in script.read_text(encoding="utf-8").splitlines()]
    assert [line for line in commands if line.startswith("make ")] == ["make test", "make wide"]
    assert os.name == "nt" or script.stat().st_mode & stat.S_IXUSR
    assert re.search(r"^make test$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)


@pytest.mark.skipif(os.name == "nt", reason="Windows goes by conda")
def test_jupyterlab_keeps_the_theme_that_a_person_chose() -> None:
    """Settings of the environment win over a person's, when the theme follows the system; only the site sets that."""
    installed = json.loads((ROOT / ".ci" / "site" / "overrides.json").read_text(encoding="utf-8"))
    assert not [plugin for plugin in installed if plugin.endswith(":themes")]


def test_make_alone_lists_every_command() -> None:
    done = subprocess.run(["make", "-s"], cwd=ROOT, capture_output=True, text=True, check=True)
    commands = re.findall(r"^([a-z-]+):.*?## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert [line.split()[1] for line in done.stdout.splitlines()] == commands


CACHES = ("mypy_cache", "ruff_cache", "pytest_cache", "hypothesis")


def tracked() -> list[Path]:
    kinds = (".py", ".md", ".yml", ".yaml", ".toml", ".json", ".ipynb", ".lock", "Makefile", "LICENSE")
    left_out = ("build", ".git", ".venv", ".envs", "__pycache__", *(f".{name}" for name in CACHES))
    paths: list[Path] = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if not name.startswith(left_out) or name == ".github"]
        paths += [Path(folder, name) for name in files if name.endswith(kinds) or folder.endswith(".ci")]
    return paths


@pytest.mark.slow
def test_no_file_names_a_folder_of_one_machine() -> None:
    folder = re.compile(re.escape(str(ROOT)) + r"\b|" + re.escape(str(Path.home())) + r"/\w")
    named = [path for path in tracked() if folder.search(path.read_text(encoding="utf-8"))]
    assert named == []
