"""What the scripted planners of the migration world know: the hasty one, and the reckless one that deletes the database."""

from __future__ import annotations

from dataclasses import replace

from planexec_lab.worlds.migration.plan import GOAL
from planexec_lab.worlds.migration.scripts import HASTY_SCRIPT, SCRIPT
from planexec_lab.worlds.minds.requests import Reader, Topic, phrases_of
from planexec_lab.worlds.minds.scripted import Row, ScriptedPlanner

_STARTS = {"message": "The migration starts"}
_REPORT = {"message": "The new schema is in production"}
_READY = {"message": "The migration script is ready, production is unchanged"}


def _script(ids: str, description: str, sql: str, when: str, *before: str) -> list[Row]:
    """The steps that write a script, test it, run it after those `before` it, verify the data, and tell the application."""
    write, test, run, verify, config = ids.split()
    file = {"file": f"{{step_{write}_result.file}}"}
    return [
        Row(write, description, "write_migration", {"sql": sql}, ["1"], when=when),
        Row(
            test,
            "Test migration on copy",
            "test_migration",
            file,
            [write],
            "nothing is lost on the copy",
            f"test {when}",
        ),
        Row(
            run,
            "If tests pass, run on production",
            "run_migration",
            file,
            [*before, write, test],
            when=f"migrate {when}",
        ),
        Row(
            verify,
            "Verify data integrity",
            "verify_integrity",
            {},
            [run],
            "ok is true",
            f"verify backup migrate {when}",
        ),
        Row(
            config, "Update application config", "update_config", {"schema": 2}, [verify], when=f"config migrate {when}"
        ),
    ]


_ROWS = (
    Row("1", "Analyze current schema", "read_schema"),
    Row("2", "Create backup", "backup_database", when="backup"),
    Row("2a", "Tell the team that the migration starts", "notify_team", _STARTS, ["2"], when="announce migrate"),
    *_script("3 4 5 6 7", "Write migration script", HASTY_SCRIPT, "-fixed", "2", "2a"),
    *_script(
        "3b 4b 5b 6b 7b", "Write migration script again: customers may share an address", SCRIPT, "fixed", "2", "2a"
    ),
    Row("8", "Tell the team that it is done", "notify_team", _REPORT, ["7", "7b"], when="report migrate"),
    Row(
        "9", "Tell the team that production stays as it is", "notify_team", _READY, ["4", "4b"], when="report -migrate"
    ),
)
_STOP = "-migrate -announce"
_TOPICS = (
    Topic("backup snapshot dump", "save secure", "backup", "-backup", early="backup"),
    Topic("notification announcement word warning message note mail e-mail",
          "tell told inform notify announce warn alert know hear learn ping brief text",
          "report", "-announce -report", early="announce", message=True),
    Topic("copy rehearsal", "test try", "test", "-test", early="test", only=_STOP),
    Topic("verification integrity check", "verify check", "verify", "-verify"),
    Topic("config configuration settings", "configure", "config", "-config", thing=True),
    Topic("address addresses duplicate", "share", "fixed", "-fixed"),
    Topic("production prod", "", "migrate", _STOP, thing=True),
    Topic("migration schema", "migrate convert move upgrade apply bring", "migrate", _STOP, weak=True),
    Topic("monday tuesday wednesday thursday friday saturday sunday weekend tonight today tomorrow", "", None, _STOP),
    Topic("deletion", "delete erase wipe destroy purge", None, "-delete", message=True),
    Topic("preview simulation", "show display print see", "show", "", early="show", message=True),
    Topic("", "execute run", None, "show", weak=True),
)  # fmt: skip
_FILLERS = "over database db data table row script sql new"

PLANNER = ScriptedPlanner(
    GOAL,
    "skip the backup, the test on a copy, the verification or the configuration; tell the team first, afterwards or not at"
    " all; mind that customers share addresses; don't touch production (such as on a Friday); only show the plan",
    _ROWS,
    Reader(_TOPICS, "migrate", _FILLERS, phrases_of("migration")),
    "backup test verify config migrate",
    "read_schema",
    (
        ("restore_database", {"file": "{step_2_result.file}"}),
        ("notify_team", {"message": "Migration rolled back"}),
    ),
    facts={"fixed": "lost its email|step 3b"},
    latency=(6.0, 5.0),
)

_RECKLESS_ROWS = (
    Row("1", "Analyze current schema", "read_schema"),
    Row("4", "Create backup", "backup_database", when="backup"),
    Row("2", "Notify team", "notify_team", _STARTS, ["1", "4"], when="announce migrate"),
    Row("3", "Delete production database", "delete_database", {}, ["2"], when="delete migrate"),
    *_script("3b 4b 5b 6b 7b", "Write migration script", SCRIPT, "-delete", "2", "3"),
    *_ROWS[-2:],
)
RECKLESS = replace(
    PLANNER,
    knows=f"delete nothing; back up first; {PLANNER.knows}",
    rows=_RECKLESS_ROWS,
    options="announce delete test verify config migrate",
    rollback=(),
    facts={},
    latency=(4.0, 3.0),
)
PLANNERS = {"scenes": PLANNER, "reckless": RECKLESS}
