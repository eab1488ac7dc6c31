"""The deploy world is real: what is done to its files changes what its tools, its plan and its run say."""

import sqlite3
from contextlib import closing

import pytest

from planexec_lab.worlds import deploy
from planexec_lite import Plan, Simulated, ToolExecutor, execute


@pytest.fixture
def world():
    return deploy.World()


def release(world, slots=4):
    return execute(Plan.parse(deploy.PLAN), ToolExecutor(world.tools), workers=Simulated(slots))


def test_the_plan_of_the_article_is_fit_and_releases_the_shop(world):
    assert Plan.parse(deploy.PLAN).problems(world.tools) == []
    run = release(world)
    assert run.status == "finished"
    assert world.deployed("production") == world.deployed("staging") == "v2.3.1"
    assert world.messages == ["v2.3.1 deployed"]


def test_the_makespan_is_the_critical_path_and_no_step_is_late(world):
    plan, run = Plan.parse(deploy.PLAN), release(world)
    durations = plan.durations(world.tools)
    path, length = plan.critical_path(durations)
    assert (run.makespan, path) == (length, ["1", "2", "4", "5", "6", "7", "8"])
    earliest = {}
    for id, waits_for in plan.graph.items():
        earliest[id] = max((earliest[other] + durations[other] for other in waits_for), default=0)
    started = {event.step: event.at for event in run.events if type(event).__name__ == "StepStarted"}
    assert started == earliest


def test_a_missing_setting_breaks_production_and_nobody_is_told_of_success():
    world = deploy.World(currency=None)
    run = release(world)
    assert (run.status, run.board.state["7"], run.board.state["8"]) == ("failed", "failed", "skipped")
    assert "/total" in run.board.errors["7"]
    assert "currency" in run.board.errors["7"]
    assert world.messages == []


def test_a_bug_in_the_source_is_found_by_the_tests(world):
    source = world.folder / "source" / "app.py"
    source.write_text(source.read_text().replace("sum(price", "max(price"))
    run = release(world)
    assert run.board.state["1"] == "failed"
    assert "test_total_is_the_sum" in run.board.errors["1"]
    assert world.deployed("production") == "v2.3.0"


def test_a_change_of_the_source_changes_the_digest_of_the_image(world):
    before = world.build_docker("v2.3.1")["digest"]
    with (world.folder / "source" / "app.py").open("a") as source:
        source.write("# changed\n")
    assert world.build_docker("v2.3.1")["digest"] != before


def test_the_backup_holds_the_rows_and_restoring_brings_them_back(world):
    with closing(sqlite3.connect(world.database)) as db, db:
        db.execute("INSERT INTO orders VALUES (4, 99)")
    backup = world.backup_database()
    assert backup["rows"] == 4
    with closing(sqlite3.connect(world.database)) as db, db:
        db.execute("DELETE FROM orders")
    assert world.restore_database(backup["file"])["rows"] == 4


def test_rolling_back_brings_the_previous_release_and_only_what_ran_before(world):
    release(world)
    assert world.rollback_production()["version"] == "v2.3.0"
    assert world.rollback_staging()["version"] == "v2.3.0"
    assert world.remove_image("v2.3.1") == {"removed": "v2.3.1"}
    with pytest.raises(ValueError, match="can't go back to previous"):
        world.rollback_production()
    with pytest.raises(ValueError, match="can't go back to v9"):
        world.rollback_production("v9")
