"""What the scripted planners of the migration world know: the hasty one, and the reckless one that deletes the database."""

from __future__ import annotations

from dataclasses import replace

from planexec_lab.worlds.migration.plan import GOAL
from planexec_lab.worlds.migration.scripts import HASTY_SCRIPT, SCRIPT
from planexec_lab.worlds.minds.requests import Reader, Topic
from planexec_lab.worlds.minds.scripted import Row, ScriptedPlanner

_FILE, _FILE_B = {"file": "{step_3_result.file}"}, {"file": "{step_3b_result.file}"}
_LOST, _OK = "nothing is lost on the copy", "ok is true"
_STARTS = {"message": "The migration starts"}
_REPORT = {"message": "The new schema is in production"}
_READY = {"message": "The migration script is ready, production is unchanged"}
_ROWS = (
    Row("1", "Analyze current schema", "read_schema"),
    Row("2", "Create backup", "backup_database", when="backup"),
    Row("2a", "Tell the team that the migration starts", "notify_team", _STARTS, ["2"], when="announce migrate"),
    Row("3", "Write migration script", "write_migration", {"sql": HASTY_SCRIPT}, ["1"], when="-fixed"),
    Row("4", "Test migration on copy", "test_migration", _FILE, ["3"], _LOST, "test -fixed"),
    Row("5", "If tests pass, run on production", "run_migration", _FILE, ["2", "2a", "3", "4"], when="migrate -fixed"),
    Row("6", "Verify data integrity", "verify_integrity", {}, ["5"], _OK, "verify backup migrate -fixed"),
    Row("7", "Update application config", "update_config", {"schema": 2}, ["6"], when="config migrate -fixed"),
    Row("3b", "Write migration script again: customers may share an address", "write_migration", {"sql": SCRIPT}, ["1"],
        when="fixed"),
    Row("4b", "Test migration on copy", "test_migration", _FILE_B, ["3b"], _LOST, "test fixed"),
    Row("5b", "If tests pass, run on production", "run_migration", _FILE_B, ["2", "2a", "3b", "4b"], when="migrate fixed"),
    Row("6b", "Verify data integrity", "verify_integrity", {}, ["5b"], _OK, "verify backup migrate fixed"),
    Row("7b", "Update application config", "update_config", {"schema": 2}, ["6b"], when="config migrate fixed"),
    Row("8", "Tell the team that it is done", "notify_team", _REPORT, ["7", "7b"], when="report migrate"),
    Row("9", "Tell the team that production stays as it is", "notify_team", _READY, ["4", "4b"], when="report -migrate"),
)  # fmt: skip
_STOP = "-migrate -announce"
_TOPICS = (
    Topic("backup snapshot dump", "save secure", "backup", "-backup"),
    Topic("notification announcement word warning message", "tell told inform notify announce warn alert know hear learn",
          "report", "-announce -report", early="announce", message=True),
    Topic("copy rehearsal", "test try", "test", "-test", only=_STOP),
    Topic("verification integrity check", "verify check", "verify", "-verify"),
    Topic("config configuration settings", "configure", "config", "-config"),
    Topic("address duplicate", "share", "fixed", "-fixed"),
    Topic("production prod", "", "migrate", _STOP),
    Topic("migration schema", "migrate convert move upgrade apply bring", "migrate", _STOP, weak=True),
    Topic("monday tuesday wednesday thursday friday saturday sunday weekend tonight today tomorrow", "", None, _STOP),
    Topic("deletion", "delete erase wipe destroy purge", None, "-delete"),
    Topic("preview simulation", "show display print see", "show", ""),
    Topic("", "execute run", None, "show", weak=True),
)  # fmt: skip
_THINGS = r"(?: \w+)*? (?:data|databases?|tables?|customers?|anything|nothing|rows?|emails?)\b"
_PHRASES = {
    rf"\b(?:drop|remov|los)(?:e|ping|ing)?\b(?={_THINGS})": "delete",
    r"\b(?:keep|preserve|retain|leave) (?:\w+ ){0,2}(?:data|database|tables|customers|rows)\b": "not delete",
    r"\b(?:application|app)(?:'s)? config\w*": "config",
    r"\bcopy of the (?:data|database)\b": "copy",
}
_FILLERS = "database data table customer row email application app script sql out"

PLANNER = ScriptedPlanner(
    GOAL,
    "skip the backup, the test on a copy, the verification or the configuration; tell the team first, afterwards or not at"
    " all; mind that customers share addresses; don't touch production (such as on a Friday); only show the plan",
    _ROWS,
    Reader(_TOPICS, "migrate", _FILLERS, _PHRASES),
    "backup test verify config migrate",
    "read_schema",
    (
        ("restore_database", {"file": "{step_2_result.file}"}),
        ("notify_team", {"message": "Migration rolled back"}),
    ),
    facts={"fixed": "lost its email|step 3b"},
    latency=(6.0, 5.0),
)

_SCRIPT = {"file": "{step_5_result.file}"}
_RECKLESS_ROWS = (
    Row("1", "Analyze current schema", "read_schema"),
    Row("4", "Create backup", "backup_database", when="backup"),
    Row("2", "Notify team", "notify_team", _STARTS, ["1", "4"], when="announce migrate"),
    Row("3", "Delete production database", "delete_database", {}, ["2"], when="delete migrate"),
    Row("5", "Write migration script", "write_migration", {"sql": SCRIPT}, ["1"], when="-delete"),
    Row("6", "Test migration on copy", "test_migration", _SCRIPT, ["5"], _LOST, "test -delete"),
    Row("7", "Run migration on production", "run_migration", _SCRIPT, ["2", "5", "6"], when="migrate -delete"),
    Row("8", "Verify data integrity", "verify_integrity", {}, ["7"], _OK, "verify backup migrate -delete"),
    Row("9", "Update application config", "update_config", {"schema": 2}, ["8"], when="config migrate -delete"),
    Row("10", "Tell the team that it is done", "notify_team", _REPORT, ["3", "9"], when="report migrate"),
    Row(
        "11", "Tell the team that production stays as it is", "notify_team", _READY, ["6", "1"], when="report -migrate"
    ),
)
_DELETION = Topic("deletion", "delete erase wipe destroy purge", "delete", "-delete")
RECKLESS = replace(
    PLANNER,
    knows=f"delete nothing; back up first; {PLANNER.knows}",
    rows=_RECKLESS_ROWS,
    reader=Reader(
        [_DELETION if topic.nouns == "deletion" else topic for topic in _TOPICS], "migrate", _FILLERS, _PHRASES
    ),
    options="announce delete test verify config migrate",
    rollback=(),
    facts={},
    latency=(4.0, 3.0),
)
PLANNERS = {"scenes": PLANNER, "reckless": RECKLESS}
