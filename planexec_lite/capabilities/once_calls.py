"""At-most-once calls (lessons 07, 09): a call that must run at most once is never repeated unseen, even by another step.

The tool and the resolved arguments, with defaults, identify a call. With its occurrence in the run they give the key of the call
(`StepStarted.key`), and with the run's id the idempotency key, which a tool can pass to a service. If one plan contains the same
call twice, both are made. If a later plan makes the same call again, the run asks a person or refuses it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from hashlib import sha256
from typing import Any, NamedTuple

from pydantic_core import to_jsonable_python

from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.doubt import Doubt, StepInDoubt, StepLate, resolves
from planexec_lite.core import WAIT, Answer, Board, Capability, Part, when_idle
from planexec_lite.core import events as e
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.references import MissingResultError, find, resolve
from planexec_lite.tools import Toolbox, text_of


class Spent(NamedTuple):
    """An at-most-once call that was made, or, if it is not `sure`, might have been made.

    `call` identifies it; `step` made it. `since` is the number of the plan that brought the step, `plan` the number of the plan in
    which the call was made, `approvals` the number of plans that had been approved before.
    """

    call: str
    step: str
    since: int
    plan: int
    approvals: int
    sure: bool


@dataclass
class OnceCalls(Part):
    """The at-most-once calls so far, and the occurrences of all calls with effects.

    Attributes:
        spent: the calls that are never repeated unseen.
        latest: by step, the start of its latest attempt that has effects; `resumes`: the steps that continue that attempt.
        done: by call, the occurrences that are known to be done.
        allowed: the steps that a person has allowed to repeat a call.
    """

    spent: list[Spent] = field(default_factory=list)
    latest: dict[str, e.StepStarted] = field(default_factory=dict)
    resumes: set[str] = field(default_factory=set)
    done: dict[str, frozenset[int]] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)

    def call_of(self, id: str) -> tuple[str, int]:
        """The call of the step's latest attempt, and its occurrence; "" if it has no effects."""
        call, _, number = self.latest[id].key.partition("-") if id in self.latest else ("", "", "0")
        return call, int(number)


def _started(board: Board, event: e.StepStarted) -> None:
    if event.key:
        board[OnceCalls].latest[event.step] = event


def _know_done(board: Board, id: str) -> None:
    """The latest call of this step is known to be done: the same call again is another occurrence."""
    mine = board[OnceCalls]
    call, number = mine.call_of(id)
    if call:
        mine.done[call] = mine.done.get(call, frozenset()) | {number}


def _spend(board: Board, id: str, *, sure: bool) -> None:
    mine = board[OnceCalls]
    call, _ = mine.call_of(id)
    if call and board.effects_of(board.steps[id]) == "once":
        mine.spent.append(Spent(call, id, board.brought_by(id), board.plans, board[Approvals].given, sure))


def _made(board: Board, id: str) -> None:
    _know_done(board, id)
    _spend(board, id, sure=True)


def _done(board: Board, event: e.StepDone) -> None:
    mine = board[OnceCalls]
    mine.resumes.discard(event.step)
    if event.step in mine.latest:
        _made(board, event.step)


def _failed(board: Board, event: e.StepFailed | StepInDoubt) -> None:
    board[OnceCalls].resumes.discard(event.step)
    if isinstance(event, StepInDoubt) or event.in_doubt:
        _spend(board, event.step, sure=False)


def _paused(board: Board, event: e.StepPaused) -> None:
    board[OnceCalls].resumes.add(event.step)
    if event.in_doubt:
        _spend(board, event.step, sure=True)


def _requeued(board: Board, event: e.Requeued) -> None:
    mine, id = board[OnceCalls], event.step or ""
    nested = id in mine.latest and mine.latest[id].inside
    if event.reason == "interrupted" and nested and board.state[id] in ("waiting", "failed"):
        mine.resumes.add(id)
        _spend(board, id, sure=False)


def _late(board: Board, event: StepLate) -> None:
    mine, id = board[OnceCalls], event.step
    if event.error is None:  # a late error proves nothing: the timeout itself might have caused it, after the call
        mine.spent = [one._replace(sure=True) if one.step == id else one for one in mine.spent]
        _know_done(board, id)


def _reviewed(board: Board, event: e.Reviewed) -> None:
    mine, id = board[OnceCalls], event.step or ""
    if resolves(board, event):
        if board[Doubt].attempts[id] == 1:  # it is clear which call was not made
            mine.spent = [one for one in mine.spent if one.sure or one.step != id]
        if event.verdict == "done":
            _made(board, id)
    elif event.verdict == "approve" and board.paused is not None and board.paused.about == "repeat":
        mine.allowed.add(id)


def _before_plan(board: Board, plan: Plan | None) -> None:
    mine = board[OnceCalls]
    if plan is not None:
        mine.resumes = {id for id in mine.resumes & board.kept_by(plan) if id in mine.latest and mine.latest[id].inside}
        mine.allowed.clear()


CAPABILITY = Capability(
    OnceCalls,
    folds={
        e.StepStarted: _started,
        e.StepDone: _done,
        e.StepFailed: _failed,
        e.StepPaused: _paused,
        StepInDoubt: _failed,
        StepLate: _late,
        e.Requeued: _requeued,
        e.Reviewed: _reviewed,
    },
    before_plan=_before_plan,
)


