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


def test_a_wrong_cause_solves_nothing():
    world = trail.World()
    assert world.written == ""
    world.write_cause("the weather")
    assert (world.written, world.solved) == ("the weather", False)


def test_what_is_not_there_is_named_with_the_mend():
    with pytest.raises(ValueError, match=r"there is no 'x.log'; begin with checkout.log"):
        trail.World().read_log("x.log")
