"""The world of the puzzles: each job takes its time, needs what other jobs made, and may take one of few ovens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from exercises.puzzles.notation import Line
from planexec_lab.views.drawing.wording import listed
from planexec_lite import Plan, Run, Tool, Toolbox


class Workshop:
    """A workshop in which nothing is made yet.

    Args:
        seconds: how long each job takes.
        needs: the jobs that have to be over before a job begins, in one text.
        baked: the jobs that take place in an oven, in one text.
        ovens: how many ovens there are.
        breaks: a job that fails.
    """

    def __init__(
        self, seconds: Mapping[str, float], needs: Mapping[str, str], baked: str, ovens: int, breaks: str
    ) -> None:
        self.seconds, self.needs, self.baked, self.ovens, self.breaks = seconds, needs, baked.split(), ovens, breaks
        self.made: list[str] = []
        self._now = 0.0
        self._over: dict[str, float] = {}  # when each job is over

    def watch(self, run: Run) -> None:
        """Look at the clock of a run, before anything is started."""
        self._now = run.board.now

    @cached_property
    def tools(self) -> Toolbox:
        """A pair of hands, and an oven."""
        return Toolbox(
            Tool(tool, latency=lambda job: self.seconds[job], effects="none") for tool in (self.hands, self.oven)
        )

    def plan(self, lines: Sequence[Line]) -> Plan:
        """The plan that some lines stand for. Raises `ValueError` for a job that is not done here, or takes another time."""
        for line in lines:
            if self.seconds.get(line.job) != line.seconds:
                known = ", ".join(f"{job} {seconds:g} s" for job, seconds in self.seconds.items())
                raise ValueError(f"step {line.id}: {line.job} {line.seconds:g} s is no job here; there are: {known}")
        return Plan.parse([
            {"id": line.id, "description": line.job, "tool": "oven" if line.job in self.baked else "hands",
             "params": {"job": line.job}, "depends_on": line.after}
            for line in lines
        ])  # fmt: skip

    def hands(self, job: str) -> str:
        """Carry out a job by hand."""
        began = f"{job} began at {self._now:g} s"
        if job == self.breaks:
            raise RuntimeError(f"{began} and broke off")
        for other in self.needs.get(job, "").split():
            if other not in self._over:
                raise RuntimeError(f"{began} and needs {other}, which nobody has begun")
            if self._over[other] > self._now:
                raise RuntimeError(f"{began} and needs {other}, which is over at {self._over[other]:g} s")
        self._over[job] = self._now + self.seconds[job]
        self.made.append(job)
        return job

    def oven(self, job: str) -> str:
        """Carry out a job in an oven."""
        inside = [other for other in self.baked if self._over.get(other, 0.0) > self._now]
        if len(inside) >= self.ovens:
            full = "the oven holds" if self.ovens == 1 else "the ovens hold"
            raise RuntimeError(f"{job} began at {self._now:g} s, and {full} {listed(inside)}")
        return self.hands(job)
