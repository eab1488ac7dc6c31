"""A plan under review, as values: every edit gives a new draft. No widgets here.

A draft may hold what no plan can, such as the id ``1!`` among the dependencies: a person is in the middle of typing. So
its steps are plain data, and `Draft.plan` is a `Plan` only when they make one.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from planexec_lab.views.review_desk import fields
from planexec_lite.capabilities.approval import call_of
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.run import Run
from planexec_lite.run.events import PlanProposed, Question
from planexec_lite.tools import Toolbox


class Row(NamedTuple):
    """A step of the draft. The `key` stays with it, also where two steps have one id; `step` holds its fields as plain data."""

    key: int
    step: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The step's id."""
        return str(self.step["id"])

    @property
    def idle(self) -> bool:
        """Whether the step has neither a description nor a tool, like a step that was just added."""
        return self.step["tool"] is None and not self.step["description"].strip()


@dataclass(frozen=True)
class Draft:
    """A plan under review.

    Args:
        received: the plan as it came.
        toolbox: the tools that steps can call.
        rows: the edited steps, in order.
        done: ids of done steps; the plan can depend on them.
        before: the plan of the previous round, if there was one.
        models: whether models choose the calls of steps that name no tool.
        model_chooses: ids of the other steps whose calls a model chooses.
        next_key: the key of the next added step, so that keys stay unique.
    """

    received: Plan
    toolbox: Toolbox
    rows: tuple[Row, ...]
    done: tuple[str, ...] = ()
    before: Plan | None = None
    models: bool = False
    model_chooses: tuple[str, ...] = ()
    next_key: int = 0

    @classmethod
    def of(
        cls,
        plan: Plan,
        toolbox: Toolbox,
        done: tuple[str, ...] = (),
        *,
        before: Plan | None = None,
        models: bool = False,
        model_chooses: tuple[str, ...] = (),
    ) -> Draft:
        """Return the draft of a plan without edits."""
        rows = _rows(plan)
        return cls(plan, toolbox, rows, done, before, models, model_chooses, len(plan.steps))

    @classmethod
    def about(cls, question: Question, toolbox: Toolbox, run: Run | None = None) -> Draft:
        """Return the draft of the plan that a question is about, or of a plan of one step that makes its call.

        `run` is the run that asks, with the done steps and the previous plan; None: it is not known.
        """
        plan = question.plan or _plan_of_call(question, toolbox, run)
        if run is None:
            return cls.of(plan, toolbox)
        board = run.board
        plans = [event.plan for event in run.events if isinstance(event, PlanProposed) and event.plan is not None]
        before = plans[-2] if len(plans) > 1 else None
        if before is not None:
            before = before.changed(steps=tuple(step for step in before.steps if step.id not in board.results))
        models, chosen = board.started.models_in_steps, board.model_chooses
        return cls.of(plan, toolbox, tuple(board.results), before=before, models=models, model_chooses=chosen)

    @cached_property
    def plan(self) -> Plan | None:
        """The plan that the rows make, valid or not; None while a field holds what no plan can."""
        return self._parsed if isinstance(self._parsed, Plan) else None

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Everything that keeps the draft from being approved; empty when it is a valid plan."""
        if isinstance(self._parsed, PlanError):
            return self._parsed.problems
        idle = [
            Problem("idle_step", row.id, "the step says neither what to do nor with which tool", "choose a tool")
            for row in self.rows
            if row.idle
        ]
        return (*self._parsed.problems(self.toolbox, self.done), *idle)

    @cached_property
    def edited(self) -> bool:
        """Whether the draft is another plan than the one that came."""
        return self.plan is None or self.plan.hash != self.received.hash

    @cached_property
    def durations(self) -> dict[str, float]:
        """The seconds that the tools declare, by step id; empty if none declares any, or one depends on a result."""
        times: dict[str, float] = {}
        if self.plan is not None and not self.problems:
            with suppress(Exception):  # a tool computes its seconds from the arguments, which might refer to a result
                times = self.plan.durations(self.toolbox)
        return times if any(times.values()) else {}

    def row(self, key: int) -> Row:
        """Return the row with this key."""
        return next(row for row in self.rows if row.key == key)

    def with_field(self, key: int, **changes: Any) -> Draft:
        """Return the draft with fields of one step changed."""
        rows = (Row(key, {**row.step, **changes}) if row.key == key else row for row in self.rows)
        return replace(self, rows=tuple(rows))

    def with_tool(self, key: int, tool: str | None) -> Draft:
        """Return the draft with another tool in one step; arguments that the new tool does not have are dropped."""
        params = self.params(key)
        if tool is None or tool in self.toolbox:  # an unknown name is a typing mistake: no argument is dropped
            known = self.toolbox[tool].parameters if tool is not None else ()
            params = {name: value for name, value in params.items() if name in known}
        return self.with_field(key, tool=tool, params=params)

    def with_argument(self, key: int, name: str, text: str) -> Draft:
        """Return the draft with an argument set to `text`; an empty text removes the argument."""
        params = self.params(key)
        if text:
            params[name] = fields.read(text, self.schema(key, name))
        else:
            params.pop(name, None)
        return self.with_field(key, params=params)

    def params(self, key: int) -> dict[str, Any]:
        """Return the arguments of one step, by the names of the tool's parameters."""
        step = self.row(key).step
        tool = step["tool"]
        return dict(self.toolbox[tool].bind(step["params"]) if tool in self.toolbox else step["params"])

    def schema(self, key: int, name: str) -> Mapping[str, Any]:
        """Return a parameter's JSON schema; {} if the tool has no such parameter."""
        tool = self.row(key).step["tool"]
        schema = self.toolbox[tool].schema if tool in self.toolbox else {"properties": {}}
        parameter: Mapping[str, Any] = fields.written_out(schema["properties"].get(name, {}), schema)
        return parameter

    def added(self) -> Draft:
        """Return the draft with a new step at the end; it waits for the step before it."""
        waits_for = (self.rows[-1].id,) if self.rows else ()
        row = Row(self.next_key, Step(id=self._new_id(), depends_on=waits_for).model_dump())
        return replace(self, rows=(*self.rows, row), next_key=self.next_key + 1)

    def without(self, key: int) -> Draft:
        """Return the draft without one step. Its dependents show a problem until they are fixed too."""
        return replace(self, rows=tuple(row for row in self.rows if row.key != key))

    def with_row(self, place: int, row: Row) -> Draft:
        """Return the draft with a removed step back in its place, counted from 0."""
        return replace(self, rows=(*self.rows[:place], row, *self.rows[place:]))

    def unedited(self) -> Draft:
        """Return the draft of the plan as it came."""
        return replace(self, rows=_rows(self.received))

    @cached_property
    def _parsed(self) -> Plan | PlanError:
        if repr(self.rows) == repr(_rows(self.received)):  # word for word: 1 and true are equal to Python
            return self.received
        rest = {name: getattr(self.received, name) for name in Plan.model_fields if name != "steps"}
        try:
            return Plan.parse({**rest, "steps": [dict(row.step) for row in self.rows]})
        except PlanError as error:
            return error

    def _new_id(self) -> str:
        taken = {row.id for row in self.rows} | {step.id for step in self.received.steps} | set(self.done)
        return str(max((int(id) for id in taken if id.isascii() and id.isdigit()), default=0) + 1)


def _plan_of_call(question: Question, toolbox: Toolbox, run: Run | None) -> Plan:
    """A plan whose only step makes the call of a question, with resolved arguments.

    If a step of the run makes exactly this call, it is this step, with its undo, and the plan has the run's rollback.
    """
    call, id = question.call, question.step or ""
    if call is None:
        return Plan()
    params = {} if call.tool is None else call.params
    own = None if run is None else run.board.steps.get(id)
    if run is not None and own is not None and call_of(own, run.board.results, toolbox) == call:
        return Plan(steps=(own.model_copy(update={"params": params}),), rollback=run.plan.rollback)
    return Plan(steps=(Step.model_construct(id=id, description=call.words, tool=call.tool, params=params),))


def _rows(plan: Plan) -> tuple[Row, ...]:
    return tuple(Row(key, step.model_dump()) for key, step in enumerate(plan.steps))
