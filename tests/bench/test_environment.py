"""The optional environment: made with uv, used again, and, where it can't be made, the reason is told."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.bench import environment
from tests.bench.__main__ import beside_frameworks, together
from tests.bench.elsewhere import OURS, PACKAGE_OF, PLAIN, FailedError, Settings, measure, without_failures
from tests.bench.journalled import SAVER_PACKAGE
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
