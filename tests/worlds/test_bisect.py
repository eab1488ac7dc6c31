"""The bisect world is real: thirty-two packages whose own unit tests are run, and one that broke."""

import pytest

from planexec_lab.comparison import client_of, react, whole
from planexec_lab.worlds import bisect
from tests.worlds.calls import called


@pytest.mark.slow
@pytest.mark.parametrize("broke", [2, 13, 32])
@pytest.mark.parametrize("side", [whole, react])
def test_the_version_that_broke_is_found_wherever_it_is(side, broke):
    world = bisect.World(broke)
    run = side(client_of(bisect.BisectMind()), world.tools, bisect.GOAL)
    assert (run.answer, world.marked) == (f"Version {broke} broke.", broke)
    assert called(run).count("test_version") in (4, 5)  # thirty-one possible versions, halved


@pytest.mark.slow
def test_the_tests_say_what_the_version_does():
    world = bisect.World(broke=5)
    assert world.test_version(4) == {"version": 4, "passes": True, "summary": "2 tests passed"}
    broken = world.test_version(5)
    assert (broken["passes"], broken["summary"][:13]) == (False, "2 tests fail:")
    source = world.folder / "v5" / "shop" / "basket.py"
    source.write_text(source.read_text().replace("- SHIPPING", "+ SHIPPING"))
    assert world.test_version(5)["passes"]
