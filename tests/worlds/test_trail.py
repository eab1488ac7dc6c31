"""The trail world is real: files that name the next file, and a cause that is written down."""

import pytest

from planexec_lab.comparison import client_of, react, stepwise, whole
from planexec_lab.worlds import trail
from tests.worlds.calls import called


@pytest.mark.parametrize("side", [whole, stepwise, react])
def test_the_trail_is_followed_to_its_end(side):
    world = trail.World()
    run = side(client_of(trail.TrailMind()), world.tools, trail.GOAL)
    assert run.status == "finished"
    assert world.solved
    assert called(run) == ["read_log"] * 6 + ["write_cause"]


def test_the_next_name_stands_in_a_sentence_and_nowhere_else():
    world = trail.World()
    first = world.read_log("checkout.log")
    assert first.keys() == {"line", "stopped"}
    second = first["line"].removesuffix(".").rpartition(" ")[2]
    assert (world.folder / second).exists()
    assert not world.read_log(second)["stopped"]
