"""The cases of which the sources say that planning pays: each carries out both sides."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from planexec_lite import events as e
from planexec_lite.comparison.made import made
from planexec_lite.comparison.pace import client_of, scripted
from planexec_lite.comparison.sides import (
    REACT,
    STEPWISE,
    WHOLE,
    Case,
    Side,
    both,
    measured,
    react,
    stepwise,
    whole,
)
from planexec_lite.executors import ReActExecutor, ToolExecutor
from planexec_lite.loop import PlannerExecutor
from planexec_lite.loop.run import Run
from planexec_lite.planning.planners import LLMPlanner, RulePlanner
from planexec_lite.policy import Policy
from planexec_lite.review.reviewers import ApproveAll
from planexec_lite.scenarios import deploy, kitchen, migration, research, support
from planexec_lite.scenarios.flaky import flaky
from planexec_lite.scenarios.minds import PlanMind
from planexec_lite.scoreboard.assumptions import CHEAP, SLOTS, STRONG
from planexec_lite.workers import Simulated

if TYPE_CHECKING:
    from openai import OpenAI


def written(world: str, scenes: str) -> OpenAI:
    """Return the model of a world's scene file, at its pace."""
    from mock_llm import MockLLM

    return scripted(MockLLM.load(Path(str(files("planexec_lite"))) / "scenarios" / world / f"{scenes}.yaml"))


def researcher(world: research.World) -> PlanMind:
    """The mind that knows how to write the report."""
    return PlanMind(research.PLAN, world.tools)


def cited(world: research.World) -> bool:
    """Whether a report with sources was written."""
    return "- [doc-" in world.report.partition("## Sources")[2]


def report() -> Case:
    """Ten steps in three branches: search, read, summarize, and a report."""
    return both("report", research.World, researcher, research.GOAL, cited)


def dinner() -> Case:
    """A dinner of fourteen tickets: four cooks with a plan, and one who thinks after each."""
    return both(
        "dinner",
        kitchen.World,
        lambda world: PlanMind(kitchen.PLAN, world.tools),
        kitchen.GOAL,
        lambda world: world.served == ["starter", "main", "dessert"],
        ways=("a plan, four cooks", "ReAct, one cook"),
    )


def team() -> Case:
    """A strong model writes four tasks and a cheap one carries them out; or the strong one does everything."""
    world, client = research.World(), written("research", "team")
    executor = ReActExecutor(client, world.tools, CHEAP)
    run = PlannerExecutor(LLMPlanner(client, STRONG, tasks=True), executor, workers=Simulated(SLOTS)).run(research.GOAL)
    planning = Side("strong planner, cheap executor", (run,), cited(world))
    return Case("team", planning, report().other, scripted="how many turns the cheap model takes for a task")


def twice() -> Case:
    """The report is wanted twice: the same executor first follows a model's plan, then the plan that is there already."""
    world = research.World()
    client, executor = client_of(researcher(world)), ToolExecutor(world.tools)
    first = PlannerExecutor(LLMPlanner(client, STRONG), executor, workers=Simulated(SLOTS)).run(research.GOAL)
    again = RulePlanner(lambda goal: first.plan)
    second = PlannerExecutor(again, executor, workers=Simulated(SLOTS)).run(research.GOAL)
    planning = Side("one executor, two planners", (first, second), _two_reports(world))
    world = research.World()
    client = client_of(researcher(world))
    runs = tuple(react(client, world.tools, research.GOAL) for _ in range(2))
    return Case("twice", planning, Side("ReAct, twice", runs, _two_reports(world)))


def _two_reports(world: research.World) -> bool:
    return len(list(world.folder.glob("report-*.md"))) == 2 and cited(world)


def _releaser(world: deploy.World) -> PlanMind:
    return deploy.ReleaseMind(world.tools)


def _released(world: deploy.World) -> bool:
    return world.deployed("production") == "v2.3.1" and world.messages == ["v2.3.1 deployed"]


def release() -> Case:
    """A release of eight steps, of which the backup waits for nothing."""
    return both("release", deploy.World, _releaser, deploy.GOAL, _released)


