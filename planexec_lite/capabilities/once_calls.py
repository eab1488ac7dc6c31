"""At-most-once calls (lessons 07, 09): a call that must run at most once is not repeated unseen, whatever its step is called.

A call is identified by its tool and its resolved arguments, with defaults. Together with its occurrence in the run, this makes the
key of the call (`StepStarted.key`), and with the run's id the idempotency key that a tool can pass on to a service. What one
plan says twice is meant twice. A later plan that makes the same call again asks a person, or is refused.
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
from planexec_lite.core import WAIT, Answer, Board, Capability, Event, Job, Part, when_idle
from planexec_lite.core.events import (
    Paused,
    Requeued,
    Reviewed,
    StepBlocked,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.references import MissingResultError, find, resolve
from planexec_lite.tools import Toolbox, text_of


class Spent(NamedTuple):
    """An at-most-once call that was made, or, if it is not `sure`, may have been.

    `call` identifies it, `step` made it. `since` is the number of the plan that brought the step, `plan` the number of the plan in
    which the call was made, `approvals` how many plans had been approved before.
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
        spent: what must not be repeated unseen.
        keys: the key of each step's latest attempt; `nested`: the steps whose latest attempt was a run of its own.
        resumes: the steps that go on with what their latest attempt began.
        done_up_to, done_above: by call, each occurrence below this number is known to be done, and those above it.
        allowed: the steps that a person has allowed to repeat a call.
    """

    spent: list[Spent] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    nested: set[str] = field(default_factory=set)
    resumes: set[str] = field(default_factory=set)
    done_up_to: dict[str, int] = field(default_factory=dict)
    done_above: dict[str, frozenset[int]] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)

    def is_done(self, key: str) -> bool:
        """Whether the call with this key is known to be done."""
        call, _, number = key.partition("-")
        return int(number) < self.done_up_to.get(call, 0) or int(number) in self.done_above.get(call, ())


def _started(board: Board, event: StepStarted) -> None:
    if event.key:
        board[OnceCalls].keys[event.step] = event.key
    if event.inside:
        board[OnceCalls].nested.add(event.step)


def _know_done(mine: OnceCalls, id: str) -> None:
    """The latest call of this step is known to be done: the same call again is another occurrence."""
    if id not in mine.keys:
        return
    call, _, number = mine.keys[id].partition("-")
    lowest, done = mine.done_up_to.get(call, 0), {*mine.done_above.get(call, ()), int(number)}
    while lowest in done:
        done.remove(lowest)
        lowest += 1
    mine.done_up_to[call], mine.done_above[call] = lowest, frozenset(done)


def _spend(board: Board, id: str, *, sure: bool) -> None:
    step, mine = board.steps[id], board[OnceCalls]
    if id in mine.keys and board.effects_of(step) == "once":
        call, approvals = mine.keys[id].partition("-")[0], board[Approvals].given
        mine.spent.append(Spent(call, id, board.brought_by(id), board.plans, approvals, sure))


def _learn(board: Board, id: str, *, made: bool) -> None:
    """A call that was given up has ended. It came to nothing only if it is clear which one it was."""
    mine = board[OnceCalls]
    if made:
        mine.spent = [one._replace(sure=True) if one.step == id else one for one in mine.spent]
    elif board[Doubt].attempts[id] == 1:
        mine.spent = [one for one in mine.spent if one.sure or one.step != id]


def _done(board: Board, event: StepDone) -> None:
    mine = board[OnceCalls]
    if event.step in mine.keys:
        _know_done(mine, event.step)
        _spend(board, event.step, sure=True)
    mine.resumes.discard(event.step)


def _failed(board: Board, event: StepFailed) -> None:
    board[OnceCalls].resumes.discard(event.step)
    if event.in_doubt:
        _spend(board, event.step, sure=False)


def _paused(board: Board, event: StepPaused) -> None:
    board[OnceCalls].resumes.add(event.step)
    if event.in_doubt:
        _spend(board, event.step, sure=True)


def _in_doubt(board: Board, event: StepInDoubt) -> None:
    _spend(board, event.step, sure=False)


def _requeued(board: Board, event: Requeued) -> None:
    mine, id = board[OnceCalls], event.step or ""
    if event.reason == "interrupted" and id in mine.nested and board.state[id] in ("waiting", "failed"):
        mine.resumes.add(id)
        _spend(board, id, sure=False)


def _late(board: Board, event: StepLate) -> None:
    _learn(board, event.step, made=event.error is None)
    if event.error is None:
        _know_done(board[OnceCalls], event.step)


def _reviewed(board: Board, event: Reviewed) -> None:
    mine, id = board[OnceCalls], event.step or ""
    if resolves(board, event):
        _learn(board, id, made=False)
        if event.verdict == "done":
            _know_done(mine, id)
            _spend(board, id, sure=True)
    elif event.verdict == "approve" and board.paused is not None and board.paused.about == "repeat":
        mine.allowed.add(id)


def _before_plan(board: Board, plan: Plan | None) -> None:
    mine = board[OnceCalls]
    if plan is not None:
        kept = {step.id for step in plan.steps if board.steps.get(step.id) == step} & mine.nested
        mine.resumes &= kept
        mine.allowed.clear()


CAPABILITY = Capability(
    OnceCalls,
    folds={
        StepStarted: _started,
        StepDone: _done,
        StepFailed: _failed,
        StepPaused: _paused,
        StepInDoubt: _in_doubt,
        StepLate: _late,
        Requeued: _requeued,
        Reviewed: _reviewed,
    },
    before_plan=_before_plan,
)


def digest_of(*parts: Any) -> str:
    """Return 32 characters that depend on `parts`, which JSON can hold, and on nothing else."""
    return sha256(json.dumps(parts).encode(errors="replace")).hexdigest()[:32]


def identity(step: Step, results: Mapping[str, Any], tools: Toolbox) -> str:
    """Return what identifies the call of `step`: the same for equal calls, whatever the step is called.

    The arguments are taken as their tool receives them. A step without a tool is told by its words and by what it is given.
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
    except Exception:  # the call can't be made: a validator of the tool may raise anything
        return digest_of(tool.call_text(params))
    try:
        to_jsonable_python(arguments)
    except Exception:  # an object of any class: only what the plan says of it can be compared
        return digest_of(tool.call_text(params))
    return digest_of(text_of([step.tool, _same(arguments)]))


