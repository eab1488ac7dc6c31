"""Watching: a picture that follows the run sees every moment, in order, and changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    AskPerson,
    Board,
    Decision,
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.events import Event, Reviewed, StepDone, StepFailed, StepProposed, StepStarted
from planexec_lite.workers import Workers
from tests.core.ending import to_its_end
from tests.core.shapes import END, Job, Portions, Workshop, Writing, jobs, plan_of, step
from tests.rounds import rounds


class Watcher:
    """Keeps the events of each moment that it was shown."""

    def __init__(self) -> None:
        self.seen: list[list[Event]] = []

    def __call__(self, run: Run) -> None:
        assert Board.of(run.events) == run.board
        self.seen.append(list(run.events))

    def check(self, run: Run) -> Run:
        """Each moment adds to the one before, and the last one is the end."""
        for before, after in pairwise(self.seen):
            assert after[: len(before)] == before
            assert len(after) > len(before), "shown twice, though nothing was recorded"
        assert self.seen[-1] == run.events
        return run


class World:
    """A tool that fails for what is broken, and the numbers of its calls."""

    def __init__(self, *broken: int) -> None:
        self.done = list[int]()

        def act(n: int) -> int:
            """Do it."""
            self.done.append(n)
            if n in broken:
                raise RuntimeError("broken")
            return n

        self.executor = ToolExecutor(Toolbox([Tool(act, effects="none", latency=lambda n: float(n % 5))]))


PLAN = [step("1", "act", n=1), step("2", "act", "1", n=2), step("3", "act", n=4), step("4", "act", "3", "2", n=5)]
KINDS: dict[str, Workers] = {"inline": Inline(), "simulated": Simulated(), "one slot": Simulated(1)}


@pytest.mark.parametrize("kind", [*KINDS, "threads"])
def test_a_watcher_sees_planning_approving_and_replanning_in_order(kind: str) -> None:
    watcher, planner = Watcher(), Portions(PLAN, [step("2b", "act", "1", n=7)])
    reviewer, policy = ScriptedReviewer(["approve", "approve"]), Policy(replan="failure")
    with ThreadPoolExecutor(2) as threads:
        workers = KINDS.get(kind) or Pool(threads)
        agent = PlannerExecutor(planner, World(2).executor, reviewer, workers=workers, policy=policy, watch=watcher)
        run = watcher.check(to_its_end(lambda: agent.run("act")))
    last = [type(moment[-1]).__name__ for moment in watcher.seen]
    assert {"PlanStarted", "StepStarted"} <= {*last}, "the planner at work is a moment of its own"
    assert sum(isinstance(event, Reviewed) for event in run.events) == 2
    assert run.status == "finished"


def test_a_run_that_pauses_and_goes_on_is_watched_in_both_parts() -> None:
    watcher, planner = Watcher(), Portions([step("1", "act", n=1), step("2", "act", "1", n=2, gate=True)])
    agent = PlannerExecutor(planner, World().executor, AskPerson(), workers=Simulated(), watch=watcher)
    run = watcher.check(agent.run("act"))
    for _ in range(2):
        assert run.status == "paused"
        run = watcher.check(agent.resume(run, Decision("approve")))
    assert run.status == "finished"
    run = agent.tell(agent.run("act"), "news")
    assert watcher.seen[-1] == run.events


def test_the_steps_of_a_streamed_plan_are_seen_as_they_arrive() -> None:
    watcher, planner = Watcher(), Writing([1.0, step("1", "act", n=1), 1.0, step("2", "act", n=2), 1.0, END])
    watcher.check(PlannerExecutor(planner, World().executor, workers=Simulated(), watch=watcher).run("act"))
    counts = {sum(isinstance(event, StepProposed) for event in moment) for moment in watcher.seen}
    assert counts == {0, 1, 2}


def test_a_watcher_that_raises_ends_the_run_and_leaves_nothing_behind() -> None:
    def bad(run: Run) -> None:
        if run.results:
            raise ZeroDivisionError

    world, many = World(), Plan.parse([step(str(n), "act", n=n) for n in range(50)])
    with ThreadPoolExecutor(1) as threads:
        for workers in (Inline(), Simulated(1), Pool(threads, slots=2)):
            with pytest.raises(ZeroDivisionError):
                execute(many, world.executor, workers=workers, watch=bad)
        threads.shutdown()
    assert len(world.done) < 10


@rounds(60)
@given(jobs(most=8), st.sampled_from([1, 2, None]), st.sampled_from(["skip", "stop"]))
def test_whatever_happens_a_watcher_sees_it_before_it_begins(made: list[Job], slots: int | None, failure: Any) -> None:
    workshop, watcher = Workshop(), Watcher()

    def watch(run: Run) -> None:
        watcher(run)
        started = sum(isinstance(event, StepStarted) for event in run.events)
        ended = sum(isinstance(event, StepDone | StepFailed) for event in run.events)
        assert ended <= sum(workshop.calls.values()) <= started

    setting: Any = {"workers": Simulated(slots), "policy": Policy(failure=failure)}
    run = watcher.check(execute(plan_of(made), ToolExecutor(workshop.toolbox), watch=watch, **setting))
    assert run.events == execute(plan_of(made), ToolExecutor(Workshop().toolbox), **setting).events
