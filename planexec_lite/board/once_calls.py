"""The calls that may be made once, and were made or may have been."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import NamedTuple

from planexec_lite.board.part import Part
from planexec_lite.board.step_table import StepTable
from planexec_lite.plan import Step
from planexec_lite.tools import Effects


class Spent(NamedTuple):
    """A call that may be made once and was made, or, where it is not `sure`, may have been.

    `step` is the step as it was: a later plan may give its id to another. `since` is the number of the plan that brought
    it, `plan` the number of the plan in which the call was made, `approvals` how many plans had been approved before.
    """

    step: Step
    since: int
    plan: int
    approvals: int
    sure: bool


@dataclass(slots=True)
class OnceCalls(Part):
    """What was spent, whatever became of its step."""

    effects: dict[str, Effects] = field(default_factory=dict)  # of the tools, by name
    destructive: tuple[str, ...] = ()  # tools that may delete or overwrite something
    spent: list[Spent] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)  # of the latest attempt, by step: see `StepStarted`
    running: set[str] = field(default_factory=set)  # the keys of the calls that run
    done_up_to: dict[str, int] = field(
        default_factory=dict
    )  # by call: each occurrence below this number is known to be done
    done_above: dict[str, frozenset[int]] = field(default_factory=dict)  # and those above it

    def runs_once(self, step: Step) -> bool:
        """Whether the step must run at most once."""
        return self._is_marked(step) and step.effects_with(self.effects) == "once"

    def needs_approval(self, step: Step) -> bool:
        """Whether an approval must cover this very step: it must run at most once, or it may delete or overwrite something."""
        destroys = step.tool in self.destructive if step.tool else bool(self.destructive)
        return destroys or self.runs_once(step)

    def repeatable(self, step: Step) -> bool:
        """Whether running the step twice does no harm, as far as its tool declares its effects."""
        return not self._is_marked(step) or step.effects_with(self.effects) in ("none", "idempotent")

    def changes_world(self, step: Step) -> bool:
        """Whether the step may do anything that lasts."""
        return self._is_marked(step) and step.effects_with(self.effects) != "none"

    def _is_marked(self, step: Step) -> bool:
        """Whether the step, or any tool, has effects: most runs have no such call, and look no further."""
        return bool(self.effects or step.effects)

    def know_done(self, id: str) -> None:
        """The latest call of this step is known to be done: the same call again is another one."""
        if id not in self.keys:
            return
        call, _, number = self.keys[id].partition("-")
        lowest, done = self.done_up_to.get(call, 0), {*self.done_above.get(call, ()), int(number)}
        while lowest in done:
            done.remove(lowest)
            lowest += 1
        self.done_up_to[call], self.done_above[call] = lowest, frozenset(done)

    def is_done(self, key: str) -> bool:
        """Whether the call with this key is known to be done."""
        call, _, number = key.partition("-")
        return int(number) < self.done_up_to.get(call, 0) or int(number) in self.done_above.get(call, ())

    def begin(self, id: str, key: str) -> None:
        """The step starts its call."""
        self.keys[id] = key
        self.running.add(key)

    def next_key(self, call: str, waiting: Collection[str]) -> str:
        """The key of the lowest occurrence of `call` that is not known to be done, does not run, and is not among `waiting`."""
        number, above = self.done_up_to.get(call, 0), self.done_above.get(call, ())
        while (key := f"{call}-{number}") in self.running or key in waiting or number in above:
            number += 1
        return key

    def spend(self, id: str, table: StepTable, approvals: int, *, sure: bool) -> None:
        """The step's call was made, or, where that is not `sure`, may have been: where a repeat does harm, it is kept."""
        step = table.steps[id]
        if self.runs_once(step):
            self.spent.append(Spent(step, table.brought_by(id), table.plans, approvals, sure))

    def learn(self, id: str, attempts_in_doubt: int, *, made: bool) -> None:
        """A call that was given up has come to its end.

        It came to nothing only if it is clear which one it was: several steps in a row may have had the id.
        """
        if made:
            self.spent = [one._replace(sure=True) if one.step.id == id else one for one in self.spent]
        elif attempts_in_doubt == 1:
            self.spent = [one for one in self.spent if one.sure or one.step.id != id]

    def before(self, step: Step, plan: int, table: StepTable) -> list[Spent]:
        """The calls that were made, or may have been, before plan number `plan` said that `step` is to be done.

        What a plan said with the step from the first is no repeat; but the same step again, in a later plan, is one.
        """
        # a step that is not on the table belongs to the plan that is being checked
        since = table.brought_by(step.id) if table.steps.get(step.id) == step else plan
        return [one for one in self.spent if one.since < since or (one.step.id == step.id and one.plan < plan)]
