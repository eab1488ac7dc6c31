"""Watching: a picture that follows the run sees every moment, in order, and changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.events import Event, PlanStarted, Reviewed, StepDone, StepProposed, StepStarted
from planexec_lite.workers import Workers
from tests.core.ending import to_its_end
from tests.core.shapes import END, Job, Portions, Workshop, Writing, check_fold, jobs, plan_of, step
from tests.rounds import rounds


class Watcher:
    """Keeps what it was shown: the events of each moment, and what had really been done by then."""

    def __init__(self, done: list[int]) -> None:
        self.done = done
        self.seen: list[list[Event]] = []
        self.by_then: list[int] = []

    def __call__(self, run: Run) -> None:
        assert Board.of(run.events) == run.board
        self.seen.append(list(run.events))
        self.by_then.append(len(self.done))

    def check(self, run: Run) -> None:
        """Each moment adds to the one before, and the last one is the end."""
        for before, after in zip(self.seen, self.seen[1:], strict=False):
            assert after[: len(before)] == before
            assert len(after) > len(before), "shown twice, though nothing was recorded"
        assert self.seen[-1] == run.events
        assert not any(moment[-1:] == [] for moment in self.seen)


class World:
    def __init__(self, *broken: int) -> None:
        self.broken, self.done = set(broken), list[int]()

    @property
    def executor(self) -> ToolExecutor:
        @tool(latency=lambda n: float(n % 5), effects="none")
        def act(n: int) -> int:
            """Do it."""
            self.done.append(n)
            if n in self.broken:
                raise RuntimeError("broken")
            return n

        return ToolExecutor(Toolbox([act]))


PLAN = [step("1", "act", n=1), step("2", "act", "1", n=2), step("3", "act", n=4), step("4", "act", "3", "2", n=5)]


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(params=["inline", "simulated", "simulated 1", "threads"])
def workers(request: pytest.FixtureRequest, threads: ThreadPoolExecutor) -> Workers:
    kinds: dict[str, Workers] = {"inline": Inline(), "simulated": Simulated(), "simulated 1": Simulated(1)}
    return kinds.get(request.param) or Pool(threads)


def test_a_watcher_sees_every_moment_in_order(workers: Workers) -> None:
    world = World()
    watcher = Watcher(world.done)
    run = to_its_end(lambda: execute(Plan.parse(PLAN), world.executor, workers=workers, watch=watcher))
    watcher.check(run)
    check_fold(run)
    assert len(watcher.seen) >= 4


def test_a_watcher_sees_a_step_started_before_it_begins() -> None:
    for workers in (Inline(), Simulated(), Simulated(1)):
        world = World()
        watcher = Watcher(world.done)
        execute(Plan.parse(PLAN), world.executor, workers=workers, watch=watcher)
        for moment, done in zip(watcher.seen, watcher.by_then, strict=True):
            started = [event for event in moment if isinstance(event, StepStarted)]
            ended = [event for event in moment if isinstance(event, StepDone)]
            assert len(ended) <= done <= len(started)
        first = next(n for n, moment in enumerate(watcher.seen) if any(isinstance(e, StepStarted) for e in moment))
        assert watcher.by_then[first] == 0


def test_a_watched_run_is_the_same_run() -> None:
    plain = execute(Plan.parse(PLAN), World().executor, workers=Simulated(2))
    world = World()
    watched = execute(Plan.parse(PLAN), world.executor, workers=Simulated(2), watch=Watcher(world.done))
    assert watched.events == plain.events


def test_planning_approving_and_replanning_are_seen_too(workers: Workers) -> None:
    world = World(2)
    watcher = Watcher(world.done)
    planner = Portions(PLAN, [step("2b", "act", "1", n=7)])
    agent = PlannerExecutor(
        planner,
        world.executor,
        ScriptedReviewer(["approve", "approve"]),
        workers=workers,
        policy=Policy(replan="failure"),
        watch=watcher,
    )
    run = to_its_end(lambda: agent.run("act"))
    watcher.check(run)
    last = [moment[-1] for moment in watcher.seen]
    assert any(isinstance(event, PlanStarted) for event in last), "the planner at work is a moment of its own"
    assert sum(isinstance(event, Reviewed) for event in run.events) == 2
    assert run.status == "finished"


def test_a_run_that_pauses_and_goes_on_is_watched_in_both_parts() -> None:
    world = World()
    watcher = Watcher(world.done)
    planner = Portions([step("1", "act", n=1), step("2", "act", "1", n=2, gate=True)])
    agent = PlannerExecutor(planner, world.executor, AskPerson(), workers=Simulated(), watch=watcher)
    run = agent.run("act")
    watcher.check(run)
    for _ in range(2):
        assert run.status == "paused"
        run = agent.resume(run, Decision("approve"))
        watcher.check(run)
    assert run.status == "finished"
    told = agent.tell(agent.run("act"), "news")
    assert watcher.seen[-1] == told.events


def test_the_steps_of_a_streamed_plan_are_seen_as_they_arrive() -> None:
    world = World()
    watcher = Watcher(world.done)
    planner = Writing([1.0, step("1", "act", n=1), 1.0, step("2", "act", n=2), 1.0, END])
    agent = PlannerExecutor(planner, world.executor, workers=Simulated(), watch=watcher)
    run = agent.run("act")
    watcher.check(run)
    counts = [sum(isinstance(event, StepProposed) for event in moment) for moment in watcher.seen]
    assert sorted(set(counts)) == [0, 1, 2]


def test_a_watcher_that_raises_ends_the_run_and_leaves_nothing_behind() -> None:
    world = World()

    def bad(run: Run) -> None:
        if run.results:
            raise ZeroDivisionError

    for workers in (Inline(), Simulated(1)):
        with pytest.raises(ZeroDivisionError):
            execute(Plan.parse(PLAN), world.executor, workers=workers, watch=bad)
    with ThreadPoolExecutor(1) as pool:
        world.done.clear()
        many = Plan.parse([step(str(n), "act", n=n) for n in range(50)])
        with pytest.raises(ZeroDivisionError):
            execute(many, world.executor, workers=Pool(pool, slots=2), watch=bad)
        pool.shutdown()
    assert len(world.done) < 10


@rounds(60)
@given(jobs(most=8), st.sampled_from([1, 2, None]), st.sampled_from(["skip", "stop"]))
def test_whatever_happens_a_watcher_sees_it(made: list[Job], slots: int | None, failure: Any) -> None:
    watcher = Watcher([])
    run = execute(
        plan_of(made),
        ToolExecutor(Workshop().toolbox),
        workers=Simulated(slots),
        policy=Policy(failure=failure),
        watch=watcher,
    )
    watcher.check(run)
