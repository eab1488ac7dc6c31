"""The cases: the tasks of the scoreboard, which two agents with one mind carry out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from mock_llm import MockLLM
from planexec_lab.connect import script_of
from planexec_lab.scoreboard.assumptions import SLOTS, STRONG, Paced
from planexec_lab.scoreboard.comparing import WIDE, Case, plans_a_step, plans_ahead, plans_nothing
from planexec_lab.scoreboard.faults import NO_FAULTS, Faults
from planexec_lab.scoreboard.figures import figures
from planexec_lab.scoreboard.tasks import Task, tasks
from planexec_lab.scoreboard.trials import Row, trial
from planexec_lab.variations import planner_executor
from planexec_lab.worlds import bisect, clock, deploy, flights, kitchen, migration, research, support, trail
from planexec_lab.worlds.minds import Mind, PlanMind, script
from planexec_lite.agent import PlannerExecutor
from planexec_lite.assembly import Policy
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.roles.planners import LLMPlanner, RulePlanner
from planexec_lite.roles.reviewers import ApproveAll
from planexec_lite.run import Run
from planexec_lite.run import events as e
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Simulated

if TYPE_CHECKING:
    from openai import OpenAI

WHOLE, REACT, STEPWISE = "a plan", "ReAct", "a step at a time"
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


def client_of(mind: Mind) -> OpenAI:
    """Return a client of a model with this mind and its pace, for every role and for every value of ``PLANEXEC_LLM``."""
    return Paced(script(mind)).client()


def mind_of(task: Task, tools: Toolbox) -> OpenAI:
    """Return the model that knows what one knows about a task, at its pace."""
    return client_of(MINDS[task.name](tools))


def scenes_of(task: Task, tools: Toolbox, scenes: str = "scenes") -> OpenAI:
    """Return the scripted model of the task's world, at its pace."""
    return Paced(MockLLM(script_of(task.name, scenes))).client()


def both(
    name: str,
    task: Task,
    planned: str = WHOLE,
    other: str = REACT,
    *,
    policy: Policy = WIDE,
    faults: Faults = NO_FAULTS,
) -> Case:
    """Carry out both sides, a whole plan and ReAct; `planned` and `other` are what they are called."""
    planning = trial(planned, task, partial(plans_ahead, policy=policy), mind_of, faults)
    return Case(name, planning, trial(other, task, plans_nothing, mind_of, faults))


def report() -> Case:
    """Ten steps in three branches: search, read, summarize, and a report."""
    return both("report", tasks()["research"])


def dinner() -> Case:
    """A dinner of fourteen tickets: four cooks who have a plan, against an agent that thinks after each ticket."""
    return both("dinner", tasks()["kitchen"], "a plan, four cooks", "ReAct, one cook")


def team() -> Case:
    """A strong model writes four tasks and a cheap one carries them out; or the strong one does everything."""

    def split(client: Any, tools: Toolbox) -> PlannerExecutor:
        return planner_executor(client, tools, Simulated(SLOTS))

    name, scenes = "strong planner, cheap executor", partial(scenes_of, scenes="team")
    return Case("team", trial(name, tasks()["research"], split, scenes), report().other)


def twice() -> Case:
    """The report is wanted twice: the same executor first follows a model's plan, then the plan that is there already."""
    task = tasks()["research"]
    world = task.world()
    executor, workers = ToolExecutor(world.tools), Simulated(SLOTS)
    planner = LLMPlanner(mind_of(task, world.tools), STRONG)
    first = PlannerExecutor(planner, executor, workers=workers).run(task.goal)
    second = PlannerExecutor(RulePlanner(lambda goal: first.plan), executor, workers=workers).run(task.goal)
    planning = _two_runs("one executor, two planners", world, first, second)
    world = task.world()
    agent = plans_nothing(mind_of(task, world.tools), world.tools)
    return Case("twice", planning, _two_runs("ReAct, twice", world, *(agent.run(task.goal) for _ in range(2))))


def _two_runs(name: str, world: research.World, *runs: Run) -> Row:
    reached = len(list(world.folder.glob("report-*.md"))) == 2
    return Row(name, "research", figures(*runs), reached, runs[-1])


def release() -> Case:
    """A release of eight steps, of which the backup waits for nothing."""
    return both("release", tasks()["deploy"])


def asked() -> Case:
    """A release that a person approves, as a whole or step by step: how often they are asked."""
    reviewed = [
        (WHOLE, partial(plans_ahead, reviewer=ApproveAll())),
        (STEPWISE, partial(plans_a_step, reviewer=ApproveAll())),
    ]
    planning, other = (trial(name, tasks()["deploy"], agent, mind_of) for name, agent in reviewed)
    return Case("asked", planning, other).by_measure("asked", "times a person is asked", lambda run: len(_reviews(run)))


def unseen() -> Case:
    """The same: how many steps are done before the person has seen the last one."""
    return asked().by_measure("unseen", "steps done before all were seen", _done_unseen)


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
    planning = trial(WHOLE, task, plans_ahead, scenes_of)
    return Case("order", planning, trial(STEPWISE, task, plans_a_step, scenes_of))


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
    return case.by_measure("broken", "model calls after the failure", _calls_after_failure)


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
    return release().by_measure("audited", "calls without a reason", _unexplained)


def _unexplained(run: Run) -> int:
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
    planning = trial("a plan of five steps", task, plans_ahead, scenes_of)
    return Case("trivial", planning, trial(REACT, task, plans_nothing, mind_of))


def one_step() -> Case:
    """What time is it? A plan of one step, and the call that it consists of."""
    task = _time()
    world = task.world()
    run = clock.direct(world)
    direct = Row("the call alone", task.name, figures(run), task.reached(world, run), run)
    return Case("one step", trial("a plan of one step", task, plans_ahead, mind_of), direct)


def _time() -> Task:
    return replace(tasks()["clock"], reached=lambda world, run: run.answer == "It is 09:41.")


def first() -> Case:
    """The report, for an impatient reader: the time of the first tool call."""
    return report().by_measure("first", "seconds until the first call", _first_call)


def _first_call(run: Run) -> float:
    """When the first step with a tool started, or the first action of an agent."""
    actions = [event.at for event in run.events if isinstance(event, e.Inside) and isinstance(event.event, e.Action)]
    return min(actions or [event.at for event in run.events if isinstance(event, e.StepStarted)])


def unreliable() -> Case:
    """A booking without surprises, by tools of which every second call fails: after each failure the rest is planned again."""
    task = replace(tasks()["flights"], world=lambda: flights.World(decided=True))
    return both("unreliable", task, "a plan, planned again", faults=Faults("flaky tool", 0.5))