def digest_of(*parts: Any) -> str:
    """Return 32 characters that depend on `parts`, which JSON can hold, and on nothing else."""
    return sha256(json.dumps(parts).encode(errors="replace")).hexdigest()[:32]


def identity(step: Step, results: Mapping[str, Any], tools: Toolbox) -> str:
    """Return a text that identifies the call of `step`: equal for equal calls, also under another id.

    The arguments are compared as the tool receives them. Steps without a tool are compared by their words and their inputs.
    """
    try:
        params = resolve(step.params, results)
    except MissingResultError:
        params = dict(step.params)
    if step.tool is None or step.tool not in tools:
        return digest_of(text_of([step.tool, step.description, params, [results.get(id) for id in step.depends_on]]))
    tool = tools[step.tool]
    try:
        arguments = tool.with_defaults(tool.arguments(params))
        to_jsonable_python(arguments)
    except Exception:  # it can't be made, or receives an object of any class: the plan's parameters are compared
        return digest_of(tool.call_text(params))
    return digest_of(text_of([step.tool, _same(arguments)]))


def _same(value: Any) -> Any:
    """Return the arguments with equal numbers written in the same way."""
    if isinstance(value, Decimal):
        return str(value.normalize())
    if isinstance(value, dict):
        return {name: _same(part) for name, part in value.items()}
    return [*map(_same, value)] if isinstance(value, list | tuple) else value


def repeated(board: Board, id: str, step: Step, call: str, plan: int) -> Spent | None:
    """Return the latest call that `step` would repeat in plan number `plan`, or None.

    A call is repeated if it was made, or might have been made, before a plan brought the step; or if a later plan contains the same
    step again.
    """
    since = board.brought_by(id) if board.steps.get(id) == step else plan
    for one in reversed(board[OnceCalls].spent):
        # an evaluator that asks for a retry of the step asks for a repeat of its call
        earlier = one.plan < plan if one.step == id else one.since < since
        if one.call == call and earlier:
            return one
    return None


def repeats(plan: Plan, board: Board, policy: object, executor: Any) -> Iterator[Problem]:
    """Plan check: no step repeats an at-most-once call. A reviewer sees the repeat and can approve it."""
    mine, results = board[OnceCalls], board.results
    if board.has_reviewer or not mine.spent:
        return
    for step in plan.steps:
        if (step.id in mine.resumes and board.steps.get(step.id) == step) or not results.keys() >= _needs(step):
            continue
        call = identity(step, results, executor.tools)
        if (one := repeated(board, step.id, step, call, board.plans + 1)) is None:
            continue
        if one.step in results:
            code, message, hint = "done_once", "already made", f"leave it out, or use {{step_{one.step}_result}}"
        else:
            code, message, hint = "in_doubt", "might have made", "find out first whether it was made, or leave it out"
        yield Problem(code, step.id, f"step {one.step} {message} this call, which runs at most once", hint)


def identify(board: Board, policy: object, event: e.StepStarted, executor: Any) -> Answer:
    """Guard: a call with effects gets its key. A repeat of an at-most-once call asks a person; without one, the step fails.

    A repeat that the reviewer could see in the plan was approved with it; a repeat that depends on later results was not.
    """
    if executor is None or board.effects_of(board.steps[event.step]) == "none":
        return event
    id, step, mine = event.step, board.steps[event.step], board[OnceCalls]
    known, number = mine.call_of(id)
    if id in mine.resumes and known and number not in mine.done.get(known, ()):
        return replace(event, key=mine.latest[id].key)  # it continues the previous attempt
    call = identity(step, board.results, executor.tools)
    if mine.spent and id not in mine.allowed and max(board.plans, board.brought_by(id)) > 1:
        one, approvals = repeated(board, id, step, call, board.plans), board[Approvals]
        if one is not None and not (one.approvals < approvals.given and approvals.seen >= _needs(step)):
            why = f"step {one.step} already made this call, which runs at most once"
            if board.has_reviewer or step.gate:
                return when_idle(board, e.Paused(board.now, "gate", id, why=why, about="repeat"), WAIT)
            return e.StepBlocked(event.at, id, why, event.attempt, event.attempts, final=True)
    return replace(event, key=next_key(board, call))


def next_key(board: Board, call: str) -> str:
    """Return the key of the lowest occurrence of `call` that is not known to be done, does not run, and is not to be resumed.

    So a retry has the key of the attempt before, also if a later plan makes the call under another id; and two equal calls
    in the same plan have two keys.
    """
    mine, number = board[OnceCalls], 0
    taken = {job.key for job in board.in_flight.values() if isinstance(job, e.StepStarted)}
    taken |= {mine.latest[id].key for id in mine.resumes if id in mine.latest}
    done = mine.done.get(call, frozenset())
    while number in done or f"{call}-{number}" in taken:
        number += 1
    return f"{call}-{number}"


def context(agent: Any, run: Any, job: e.StepStarted) -> dict[str, Any]:
    """Return the idempotency key of a step that starts."""
    return {"key": digest_of(run.key or run.uid, job.key)} if job.key else {}


def _needs(step: Step) -> set[str]:
    """The steps whose results `step` uses."""
    return set(step.depends_on) if step.tool is None else {named.step for named in find(step.params)}
