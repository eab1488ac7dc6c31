"""The cases, each of which carries out both sides: the tasks of the scoreboard, and one mind for both sides of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from planexec_lab.comparison.pace import client_of, paced
from planexec_lab.comparison.sides import REACT, STEPWISE, WHOLE, WIDE, Case, Side, measured, react, stepwise, whole
from planexec_lab.connect import script_of
from planexec_lab.scoreboard import Faults, Task, tasks
from planexec_lab.scoreboard.assumptions import SLOTS, STRONG
from planexec_lab.variations import planner_executor
from planexec_lab.worlds import bisect, clock, deploy, flights, kitchen, migration, research, support, trail
from planexec_lab.worlds.minds import Mind, PlanMind
from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.core.executors import ToolExecutor
from planexec_lite.roles.planners import LLMPlanner, RulePlanner
from planexec_lite.roles.reviewers import ApproveAll
from planexec_lite.run import Run
from planexec_lite.run import events as e
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Simulated

if TYPE_CHECKING:
    from openai import OpenAI

Compare = Callable[[], Case]
MINDS: dict[str, Callable[[Toolbox], Mind]] = {
    "research": lambda tools: PlanMind(research.PLAN, tools),
    "kitchen": lambda tools: PlanMind(kitchen.PLAN, tools),
    "deploy": deploy.ReleaseMind,
    "migration": lambda tools: migration.MigrationMind(),
    "support": lambda tools: support.AuditMind(),
    "clock": lambda tools: clock.ClockMind(),
    "trail": lambda tools: trail.TrailMind(),
    "bisect": lambda tools: bisect.BisectMind(),
    "flights": lambda tools: flights.BookingMind(),
}
"""The knowledge of a task's model: the only difference between tasks."""


def mind_of(task: Task, tools: Toolbox) -> OpenAI:
    """Return the model that knows what one knows about a task, at its pace."""
    return client_of(MINDS[task.name](tools))


def scenes_of(world: str, scenes: str = "scenes") -> OpenAI:
    """Return the scripted model of a world, at its pace."""
    from mock_llm import MockLLM

    return paced(MockLLM(script_of(world, scenes)))


def side(
    task: Task,
    way: str,
    work: Callable[..., Run],
    client: Callable[[Task, Toolbox], Any] = mind_of,
    faults: Faults | None = None,
    **options: Any,
) -> Side:
    """Run one side in a fresh world.

    Args:
        task: a task of the scoreboard.
        way: the name of the side.
        work: runs it: `whole`, `stepwise` or `react`.
        client: makes the model.
        faults: the injected faults.
        options: the options of `work`.
    """
    world = task.world()
    tools = (faults or Faults()).tools(world.tools, task.plan)
    run = work(client(task, world.tools), tools, task.goal, **options)
    return Side(way, (run,), task.reached(world, run))


def both(
    name: str,
    task: Task,
    planned: str = WHOLE,
    other: str = REACT,
    *,
    policy: Policy = WIDE,
    faults: Faults | None = None,
) -> Case:
    """Carry out both sides, a whole plan and ReAct; `planned` and `other` are what they are called."""
    planning = side(task, planned, whole, faults=faults, policy=policy)
    return Case(name, planning, side(task, other, react, faults=faults))


def report() -> Case:
    """Ten steps in three branches: search, read, summarize, and a report."""
    return both("report", tasks()["research"])


def dinner() -> Case:
    """A dinner of fourteen tickets: four cooks who have a plan, against an agent that thinks after each ticket."""
    return both("dinner", tasks()["kitchen"], "a plan, four cooks", "ReAct, one cook")


def team() -> Case:
    """A strong model writes four tasks and a cheap one carries them out; or the strong one does everything."""

    def split(client: Any, tools: Toolbox, goal: str) -> Run:
        return planner_executor(client, tools, Simulated(SLOTS)).run(goal)

    planning = side(
        tasks()["research"], "strong planner, cheap executor", split, lambda task, tools: scenes_of("research", "team")
    )
    return Case("team", planning, report().other)


def twice() -> Case:
    """The report is wanted twice: the same executor first follows a model's plan, then the plan that is there already."""
    task = tasks()["research"]
    world = task.world()
    executor, workers = ToolExecutor(world.tools), Simulated(SLOTS)
    planner = LLMPlanner(mind_of(task, world.tools), STRONG)
    first = PlannerExecutor(planner, executor, workers=workers).run(task.goal)
    second = PlannerExecutor(RulePlanner(lambda goal: first.plan), executor, workers=workers).run(task.goal)
    planning = Side("one executor, two planners", (first, second), _two_reports(world))
    world = task.world()
    client = mind_of(task, world.tools)
    runs = tuple(react(client, world.tools, task.goal) for _ in range(2))
    return Case("twice", planning, Side("ReAct, twice", runs, _two_reports(world)))


def _two_reports(world: research.World) -> bool:
    return len(list(world.folder.glob("report-*.md"))) == 2


def release() -> Case:
    """A release of eight steps, of which the backup waits for nothing."""
    return both("release", tasks()["deploy"])


