"""Many runs of one plan on shared slots, on the virtual clock."""

from collections.abc import Mapping, Sequence

from planexec_lite.agent import execute
from planexec_lite.plan import Plan, Step
from planexec_lite.roles.executors import ToolExecutor
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox, tool
from planexec_lite.workers import Simulated


def simulated(plan: Plan, seconds: Mapping[str, float], arrivals: Sequence[float], slots: int) -> Run:
    """Return one run that contains a run of `plan` for each arrival, in this order, so that the oldest run comes first.

    The first step of each run lasts until the run arrives. The other steps take their `seconds`, and use a slot.
    """

    @tool(latency=lambda at: at, effects="none")
    def arrive(at: float) -> None:
        """Arrive at this second."""

    @tool(latency=lambda step: seconds[step], effects="none", uses="slot")
    def work(step: str) -> None:
        """Do a step."""

    steps = []
    for run, at in enumerate(arrivals):
        steps.append(Step(id=f"{run}-arrives", tool="arrive", params={"at": at}))
        for id, before in plan.graph.items():
            after = tuple(f"{run}-{other}" for other in before or ("arrives",))
            steps.append(Step(id=f"{run}-{id}", tool="work", params={"step": id}, depends_on=after))
    workers = Simulated(limits={"slot": slots})
    return execute(Plan(steps=tuple(steps)), ToolExecutor(Toolbox([arrive, work])), workers=workers)
