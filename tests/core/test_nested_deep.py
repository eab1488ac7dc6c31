"""A run on three levels does what the flat run does: calls, gates, resuming and rollbacks."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import Decision, PlannerExecutor, Policy, RulePlanner, Run, Simulated, Toolbox
from planexec_lite.capabilities.rollback import not_undone
from planexec_lite.run.events import Inside, RollbackStarted, StepDone, UndoDone, UndoStarted
from tests.capabilities.scaffold import Site, up
from tests.core.agents import agent_for
from tests.core.shapes import check_fold, check_replay, step
from tests.rounds import rounds

pytestmark = pytest.mark.wide

YES, NO = Decision("approve", by="Ada"), Decision("reject", by="Ada", comment="not now")


@dataclass(frozen=True)
class Case:
    """A flat plan by step id, in an executable order, and where its steps are in the hierarchy.

    `groups`: for each step, the outermost and the middle step around it. `slots`: of the workers at each level.
    """

    steps: dict[str, dict[str, Any]]
    groups: dict[str, tuple[str, str]]
    slots: tuple[int | None, int | None, int | None] = (None, None, None)
    policies: tuple[Policy, Policy, Policy] = (Policy(), Policy(), Policy())

    def flat(self, site: Site) -> PlannerExecutor:
        return agent_for(site.tools, [*self.steps.values()], policy=self.policies[0])

    def deep(self, site: Site) -> PlannerExecutor:
        """Return the agent whose planners divide the plan on three levels."""
        executor: Any = site.tools
        for level, cut in reversed([*enumerate((self._outer, self._middle, self._inner))]):
            workers, policy = Simulated(self.slots[level]), self.policies[level]
            executor = agent_for(executor, RulePlanner(cut), workers=workers, policy=policy)
        return executor  # type: ignore[no-any-return]

    def label(self, id: str) -> str:
        """Return the name of a step of the flat plan in the outermost run."""
        return "/".join((*self.groups[id], id))

    def left(self, bad: Collection[str]) -> dict[str, str]:
        """Return the steps that a rollback leaves, each with the label of the group around it that is left as a whole.

        A group is left if one that depends on it has a step in `bad`, whose undo fails or is rejected.
        """
        left = {}
        for id, around in self.groups.items():
            for level in (1, 0):
                behind = self._behind(around, level)
                if any(self.groups[other][level] in behind for other in bad):
                    left[id] = "/".join(around[: level + 1])
        return left

    def _behind(self, around: tuple[str, str], level: int) -> set[str]:
        """Return the groups beside one that depend on it, directly or indirectly."""
        beside = [id for id, other in self.groups.items() if other[:level] == around[:level]]
        behind = {around[level]}
        for id in beside:
            needs = {self.groups[other][level] for other in self.steps[id]["depends_on"] if other in beside}
            if needs & behind:
                behind.add(self.groups[id][level])
        return behind - {around[level]}

    def _outer(self, goal: str) -> Any:
        return self._cut(lambda id: self.groups[id][0], [*self.steps])

    def _middle(self, goal: str) -> Any:
        group = goal.split()[0]
        return self._cut(lambda id: self.groups[id][1], [id for id in self.steps if self.groups[id][0] == group])

    def _cut(self, part: Callable[[str], str], ids: Sequence[str]) -> Any:
        """Return steps that each contain several steps of the plan."""
        parts = dict.fromkeys(part(id) for id in ids)
        waits_for: dict[str, set[str]] = {one: set() for one in parts}
        for id in ids:
            waits_for[part(id)] |= {part(other) for other in self.steps[id]["depends_on"] if other in ids}
        return [step(one, None, *(waits_for[one] - {one}), description=one) for one in parts]

    def _inner(self, goal: str) -> Any:
        part = goal.split()[0]
        mine = {id: one for id, one in self.steps.items() if self.groups[id][1] == part}
        return [one | {"depends_on": [id for id in one["depends_on"] if id in mine]} for one in mine.values()]


@st.composite
def cases(draw: st.DrawFn, fails: bool = False, gates: bool = False, once: bool = True) -> Case:
    """Up to eight calls: some have an undo or a gate, some fail at first or, with `fails`, always."""
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
    """A site for one run. It has at-most-once tools only if the plan uses them, as a step without a tool can call any tool."""
    site = Site(stuck)
    if all(one["tool"] != "tell" for one in case.steps.values()):
        site.tools = Toolbox([tool for tool in site.tools if tool.effects != "once"])
    return site


def cut(site: Site, calls: int, after: bool, only: str = "") -> None:
    """Interrupt one call, the one after so many, right before or right after its tool runs."""
    left = [calls]

    def cutting(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def cut_off(**arguments: Any) -> Any:
            left[0] -= 1
            if left[0] == -1 and not after:
                raise KeyboardInterrupt
            result = function(**arguments)
            if left[0] == -1:
                raise KeyboardInterrupt
            return result

        return cut_off

    for tool in site.tools:
        if only in tool.name:
            tool.function = cutting(tool.function)


def told(run: Run, kind: type[Any]) -> list[str]:
    """The steps of the flat plan that have an event of this kind, in order."""
    steps: list[str] = []
    for event in run.events:
        for _ in range(2):
            event = event.event if isinstance(event, Inside) else None
        if isinstance(event, kind):
            steps.append(event.step)
    return steps


def to_the_end(
    agent: PlannerExecutor, run: Run, say: Callable[[str], Decision] = lambda gate: YES
) -> tuple[Run, list[str]]:
    """Answer all questions; return the ended run and what the questions were about."""
    asked = []
    while (question := run.question) is not None:
        asked.append(f"undo {question.step}" if question.kind == "undo" else str(question.step))
        run = agent.resume(run, say(asked[-1]))
    return run, asked


def leaves(run: Run, case: Case) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for outer, middle in dict.fromkeys(case.groups.values()):
        results |= run.inside(outer).inside(middle).results
    return results


FAILED = Policy(rollback="failed")


def check_order(site: Site, case: Case) -> None:
    """Each call came after the calls that it depends on."""
    made = [entry[1:] for entry in site.log if entry[0] in "+!"]
    for id in made:
        assert all(made.index(other) < made.index(id) for other in case.steps[id]["depends_on"] if other in made)


@given(cases(gates=True), st.integers(0, 8))
@rounds(100)
def test_a_deep_run_calls_and_asks_as_the_flat_one_and_a_rejection_ends_it(case: Case, no: int) -> None:
    flat, deep = site_of(case), site_of(case)
    one, asked_flat = to_the_end(case.flat(flat), case.flat(flat).run("build"))
    agent = case.deep(deep)
    run, asked = to_the_end(agent, agent.run("build"))
    assert sorted(asked) == sorted(asked_flat) == sorted(id for id, each in case.steps.items() if each["gate"])
    assert (one.status, run.status) == ("finished", "finished")
    assert (Counter(deep.log), deep.tried) == (Counter(flat.log), flat.tried)
    check_order(deep, case)
    looks = {id for id, each in case.steps.items() if each["tool"] == "look"}  # their results depend on the time
    results = leaves(run, case)
    assert results.keys() == case.steps.keys()
    assert all(one.results[id] == result for id, result in results.items() if id not in looks)
    if no < len(asked):
        site, seen = site_of(case), list[list[str]]()
        agent = case.deep(site)

        def say(gate: str) -> Decision:
            seen.append([*site.log])
            return YES if len(seen) <= no else NO

        run, asked = to_the_end(agent, agent.run("build"), say)
        assert (run.status, len(asked), site.log) == ("stopped", no + 1, seen[-1])
        assert "Ada rejected the plan: not now" in run.reason
    check_fold(run)


@given(cases(), st.integers(0, 12), st.booleans(), st.sampled_from(["done", "not done"]))
@rounds(120)
def test_after_an_interrupt_in_any_call_nothing_is_done_twice(case: Case, calls: int, after: bool, say: Any) -> None:
    plain, site = site_of(case), site_of(case)
    case.deep(plain).run("build")
    cut(site, calls, after)
    agent = case.deep(site)
    try:
        run = agent.run("build")
    except KeyboardInterrupt as stopped:
        left: Run = stopped.run  # type: ignore[attr-defined]
        done = {id for id, (group, _) in case.groups.items() if group in left.results}
        before = len(site.log)
        run = agent.resume(left)
        once = any(each["tool"] == "tell" for each in case.steps.values())
        assert run.status == ("paused" if once else "finished")
        if run.board.paused is not None:
            assert run.board.paused.reason == "doubt"
            assert len(site.log) == before
        run, _ = to_the_end(agent, run, lambda gate: Decision(say, by="Ada", result={} if say == "done" else None))
        assert not {entry[1:] for entry in site.log[before:]} & done
        assert set(site.standing) <= set(plain.standing)
        if not once or say == "not done":
            assert set(site.standing) == set(plain.standing)
    assert run.status == "finished"
    check_fold(run)


def check_rollback(
    run: Run, site: Site, case: Case, kept: Collection[str] = (), left: Mapping[str, str] = {}, *, in_order: bool = True
) -> None:
    """Each step with a result is undone once, the latest first over all levels; the others are named; the world agrees."""
    done = told(run, StepDone)
    wanted = {id for id in done if case.steps[id]["undo"] and id not in kept} - left.keys()
    changed = {id for id in done if case.steps[id]["tool"] != "look"}
    assert sorted(told(run, UndoDone)) == sorted(wanted - site.stuck)
    stays = changed - wanted | (wanted & site.stuck)
    named = {left.get(id, case.label(id)) for id in stays}  # what is left is left as a whole
    assert sorted(label for label, _ in not_undone(run.board)) == sorted(named)
    assert sorted(entry[1:] for entry in site.log if entry[0] == "-") == sorted(wanted)
    assert set(site.standing) == {id for id in stays if case.steps[id]["tool"] != "tell"}
    if in_order:
        ids = told(run, UndoStarted)
        for id in ids:
            assert all(ids.index(other) > ids.index(id) for other in case.steps[id]["depends_on"] if other in ids)


SOME = st.sets(st.sampled_from("12345678"), max_size=3)


@given(cases(fails=True), SOME, SOME, SOME)
@rounds(200)
def test_a_manual_rollback_asks_and_restores_the_world(
    case: Case, stuck: set[str], gated: set[str], refused: set[str]
) -> None:
    for id in gated & case.steps.keys():
        if case.steps[id]["undo"]:
            case.steps[id]["undo"] = case.steps[id]["undo"] | {"gate": True}
    site = site_of(case, " ".join(stuck))
    agent = case.deep(site)
    done = agent.run("build")
    wanted = {id for id in told(done, StepDone) if case.steps[id]["undo"]}
    bad = wanted & (stuck | (gated & refused))
    left = case.left(bad)
    run = agent.roll_back(done)
    run, asked = to_the_end(agent, run, lambda gate: NO if gate.removeprefix("undo ") in refused else YES)
    assert sorted(asked) == sorted(f"undo {id}" for id in wanted & gated - left.keys())
    assert run.status == ("partly rolled back" if bad else "rolled back")
    kept = wanted & gated & refused - left.keys()
    check_rollback(run, site, case, kept, left)
    refusals = {label for label, why in not_undone(run.board) if why == "Ada rejected it: not now"}
    assert refusals == {*map(case.label, kept)}
    check_fold(run)
    states = {group: state for group, state in run.board.state.items() if done.board.state[group] == "done"}
    for group, state in states.items():
        mine = [id for id, (outer, _) in case.groups.items() if outer == group and case.steps[id]["tool"] != "look"]
        back = all(case.steps[id]["undo"] and id not in stuck | kept | left.keys() for id in mine)
        assert state == ("undone" if mine and back else "done")
    again = agent.roll_back(run)
    assert {*told(again, UndoStarted)[len(told(run, UndoStarted)) :]} <= stuck


@given(cases(fails=True), st.tuples(*[st.sampled_from([Policy(), FAILED])] * 2))
@rounds(200)
def test_a_rollback_after_a_failure_restores_the_world(case: Case, inside: tuple[Policy, Policy]) -> None:
    site = site_of(case)
    agent = replace(case, policies=(FAILED, *inside)).deep(site)
    run = agent.run("build")
    check_fold(run)
    check_replay(run, FAILED)
    if run.status == "finished":
        return
    assert run.status in ("failed", "rolled back")
    begun = any(isinstance(event, RollbackStarted) for event in run.events)
    assert begun == (run.status == "rolled back")
    if begun:
        check_rollback(run, site, case, in_order=inside == (Policy(), Policy()))
    else:
        assert site.standing == []


@given(cases(once=False), st.integers(0, 8), st.booleans())
@rounds(100)
def test_an_interrupted_rollback_continues_and_undoes_the_rest(case: Case, calls: int, after: bool) -> None:
    site = site_of(case)
    agent = case.deep(site)
    done = agent.run("build")
    cut(site, calls, after, "take_down")
    site.tolerant = True  # without a journal, undos that were made before the interrupt are repeated
    try:
        run = agent.roll_back(done)
    except KeyboardInterrupt as stopped:
        run = agent.resume(stopped.run)  # type: ignore[attr-defined]
    stays = {id for id, one in case.steps.items() if one["tool"] == "put_up" and not one["undo"]}
    assert (run.status, set(site.standing)) == ("rolled back", stays)
    check_fold(run)
