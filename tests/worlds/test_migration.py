"""The migration world is real: a bad script damages the database, a copy shows it, and a backup heals it."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from planexec_lab.worlds import migration
from planexec_lab.worlds.migration import HASTY_SCRIPT, SCRIPT
from planexec_lite import Plan, Simulated, ToolExecutor, execute

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


def migrated(world, script):
    world.run_migration(world.write_migration(script)["file"])


def test_the_dangerous_plan_is_fit_and_deletes_the_database_for_real(world):
    world.backup_database()
    plan = Plan.parse(migration.DANGEROUS_PLAN)
    assert execute(plan, ToolExecutor(world.tools), workers=Simulated()).status == "finished"
    assert not world.database.exists()
    assert (world.damage(), world.rows()) == (["the production database is gone"], [])
    for name, params in [("read_schema", {}), ("backup_database", {}), ("delete_database", {}), ("verify_integrity", {}),
                         ("write_migration", {"sql": SCRIPT})]:  # fmt: skip
        with pytest.raises(RuntimeError, match="gone; put a backup back with restore_database"):
            world.tools[name].call(params)
    assert not world.database.exists(), "looking for it makes no empty one"
    assert world.restore_database("backup-1.sqlite")["customers"] == 12
    assert world.damage() == []


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
        ("COMMIT; DROP TABLE orders;", "can't use ATTACH, PRAGMA, BEGIN or COMMIT"),
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
