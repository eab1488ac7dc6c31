"""The migration world is real: a bad script damages the database, a copy shows it, and a backup heals it."""

import gc
import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import openai
import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import migration
from planexec_lab.worlds.migration import BROKEN_SCRIPT, GOAL, HASTY_SCRIPT, SCRIPT
from planexec_lite import Board, LLMPlanner, NextStepPlanner, Plan, PlannerExecutor, Simulated, ToolExecutor, execute

LOST = "customer 3 (Bruno Silva) lost its email silva@example.org"


@pytest.fixture
def world():
    return migration.World()


def change(world, *statements):
    with closing(sqlite3.connect(world.database)) as db, db:
        for sql in statements:
            db.execute(sql)


def dump(world):
    with closing(sqlite3.connect(world.database)) as db:
        return list(db.iterdump())


def carry_out(world, plan):
    return execute(Plan.parse(plan), ToolExecutor(world.tools), workers=Simulated())


def pursue(world, planner):
    return PlannerExecutor(planner, ToolExecutor(world.tools), workers=Simulated()).run(GOAL)


def next_of_the_article(goal, board):
    return migration.REACT_ORDER[len(board.results)] if len(board.results) < len(migration.REACT_ORDER) else None


def migrated(world, script):
    world.run_migration(world.write_migration(script)["file"])


# the plans


@pytest.mark.parametrize("plan", ["PLAN", "PARALLEL_PLAN", "DANGEROUS_PLAN"])
def test_each_plan_is_fit(world, plan):
    assert Plan.parse(getattr(migration, plan)).problems(world.tools) == []


def test_the_plan_of_seven_steps_migrates_and_loses_nothing(world):
    before = world.rows()
    run = carry_out(world, migration.PLAN)
    assert (run.status, len(run.results)) == ("finished", 7)
    assert run.results["6"] == {
        "ok": True, "compared_with": "backup-1.sqlite", "customers": 12, "orders": 20, "emails": 11, "faults": [],
    }  # fmt: skip
    assert (world.rows(), world.damage(), world.config) == (before, [], {"schema": 2})
    assert world.read_schema()["now"] == world.read_schema()["wanted"]


def test_a_hasty_script_stops_at_the_copy_and_production_is_as_it_was(world):
    before = dump(world)
    run = carry_out(world, migration.plan_with(HASTY_SCRIPT))
    assert (run.status, run.board.state["4"], run.board.state["5"]) == ("failed", "failed", "skipped")
    assert LOST in run.reason
    assert (dump(world), world.config) == (before, {"schema": 1})


def test_step_three_fails_with_a_syntax_error_in_the_script(world):
    run = carry_out(world, migration.plan_with(BROKEN_SCRIPT))
    assert "step 3 failed: RuntimeError: migration script syntax error in statement 1" in run.reason
    assert [run.board.state[id] for id in "1234567"] == ["done", "done", "failed", *["skipped"] * 4]
    assert list(world.folder.glob("migration-*.sql")) == []


def test_backups_and_notice_run_together_and_the_migration_waits_for_all_three(world):
    world.write_migration(SCRIPT)
    run = carry_out(world, migration.PARALLEL_PLAN)
    started = {event.step: event.at for event in run.events if type(event).__name__ == "StepStarted"}
    assert started == {"1": 0, "2": 0, "3": 0, "4": 60}
    assert (run.status, world.messages) == ("finished", ["The migration starts"])


def test_the_dangerous_plan_is_fit_and_deletes_the_database_for_real(world):
    world.backup_database()
    assert carry_out(world, migration.DANGEROUS_PLAN).status == "finished"
    assert not world.database.exists()
    assert (world.damage(), world.rows()) == (["the production database is gone"], [])
    for name, params in [("read_schema", {}), ("backup_database", {}), ("delete_database", {}), ("verify_integrity", {}),
                         ("write_migration", {"sql": SCRIPT})]:  # fmt: skip
        with pytest.raises(RuntimeError, match="gone; put a backup back with restore_database"):
            world.tools[name].call(params)
    assert not world.database.exists(), "looking for it makes no empty one"
    assert world.restore_database("backup-1.sqlite")["customers"] == 12
    assert world.damage() == []


