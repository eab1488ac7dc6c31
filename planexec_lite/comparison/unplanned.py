"""The cases of which the sources say that planning does not pay; and what the last of them leaves open."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from planexec_lite.comparison.made import made
from planexec_lite.comparison.pace import client_of
from planexec_lite.comparison.planned import cited, report, researcher, written
from planexec_lite.comparison.sides import REACT, WIDE, Case, Side, World, both, measured, react, whole
from planexec_lite.loop.run import Run
from planexec_lite.policy import Policy
from planexec_lite.scenarios import bisect, clock, flights, research, trail
from planexec_lite.scenarios.flaky import flaky
from planexec_lite.scenarios.minds import Mind

_CHANCE = "which calls fail: by chance, from a seed"


def booking(decided: bool = False) -> Case:
    """A flight is booked in a conversation: each answer may be a surprise.

    Args:
        decided: the traveller has no surprises; then the verdict turns.
    """
    world, mind = partial(flights.World, decided), flights.BookingMind()
    surprises = f"how many surprises the traveller has: {0 if decided else 3}"
    return _shown("booking", world, mind, flights.GOAL, lambda one: one.pleased, surprises)


def bisection(broke: int = 13) -> Case:
    """The version that broke is looked for: each test decides which is the next.

    Args:
        broke: which version it is.
    """
    world, mind = partial(bisect.World, broke), bisect.BisectMind()
    return _shown(
        "bisection", world, mind, bisect.GOAL, lambda one: one.marked == broke, f"which version broke: {broke}"
    )


def exploration(length: int = 6) -> Case:
    """An order is followed from log to log: nobody knows how many there are.

    Args:
        length: how many there are.
    """
    world, mind = partial(trail.World, length), trail.TrailMind()
    return _shown("exploration", world, mind, trail.GOAL, lambda one: one.solved, f"how many logs there are: {length}")


def _shown(
    name: str,
    world: Callable[[], World],
    mind: Mind,
    goal: str,
    reached: Callable[[World], bool],
    scripted: str,
) -> Case:
    """Both sides in a world in which each result shows what comes next; the mind knows nothing of it beforehand."""
    return both(name, world, lambda _: mind, goal, reached, scripted=scripted)


def trivial() -> Case:
    """What time is it? A plan of five steps, and a model that reads the clock."""
    world = clock.World("09:41")
    run = whole(written("clock", "scenes"), world.tools, clock.GOAL)
    planning = Side("a plan of five steps", (run,), _told(run))
    world = clock.World("09:41")
    run = react(client_of(clock.ClockMind()), world.tools, clock.GOAL)
    return Case(
        "trivial", planning, Side(REACT, (run,), _told(run)), scripted="that the planner makes five steps of it"
    )


def one_step() -> Case:
    """What time is it? A plan of one step, and the call that it consists of."""
    world = clock.World("09:41")
    run = whole(client_of(clock.ClockMind()), world.tools, clock.GOAL)
    planning, run = Side("a plan of one step", (run,), _told(run)), clock.direct(clock.World("09:41"))
    return Case("one step", planning, Side("the call alone", (run,), _told(run)))


def _told(run: Run) -> bool:
    return bool(run.answer == "It is 09:41.")


def first() -> Case:
    """The report, for somebody who wants to see that something happens: when the first tool is called."""

    def began(side: Side) -> float:
        return min(call.began for run in side.runs for call in made(run))

    return measured(report(), "first", "seconds until the first call", began)


def unreliable() -> Case:
    """A booking without surprises, by tools of which every second call fails: after each failure the rest is planned again."""
    return _unreliable("unreliable", WIDE, "a plan, planned again")


def unreliable_with_retries() -> Case:
    """The same, and a step that may be repeated is tried again before the planner is asked."""
    policy = Policy(retries=10, replan="failure", max_replans=WIDE.max_replans)
    return _unreliable("retries", policy, "a plan with retries")


def _unreliable(name: str, policy: Policy, way: str) -> Case:
    return both(
        name,
        lambda: flights.World(decided=True),
        lambda world: flights.BookingMind(),
        flights.GOAL,
        lambda world: world.pleased,
        policy=policy,
        tools=lambda tools: flaky(tools, 0.5),
        ways=(way, REACT),
        scripted=_CHANCE,
    )


def unreliable_in_parallel() -> Case:
    """The report in three branches, by tools of which every second call fails: one new plan mends several failures."""
    return both(
        "parallel",
        research.World,
        researcher,
        research.GOAL,
        cited,
        tools=lambda tools: flaky(tools, 0.5),
        ways=("a plan, planned again", REACT),
        scripted=_CHANCE,
    )
