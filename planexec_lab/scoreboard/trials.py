"""The harness: an agent works on a task in a fresh world, on a scripted model and a virtual clock, and its run is counted.

`trial` is one run of any agent. `row` and `rows` let the variations try the tasks; `advice_cases` lets two ways of
working try the same task.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from planexec_lab.scoreboard.assumptions import SLOTS
from planexec_lab.scoreboard.faults import NO_FAULTS, Faults
from planexec_lab.scoreboard.figures import Figures, figures
from planexec_lab.scoreboard.scripted_model import model
from planexec_lab.scoreboard.tasks import Task, tasks
from planexec_lab.variations import VARIATIONS
from planexec_lite.agent import PlannerExecutor
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox
from planexec_lite.workers import Simulated

Client = Callable[[Task, Toolbox], Any]
"""Makes the client of a task's model."""
Agent = Callable[[Any, Toolbox], PlannerExecutor]
"""Makes an agent of a client and a toolbox."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run of an agent on a task, what it came to, and whether the goal is reached, looked up in the world.

    Args:
        variation: the name of the agent.
        task: the name of the task.
        figures: the counts of the run.
        reached: whether the goal is reached.
        run: the run.
        replan: the agent's setting, which a run without a failure doesn't show.
    """

    variation: str
    task: str
    figures: Figures
    reached: bool
    run: Run
    replan: str = "never"


def trial(name: str, task: Task, agent: Agent, client: Client, faults: Faults = NO_FAULTS) -> Row:
    """Let an agent carry out a task in a fresh world, and count.

    Args:
        name: the name of the agent.
        task: the goal, its world and its check.
        agent: makes the agent.
        client: makes the client of its model, and gets the tools without faults.
        faults: the injected faults.
    """
    world = task.world()
    tools = faults.tools(world.tools, task.plan)
    with client(task, world.tools) as connected:
        worker = agent(connected, tools)
        run = worker.run(task.goal)
    return Row(name, task.name, figures(run), task.reached(world, run), run, worker.policy.replan)


def row(variation: str, task: str, faults: Faults | None = None) -> Row:
    """Carry out a task with a variation, on the scripted model, and count. A goal is only reached by a finished run."""
    one = trial(
        variation,
        tasks()[task],
        lambda client, tools: VARIATIONS[variation](client, tools, Simulated(SLOTS)),
        lambda known, tools: model(known, faults).client(),
        faults or NO_FAULTS,
    )
    return replace(one, reached=one.reached and one.run.status == "finished")


def rows(of: Iterable[str] = VARIATIONS, on: Iterable[str] | None = None) -> Iterator[Row]:
    """A row for each variation and each task, without faults."""
    on = list(tasks() if on is None else on)
    return (row(variation, task) for variation in of for task in on)