def test_in_the_articles_order_the_database_is_damaged_before_anybody_looks(world):
    run = pursue(world, NextStepPlanner(next_of_the_article))
    assert run.status == "finished"
    assert [run.board.steps[id].tool for id in run.results] == [
        "read_schema", "backup_database", "write_migration", "run_migration", "verify_integrity",
    ]  # fmt: skip
    assert world.damage() == run.results["5"]["faults"] == [LOST]
    assert world.rows()[2] == (3, "Bruno Silva", None)


# the database


def test_the_hasty_script_raises_nothing_and_loses_the_address_of_row_three(world):
    before = world.rows()
    migrated(world, HASTY_SCRIPT)
    assert [old for old, new in zip(before, world.rows(), strict=True) if old != new] == [before[2]]
    assert world.damage() == [LOST]


def test_without_the_shared_address_the_hasty_script_does_no_harm(world):
    change(world, "UPDATE contacts SET email = 'bruno@example.org' WHERE customer_id = 3")
    assert carry_out(world, migration.plan_with(HASTY_SCRIPT)).status == "finished"
    assert world.rows()[2] == (3, "Bruno Silva", "bruno@example.org")


def test_another_shared_address_loses_another_row(world):
    change(world, "UPDATE contacts SET email = 'bo@example.org' WHERE customer_id IN (3, 9)")
    with pytest.raises(
        RuntimeError, match=r"customer 3 \(Bruno Silva\) lost .*; customer 9 \(Hana Sato\) lost its email"
    ):
        world.test_migration(world.write_migration(HASTY_SCRIPT)["file"])


def test_the_test_on_a_copy_leaves_production_and_the_folder_alone(world):
    file = world.write_migration(SCRIPT)["file"]
    before, files = dump(world), sorted(world.folder.iterdir())
    assert world.test_migration(file) == {"file": file, "customers": 12, "orders": 20, "emails": 11}
    assert (dump(world), sorted(world.folder.iterdir())) == (before, files)


def test_restoring_heals_exactly(world):
    before = dump(world)
    backup = world.backup_database()
    migrated(world, HASTY_SCRIPT)
    change(world, "DELETE FROM orders", "DROP TABLE customers")
    assert dump(world) != before
    assert world.restore_database(backup["file"]) == {
        "restored": "backup-1.sqlite", "customers": 12, "orders": 20, "emails": 11,
    }  # fmt: skip
    assert (dump(world), world.damage()) == (before, [])


@pytest.mark.parametrize(
    ("altered", "faults"),
    [
        ("DELETE FROM customers WHERE id = 12", ["customer 12 (Kavya Rao) is gone"]),
        ("UPDATE customers SET name = 'Dan' WHERE id = 5", ["customer 5 (Dara Novak) has the name Dan instead of Dara Novak"]),
        ("UPDATE customers SET email = 'x' WHERE id = 2", ["customer 2 (Bo Chen) has the email x instead of bo@example.org"]),
        ("UPDATE customers SET email = '' WHERE id = 2", ["customer 2 (Bo Chen) lost its email bo@example.org"]),
        ("UPDATE customers SET email = 'x' WHERE id = 8", ["customer 8 (Goran Petrov) got the email x"]),
        ("INSERT INTO customers VALUES (13, 'Zoe', NULL)", ["customer 13 is new"]),
        ("DELETE FROM orders WHERE id = 20", ["order 20 is gone"]),
        ("UPDATE orders SET cents = 1 WHERE id = 1", ["order 1 has the cents 1 instead of 2400"]),
    ],
)  # fmt: skip
def test_verification_names_the_row_that_was_altered_and_what_it_lost(world, altered, faults):
    world.backup_database()
    migrated(world, SCRIPT)
    assert world.verify_integrity()["ok"]
    change(world, altered)
    verified = world.verify_integrity()
    assert not verified["ok"]
    assert [fault for fault in verified["faults"] if "belongs to nobody" not in fault] == faults == world.damage()


