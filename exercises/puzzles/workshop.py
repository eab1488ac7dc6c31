"""The world of the puzzles: each job takes time, needs other jobs to be done, and might need one of few ovens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from planexec_lab.views.drawing.wording import listed
from planexec_lite import Plan, Run, Tool, Toolbox

from exercises.puzzles.notation import Line


class Workshop:
    """A workshop, with no job done yet.

    Args:
        seconds: the duration of each job.
        needs: for each job, the jobs that must end before it starts, in one string.
        baked: the jobs that need an oven, in one string.
        ovens: the number of ovens.
        breaks: a job that fails.
    """

    def __init__(
        self, seconds: Mapping[str, float], needs: Mapping[str, str], baked: str, ovens: int, breaks: str
    ) -> None:
        self.seconds, self.needs, self.baked, self.ovens, self.breaks = seconds, needs, baked.split(), ovens, breaks
        self.made: list[str] = []
        self._now = 0.0
        self._over: dict[str, float] = {}  # the time when each job ends

    def watch(self, run: Run) -> None:
        """Read the clock of a run before each start."""
        self._now = run.board.now

    @cached_property
    def tools(self) -> Toolbox:
        """The two tools: hands and oven."""
        return Toolbox(
            Tool(tool, latency=lambda job: self.seconds[job], effects="none") for tool in (self.hands, self.oven)
        )

    def plan(self, lines: Sequence[Line]) -> Plan:
        """Return the plan for these lines. Raises `ValueError` for an unknown job or a wrong duration."""
        for line in lines:
            if self.seconds.get(line.job) != line.seconds:
                known = ", ".join(f"{job} {seconds:g} s" for job, seconds in self.seconds.items())
                raise ValueError(
                    f"step {line.id}: {line.job} {line.seconds:g} s is not a job of this puzzle; its jobs are: {known}"
                )
        return Plan.parse([
            {"id": line.id, "description": line.job, "tool": "oven" if line.job in self.baked else "hands",
             "params": {"job": line.job}, "depends_on": line.after}
            for line in lines
        ])  # fmt: skip

    def hands(self, job: str) -> str:
        """Do a job by hand."""
        began = f"{job} started at {self._now:g} s"
        if job == self.breaks:
            raise RuntimeError(f"{began} and failed")
        for other in self.needs.get(job, "").split():
            if other not in self._over:
                raise RuntimeError(f"{began} but needs {other}, which has not started")
            if self._over[other] > self._now:
                raise RuntimeError(f"{began} but needs {other}, which ends at {self._over[other]:g} s")
        self._over[job] = self._now + self.seconds[job]
        self.made.append(job)
        return job

    def oven(self, job: str) -> str:
        """Do a job in an oven."""
        inside = [other for other in self.baked if self._over.get(other, 0.0) > self._now]
        if len(inside) >= self.ovens:
            full = "the oven is busy with" if self.ovens == 1 else "the ovens are busy with"
            raise RuntimeError(f"{job} started at {self._now:g} s, but {full} {listed(inside)}")
        return self.hands(job)
