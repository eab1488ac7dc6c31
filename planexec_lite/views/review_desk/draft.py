"""A plan under review, as values: every edit gives a new draft. No widgets here.

A draft may hold what no plan can, such as the id ``1!`` among the dependencies: a person is in the middle of typing. So
its steps are plain data, and `Draft.plan` is a `Plan` only when they make one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from planexec_lite.executors import Executor
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.tools import Toolbox
from planexec_lite.views.review_desk import fields

Side = Literal["", "undo"]
SIDES: tuple[Side, ...] = ("", "undo")
EMPTY: Mapping[str, Any] = {"tool": None, "params": {}}


class Row(NamedTuple):
    """A step of the draft. The `key` stays with it wherever it moves; `step` holds the fields of `Step` as plain data."""

    key: int
    step: Mapping[str, Any]

    @property
    def id(self) -> str:
        """The step's id."""
        return str(self.step["id"])

    def call(self, side: Side = "") -> Mapping[str, Any]:
        """The call that the step makes or, with ``"undo"``, the one that takes it back: its tool and its params."""
        return (self.step["undo"] or EMPTY) if side else self.step


@dataclass(frozen=True)
class Draft:
    """What the reviewer has before them.

    Args:
        received: the plan as it came.
        toolbox: the tools that steps may call.
        done: ids of the steps that are done already; the plan may wait for them.
        rows: the steps as they stand now, in order.
        added_so_far: how many steps were added, so that no key is given twice.
        comments: what the reviewer says to the planner about a step, by its key; no part of the plan.
        executor: carries out the steps, where it is known; it says for which steps a model chooses the calls.
    """

    received: Plan
    toolbox: Toolbox
    done: tuple[str, ...]
    rows: tuple[Row, ...]
    added_so_far: int = 0
    comments: Mapping[int, str] = field(default_factory=dict)
    executor: Executor | None = None

    @classmethod
    def of(cls, plan: Plan, tools: Toolbox | Executor, done: Collection[str] = ()) -> Draft:
        """Return the draft of a plan that nobody has edited yet."""
        executor = None if isinstance(tools, Toolbox) else tools
        toolbox = tools if isinstance(tools, Toolbox) else tools.tools
        return cls(plan, toolbox, tuple(done), (), executor=executor).started_over()

    def started_over(self) -> Draft:
        """Return the draft as it was before the first edit."""
        rows = tuple(Row(key, step.model_dump()) for key, step in enumerate(self.received.steps))
        return replace(self, rows=rows, comments={})

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
            if row.step["tool"] is None and not row.step["description"].strip()
        ]
        return (*self._parsed.problems(self.toolbox, self.done), *idle)

    @cached_property
    def edited(self) -> bool:
        """Whether the draft is another plan than the one that came."""
        return self.plan is None or self.plan.hash != self.received.hash

    def remarks(self, comment: str = "") -> str:
        """What the planner is told: the `comment` on the plan, then each comment on a step, which names its step."""
        comments = [comment.strip()] if comment.strip() else []
        for row in self.rows:
            if text := self.comments.get(row.key, "").strip():
                name = row.step["description"].strip() or row.step["tool"] or "new"
                comments.append(f"Step {row.id} ({name}): {text}")
        return "\n".join(comments)

    def row(self, key: int) -> Row:
        """Return the row with this key."""
        return next(row for row in self.rows if row.key == key)

    def key_of(self, id: str) -> int | None:
        """Return the key of the first step with this id, None if there is none."""
        return next((row.key for row in self.rows if row.id == id), None)

    def with_comment(self, key: int, text: str) -> Draft:
        """Return the draft with another comment on one step."""
        return replace(self, comments={**self.comments, key: text})

    def with_field(self, key: int, **changes: Any) -> Draft:
        """Return the draft with fields of one step changed."""
        rows = (Row(key, {**row.step, **changes}) if row.key == key else row for row in self.rows)
        return replace(self, rows=tuple(rows))

    def with_dependencies(self, key: int, text: str) -> Draft:
        """Return the draft with one step waiting for the ids in `text`, which commas or blanks divide."""
        return self.with_field(key, depends_on=tuple(dict.fromkeys(re.findall(r"[^,;\s]+", text))))

    def with_tool(self, key: int, tool: str | None, side: Side = "") -> Draft:
        """Return the draft with another tool in one step; arguments that the new tool does not have are dropped."""
        params = self.params(key, side)
        if tool is None or tool in self.toolbox:  # an unknown name is a slip, and nothing is dropped for it
            known = self.toolbox[tool].parameters if tool is not None else ()
            params = {name: value for name, value in params.items() if name in known}
        if side:
            undo = {**self.row(key).call(side), "tool": tool, "params": params}
            return self.with_field(key, undo=undo if tool is not None else None)
        return self.with_field(key, tool=tool, params=params)

    def with_argument(self, key: int, name: str, text: str, side: Side = "") -> Draft:
        """Return the draft with one argument as it is written in `text`; an empty text takes the argument away."""
        params = self.params(key, side)
        params.pop(name) if not text and name in params else None
        if text:
            params[name] = fields.read(text, self.schema(key, name, side))
        if side:
            return self.with_field(key, undo={**self.row(key).call(side), "params": params})
        return self.with_field(key, params=params)

    def params(self, key: int, side: Side = "") -> dict[str, Any]:
        """Return the arguments of one step, by the names of the tool's parameters."""
        call = self.row(key).call(side)
        tool = call["tool"]
        return dict(self.toolbox[tool].bind(call["params"]) if tool in self.toolbox else call["params"])

    def schema(self, key: int, name: str, side: Side = "") -> Mapping[str, Any]:
        """Return the JSON schema of one parameter; an empty one where the tool does not know it."""
        tool = self.row(key).call(side)["tool"]
        schema = self.toolbox[tool].schema if tool in self.toolbox else {"properties": {}}
        parameter: Mapping[str, Any] = fields.written_out(schema["properties"].get(name, {}), schema)
        return parameter

    def added(self, after: int | None = None) -> Draft:
        """Return the draft with a new step below the one with the key `after`, or at the end; it waits for that step."""
        at = next((n for n, row in enumerate(self.rows, 1) if row.key == after), len(self.rows))
        before = (self.rows[at - 1].id,) if at else ()
        step = Step(id=self._new_id(), depends_on=before).model_dump()
        row = Row(len(self.received.steps) + self.added_so_far, step)
        return replace(self, rows=(*self.rows[:at], row, *self.rows[at:]), added_so_far=self.added_so_far + 1)

    def without(self, key: int) -> Draft:
        """Return the draft without one step. What waited for it shows a problem until that is mended too."""
        return replace(self, rows=tuple(row for row in self.rows if row.key != key))

    def moved(self, key: int, by: Literal[-1, 1]) -> Draft:
        """Return the draft with one step a place further up (-1) or down (1); at the end of the list it stays."""
        at = self.rows.index(self.row(key))
        if not 0 <= at + by < len(self.rows):
            return self
        rows = list(self.rows)
        rows[at], rows[at + by] = rows[at + by], rows[at]
        return replace(self, rows=tuple(rows))

    @cached_property
    def _parsed(self) -> Plan | PlanError:
        if repr(self.rows) == repr(self.started_over().rows):  # word for word: 1 and true are equal to Python
            return self.received
        rest = {name: getattr(self.received, name) for name in Plan.model_fields if name != "steps"}
        try:
            return Plan.parse({**rest, "steps": [dict(row.step) for row in self.rows]})
        except PlanError as error:
            return error

    def _new_id(self) -> str:
        taken = {row.id for row in self.rows} | {step.id for step in self.received.steps} | set(self.done)
        numbers = [int(id) for id in taken if id.isascii() and id.isdigit()]
        return str(max(numbers, default=0) + 1) if numbers or not taken else _unused("new", taken)


def _unused(stem: str, taken: Collection[str]) -> str:
    return next(id for n in range(1, len(taken) + 2) if (id := f"{stem}{n}") not in taken)