def test_verification_sees_the_schema_and_the_foreign_keys(world):
    world.backup_database()
    assert world.verify_integrity()["faults"] == [
        "table customers should have the columns id, name, email", "table contacts should be gone",
    ]  # fmt: skip
    migrated(world, SCRIPT)
    change(world, "INSERT INTO orders VALUES (21, 99, 'lamp', 3900)")
    assert world.verify_integrity()["faults"] == ["order 21 belongs to nobody in customers", "order 21 is new"]


def test_a_backup_that_was_taken_too_late_hides_the_damage(world):
    migrated(world, HASTY_SCRIPT)
    world.backup_database()
    assert (world.verify_integrity()["ok"], world.damage()) == (True, [LOST])


def test_the_tenth_backup_is_later_than_the_ninth(world):
    for _ in range(10):
        world.backup_database()
    migrated(world, SCRIPT)
    assert world.verify_integrity()["compared_with"] == "backup-10.sqlite"


# scripts


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("ALTER TABEL customers ADD COLUMN email TEXT;", "syntax error in statement 1: near"),
        (SCRIPT + "SELECT (", "syntax error in statement 4"),
        ("SELECT 'abc", "syntax error in statement 1"),
        ("SELECT phone FROM customers;", "failed in statement 1: no such column: phone"),
        ("SELECT 1; DROP TABLE clients;", "failed in statement 2: no such table: clients"),
        ("ATTACH 'elsewhere.sqlite' AS other;", "a script can change tables, but can't use ATTACH"),
        ("PRAGMA user_version = 2;", "a script can change tables, but can't use ATTACH, PRAGMA"),
        ("COMMIT; DROP TABLE orders;", "not use ATTACH, PRAGMA, BEGIN or COMMIT"),
        ("VACUUM INTO 'elsewhere.sqlite';", "failed in statement 1"),
        ("SELECT ?;", "failed in statement 1"),
        ("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;", "statement 1: interrupted"),
    ],
)  # fmt: skip
def test_a_script_that_does_not_run_is_not_kept_and_the_statement_is_named(world, sql, message):
    before, files = dump(world), sorted(world.folder.iterdir())
    with pytest.raises(RuntimeError, match=f"migration script .*({message})"):
        world.write_migration(sql)
    assert (dump(world), sorted(world.folder.iterdir())) == (before, files)
    assert not Path("elsewhere.sqlite").exists()


def test_a_script_that_fails_on_the_rows_changes_none_of_them(world):
    loud = HASTY_SCRIPT.replace("OR IGNORE ", "")
    file, before = world.write_migration(loud)["file"], dump(world)
    for run in (world.test_migration, world.run_migration):
        with pytest.raises(RuntimeError, match="migration script failed in statement 3: UNIQUE constraint failed"):
            run(file)
    assert dump(world) == before


def test_a_second_run_of_the_same_script_fails_and_harms_nothing(world):
    migrated(world, SCRIPT)
    before = dump(world)
    with pytest.raises(RuntimeError, match="failed in statement 1: duplicate column name: email"):
        world.run_migration("migration-1.sql")
    assert dump(world) == before


def test_a_script_may_hold_semicolons_in_texts_and_comments_and_end_without_one(world):
    sql = "-- one; two\nUPDATE customers SET name = 'A;B' WHERE id = 1;\nUPDATE customers SET name = 'C' WHERE id = 2"
    assert world.write_migration(sql) == {"file": "migration-1.sql", "statements": 2}
    world.run_migration("migration-1.sql")
    assert [name for _, name, _ in world.rows()[:2]] == ["A;B", "C"]


def test_the_text_of_the_kept_script_is_what_runs(world):
    file = world.write_migration(HASTY_SCRIPT)["file"]
    (world.folder / file).write_text(SCRIPT)
    assert world.test_migration(file)["emails"] == 11


# tools


