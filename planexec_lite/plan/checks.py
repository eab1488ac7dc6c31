"""The checks of a plan's validity. Each check reports all its problems and does not stop the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from planexec_lite.plan import graph
from planexec_lite.plan.placeholders import placeholders
from planexec_lite.plan.reading import ID_TAKES, MOST_SHOWN, Problem
from planexec_lite.plan.step import PlanContent, Step
from planexec_lite.tools import Toolbox, references, suggest

Problems = Iterator[Problem]


def problems(
    plan: PlanContent,
    toolbox: Toolbox | None = None,
    done: Collection[str] = (),
    max_steps: int | None = None,
) -> list[Problem]:
    """Return everything that makes the plan invalid, [] if it is valid: first the problems of the whole plan, then those
    of the steps in plan order.

    Args:
        plan: the plan.
        toolbox: the tools that steps can call; None: tools and arguments are not checked.
        done: ids of steps that were done before this plan; steps can depend on them.
        max_steps: the maximum number of steps in the plan.
    """
    done = frozenset(done)
    waits = plan.graph
    ids = dict.fromkeys([*waits, *sorted(done)])
    checks = _Checks(ids, toolbox)
    faults = [*_whole_plan(plan, done, max_steps), *_cycles(waits)]
    for step in plan.steps:
        faults += checks.step(step)
    for call in plan.rollback:
        faults += checks.texts(None, "the rollback", call.params, ids, ids, call.tool)
    faults += checks.texts(None, "the answer", plan.answer, ids)
    return faults


def _whole_plan(
    plan: PlanContent,
    done: Collection[str],
    max_steps: int | None,
) -> Problems:
    if not plan.steps and not (plan.complete and done):
        yield Problem("empty_plan", None, "the plan has no steps", "write at least one step")
    if max_steps is not None and len(plan.steps) > max_steps:
        message = f"the plan has {len(plan.steps)} steps; at most {max_steps} are allowed"
        yield Problem(
            "too_many_steps", None, message, "join steps, or plan a part and set complete to false"
        )
    for step, times in Counter(step.id for step in plan.steps).items():
        if times > 1:
            yield Problem(
                "duplicate_id",
                step,
                f"{times} steps have the id {step!r}",
                "give each step an id of its own",
            )
        if step in done:
            hint = f"refer to its result as {{step_{step}_result}}, and give new work a new id, such as '{step}b'"
            yield Problem(
                "done_already", step, f"step {step} is done already; it is not done again", hint
            )


def _cycles(waits: graph.Graph) -> Problems:
    without_self = {
        step: [other for other in waits_for if other != step] for step, waits_for in waits.items()
    }
    for cycle in graph.cycles(without_self):
        waiting = pairwise([*cycle, cycle[0]])
        links = [f"{step} waits for {other}" for step, other in waiting]
        if len(links) > 8:
            links[4:-3] = ["…"]
        message = f"{', '.join(links)}: none of them can ever start"
        yield Problem("cycle", cycle[0], message, "drop one of these dependencies")


@dataclass
class _Checks:
    """The checks of the parts of one plan.

    Args:
        ids: the plan's steps and those that were done before.
        toolbox: the tools; None: tools and arguments are not checked.
        suggestions: how many more names are compared with all others; a `PlanError` shows only the first problems.
    """

    ids: dict[str, None]
    toolbox: Toolbox | None
    suggestions: int = MOST_SHOWN

    def step(self, step: Step) -> Problems:
        if not step.id.isascii():  # letters of other scripts can look like ASCII letters
            message = f"the id is {step.id!a}; {ID_TAKES}"
            yield Problem("id_not_ascii", step.id, message, "rename the step")
        for other in step.depends_on:
            if other == step.id:
                message, hint = "the step waits for itself", f"drop {other!r} from depends_on"
                yield Problem("self_dependency", step.id, message, hint)
            elif other not in self.ids:
                near = self.nearest(other, self.ids)
                message = f"it waits for step {other!r}, which does not exist{near}"
                hint = f"add step {other!r}, or drop it from depends_on"
                yield Problem("unknown_dependency", step.id, message, hint)
        before = dict.fromkeys(step.depends_on)
        yield from self.texts(step.id, "it", step.params, self.ids, before, step.tool)
        if (undo := step.undo) is not None:
            known = {**before, step.id: None}
            yield from self.texts(step.id, "its undo", undo.params, known, known, undo.tool)

    def nearest(self, name: str, names: Iterable[str]) -> str:
        self.suggestions -= 1
        return suggest(name, names) if self.suggestions >= 0 else ""

    def texts(
        self,
        where: str | None,
        subject: str,
        texts: Any,
        ids: Collection[str],
        waits_for: Collection[str] = (),
        tool: str | None = None,
    ) -> Problems:
        """Check the texts at one place of the plan: its references, and its arguments if they are those of a tool.

        Args:
            where: the id of the step; None: the rollback or the answer.
            subject: the subject of the messages.
            texts: a string or the arguments.
            ids: the steps that a reference can name.
            waits_for: the steps that are done before it; a reference of a step, and ``$1``, can name only these.
            tool: the tool that is called with the arguments, if any.
        """
        named, unreadable, others = references.find_all(texts)
        for reference in named:
            step = reference.step
            if step not in ids:
                missing = f"there is no step {step!r}{self.nearest(step, ids)}"
                message = f"{subject} uses {reference}, but {missing}"
                hint = "refer to a step that exists, or add that step"
                yield Problem("dangling_reference", where, message, hint)
            elif where and step not in waits_for:
                message = f"{subject} uses {reference}, but does not wait for step {step}"
                hint = f"add {step!r} to depends_on"
                yield Problem("indirect_reference", where, message, hint)
        if unreadable or others:
            for text, fix in placeholders(unreadable, others, self.folded, waits_for):
                write = fix or "{step_1_result}, {step_1_result.name} or {step_1_result[0]}"
                message = f"{subject} uses {text}, which can't be read as a reference"
                hint = f"write {write}; for the text itself, write {{literal {text}}}"
                yield Problem("unreadable_reference", where, message, hint)
        toolbox = self.toolbox
        if tool is None or toolbox is None:
            return
        if tool not in toolbox:
            message = f"there is no tool {tool!r}{self.nearest(tool, toolbox.names)}"
            hint = "the tools are: " + ", ".join(toolbox.names)
            yield Problem("unknown_tool", where, message, hint)
            return
        hint = "write the arguments as the tool's signature says"
        for fault in toolbox[tool].faults(texts):
            yield Problem(fault.code, where, f"{tool}: {fault.message}", hint)

    @cached_property
    def folded(self) -> dict[str, str]:
        return {step.casefold(): step for step in self.ids}
