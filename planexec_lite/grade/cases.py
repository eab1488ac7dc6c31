"""Cases for a judge, out of real runs in three worlds: good and bad work, and work that was only talked about.

Each run goes on in a world of its own, step by step, and stands still while a case is judged. Before a step that changes
the world comes the same step as an executor without tools would leave it: it says "finished", and the world is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from planexec_lite.board import Board
from planexec_lite.events import Event, Judged, JudgeStarted, PlanProposed, RunStarted, StepDone, StepStarted
from planexec_lite.executors import ToolExecutor
from planexec_lite.grade.judging import Case
from planexec_lite.plan import Plan
from planexec_lite.references import resolve
from planexec_lite.scenarios import migration, refactor, research
from planexec_lite.scenarios.research.words import CITATION

Truth = Callable[[Any, Mapping[str, Any]], bool]
"""Whether a step's criterion is met: its world and its arguments in, the truth out."""
WORDS = "finished"
"""The result of an executor that does nothing and says so confidently."""


def migration_cases() -> Iterator[Case]:
    """Yield cases of the migration: the truth is what the rows in production say, compared with those at the start."""
    truths: dict[str, Truth] = {"run_migration": _migrated, "verify_integrity": _migrated}
    for name, script in (("the tested script", migration.SCRIPT), ("the hasty script", migration.HASTY_SCRIPT)):
        yield from _cases(name, _untested(script), migration.World, truths)


def research_cases() -> Iterator[Case]:
    """Yield cases of the report: the truth is whether each section cites a document that the library has."""
    truths: dict[str, Truth] = {"write_report": _cited}
    whole = Plan.parse(research.PLAN)
    criterion = {"success_criteria": "every section cites a document that the library has"}
    *before, last = whole.steps
    sections = {
        "a report that cites": last.params,
        "a report that cites nothing": {"sections": ["Wind power is growing."]},
        "a report that cites what is nowhere": {"sections": ["Wind power is growing [doc-99]."]},
    }
    for name, params in sections.items():
        plan = whole.changed(steps=(*before, last.model_copy(update={**criterion, "params": params})))
        yield from _cases(name, plan, research.World, truths)


def refactor_cases() -> Iterator[Case]:
    """Yield cases of the refactoring: the truth is what the shop's own unit tests say, run by a process of their own."""
    truths: dict[str, Truth] = {
        "update_endpoints": _no_session,
        "update_tests": _tests_pass,
        "run_test_suite": _tests_pass,
    }
    whole = Plan.parse(refactor.PLAN)
    *steps, last = whole.steps
    mend = {
        "id": "6b",
        "description": "Take the token after Bearer",
        "tool": "fix_token_header",
        "params": {"endpoints": ["profile", "orders", "settings"]},
        "depends_on": ["6"],
    }
    mended = [*steps, *Plan.parse([mend]).steps, last.model_copy(update={"depends_on": ("6b",)})]
    yield from _cases("the header forgotten", whole, refactor.World, truths)
    yield from _cases("the header mended", whole.changed(steps=tuple(mended)), refactor.World, truths)


def _untested(script: str) -> Plan:
    """The plan of the article without its test on a copy: a hasty script comes through, and raises no error."""
    whole = Plan.parse(migration.plan_with(script))
    criteria = {"5": "production has the new schema, and no row has lost anything"}
    steps = [
        step.model_copy(
            update={
                "depends_on": tuple(id for id in step.depends_on if id != "4"),
                "success_criteria": criteria.get(step.id, step.success_criteria),
            }
        )
        for step in whole.steps
        if step.id != "4"
    ]
    return whole.changed(steps=tuple(steps))


def _migrated(world: migration.World, _: Mapping[str, Any]) -> bool:
    schema = world.read_schema()
    return schema["now"] == schema["wanted"] and not world.damage()


def _cited(world: research.World, params: Mapping[str, Any]) -> bool:
    cited = [CITATION.findall(section) for section in params["sections"]]
    written = all(section in world.report for section in params["sections"])
    return written and all(ids and all(world.library.get(id) for id in ids) for ids in cited)


def _no_session(world: refactor.World, _: Mapping[str, Any]) -> bool:
    return {one["reads"] for one in world.list_endpoints()} <= {"Authorization header", "nothing"}


def _tests_pass(world: refactor.World, params: Mapping[str, Any]) -> bool:
    return _no_session(world, params) and not world.run_test_suite()["failed"]


def _cases(name: str, plan: Plan, world_of: Callable[[], Any], truths: Mapping[str, Truth]) -> Iterator[Case]:
    """Carry out `plan` step by step in a world, and yield two cases for each step whose tool has a truth."""
    world = world_of()
    executor = ToolExecutor(world.tools)
    changes = {id for id, effects in plan.effects(world.tools).items() if effects != "none"}
    results: dict[str, Any] = {}
    events: list[Event] = [
        RunStarted(0, plan.goal, planner=False, reviewer=False, evaluator=True),
        PlanProposed(0, plan),
    ]
    for step in plan.steps:
        truth = truths.get(step.tool or "") if step.success_criteria else None
        params = executor.tools[step.tool or ""].bind(resolve(step.params, results))
        if truth is not None and step.id in changes:
            board = Board.of([*events, StepStarted(0, step.id), StepDone(0, step.id, WORDS)])
            case = f"{name}, step {step.id} in words"
            yield Case(case, step, WORDS, board, truth(world, params), world)
        inputs = {id: results[id] for id in step.depends_on}
        results[step.id] = executor.execute(step, inputs)
        events += [StepStarted(0, step.id), StepDone(0, step.id, results[step.id])]
        if truth is not None:
            yield Case(f"{name}, step {step.id}", step, results[step.id], Board.of(events), truth(world, params), world)
        if step.success_criteria:  # whatever was judged: the run goes on, so that later steps give cases too
            events += [JudgeStarted(0, step.id), Judged(0, step.id, "accept")]