@pytest.mark.parametrize(
    ("tool", "params", "message"),
    [
        ("write_migration", {"sql": " ;\n"}, "the migration script is empty; write SQL such as ALTER TABLE"),
        ("write_migration", {}, "parameter 'sql' is missing"),
        ("test_migration", {"file": "x.sql"}, "there is no 'x.sql'; there are: none; make one with write_migration"),
        ("run_migration", {"file": "../x"}, "there is no '../x'"),
        ("remove_migration", {"file": "production.sqlite"}, "there is no 'production.sqlite'"),
        ("restore_database", {"file": "backup-1.sqlite"}, "there are: none; make one with backup_database"),
        ("restore_database", {"file": "../production.sqlite"}, "there is no"),
        ("restore_files", {"folder": "files-1"}, "there are: none; make one with backup_files"),
        ("update_config", {"schema": 3}, "input should be 1 or 2"),
        ("notify_team", {"text": "hello"}, "there is no parameter 'text'"),
        ("read_schema", {"table": "orders"}, "there is no parameter 'table'"),
        ("delete_database", {"sure": True}, "there is no parameter 'sure'"),
    ],
)
def test_a_wrong_argument_is_named_with_its_mend_and_changes_nothing(world, tool, params, message):
    before, files = dump(world), sorted(world.folder.iterdir())
    with pytest.raises(ValueError, match=message):
        world.tools[tool].call(params)
    assert (dump(world), sorted(world.folder.iterdir())) == (before, files)


def test_verification_without_a_backup_says_what_is_missing(world):
    with pytest.raises(RuntimeError, match="no backup to compare with; call backup_database before the migration"):
        world.verify_integrity()


def test_the_names_that_there_are_stand_in_the_error(world):
    world.backup_database()
    world.backup_database()
    with pytest.raises(ValueError, match=r"there are: backup-1\.sqlite, backup-2\.sqlite"):
        world.restore_database("backup-3.sqlite")


def test_each_undo_of_the_plan_takes_its_step_back(world):
    run = carry_out(world, migration.PLAN)
    world.update_config(1)
    world.restore_database(run.results["2"]["file"])
    assert world.remove_migration(run.results["3"]["file"]) == {"removed": "migration-1.sql"}
    assert (world.config, world.damage(), list(world.folder.glob("*.sql"))) == ({"schema": 1}, [], [])
    assert "contacts" in world.read_schema()["now"]


def test_the_files_are_put_back_as_they_were(world):
    world.write_migration(SCRIPT)
    assert world.backup_files() == {"folder": "files-1", "files": 2}
    world.update_config(2)
    world.write_migration(HASTY_SCRIPT)
    world.remove_migration("migration-1.sql")
    assert world.restore_files("files-1") == {"restored": "files-1", "files": 2}
    assert world.config == {"schema": 1}
    assert [path.name for path in world.folder.glob("*.sql")] == ["migration-1.sql"]
    assert (world.folder / "migration-1.sql").read_text() == SCRIPT


def test_a_script_never_takes_the_name_of_one_that_is_there(world):
    world.write_migration(SCRIPT)
    world.write_migration(HASTY_SCRIPT)
    world.remove_migration("migration-1.sql")
    assert world.write_migration(SCRIPT)["file"] == "migration-3.sql"


def test_the_team_is_told_on_one_line(world):
    world.notify_team("two\nlines")
    assert world.messages == ["two lines"]


# what the scripted model says


def test_the_models_whole_plan_is_the_articles_with_the_hasty_script(world):
    plan = LLMPlanner(connect("migration")).plan(GOAL, Board(), world.tools)
    assert plan.problems(world.tools) == []
    ours = Plan.parse(migration.plan_with(HASTY_SCRIPT))
    bare = [step.model_copy(update={"undo": None}) for step in ours.steps]
    assert (list(plan.steps), plan.rollback, plan.goal) == (bare, ours.rollback, ours.goal)


def test_with_a_whole_plan_production_stays_whole(world):
    run = pursue(world, LLMPlanner(connect("migration")))
    assert (run.status, run.board.state["4"], world.damage()) == ("failed", "failed", [])


