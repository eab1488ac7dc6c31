"""Runs and values that reveal a careless answer; all checks draw on them.

The runs need no planner, or have a repaired plan, an invalid replan, nested runs, several attempts, failed undos, failing
judges and planners, or results such as 0, "", None and [].
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from planexec_lite import (
    Backoff,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
)
from planexec_lite.meter import ModelCall, charge
from planexec_lite.run.events import Event, Inside

FALSY: tuple[Any, ...] = (0, "", None, [], {}, False, 0.0)
"""Valid results that `if result:` mistakes for no result."""

AGAIN = Policy(retries=1, backoff=Backoff(first=2.0, jitter=0.0))
UNDO = {"tool": "back", "params": {"name": "1"}}


class World:
    """A world in which each job asks a model, every call has a different price, and some jobs fail.

    Args:
        results: the results of steps by name; by default, a text.
        failures: how often the jobs of a name fail.
    """

    def __init__(self, results: Mapping[str, Any] | None = None, **failures: int) -> None:
        self.results, self.failures, self.asked = results or {}, failures, 0
        self.tools = Toolbox(
            [Tool(self.work, latency=lambda name, seconds: seconds, effects="none"), Tool(self.back, effects="none")]
        )

    def ask(self, model: str = "gpt-4o-mini") -> None:
        """Ask a model."""
        self.asked += 1
        charge(call=ModelCall(model, 1000 + 37 * self.asked, 100 + 11 * self.asked, 0.5))

    def work(self, name: str, seconds: float) -> Any:
        """Work for some seconds."""
        self.ask()
        self.fail(name)
        return self.results.get(name, f"{name} is done")

    def fail(self, name: str) -> None:
        """Fail while failures of this name are left."""
        if self.failures.get(name, 0):
            self.failures[name] -= 1
            raise ConnectionError(f"{name} did not answer")

    def back(self, name: str) -> str:
        """Undo something."""
        self.fail("back")
        return f"{name} is undone"

    def judge(self, step: Any, result: Any) -> Verdict:
        """Accept each result."""
        self.ask()
        self.fail("judge")
        return Verdict("accept", "it holds")


@dataclass
class Written:
    """A planner that asks a model and returns these plans one after the other, then the last one again."""

    world: World
    plans: list[Any]

    def plan(self, goal: str, board: Any, tools: Toolbox) -> Plan:
        """Return the next plan."""
        self.world.ask("gpt-4o")
        charge(1.0)
        self.world.fail("planner")
        return Plan.parse(self.plans.pop(0) if len(self.plans) > 1 else self.plans[0])


@dataclass
class Hands:
    """An executor that calls a step's tool, and runs the inner agent for a step without a tool."""

    tools: Toolbox
    agent: PlannerExecutor

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        """Run a step."""
        return (ToolExecutor(self.tools) if step.tool else self.agent).execute(step, inputs)


def step(id: str, seconds: float, *after: str, name: str = "", **more: Any) -> dict[str, Any]:
    """Return a step that works for some seconds."""
    params = {"name": name or id, "seconds": seconds}
    return {"id": id, "tool": "work", "params": params, "depends_on": list(after), **more}


def task(id: str, *after: str) -> dict[str, Any]:
    """Return a step that starts a nested run."""
    return {"id": id, "description": f"Do what step {id} asks for", "depends_on": list(after)}


def agent(world: World, *plans: Any, inside: Any = None, policy: Policy | None = None) -> PlannerExecutor:
    """Return an agent with these plans; the agent `inside` runs its steps without a tool."""
    hands = Hands(world.tools, inside) if inside else ToolExecutor(world.tools)
    judge, workers = RuleEvaluator(world.judge), Simulated(2)
    return PlannerExecutor(Written(world, list(plans)), hands, None, judge, workers, policy or Policy())


def example() -> Run:
    """Return a run for trying an answer: one step has two attempts, another is a nested run."""
    world = World(b=1, y=1)
    within = agent(world, [step("a", 2.0), step("b", 1.0, "a", name="y")], policy=Policy(retries=1))
    plan = [step("1", 2.0), step("2", 3.0, name="b"), task("3", "1", "2")]
    return agent(world, plan, inside=within, policy=Policy(retries=1, backoff=Backoff(first=1.0, jitter=0.0))).run(
        "Try it"
    )


@cache
def runs() -> Mapping[str, Run]:
    """Return runs of all kinds, by description."""
    return {told: make() for told, make in _MAKERS.items()}


