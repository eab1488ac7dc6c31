"""An empty journal for each test."""

from pathlib import Path

import pytest

from planexec_lite import Journal


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs.db")