def _same(value: Any) -> Any:
    """The arguments, with one way to write each number."""
    if isinstance(value, Decimal):
        return str(value.normalize())
    if isinstance(value, dict):
        return {name: _same(part) for name, part in value.items()}
    return [*map(_same, value)] if isinstance(value, list | tuple) else value


def repeated(board: Board, id: str, step: Step, call: str, plan: int) -> Spent | None:
    """Return the latest call that `step` would repeat in plan number `plan`; None if there is none.

    The call was made, or may have been, before a plan said that the step is to be done. What a plan says with the step from the
    first is no repeat; but the same step again, in a later plan, is one.
    """
    since = board.brought_by(id) if board.steps.get(id) == step else plan
    for one in reversed(board[OnceCalls].spent):
        if one.call != call:
            continue
        # a judge that wants the step tried again wants its own call again
        if (one.since < since and not (one.step == id and one.plan == plan)) or (one.step == id and one.plan < plan):
            return one
    return None


def repeats(plan: Plan, board: Board, policy: object, executor: Any) -> Iterator[Problem]:
    """Plan check: no step repeats an at-most-once call. A reviewer sees the repeat, and may want it."""
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
            message = f"step {one.step} has done the same; it may be done once"
            yield Problem(
                "done_once", step.id, message, f"leave it out; use {{step_{one.step}_result}} where you need it"
            )
        else:
            hint = "find out first whether it was done, or leave it out"
            message = f"the same call, step {one.step}, may have been made, or be under way still; it may be done once"
            yield Problem("in_doubt", step.id, message, hint)


def identify(board: Board, policy: object, event: Event, executor: Any) -> Answer:
    """Guard: a call with effects gets its key. A repeat of an at-most-once call asks a person; without one, the step fails.

    A repeat that a reviewer could see when approving the plan was approved; one that came out of later results was not.
    """
    if executor is None or not isinstance(event, StepStarted):
        return event
    id, step, mine = event.step, board.steps[event.step], board[OnceCalls]
    if board.effects_of(step) == "none":
        return event
    known = mine.keys.get(id, "")
    if id in mine.resumes and known and not mine.is_done(known):
        return replace(event, key=known)  # it goes on with what it began
    call = identity(step, board.results, executor.tools)
    if mine.spent and id not in mine.allowed and max(board.plans, board.brought_by(id)) > 1:
        one, approvals = repeated(board, id, step, call, board.plans), board[Approvals]
        if one is not None and not (one.approvals < approvals.given and approvals.seen >= _needs(step)):
            why = f"step {one.step} has made the same call before, and it may be done once"
            if board.has_reviewer or step.gate:
                return when_idle(board, Paused(board.now, "gate", id, why=why, about="repeat"), WAIT)
            return StepBlocked(event.at, id, why, event.attempt, event.attempts, final=True)
    return replace(event, key=next_key(board, call))


def next_key(board: Board, call: str) -> str:
    """Return the key of the lowest occurrence of `call` that is not known to be done, does not run, and is not to be resumed.

    So a retry has the key of the attempt before, under whatever id a later plan makes the call; and a call that is meant twice
    has two keys.
    """
    mine = board[OnceCalls]
    taken = {job.key for job in board.in_flight.values() if isinstance(job, StepStarted)}
    taken |= {mine.keys.get(id, "") for id in mine.resumes}
    number, above = mine.done_up_to.get(call, 0), mine.done_above.get(call, ())
    while (key := f"{call}-{number}") in taken or number in above:
        number += 1
    return key


def context(agent: Any, run: Any, job: Job) -> dict[str, Any]:
    """Return the idempotency key of a step that starts."""
    if not isinstance(job, StepStarted) or not job.key:
        return {}
    return {"key": digest_of(run.key or run.uid, job.key)}


def _needs(step: Step) -> set[str]:
    """The steps whose results decide what `step` does."""
    return set(step.depends_on) if step.tool is None else {named.step for named in find(step.params)}
