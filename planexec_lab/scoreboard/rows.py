"""The scoreboard's rows: a variation, a task, faults, and the figures of the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from planexec_lab.scoreboard.assumptions import SLOTS
from planexec_lab.scoreboard.faults import Faults, Kind
from planexec_lab.scoreboard.measure import Figures, figures
from planexec_lab.scoreboard.script import model
from planexec_lab.scoreboard.tasks import tasks
from planexec_lab.variations import VARIATIONS
from planexec_lite.run import Run
from planexec_lite.workers import Simulated


@dataclass(frozen=True, slots=True)
class Row:
    """A run of a variation on a task, what it came to, and whether the goal is reached, looked up in the world.

    `replan` is the agent's setting, which a run without a failure doesn't show.
    """

    variation: str
    task: str
    figures: Figures
    reached: bool
    run: Run
    faults: Faults
    replan: str


def row(variation: str, task: str, faults: Faults | None = None) -> Row:
    """Carry out a task with a variation, on the scripted model, and count."""
    one, faults = tasks()[task], faults or Faults()
    world = one.world()
    with model(one, faults).client() as client:
        tools = faults.tools(world.tools, one.plan)
        agent = VARIATIONS[variation](client, tools, Simulated(SLOTS))
        run = agent.run(one.goal)
    reached = run.status == "finished" and one.reached(world, run)
    return Row(variation, task, figures(run), reached, run, faults, agent.policy.replan)


def rows(of: Iterable[str] = VARIATIONS, on: Iterable[str] | None = None) -> Iterator[Row]:
    """A row for each variation and each task, without faults."""
    on = list(tasks() if on is None else on)
    return (row(variation, task) for variation in of for task in on)


def sweep(task: str, of: Iterable[str], kinds: Sequence[Kind], rates: Sequence[float], seeds: int) -> Iterator[Row]:
    """A row for each variation under each kind of fault at each rate, once a seed."""
    for variation in of:
        for kind in kinds:
            for rate in rates:
                yield from (row(variation, task, Faults(kind, rate, seed)) for seed in range(seeds))
