"""Is a plan fit to run? Every check in one place; each reports all that it finds, and none of them stops another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from planexec_lite import references
from planexec_lite.plan import graph
from planexec_lite.plan.problems import Problem
from planexec_lite.tools import Toolbox, suggest

if TYPE_CHECKING:
    from planexec_lite.plan.model import Plan, Step

_FIT: WeakKeyDictionary[Toolbox, WeakValueDictionary[int, Plan]] = WeakKeyDictionary()


def problems(plan: Plan, toolbox: Toolbox | None, done: Collection[str], max_steps: int | None) -> list[Problem]:
    """Return every fault of `plan`, in the order of its steps, with those of the whole plan first.

    Plans and toolboxes do not change, so a plan that was found fit for a toolbox is not checked again.
    """
    lasting = toolbox is not None and not done and max_steps is None
    fit = _FIT.setdefault(toolbox, WeakValueDictionary()) if toolbox is not None else WeakValueDictionary()
    if lasting and fit.get(id(plan)) is plan:
        return []
    found = _all_problems(plan, toolbox, done, max_steps)
    if lasting and not found:
        fit[id(plan)] = plan
    return found


def _all_problems(plan: Plan, toolbox: Toolbox | None, done: Collection[str], max_steps: int | None) -> list[Problem]:
    done = frozenset(done)
    ids = dict.fromkeys([*plan.graph, *sorted(done)])
    found = [*_whole_plan(plan, done, max_steps), *_cycles(plan)]
    for step in plan.steps:
        # most steps are fit: a quick look says so, and the faults of the others are put into words
        waits_for, params, tool = step.depends_on, step.params, step.tool
        for other in waits_for:
            if other not in ids or other == step.id:
                found += _dependencies(step, ids)
                break
        for reference in references.find(params):
            if reference.step not in waits_for or reference.step not in ids:
                found += _references(step, references.find(params), ids)
                break
        if tool is not None and toolbox is not None and (tool not in toolbox or toolbox[tool].faults(params)):
            found += _arguments(step.id, tool, params, toolbox)
        if step.undo is not None:
            found += _call(step.id, step.undo, {step.id, *step.depends_on}, "its undo", toolbox)
    for call in plan.rollback:
        found += _call(None, call, ids, "the rollback", toolbox)
    found += _loose_references(None, plan.answer, ids, "the answer")
    return found


def _whole_plan(plan: Plan, done: Collection[str], max_steps: int | None) -> Iterator[Problem]:
    if not plan.steps and not (plan.complete and done):
        yield Problem("empty_plan", None, "the plan has no steps", "write at least one step")
    if max_steps is not None and len(plan.steps) > max_steps:
        message = f"the plan has {len(plan.steps)} steps; at most {max_steps} are allowed"
        yield Problem("too_many_steps", None, message, "join steps, or plan a part and set complete to false")
    if len(plan.graph) == len(plan.steps) and not done:
        return
    for id, times in Counter(step.id for step in plan.steps).items():
        if times > 1:
            yield Problem("duplicate_id", id, f"{times} steps have the id {id!r}", "give each step an id of its own")
        if id in done:
            hint = f"refer to its result as {{step_{id}_result}}, and give new work a new id, such as '{id}b'"
            yield Problem("done_already", id, f"step {id} is done already; it is not done again", hint)


def _cycles(plan: Plan) -> Iterator[Problem]:
    if graph.in_order(plan.graph):
        return
    without_self = {id: [other for other in waits_for if other != id] for id, waits_for in plan.graph.items()}
    for cycle in graph.cycles(without_self):
        pairs = [f"{id} waits for {other}" for id, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        circle = ", ".join(pairs if len(pairs) <= 8 else [*pairs[:4], "…", *pairs[-3:]])
        yield Problem("cycle", cycle[0], f"{circle}: none of them can ever start", "drop one of these dependencies")


def _dependencies(step: Step, ids: Collection[str]) -> Iterator[Problem]:
    for other in step.depends_on:
        if other == step.id:
            yield Problem("self_dependency", step.id, "the step waits for itself", f"drop {other!r} from depends_on")
        elif other not in ids:
            hint = f"add step {other!r}, or drop it from depends_on"
            yield Problem(
                "unknown_dependency",
                step.id,
                f"it waits for step {other!r}, which does not exist{suggest(other, ids)}",
                hint,
            )


def _references(step: Step, named: list[references.Reference], ids: Collection[str]) -> Iterator[Problem]:
    for reference in named:
        if reference.step not in ids:
            yield _dangling(step.id, reference, "it", ids)
        elif reference.step not in step.depends_on:
            message = f"it uses {reference}, but does not wait for step {reference.step}"
            yield Problem("indirect_reference", step.id, message, f"add {reference.step!r} to depends_on")


def _arguments(where: str | None, tool: str, params: Mapping[str, Any], toolbox: Toolbox) -> Iterator[Problem]:
    if tool not in toolbox:
        hint = "the tools are: " + ", ".join(toolbox.names)
        yield Problem("unknown_tool", where, f"there is no tool {tool!r}{suggest(tool, toolbox.names)}", hint)
        return
    for fault in toolbox[tool].faults(params):
        yield Problem(fault.code, where, f"{tool}: {fault.message}", "write the arguments as the tool's signature says")


def _call(where: str | None, call: Any, ids: Collection[str], place: str, toolbox: Toolbox | None) -> Iterator[Problem]:
    yield from _loose_references(where, call.params, ids, place)
    if toolbox is not None:
        yield from _arguments(where, call.tool, call.params, toolbox)


def _loose_references(where: str | None, value: Any, ids: Collection[str], place: str) -> Iterator[Problem]:
    for reference in references.find(value):
        if reference.step not in ids:
            yield _dangling(where, reference, place, ids)


def _dangling(where: str | None, reference: references.Reference, place: str, ids: Collection[str]) -> Problem:
    message = f"{place} uses {reference}, but there is no step {reference.step!r}{suggest(reference.step, ids)}"
    return Problem("dangling_reference", where, message, "refer to a step that exists, or add that step")
