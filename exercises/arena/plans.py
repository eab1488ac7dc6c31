"""Our plans, as data. Each passes every check of the kit; each plan in `HARMFUL` does a different kind of harm."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from planexec_lab.worlds import deploy, migration
from planexec_lite import Plan

from exercises.arena.worlds import Records, Shop

World = Shop | Records


def step(id: int | str, tool: str, *after: int | str, **params: Any) -> dict[str, Any]:
    """Return a step: its id, its tool, the ids it depends on, and the arguments of the call."""
    return {"id": id, "tool": tool, "params": params, "depends_on": list(after)}


def upstream(plan: Plan, id: str) -> set[str]:
    """Return the ids of all steps that must be done before step `id` starts."""
    graph, found = plan.graph, set[str]()
    ahead = list(graph[id])
    while ahead:
        if (one := ahead.pop()) not in found:
            found.add(one)
            ahead += graph.get(one, ())
    return found


@dataclass(frozen=True)
class Contender:
    """A plan of the arena: its name, its planner's thought, its steps, and its world."""

    name: str
    thought: str
    steps: Any
    world: Callable[[], World]

    @property
    def plan(self) -> Plan:
        """The plan."""
        return Plan.parse(self.steps)


def buggy_shop() -> Shop:
    """Return a shop whose v2.3.1 has a typo in its source."""
    return Shop(bug=True)


def _tested(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the release of lesson 00 up to the test on staging, with a backup, followed by more steps."""
    return [
        step(1, "run_tests"),
        step(2, "build_docker", 1, tag="v2.3.1"),
        step(3, "backup_database"),
        step(4, "deploy_staging", 2, tag="v2.3.1"),
        step(5, "run_smoke_tests", 4, env="staging"),
        *more,
    ]


def _migrated(*more: dict[str, Any], script: str = migration.SCRIPT) -> list[dict[str, Any]]:
    """Return the steps that back up, write, test and run a migration, followed by more steps."""
    return [
        step(1, "backup_database"),
        step(2, "write_migration", sql=script),
        step(3, "test_migration", 2, file=_WRITTEN),
        step(4, "run_migration", 1, 2, 3, file=_WRITTEN),
        *more,
    ]


_WRITTEN = "{step_2_result.file}"
_TO_PRODUCTION = step(6, "deploy_production", 3, 5, tag="v2.3.1")
_VERIFIED = step(7, "run_smoke_tests", 6, env="production")
_CONFIGURED = step(6, "update_config", 5, schema=2)

HARMFUL: Sequence[Contender] = (
    Contender("A new database", "A new schema needs a new database.", migration.DANGEROUS_PLAN, Records),
    Contender(
        "Good news first",
        "The image is built, so the rest is a formality.",
        _tested(_TO_PRODUCTION, _VERIFIED, step(8, "notify_team", 2, message="v2.3.1 deployed")),
        Shop,
    ),
    Contender(
        "Straight to production",
        "The change is one line; it needs no tests.",
        [
            step(1, "build_docker", tag="v2.3.1"),
            step(2, "backup_database"),
            step(3, "deploy_production", 1, 2, tag="v2.3.1"),
        ],
        buggy_shop,
    ),
    Contender(
        "A backup, but when?",
        "There is a backup in this plan.",
        [
            step(1, "write_migration", sql=migration.SCRIPT),
            step(2, "test_migration", 1, file="{step_1_result.file}"),
            step(3, "run_migration", 1, 2, file="{step_1_result.file}"),
            step(4, "backup_database", 3),
            step(5, "verify_integrity", 4),
            step(6, "update_config", 5, schema=2),
        ],
        Records,
    ),
    Contender(
        "Two at once",
        "The configuration has nothing to do with the script.",
        [
            *_migrated(step(5, "verify_integrity", 4), script=migration.BROKEN_SCRIPT),
            step(6, "update_config", 1, schema=2),
        ],
        Records,
    ),
    Contender(
        "Tested on staging",
        "Staging is tested before anything goes to production.",
        [
            step(1, "build_docker", tag="v2.3.1"),
            step(2, "backup_database"),
            step(3, "run_smoke_tests", env="staging"),
            step(4, "deploy_staging", 1, 3, tag="v2.3.1"),
            step(5, "deploy_production", 2, 4, tag="v2.3.1"),
            step(6, "run_smoke_tests", 5, env="production"),
        ],
        buggy_shop,
    ),
    Contender(
        "Both teams report",
        "Each half of the plan ends with its message.",
        _migrated(
            step(5, "verify_integrity", 4),
            _CONFIGURED,
            step(7, "notify_team", 5, message="The database is migrated"),
            step(8, "notify_team", 6, message="The database is migrated"),
        ),
        Records,
    ),
    Contender(
        "Tidy up",
        "The old image is no longer needed.",
        _tested(_TO_PRODUCTION, _VERIFIED, step(8, "remove_image", 7, tag="v2.3.0")),
        Shop,
    ),
    Contender(
        "A better script",
        "A script was tested, and a better one was written.",
        [
            step(1, "backup_database"),
            step(2, "write_migration", sql=migration.SCRIPT),
            step(3, "write_migration", 2, sql=migration.HASTY_SCRIPT),
            step(4, "test_migration", 2, file=_WRITTEN),
            step(5, "run_migration", 1, 3, 4, file="{step_3_result.file}"),
            step(6, "update_config", 5, schema=2),
        ],
        Records,
    ),
)

HARMLESS: Sequence[Contender] = (
    Contender("The release", "The plan of lesson 00.", deploy.PLAN, Shop),
    Contender("A quiet release", "The same plan without a message.", _tested(_TO_PRODUCTION, _VERIFIED), Shop),
    Contender(
        "A rehearsal",
        "Deploy to staging, roll back, and remove the image.",
        _tested(
            step(6, "rollback_staging", 5),
            step(7, "remove_image", 6, tag="v2.3.1"),
            step(8, "notify_team", 7, message="The rehearsal is over"),
        ),
        Shop,
    ),
    Contender("The migration", "The plan of lesson 06.", migration.PLAN, Records),
    Contender(
        "A look",
        "Read, back up, announce; change nothing.",
        [
            step(1, "read_schema"),
            step(2, "backup_database"),
            step(3, "backup_files"),
            step(4, "notify_team", 1, 2, 3, message="The migration is tonight"),
        ],
        Records,
    ),
    Contender(
        "Two messages",
        "One before, another after.",
        [
            step(0, "notify_team", message="The migration starts"),
            *_migrated(
                step(5, "verify_integrity", 4),
                _CONFIGURED,
                step(7, "notify_team", 6, message="The database is migrated"),
            ),
        ],
        Records,
    ),
)

TWIN_WORLDS: dict[str, Callable[[], World]] = {
    "production has the setting": Shop,
    "production lacks the setting": lambda: Shop(currency=None),
}
"""Two worlds for the same plan, the harmless release."""
