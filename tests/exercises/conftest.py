"""No test of the exercises reads or writes a learner's real progress."""

from pathlib import Path

import pytest

from exercises.checker import record


@pytest.fixture(autouse=True)
def no_progress_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANEXEC_PROGRESS", "")
    record._SESSION.clear()


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The learner's file, in a folder that does not exist yet."""
    path = tmp_path / "deep" / "progress.json"
    monkeypatch.setenv("PLANEXEC_PROGRESS", str(path))
    return path