def asked() -> Case:
    """A release that a person approves, as a whole or step by step: how often they are asked."""
    sides = []
    for way, side in ((WHOLE, whole), (STEPWISE, stepwise)):
        world = deploy.World()
        run = side(client_of(_releaser(world)), world.tools, deploy.GOAL, reviewer=ApproveAll())
        sides.append(Side(way, (run,), _released(world), len(_reviews(run))))
    planning, other = sides
    return Case("asked", planning, other, measure="times a person is asked")


def _reviews(run: Run) -> list[int]:
    """Where in the events a person decided."""
    return [place for place, event in enumerate(run.events) if isinstance(event, e.Reviewed)]


def unseen() -> Case:
    """The same: how many steps are done before the person has seen the last one."""

    def before(side: Side) -> int:
        (run,) = side.runs
        return sum(isinstance(event, e.StepDone) for event in run.events[: _reviews(run)[-1]])

    return measured(asked(), "unseen", "steps done before all were seen", before)


def order() -> Case:
    """A migration whose script does damage: the plan tests it first; who thinks one step ahead runs it first."""
    sides = []
    for way, side in ((WHOLE, whole), (STEPWISE, stepwise)):
        world = migration.World()
        run = side(written("migration", "scenes"), world.tools, migration.GOAL)
        sides.append(Side(way, (run,), _migrated(world)))
    planning, other = sides
    return Case(
        "order", planning, other, scripted="that one step at a time forgets the test; in the case mended it does not"
    )


def _migrated(world: migration.World) -> bool:
    return not world.damage() and "contacts" not in world.read_schema()["now"]


def mended() -> Case:
    """The same migration, by a mind that always tests first: the script fails on the copy and is written again."""
    return both("mended", migration.World, lambda world: migration.MigrationMind(), migration.GOAL, _migrated)


def broken() -> Case:
    """A release that breaks production: how much of the way back needs a model. A plan brings its rollback."""
    case = both(
        "broken",
        lambda: deploy.World(currency=None),
        _releaser,
        deploy.GOAL,
        lambda world: world.deployed("production") == "v2.3.0" and world.messages == ["Rollback executed"],
        policy=Policy(rollback="failed"),
        ways=("a plan with a rollback", REACT),
    )
    return measured(case, "broken", "model calls after the failure", lambda side: _calls_after_failure(side.runs[0]))


def _calls_after_failure(run: Run) -> int:
    """How often a model was called after the first step, or the first call of an agent, had failed."""
    failed, calls = False, 0
    for event in run.events:
        inner = event.event if isinstance(event, e.Inside) else None
        calls += failed and isinstance(inner, e.Thought)
        calls += len(getattr(event, "calls", ())) if failed and not isinstance(event, e.Inside | e.StepDone) else 0
        failed = failed or isinstance(event, e.StepFailed) or (isinstance(inner, e.Observation) and inner.error)
    return calls


def gap() -> Case:
    """An audit of which most can be planned: a gap in a log shows on the way, and a step is added."""
    return both(
        "gap",
        support.World,
        lambda world: support.AuditMind(),
        support.GOAL,
        lambda world: "+handover_path = /v1/paid" in world.drafts.get("A-1034.txt", ""),
    )


def retried() -> Case:
    """The report, with tools of which three in ten calls fail: each step is tried again by itself, and no model is asked."""
    return both(
        "retried",
        research.World,
        researcher,
        research.GOAL,
        cited,
        policy=Policy(retries=5, replan="failure"),
        tools=lambda tools: flaky(tools, 0.3),
        ways=("a plan with retries", REACT),
        scripted="which calls fail: by chance, from a seed",
    )


def audited() -> Case:
    """The release, read afterwards: of how many calls nobody had said before why they would be made."""
    audit = measured(
        release(),
        "audited",
        "calls without a reason",
        lambda side: sum(not call.announced for run in side.runs for call in made(run)),
    )
    return replace(audit, scripted="that the model thinks aloud before each call")
