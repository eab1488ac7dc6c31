"""A hundred changes to the kit's code that the suite noticed once, and has to notice still."""

import os
from pathlib import Path

import pytest

from tests.mutation.changes import Change, copy_to, kept, source_with, turns_red

pytestmark = [
    pytest.mark.weekly,
    pytest.mark.skipif(os.name == "nt", reason="the tests of a change are ended as a group of processes"),
]
KEPT = kept()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout, in which a file is changed and put back."""
    return copy_to(tmp_path_factory.mktemp("mutation") / "checkout")


def test_there_are_a_hundred_changes_in_all_three_parts() -> None:
    assert len(KEPT) >= 100
    parts = [change.file.partition("/")[0] for change in KEPT]
    assert min(map(parts.count, ("planexec_lite", "mock_llm", "exercises"))) >= 30


@pytest.mark.parametrize(
    "change", {change.tests: change for change in KEPT}.values(), ids=lambda change: change.tests[:50]
)
def test_the_tests_are_green_without_a_change(change: Change, checkout: Path) -> None:
    assert not turns_red(None, change, checkout)


@pytest.mark.parametrize("change", KEPT, ids=lambda change: f"{Path(change.file).stem}: {change.line}"[:70])
def test_the_change_is_noticed(change: Change, checkout: Path) -> None:
    source = source_with(change)
    assert source is not None, f"{change.file} has no such line any more; draw others: python -m tests.mutation 20"
    assert turns_red(source, change, checkout), f"{change.tests} is green with {change.line}"