def test_asked_again_the_model_mends_the_script_and_the_rest_is_carried_out(world):
    failed = pursue(world, LLMPlanner(connect("migration")))
    plan = LLMPlanner(connect("migration")).plan(GOAL, failed.board, world.tools)
    assert plan.problems(world.tools, done=failed.results) == []
    assert [step.id for step in plan.steps] == ["3b", "4b", "5b", "6b", "7b"]
    assert plan.steps[0].params == {"sql": SCRIPT}
    first = [
        step.model_copy(update={"depends_on": tuple(id for id in step.depends_on if "b" in id)}) for step in plan.steps
    ]
    run = carry_out(world, Plan(goal=GOAL, steps=tuple(first)))
    assert (run.status, world.damage(), world.config) == ("finished", [], {"schema": 2})


def test_one_step_at_a_time_the_model_finds_the_scripts_damage_last(world):
    run = pursue(world, NextStepPlanner(connect("migration")))
    assert [run.board.steps[id].tool for id in run.results] == [step["action"] for step in migration.REACT_ORDER]
    assert (run.status, world.damage()) == ("finished", [LOST])
    assert run.answer == f"The new schema is in production, and I did not test it first: {LOST}."
    assert (run.usage.calls, run.makespan) == (6, 167.5)


@pytest.mark.slow
def test_the_model_says_what_it_was_shown(world):
    change(world, "UPDATE contacts SET email = 'dara@example.org' WHERE customer_id = 9")
    answer = pursue(world, NextStepPlanner(connect("migration"))).answer
    assert "customer 9 (Hana Sato) lost its email dara@example.org" in answer
    sound = migration.World()
    change(sound, "UPDATE contacts SET email = 'bruno@example.org' WHERE customer_id = 3")
    run = pursue(sound, NextStepPlanner(connect("migration")))
    assert run.answer == "The new schema is in production, and nothing is lost."


def test_a_database_that_has_the_new_schema_is_left_alone(world):
    migrated(world, SCRIPT)
    run = pursue(world, NextStepPlanner(connect("migration")))
    assert (list(run.results), run.answer) == (["1"], "The database has the new schema already.")


def test_an_unknown_schema_is_refused_by_the_script_of_the_model(world):
    change(world, "ALTER TABLE contacts ADD COLUMN phone TEXT")
    run = pursue(world, NextStepPlanner(connect("migration")))
    assert run.status == "failed"
    assert openai.UnprocessableEntityError.__name__ in run.reason
    assert world.damage() == []


# the same bytes, and nothing left


def test_no_result_and_no_error_holds_a_path_of_this_machine(world):
    runs = [carry_out(world, migration.plan_with(script)) for script in (HASTY_SCRIPT, BROKEN_SCRIPT, SCRIPT, SCRIPT)]
    runs.append(carry_out(world, migration.DANGEROUS_PLAN))
    runs.append(carry_out(world, migration.PLAN))
    stored = json.dumps([[run.results, run.board.errors] for run in runs])
    assert str(world.folder.parent) not in stored
    assert world.folder.name not in stored


@pytest.mark.slow
def test_two_processes_print_the_same():
    source = "\n".join(
        [
            "from planexec_lite import *; from planexec_lab import connect\n"
            "from planexec_lab.worlds import migration as m; import sqlite3, json",
            "for planner in (NextStepPlanner, LLMPlanner):",
            "    world = m.World()",
            "    agent = PlannerExecutor(planner(connect('migration')), ToolExecutor(world.tools), workers=Simulated())",
            "    print(agent.run(m.GOAL).events, world.damage(), *sqlite3.connect(world.database).iterdump())",
        ]
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", source], cwd=Path(__file__).parents[2], capture_output=True, check=True, timeout=600,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
        ).stdout
        for seed, zone in [("0", "UTC"), ("99", "Asia/Kathmandu")]
    ]  # fmt: skip
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1000


@pytest.mark.slow
def test_the_folder_goes_away_with_the_world():
    world = migration.World()
    carry_out(world, migration.PLAN)
    folder = world.folder
    assert folder.exists()
    del world
    gc.collect()
    assert not folder.exists()


def test_a_script_that_asks_for_gigabytes_is_refused_at_once():
    world = migration.World()
    with pytest.raises(RuntimeError, match="too big"):
        world.tools["write_migration"].call({"sql": "SELECT 1 FROM customers WHERE zeroblob(1000000000) IS NULL"})