def asked() -> Case:
    """A release that a person approves, as a whole or step by step: how often they are asked."""
    task = tasks()["deploy"]
    planning, other = (
        side(task, way, work, reviewer=ApproveAll()) for way, work in ((WHOLE, whole), (STEPWISE, stepwise))
    )
    case = Case("asked", planning, other)
    return measured(case, "asked", "times a person is asked", lambda one: len(_reviews(one.runs[0])))


def unseen() -> Case:
    """The same: how many steps are done before the person has seen the last one."""

    return measured(asked(), "unseen", "steps done before all were seen", lambda one: _done_unseen(one.runs[0]))


def _done_unseen(run: Run) -> int:
    return sum(isinstance(event, e.StepDone) for event in run.events[: _reviews(run)[-1]])


def _reviews(run: Run) -> list[int]:
    """The places of a person's decisions in the events."""
    return [place for place, event in enumerate(run.events) if isinstance(event, e.Reviewed)]


def order() -> Case:
    """A migration whose script does damage: the plan tests it first; the agent that plans one step at a time runs it first.

    The script makes this agent forget the test; in the corrected case it does not forget it.
    """
    task = replace(tasks()["migration"], reached=lambda world, run: _migrated(world))
    planning, other = (
        side(task, way, work, lambda task, tools: scenes_of("migration"))
        for way, work in ((WHOLE, whole), (STEPWISE, stepwise))
    )
    return Case("order", planning, other)


def _migrated(world: migration.World) -> bool:
    return not world.damage() and "contacts" not in world.read_schema()["now"]


def mended() -> Case:
    """The same migration, by a mind that always tests first: the script fails on the copy and is written again."""
    return both("mended", tasks()["migration"])


def broken() -> Case:
    """A release that breaks production: how much of the way back needs a model. A plan brings its rollback."""
    task = replace(
        tasks()["deploy"],
        world=lambda: deploy.World(currency=None),
        reached=lambda world, run: world.deployed("production") == "v2.3.0" and world.messages == ["Rollback executed"],
    )
    case = both("broken", task, "a plan with a rollback", policy=Policy(rollback="failed"))
    return measured(case, "broken", "model calls after the failure", lambda one: _calls_after_failure(one.runs[0]))


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
    return both("gap", replace(tasks()["support"], world=support.World))


def retried() -> Case:
    """The report, with tools of which three in ten calls fail: each step is tried again by itself, and no model is asked."""
    policy, faults = Policy(retries=5, replan="failure"), Faults("flaky tool", 0.3)
    return both("retried", tasks()["research"], "a plan with retries", policy=policy, faults=faults)


def audited() -> Case:
    """The release, read afterwards: the number of calls without a reason stated before them.

    The script makes the model think aloud before each call.
    """
    return measured(release(), "audited", "calls without a reason", lambda one: unexplained(one.runs[0]))


def unexplained(run: Run) -> int:
    """How many planned calls have no description, and how many calls of an agent no thought before them."""
    calls, thought = 0, False
    for event in run.events:
        match event:
            case e.PlanProposed(plan=plan) if plan is not None:
                calls += sum(step.tool is not None and not step.description for step in plan.steps)
            case e.Inside(event=e.Thought() | e.Action() as inner):
                calls += isinstance(inner, e.Action) and not thought
                thought = isinstance(inner, e.Thought)
    return calls


def booking() -> Case:
    """A flight is booked in a conversation: each answer can be a surprise, and three are."""
    return both("booking", tasks()["flights"])


def bisection() -> Case:
    """The version that broke is looked for: each test decides which is the next."""
    return both("bisection", tasks()["bisect"])


def exploration() -> Case:
    """An order is followed from log to log; the number of logs is unknown."""
    return both("exploration", tasks()["trail"])


def trivial() -> Case:
    """What time is it? A plan of five steps, which the script makes of it, and a model that reads the clock."""
    task = _time()
    planning = side(task, "a plan of five steps", whole, lambda task, tools: scenes_of("clock"))
    return Case("trivial", planning, side(task, REACT, react))


def one_step() -> Case:
    """What time is it? A plan of one step, and the call that it consists of."""
    task = _time()
    direct = side(task, "the call alone", lambda client, tools, goal: clock.direct(clock.World("09:41")))
    return Case("one step", side(task, "a plan of one step", whole), direct)


def _time() -> Task:
    return replace(tasks()["clock"], reached=lambda world, run: run.answer == "It is 09:41.")


def first() -> Case:
    """The report, for an impatient reader: the time of the first tool call."""

    return measured(report(), "first", "seconds until the first call", lambda one: _first_call(one.runs[0]))


def _first_call(run: Run) -> float:
    """When the first step with a tool started, or the first action of an agent."""
    actions = [event.at for event in run.events if isinstance(event, e.Inside) and isinstance(event.event, e.Action)]
    return min(actions or [event.at for event in run.events if isinstance(event, e.StepStarted)])


def unreliable() -> Case:
    """A booking without surprises, by tools of which every second call fails: after each failure the rest is planned again."""
    task = replace(tasks()["flights"], world=lambda: flights.World(decided=True))
    return both("unreliable", task, "a plan, planned again", faults=Faults("flaky tool", 0.5))
