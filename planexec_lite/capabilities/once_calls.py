"""At-most-once calls (lessons 07, 09, 10): a call that must run at most once is never repeated unseen, even by another step.

The tool and the resolved arguments, with defaults, identify a call: `Tool.identity`. With its occurrence and the id of the
outermost run it gives the idempotency key, which a tool can pass to a service. Calls of plans, calls that a model chose and
calls of nested runs are counted together. If one plan contains the same call twice, both are made. If a later plan makes the
same call again, the run asks a person or refuses it.

A step that chooses its calls itself and is killed, or is still at work after its timeout, has not said which calls it made. Until
that is clear it might have made `ANY` of them, so no later plan makes an at-most-once call unseen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import count, filterfalse
from typing import Any, NamedTuple

from planexec_lite.capabilities.approval import Approvals, ask_about_step
from planexec_lite.capabilities.doubt import Doubt, StepInDoubt, StepLate, resolves
from planexec_lite.capabilities.stepping import might_choose
from planexec_lite.core import Board, Capability, Choice, Part
from planexec_lite.core.events import (
    Event,
    Requeued,
    Reviewed,
    StepBlocked,
    StepDone,
    StepFailed,
    StepPaused,
    StepStarted,
)
from planexec_lite.frozen import frozen
from planexec_lite.meter import MakeKey
from planexec_lite.plan import Plan, Problem, Step
from planexec_lite.tools import KnownCall, Toolbox, digest_of, next_number, text_of
from planexec_lite.tools.approved import ANY, LANE, TRIED, CallState
from planexec_lite.tools.references import find, resolved

_LANES = 1_000  # the steps beside each other that can choose calls


@frozen
class OuterKnown(Event):
    """A nested run begins, or continues: what it must know of the runs around it.

    `known` are the calls with effects that those know. `lane` keeps the occurrences of its new calls apart from those of a
    step beside it, and `depth` says how many runs are around it. `informed`: its planner has read results, because the step
    around it uses some. `planned` are the tools that the plans around it call, if new effects are forbidden there.
    """

    known: tuple[KnownCall, ...] = ()
    lane: int = 0
    depth: int = 0
    informed: bool = False
    planned: tuple[str, ...] | None = None


class Spent(NamedTuple):
    """An at-most-once call that was made, or, if it is not `sure`, might have been made.

    `step` is the step of this run that made it, "" for a call of the runs around it. `since` is the number of the plan that
    brought the step, `plan` the number of the plan in which the call was made, `approvals` the number of plans that had
    been approved before.
    """

    known: KnownCall
    step: str = ""
    since: int = 0
    plan: int = 0
    approvals: int = 0

    @property
    def sure(self) -> bool:
        """Whether the call was made."""
        return self.known.state == "done"

    @property
    def why(self) -> str:
        """Why the call is not repeated."""
        around = "" if self.step else " of the run around this one"
        made = "already made" if self.sure else "might have made"
        return f"{self.known.by}{around} {made} this call, which runs at most once"


class OnceCalls(Part):
    """The calls with effects so far.

    Attributes:
        calls: by call, what is known of each occurrence; `tried`: those that the next attempt belongs to; `new`: by call
            and lane, the lowest that might be new.
        latest: by step, the start of its latest attempt that has effects; `paused`: the steps that continue that attempt.
        spent: by call and occurrence, the calls that are never repeated unseen; `since`: by call, the lowest `Spent.since`.
        allowed: the steps that a person has allowed to repeat a call.
        outer: the latest report from the runs around this one; empty in the outermost run.
    """

    calls: defaultdict[str, dict[int, KnownCall]] = defaultdict(dict)
    tried: defaultdict[str, set[int]] = defaultdict(set)
    new: dict[tuple[str, int], int] = {}
    latest: dict[str, StepStarted] = {}
    paused: set[str] = set()
    spent: dict[tuple[str, int], Spent] = {}
    since: dict[str, int] = {}
    allowed: set[str] = set()
    outer: OuterKnown = OuterKnown(0.0)

    def note(self, known: KnownCall) -> KnownCall:
        """Record and return what is known of a call. A call that is known to be done stays done."""
        calls, tried = self.calls[known.call], self.tried[known.call]
        before = calls.get(known.number)
        if before and before.state == "done":
            return before
        calls[known.number] = known
        tried.discard(known.number)
        if known.state in TRIED:
            tried.add(known.number)
        return known

    def spend(self, spent: Spent) -> None:
        """Record the at-most-once call `spent.known`, if it was made or might have been made."""
        call, number, state, *_ = spent.known
        if state in ("done", "doubt"):
            self.spent[call, number] = spent
            self.since[call] = min(spent.since, self.since.get(call, spent.since))


def _started(board: Board, event: StepStarted) -> None:
    mine = board[OnceCalls]
    if not event.call:  # a plan can give the id of an earlier step to one without effects
        mine.latest.pop(event.step, None)
    else:
        mine.latest[event.step] = event
        mine.paused.discard(event.step)
        mine.allowed.discard(event.step)
        mine.note(KnownCall(event.call, event.number, "running"))
        mine.new[event.call, event.number // LANE] = event.number + 1


def _end(
    board: Board, step_id: str, state: CallState | None, chosen: Iterable[KnownCall] | None = ()
) -> None:
    """The latest attempt of a step ended, and its call is in this state now; None: in the same as before.

    `chosen`: the calls that it chose; None: it has not said which.
    """
    mine = board[OnceCalls]
    latest, by = mine.latest.get(step_id), f"step {step_id}"
    if latest is None and not chosen:
        return  # no call with effects
    ended = [known._replace(by=by) for known in chosen or ()]
    if latest is not None:
        once = board.effects[step_id] == "once"
        if state is not None:
            ended.insert(0, KnownCall(latest.call, latest.number, state, once, by))
        if chosen is None and once and latest.lane:
            number = next_number(mine.calls.get(ANY, ()), (), latest.lane * LANE)
            ended.append(KnownCall(ANY, number, "doubt", once, by))
    for known in map(mine.note, ended):
        if known.once:
            now = (board.brought_by[step_id], board.plans, board[Approvals].given)
            mine.spend(Spent(known, step_id, *now))
        elif latest is not None and latest.inside:  # the nested run knows that it was not made
            mine.spent.pop(known[:2], None)


def _paused(board: Board, event: StepPaused) -> None:
    if event.step in board[OnceCalls].latest:
        board[OnceCalls].paused.add(event.step)
    _end(board, event.step, "running", event.chosen)


def _requeued(board: Board, event: Requeued) -> None:
    job = board.in_flight[event.step]
    if isinstance(job, StepStarted) and job.call:
        continues = event.reason == "interrupted" and job.inside > 0
        if continues:
            board[OnceCalls].paused.add(job.step)
        _end(board, job.step, "doubt" if continues else "open", event.chosen)


def _late(board: Board, event: StepLate) -> None:
    # a late error proves nothing: the timeout itself might have caused it, after the call
    _end(board, event.step, "done" if event.error is None else None, event.chosen)
    spent = board[OnceCalls].spent
    for key, one in spent.items():
        if key[0] == ANY and one.step == event.step:  # it has said now which calls it chose
            del spent[key]
            break


def _reviewed(board: Board, event: Reviewed) -> None:
    mine, question = board[OnceCalls], board.asked
    step_id = question.step or ""
    if event.verdict == "approve" and question.kind == "repeat" and not question.path:
        mine.allowed.add(step_id)
    elif not resolves(question, event):
        return
    elif event.verdict == "done":
        _end(board, step_id, "done")
    elif board[Doubt].attempts[step_id] == 1:  # it is clear which call was not made
        _end(board, step_id, "open")
        mine.spent = {
            key: spent for key, spent in mine.spent.items() if spent.sure or spent.step != step_id
        }


def _before_plan(board: Board, plan: Plan) -> None:
    mine = board[OnceCalls]
    kept = board.kept_by(plan)
    for step_id in mine.paused - kept:
        latest = mine.latest[step_id]
        known = mine.calls[latest.call][latest.number]
        mine.note(known._replace(state="doubt" if latest.inside else "open"))
    mine.paused &= kept
    mine.allowed.clear()


def _learned(board: Board, event: OuterKnown) -> None:
    """The run is nested: the calls of the runs around it count, as calls that were made before its first plan."""
    mine = board[OnceCalls]
    mine.outer = event
    for known in event.known:
        if known.state == "done" or known.number not in mine.calls.get(known.call, {}):
            mine.note(known)
        if known.once and (known.call, known.number) not in mine.spent:
            mine.spend(Spent(known))


def known_calls(board: Board) -> tuple[KnownCall, ...]:
    """Return every occurrence of a call with effects that the run knows, its own and those of the runs around it."""
    mine = board[OnceCalls]
    # a call is repeated again after a person has said that it was not made
    return tuple(
        one._replace(once=one[:2] in mine.spent)
        for calls in mine.calls.values()
        for one in calls.values()
    )


def identity(step: Step, results: Mapping[str, Any], tools: Toolbox) -> str:
    """Return a text that identifies the call of `step`: equal for equal calls, also under another id.

    Steps without a tool are compared by their words and their inputs.
    """
    params = resolved(step.params, results)
    if step.tool is not None and step.tool in tools:
        return tools[step.tool].identity(params)
    inputs = [results.get(step_id) for step_id in step.depends_on]
    return digest_of(text_of([step.tool, step.description, params, inputs]))


def repeated(board: Board, step: Step, call: str, plan: int) -> Spent | None:
    """Return the latest call that `step` would repeat in plan number `plan`, or None.

    A call is repeated if it was made, or might have been made, before a plan brought the step; if the step itself made
    it, and an evaluator asks for a retry; or if a later plan contains the same step again. The retries that the plan
    gives a step whose call is in doubt are no repeats: they have the same key.
    """
    mine = board[OnceCalls]
    since = board.brought_by[step.id] if board.steps.get(step.id) == step else plan
    # the calls of a step without a tool are checked one by one, when they are chosen
    might_be = (call, ANY) if step.tool and board.effects_of(step) == "once" else (call,)
    if step.id not in mine.latest and all(mine.since.get(one, since) >= since for one in might_be):
        return None  # a plan can contain the same call many times
    made = ((one, number) for one in might_be for number in reversed(mine.calls.get(one, {})))
    for spent in map(mine.spent.get, made):
        if spent is None:
            continue
        same_step = spent.step == step.id
        if (spent.sure or spent.plan < plan) if same_step else spent.since < since:
            return spent
    return None


def repeats(plan: Plan, board: Board, _policy: object, executor: Any) -> Iterator[Problem]:
    """Plan check: no step repeats an at-most-once call. A reviewer sees the repeat and can approve it."""
    mine, results = board[OnceCalls], board.results
    if board.has_reviewer or not mine.spent:
        return
    continues = mine.paused & board.kept_by(plan)
    for step in plan.steps:
        if step.id in continues or not results.keys() >= _needs(step):
            continue
        call = identity(step, results, executor.tools)
        spent = repeated(board, step, call, board.plans + 1)
        if spent is None:
            continue
        code, hint = "in_doubt", "find out first whether it was made, or leave it out"
        if spent.sure:
            code, hint = "done_once", "leave it out, or use its result"
        yield Problem(code, step.id, spent.why, hint)


def identify(board: Board, _policy: object, event: StepStarted, executor: Any) -> Choice:
    """Guard: a call with effects gets its key. A repeat of an at-most-once call asks a person; without one, the step fails.

    A repeat that the reviewer could see in the plan was approved with it; a repeat that depends on later results was not.
    """
    if executor is None or board.effects[event.step] == "none":
        return event
    step_id, step, mine = event.step, board.steps[event.step], board[OnceCalls]
    if step_id in mine.paused:  # it continues the previous attempt
        latest = mine.latest[step_id]
        return replace(event, call=latest.call, number=latest.number, lane=latest.lane)
    call = identity(step, board.results, executor.tools)
    if mine.spent and step_id not in mine.allowed:
        spent, approvals = repeated(board, step, call, board.plans), board[Approvals]
        # a reviewer approved the plan with this repeat in it, and with the results that make it one
        was_seen = spent and spent.approvals < approvals.given and approvals.seen >= _needs(step)
        if spent and not was_seen:
            if board.has_reviewer or step.gate:
                return ask_about_step(board, step_id, spent.why, kind="repeat")
            return StepBlocked(
                event.at, step_id, spent.why, event.attempt, event.attempts, final=True
            )
    lane = mine.outer.lane
    first = mine.new.get((call, lane), lane * LANE)
    number = next_number(mine.calls.get(call, ()), mine.tried.get(call, ()), first)
    free = _free_lane(board, step_id) if might_choose(executor, step) else 0
    return StepStarted(event.at, step_id, event.attempt, event.attempts, call, number, free)


def _free_lane(board: Board, step_id: str) -> int:
    """Return a lane that no other step at work has; if it can, that of its latest attempt, so that its calls keep their keys."""
    mine = board[OnceCalls]
    busy = {*filter(None, board.in_flight), *+board[Doubt].overdue} - {step_id}
    used = {mine.latest[one].lane for one in busy & mine.latest.keys()}
    latest = mine.latest.get(step_id)
    width: int = _LANES**mine.outer.depth
    if latest is not None and latest.lane not in {0, *used}:
        return latest.lane
    return next(filterfalse(used.__contains__, count(mine.outer.lane + width, width)))


def key_of(run: Any, job: StepStarted) -> MakeKey:
    """Return what makes the idempotency key of a step that has started."""
    return partial(digest_of, run.key or run.uid, job.call, job.number)


def _needs(step: Step) -> set[str]:
    """The steps whose results `step` uses."""
    if step.tool is None:
        return set(step.depends_on)
    return {named.step for named in find(step.params)}


CAPABILITY = Capability(
    OnceCalls,
    folds={
        StepStarted: _started,
        StepDone: lambda board, event: _end(board, event.step, "done", event.chosen),
        StepFailed: lambda board, event: _end(
            board, event.step, "doubt" if event.in_doubt else "open", event.chosen
        ),
        StepPaused: _paused,
        StepInDoubt: lambda board, event: _end(board, event.step, "doubt", None),
        StepLate: _late,
        Requeued: _requeued,
        Reviewed: _reviewed,
        OuterKnown: _learned,
    },
    before_plan=_before_plan,
    context={StepStarted: lambda _, run, job: {"key": key_of(run, job)} if job.call else {}},
    plan_checks=(repeats,),
)