def records() -> Iterator[tuple[str, list[Event]]]:
    """Yield the events of these runs with their descriptions, then those of a run that has not ended."""
    for told, run in runs().items():
        yield told, list(run.events)
    run = runs()["nested runs inside two parallel steps"]
    inside = [place for place, event in enumerate(run.events) if isinstance(event, Inside)]
    for place in (inside[4], inside[-5]):
        yield f"an unfinished run, with {len(run.events) - place} events still to come", list(run.events[:place])


class Record(list[Any]):
    """Events or spans; the repr says what kind of run they belong to."""

    def __init__(self, items: Sequence[Any], told: str, kind: str = "events") -> None:
        super().__init__(items)
        self.told, self.kind = told, kind

    def __repr__(self) -> str:
        return f"<{len(self)} {self.kind}: {self.told}>"


def _parallel() -> Run:
    plan = [step("1", 3.0), step("2", 2.0), step("3", 1.0, "1", "2", success_criteria="it holds")]
    return agent(World(), plan).run("Work")


def _attempts() -> Run:
    return agent(World(**{"1": 1}), [step("1", 3.0), step("2", 1.0, "1")], policy=AGAIN).run("Work")


def _replan() -> Run:
    first, second = [step("1", 1.0), step("2", 2.0, "1")], [step("1", 1.0), step("2b", 4.0, "1")]
    policy = Policy(replan="failure", max_replans=1)
    return agent(World(**{"2": 1}), first, second, policy=policy).run("Work")


def _nested() -> Run:
    world = World(y=1)
    within = agent(world, [step("a", 2.0), step("b", 1.0, "a", name="y")], policy=Policy(retries=1))
    plan = [step("1", 1.0), task("2", "1"), task("3", "1"), step("4", 2.0, "2", "3")]
    return agent(world, plan, inside=within).run("Work")


def _three_deep() -> Run:
    world = World(x=1)
    deepest = agent(world, [step("a", 1.0), step("b", 2.0, "a", name="x")])
    within = agent(world, [step("a", 1.0), task("b", "a")], inside=deepest)
    return agent(world, [step("1", 1.0), task("2", "1")], inside=within, policy=AGAIN).run("Work")


def _rolled_back() -> Run:
    plan = [step("1", 1.0, undo=UNDO), step("2", 2.0, "1")]
    return agent(World(**{"2": 9}), plan, policy=Policy(rollback="failed")).run("Work")


def _failed_undo() -> Run:
    plan = [step("1", 1.0, undo=UNDO), step("2", 2.0, "1", success_criteria="it holds"), step("3", 1.0, "2")]
    return agent(World(judge=1, back=9, **{"3": 9}), plan, policy=Policy(rollback="failed")).run("Work")


def _failing_planner() -> Run:
    return agent(World(planner=9), [step("1", 1.0)]).run("Work")


def _same_ids() -> Run:
    world = World()
    deepest = agent(world, [step("a", 1.0)])
    within = agent(world, [step("a", 1.0), task("2", "a"), step("b", 1.0, "2")], inside=deepest)
    return agent(world, [step("1", 1.0), task("2", "1")], inside=within).run("Work")


def _without_planner() -> Run:
    world = World(**{"2": 1})
    plan = Plan.parse([step("1", 1.0), step("2", 2.0, "1"), step("3", 1.0, "2")])
    return execute(plan, ToolExecutor(world.tools), workers=Simulated(2), policy=Policy(retries=1))


def _repaired_plan() -> Run:
    wrong = [step("1", 1.0, "9"), step("2", 1.0)]
    return agent(World(), wrong, [step("1", 1.0), step("2", 1.0)]).run("Work")


def _invalid_replan() -> Run:
    policy = Policy(replan="failure", max_replans=1, max_repairs=1)
    return agent(World(**{"2": 9}), [step("1", 1.0), step("2", 1.0, "1")], [step("1", 1.0, "9")], policy=policy).run(
        "Work"
    )


def _falsy_results() -> Run:
    results = {str(number): result for number, result in enumerate(FALSY, 1)}
    return agent(World(results), [step(id, float(id), undo=UNDO) for id in results]).run("Work")


_MAKERS: Mapping[str, Callable[[], Run]] = {
    "two parallel steps": _parallel,
    "a step with two attempts": _attempts,
    "a run with a replan": _replan,
    "nested runs inside two parallel steps": _nested,
    "a run nested three deep, with two attempts": _three_deep,
    "a run that fails and is rolled back": _rolled_back,
    "a failing judge and an undo that fails": _failed_undo,
    "a failing planner": _failing_planner,
    "a nested run in step 2 of a nested run in step 2": _same_ids,
    "a plan run by `execute`, without a planner": _without_planner,
    "an invalid plan that is repaired": _repaired_plan,
    "a tool fails, and the new plan is invalid": _invalid_replan,
    "results such as 0, '' and None": _falsy_results,
}
