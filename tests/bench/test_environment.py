"""The optional environment: made with uv, used again, and, where it can't be made, the reason is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench import environment
from tests.bench.__main__ import beside_frameworks, beside_saver, together
from tests.bench.elsewhere import OURS, PACKAGE_OF, PLAIN, FailedError, Settings, measure, start, without_failures
from tests.bench.frameworks import FRAMEWORKS
from tests.bench.journalled import SAVER, SAVER_PACKAGE
from tests.bench.peers import with_asyncio

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for uv is a shell script")
TINY = Settings({"12": 1}, makespans=1, imports=1, scale=0.02)


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for uv on the PATH: it notes what it is told, and does what the test writes behind that."""
    script = tmp_path / "bin" / "uv"
    script.parent.mkdir()
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    return script


def does(script: Path, what: str) -> None:
    """Let the stand-in do something; ``$*`` is what it was told."""
    script.write_text(f'#!/bin/sh\necho "$*" >> {script.parent}/told\n{what}\n', encoding="utf-8")
    script.chmod(0o755)


def makes(folder: Path) -> str:
    """The shell command with which the stand-in makes an environment: a link to this interpreter."""
    made = f"mkdir -p {folder}/bin; touch {folder}/pyvenv.cfg; ln -sf {sys.executable} {folder}/bin/python"
    return f'case "$1" in venv) {made};; esac'


def test_without_a_network_every_framework_is_missing_and_the_reason_is_told(uv: Path, tmp_path: Path) -> None:
    does(uv, "echo 'error: no route to the package index' >&2; exit 2")
    measured = together(beside_frameworks(environment.make(tmp_path / "peers"), TINY))
    assert measured.overhead == {}
    assert measured.missing == dict.fromkeys(PACKAGE_OF, "error: no route to the package index")


def test_without_uv_pip_is_asked_and_its_failure_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = tmp_path / "python"
    does(python, "echo 'ensurepip is not there' >&2; exit 1")
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    made = environment.make(tmp_path / "peers")
    assert made.python is None
    assert made.missing == dict.fromkeys(environment.FRAMEWORKS, "ensurepip is not there")
    assert (tmp_path / "told").read_text(encoding="utf-8").startswith("-m venv --clear")


def test_one_framework_that_can_not_be_installed_does_not_keep_the_others_away(uv: Path, tmp_path: Path) -> None:
    folder = tmp_path / "peers"
    does(uv, makes(folder) + '\ncase "$*" in *langgraph*) echo "no such version" >&2; exit 1;; esac')
    made = environment.make(folder)
    assert made.python == folder / "bin" / "python"
    assert made.missing == dict.fromkeys(["langgraph", SAVER_PACKAGE], "no such version")


def test_what_was_installed_is_used_again_and_what_was_not_is_tried_again(uv: Path, tmp_path: Path) -> None:
    folder = tmp_path / "peers"
    does(uv, makes(folder))
    assert environment.make(folder).missing == {}
    told = (uv.parent / "told").read_text(encoding="utf-8")
    assert environment.make(folder).python is not None
    assert (uv.parent / "told").read_text(encoding="utf-8") == told
    assert environment.make(folder, {"another": ["another"]}).missing == {}
    assert (uv.parent / "told").read_text(encoding="utf-8").count("another") == 1


def test_a_folder_with_other_things_in_it_is_left_alone(uv: Path, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "letter.txt").write_text("Dear reader", encoding="utf-8")
    does(uv, makes(folder))
    assert environment.make(folder).python is None
    assert "holds other things" in environment.make(folder).missing["langgraph"]
    assert [path.name for path in folder.iterdir()] == ["letter.txt"]
    assert not (uv.parent / "told").exists()


def test_an_environment_is_kept_out_of_git(uv: Path, tmp_path: Path) -> None:
    does(uv, makes(tmp_path / "peers"))
    environment.make(tmp_path / "peers")
    assert (tmp_path / "peers" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_without_a_folder_nothing_is_made_and_the_report_can_say_so() -> None:
    measured = together(beside_frameworks(None, TINY))
    assert set(measured.missing) == set(FRAMEWORKS)
    assert all("--peers" in why for why in measured.missing.values())


@pytest.mark.slow
def test_what_keeps_langgraph_with_checkpoints_from_being_measured_is_told() -> None:
    made = environment.Environment(Path(sys.executable), {SAVER_PACKAGE: "no such version"})
    assert beside_saver(made, 10, 1) == ([], {SAVER: "no such version"})
    assert beside_saver(None, 10, 1)[1][SAVER].endswith("(--peers FOLDER)")
    rows, missing = beside_saver(environment.Environment(Path(sys.executable)), 10, 1)
    assert (rows, missing) == ([], {SAVER: "the measurement failed: ModuleNotFoundError: No module named 'langgraph'"})


@pytest.mark.slow
def test_an_interpreter_without_the_frameworks_names_the_missing_module() -> None:
    measured = start(Path(sys.executable), TINY)
    assert set(measured.missing) == set(FRAMEWORKS)
    assert measured.missing["LangGraph, graph"] == "ModuleNotFoundError: No module named 'langgraph'"
    assert list(measured.overhead["chain"]["12"]) == ["planexec_lite, Inline", "asyncio + graphlib"]
    assert len(measured.makespan) == 5


def test_an_interpreter_that_fails_is_a_reason_too(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="No such file"):
        start(tmp_path / "nowhere", TINY)
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'it broke' >&2; exit 3\n", encoding="utf-8")
    broken.chmod(0o755)
    with pytest.raises(RuntimeError, match="it broke"):
        start(broken, TINY)


@pytest.mark.slow
def test_a_framework_that_gets_a_plan_wrong_is_not_measured() -> None:
    measured = measure(TINY, {"Dask distributed": lambda steps, functions, threads: dict})
    assert "it gave {}" in measured.missing["Dask distributed"]
    assert "Dask distributed" not in measured.makespan["travel plan"]


@pytest.mark.slow
def test_a_framework_that_fails_later_is_left_out_and_the_others_are_timed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PACKAGE_OF, "Dask distributed", ("pydantic", "pydantic"))  # one that is installed here

    def fails_at_ten(steps: Any, functions: Any, threads: int | None) -> Any:
        if len(steps) == 12:
            return lambda: with_asyncio(steps, functions)
        return lambda: 1 / 0

    settings = Settings({"12": 1, "10": 1}, makespans=1, imports=1, scale=0.01)
    measured = measure(settings, {"Dask distributed": fails_at_ten})
    assert measured.missing == {
        "Dask distributed": "measured in part, then it failed: ZeroDivisionError: division by zero"
    }
    assert list(measured.overhead["chain"]["10"]) == [OURS, PLAIN]


def test_a_failure_of_ours_is_not_hidden() -> None:
    def broken(fine: Any) -> Any:
        return {OURS: lambda: 1 / 0}

    with pytest.raises(FailedError, match="division by zero"):
        without_failures(broken, {}, 1, {})
