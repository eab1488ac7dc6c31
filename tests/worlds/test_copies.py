"""A copy of a world is a world of its own: a plan that runs in it leaves the first one as it is, byte for byte."""

from pathlib import Path
from typing import Any

import pytest

from planexec_lab.worlds import bisect, deploy, flights, kitchen, migration, refactor, research, support, trail
from planexec_lite import Plan, Simulated, Tool, Toolbox, ToolExecutor, execute

WORLDS = (
    bisect.World, deploy.World, migration.World, refactor.World, research.World, support.World, trail.World,
)  # fmt: skip


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.parametrize("make", WORLDS, ids=lambda make: make.__module__.split(".")[-2])
def test_a_copy_holds_the_same_and_knows_nothing_of_the_first(make: Any) -> None:
    world = make()
    twin = world.copied()
    assert content(twin.folder) == content(world.folder)
    assert str(world.folder) not in repr([twin.__dict__, *(getattr(one, "__dict__", 0) for one in vars(twin).values())])
    assert twin.tools.names == world.tools.names


def test_what_happens_in_a_copy_stays_there() -> None:
    world = migration.World()
    before, copied = content(world.folder), world.tools.copied
    assert copied is not None
    run = execute(Plan.parse(migration.DANGEROUS_PLAN), ToolExecutor(copied()), workers=Simulated())
    assert run.results["3"]["deleted"] == "production"
    assert content(world.folder) == before
    assert len(world.rows()) == 12


def test_a_copy_goes_on_from_where_the_world_stands() -> None:
    world = deploy.World()
    world.build_docker("v2.3.1")
    twin = world.copied()
    twin.deploy_staging("v2.3.1")
    assert (twin.deployed("staging"), world.deployed("staging")) == ("v2.3.1", "v2.3.0")


def test_a_copy_of_the_kitchen_cooks_on_its_own() -> None:
    world = kitchen.World(leeks=6)
    world.chop("leeks")
    twin = world.copied()
    assert twin.tools.copied is not None
    twin.simmer(["leeks", "stock"])
    assert (world.chopped, world.pantry["stock"], world.tickets) == (["leeks"], 3, ["chop leeks"])
    assert (twin.chopped, twin.cooked) == ([], {"simmered": ["leeks", "stock"]})


def test_a_copy_of_the_flights_books_on_its_own() -> None:
    world = flights.World()
    twin = world.copied()
    twin.hold_seat("LX 208", "any")
    assert (len(twin.holds), world.holds) == (1, {})


def test_fewer_tools_are_copied_too_and_plain_functions_are_not() -> None:
    world = deploy.World()
    copied = world.tools.only("run_tests").copied
    assert copied is not None
    assert copied().names == ("run_tests",)
    assert Toolbox([Tool(content, effects="none")]).copied is None
