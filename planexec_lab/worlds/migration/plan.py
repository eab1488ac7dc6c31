"""The plans and the agent of the article, in the article's own shape (`action`, `params`, integer ids)."""

from __future__ import annotations

import json
from typing import Any

from planexec_lab.worlds.migration.scripts import HASTY_SCRIPT, SCRIPT

GOAL = "Migrate our database to the new schema"

_RESTORE = {"action": "restore_database", "params": {"file": "{step_2_result.file}"}}
_WRITTEN = {"file": "{step_3_result.file}"}


def plan_with(script: str) -> str:
    """The plan of seven steps as JSON, with `script` as what step 3 writes."""
    return _plan(
        [
            _step(1, "read_schema", {}, [], "Analyze current schema"),
            _step(2, "backup_database", {}, [], "Create backup"),
            _step(3, "write_migration", {"sql": script}, [1], "Write migration script"),
            _step(
                4,
                "test_migration",
                _WRITTEN,
                [3],
                "Test migration on copy",
                success_criteria="nothing is lost on the copy",
            ),
            _step(5, "run_migration", _WRITTEN, [2, 3, 4], "If tests pass, run on production", undo=_RESTORE),
            _step(6, "verify_integrity", {}, [5], "Verify data integrity", success_criteria="ok is true"),
            _step(7, "update_config", {"schema": 2}, [6], "Update application config", undo=_CONFIG),
        ],
        rollback=[_RESTORE, {"action": "notify_team", "params": {"message": "Migration rolled back"}}],
    )


def _plan(steps: list[dict[str, Any]], rollback: list[dict[str, Any]] | None = None) -> str:
    return json.dumps({"goal": GOAL, "steps": steps, "rollback": rollback or []}, indent=2)


def _step(
    id: int, action: str, params: dict[str, Any], depends_on: list[int], description: str, **more: Any
) -> dict[str, Any]:
    fields = {"id": id, "action": action, "params": params, "depends_on": depends_on, "description": description}
    return fields | more


_CONFIG = {"action": "update_config", "params": {"schema": 1}}
_STARTS = {"message": "The migration starts"}

PLAN = plan_with(SCRIPT)

PARALLEL_PLAN = _plan(
    [
        _step(1, "backup_database", {}, [], "Backup database"),
        _step(2, "backup_files", {}, [], "Backup files"),
        _step(3, "notify_team", _STARTS, [], "Notify team"),
        _step(4, "run_migration", {"file": "migration-1.sql"}, [1, 2, 3], "Run migration"),
    ]
)

DANGEROUS_PLAN = _plan(
    [
        _step(1, "read_schema", {}, [], "Analyze current schema"),
        _step(2, "notify_team", _STARTS, [1], "Notify team"),
        _step(3, "delete_database", {}, [2], "Delete production database"),
    ]
)

REACT_ORDER = [
    _step(1, "read_schema", {}, [], "I should look at the current schema"),
    _step(2, "backup_database", {}, [], "Now I should create a backup"),
    _step(3, "write_migration", {"sql": HASTY_SCRIPT}, [], "Hmm, what's next... maybe write migration?"),
    _step(4, "run_migration", _WRITTEN, [3], "Should I run it? Let me run it"),
    _step(5, "verify_integrity", {}, [], "Oh no, I forgot to test it first. Is the data whole?"),
]
