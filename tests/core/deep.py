"""A flat plan, and the same plan as a hierarchy of three levels: a planner over a planner over a planner over tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from hypothesis import strategies as st

from planexec_lite import Decision, PlannerExecutor, Policy, RulePlanner, Run, Simulated, Toolbox, ToolExecutor
from planexec_lite.decisions import innermost
from planexec_lite.events import Inside
from planexec_lite.meter import ModelCall, charge
from tests.capabilities.scaffold import Site, up
from tests.core.shapes import step

YES, NO = Decision("approve", by="Ada"), Decision("reject", by="Ada", comment="not now")


@dataclass(frozen=True)
class Case:
    """A flat plan by step id, in an order in which it can be carried out, and where its steps are in the hierarchy.

    `groups`: of each step, the outermost step and the middle step that it is inside of. `slots`: of the workers at each level.
    """

    steps: dict[str, dict[str, Any]]
    groups: dict[str, tuple[str, str]]
    slots: tuple[int | None, int | None, int | None] = (None, None, None)
    asks_models: bool = False
    policies: tuple[Policy, Policy, Policy] = (Policy(), Policy(), Policy())

    def flat(self, site: Site, policy: Policy | None = None) -> PlannerExecutor:
        """The agent that is given the plan as it is."""
        planner = RulePlanner(lambda goal: [*self.steps.values()])
        return PlannerExecutor(
            planner, ToolExecutor(site.tools), workers=Simulated(), policy=policy or self.policies[0]
        )

    def deep(self, site: Site, **more: Any) -> PlannerExecutor:
        """The agent whose planners cut the plan in pieces, on three levels."""
        executor: Any = ToolExecutor(site.tools)
        for level, cut in reversed([*enumerate((self._outer, self._middle, self._inner))]):
            options = more if level == 0 else {}
            rule = self._asking(cut) if self.asks_models else cut
            workers, policy = Simulated(self.slots[level]), self.policies[level]
            executor = PlannerExecutor(RulePlanner(rule), executor, workers=workers, policy=policy, **options)
        agent: PlannerExecutor = executor
        return agent

    def label(self, id: str) -> str:
        """How a step of the flat plan is called in the outermost run."""
        return "/".join((*self.groups[id], id))

    def behind(self, id: str) -> set[str]:
        """The steps that come after a step in any case."""
        return {other for other, one in self.steps.items() if id in one["depends_on"]}

    def _asking(self, rule: Callable[[str], Any]) -> Callable[[str], Any]:
        def ask(goal: str) -> Any:
            charge(1.0, ModelCall("m", 10, 1))
            return rule(goal)

        return ask

    def _outer(self, goal: str) -> Any:
        return self._cut(lambda id: self.groups[id][0], [*self.steps])

    def _middle(self, goal: str) -> Any:
        group = goal.split()[0]
        return self._cut(lambda id: self.groups[id][1], [id for id in self.steps if self.groups[id][0] == group])

    def _cut(self, part: Callable[[str], str], ids: Sequence[str]) -> Any:
        """Steps that stand for several steps of the plan each."""
        parts = dict.fromkeys(part(id) for id in ids)
        waits_for = {
            one: {
                part(other) for id in ids if part(id) == one for other in self.steps[id]["depends_on"] if other in ids
            }
            for one in parts
        }
        return [step(one, None, *(waits_for[one] - {one}), description=one) for one in parts]

    def _inner(self, goal: str) -> Any:
        part = goal.split()[0]
        mine = {id: one for id, one in self.steps.items() if self.groups[id][1] == part}
        return [one | {"depends_on": [id for id in one["depends_on"] if id in mine]} for one in mine.values()]


@st.composite
def cases(draw: st.DrawFn, fails: bool = False, gates: bool = False, once: bool = True) -> Case:
    """Up to eight calls, cut twice: some have an undo, some fail at first or, with `fails`, for good; some ask a person."""
    ids = [str(n) for n in range(1, draw(st.integers(2, 8)) + 1)]
    steps, groups = {}, {}
    outer = middle = 0
    for place, id in enumerate(ids):
        after = draw(st.lists(st.sampled_from(ids[:place]), unique=True, max_size=2)) if place else []
        kind = draw(st.sampled_from(["up", "up", "up", "stays", "look", *["tell"] * once]))
        quarters = draw(st.integers(0, 4))
        works = not fails or draw(st.integers(0, 4)) > 0
        if kind in ("up", "stays"):
            one = up(id, *after, quarters=quarters, fails=draw(st.integers(0, 1)) if works else 9, retries=1)
            one |= {"undo": None} if kind == "stays" else {}
        elif kind == "look":
            one = step(id, "look", *after, fails=not works)
        else:
            one = step(id, "tell", *after, text=id)
        steps[id] = {"undo": None} | one | {"gate": gates and draw(st.integers(0, 2)) == 0}
        outer, middle = outer + draw(st.integers(0, 1)), middle + draw(st.integers(0, 1))
        groups[id] = (f"g{outer}", f"g{outer}m{middle}")
    slots = draw(st.tuples(*[st.sampled_from([None, 1, 2])] * 3))
    return Case(steps, groups, slots)


def site_of(case: Case, stuck: str = "") -> Site:
    """A world of its own for a run; it has what may be done once only where the plan does, since a step may call any tool."""
    site = Site(stuck)
    if all(one["tool"] != "tell" for one in case.steps.values()):
        site.tools = Toolbox([tool for tool in site.tools if tool.effects != "once"])
    return site


class Stop(KeyboardInterrupt):
    """Somebody pulls the plug."""


def cut(site: Site, calls: int, after: bool, only: str = "") -> None:
    """Pull the plug, once, in the call that comes after so many, right before its tool does anything, or right after."""
    left = [calls]

    def cutting(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def cut_off(**arguments: Any) -> Any:
            left[0] -= 1
            if left[0] == -1 and not after:
                raise Stop
            result = function(**arguments)
            if left[0] == -1:
                raise Stop
            return result

        return cut_off

    for tool in site.tools:
        if only in tool.name:
            tool.function = cutting(tool.function)


def told(run: Run, kind: type[Any]) -> Iterator[tuple[str, Any, float]]:
    """The events of a kind at whatever depth: the label of the step, the event, and when it was by the clock of `run`."""
    for event in run.events:
        path, happened = "", event
        while isinstance(happened, Inside):
            path, happened = f"{path}{happened.step}/", happened.event
        if isinstance(happened, kind):
            yield path + happened.step, happened, event.at


def to_the_end(
    agent: PlannerExecutor, run: Run, say: Callable[[str], Decision] = lambda gate: YES
) -> tuple[Run, list[str]]:
    """Answer whatever is asked until the run has ended; return that run, and what was asked about where it was asked."""
    asked = []
    while run.status == "paused":
        waits = innermost(run).board.paused
        assert waits is not None
        asked.append(waits.gate or waits.reason)
        run = agent.resume(run, say(asked[-1]))
    return run, asked


def leaves(run: Run, case: Case) -> dict[str, Any]:
    """The results of the steps of the flat plan, wherever they were done."""
    results: dict[str, Any] = {}
    for outer in dict.fromkeys(group for group, _ in case.groups.values()):
        for middle in dict.fromkeys(part for group, part in case.groups.values() if group == outer):
            results |= run.inside(outer).inside(middle).results
    return results
