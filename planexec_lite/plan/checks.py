"""The checks of a plan's validity. Each check reports all its problems and does not stop the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from planexec_lite.plan import graph
from planexec_lite.plan.placeholders import folded, named_by, placeholders
from planexec_lite.plan.reading import ID_TAKES, Problem
from planexec_lite.plan.step import Call, Step
from planexec_lite.tools import Toolbox, references, suggest

if TYPE_CHECKING:
    from planexec_lite.plan.model import Plan

MAX_RETRIES = 10  # without a wait between them, more retries do not help


def problems(plan: Plan, toolbox: Toolbox | None, done: Collection[str], max_steps: int | None) -> list[Problem]:
    """Return every problem of `plan`: those of the whole plan first, then those of the steps in plan order."""
    done, waits = frozenset(done), plan.graph
    ids = dict.fromkeys([*waits, *sorted(done)])
    names = folded(ids)
    faults = [*_whole_plan(plan, done, max_steps), *_cycles(waits)]
    for step in plan.steps:
        waits_for, params, tool = step.depends_on, step.params, step.tool
        if not step.id.isascii():  # letters of other scripts can look like ASCII letters
            faults.append(Problem("id_not_ascii", step.id, f"the id is {step.id!a}; {ID_TAKES}", "rename the step"))
        faults += _dependencies(step, ids)
        named, unreadable, others = references.find_all(params)
        faults += _references(step, named, ids)
        if unreadable or others:
            faults += _unreadable(step.id, params, names, waits_for, "it")
        if step.retries > MAX_RETRIES:
            message = f"it has {step.retries} retries; at most {MAX_RETRIES} are allowed"
            hint = "use fewer retries; a step that fails that often needs another plan"
            faults.append(Problem("too_many_retries", step.id, message, hint))
        if tool is not None and toolbox is not None:
            faults += _arguments(step.id, tool, params, toolbox)
        if step.undo is not None:
            faults += _call(step.id, step.undo, {step.id, *step.depends_on}, "its undo", names, toolbox)
    for call in plan.rollback:
        faults += _call(None, call, ids, "the rollback", names, toolbox)
    faults += _unreadable(None, plan.answer, names, (), "the answer")
    faults += _dangling_references(None, plan.answer, ids, "the answer")
    return faults


def without_undo(plan: Plan, toolbox: Toolbox) -> list[Problem]:
    """Return a problem for each step that changes the world without an undo, a rollback call or a gate."""
    reversible = {reference.step for call in plan.rollback for reference in references.find(call.params)}
    by_tool, faults = toolbox.effects, []
    for step in plan.steps:
        if step.undo is None and step.id not in reversible and not step.gate and step.effects_with(by_tool) != "none":
            hint = f"give it an undo, a call in rollback that uses {{step_{step.id}_result}}, or a gate"
            faults.append(Problem("no_undo", step.id, "it changes the world, and nothing undoes that", hint))
    return faults


def _whole_plan(plan: Plan, done: Collection[str], max_steps: int | None) -> Iterator[Problem]:
    if not plan.steps and not (plan.complete and done):
        yield Problem("empty_plan", None, "the plan has no steps", "write at least one step")
    if max_steps is not None and len(plan.steps) > max_steps:
        message = f"the plan has {len(plan.steps)} steps; at most {max_steps} are allowed"
        yield Problem("too_many_steps", None, message, "join steps, or plan a part and set complete to false")
    for id, times in Counter(step.id for step in plan.steps).items():
        if times > 1:
            yield Problem("duplicate_id", id, f"{times} steps have the id {id!r}", "give each step an id of its own")
        if id in done:
            hint = f"refer to its result as {{step_{id}_result}}, and give new work a new id, such as '{id}b'"
            yield Problem("done_already", id, f"step {id} is done already; it is not done again", hint)


def _cycles(waits: graph.Graph) -> Iterator[Problem]:
    without_self = {id: [other for other in waits_for if other != id] for id, waits_for in waits.items()}
    for cycle in graph.cycles(without_self):
        pairs = [f"{id} waits for {other}" for id, other in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
        links = ", ".join(pairs if len(pairs) <= 8 else [*pairs[:4], "…", *pairs[-3:]])
        yield Problem("cycle", cycle[0], f"{links}: none of them can ever start", "drop one of these dependencies")


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


def _call(
    where: str | None,
    call: Call,
    ids: Collection[str],
    place: str,
    names: Mapping[str, str],
    toolbox: Toolbox | None,
) -> Iterator[Problem]:
    yield from _unreadable(where, call.params, names, ids, place)
    yield from _dangling_references(where, call.params, ids, place)
    if toolbox is not None:
        yield from _arguments(where, call.tool, call.params, toolbox)


def _unreadable(
    where: str | None, value: Any, names: Mapping[str, str], waits_for: Collection[str], place: str
) -> Iterator[Problem]:
    _, unreadable, others = references.find_all(value)
    looks_like_one = [(text, named_by(text, names)) for text in unreadable]
    for text, reference in [*looks_like_one, *placeholders(others, names, waits_for)]:
        write = str(reference or "{step_1_result}, {step_1_result.name} or {step_1_result[0]}")
        hint = f"write {write}; for the text itself, write {{literal {text}}}"
        yield Problem("unreadable_reference", where, f"{place} uses {text}, which can't be read as a reference", hint)


def _dangling_references(where: str | None, value: Any, ids: Collection[str], place: str) -> Iterator[Problem]:
    for reference in references.find(value):
        if reference.step not in ids:
            yield _dangling(where, reference, place, ids)


def _dangling(where: str | None, reference: references.Reference, place: str, ids: Collection[str]) -> Problem:
    message = f"{place} uses {reference}, but there is no step {reference.step!r}{suggest(reference.step, ids)}"
    return Problem("dangling_reference", where, message, "refer to a step that exists, or add that step")
