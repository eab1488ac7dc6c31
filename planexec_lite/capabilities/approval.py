"""Approval (lesson 07): if a run has a reviewer, no step starts before the reviewer has approved the plan. A gate asks again.

An approval is for the hash of one plan; an edited plan has another hash. A step that must run at most once is approved together
with every step that it depends on, and the run asks again if one of them changes. A grant lets later plans run without another
approval while they stay within its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from planexec_lite.capabilities.judging import Judged
from planexec_lite.capabilities.undo import list_calls
from planexec_lite.core import (
    WAIT,
    Board,
    Capability,
    Choice,
    Part,
    has_planner,
    only_if,
    when_idle,
)
from planexec_lite.core import events as e
from planexec_lite.core.questions import ExactCall, Grant, Question
from planexec_lite.plan import Call, Plan, Problem, Step, lineages, word_for_word
from planexec_lite.tools import Toolbox, text_of
from planexec_lite.tools.references import MissingResultError, resolve

ABOUT_STEPS = ("gate", "repeat", "call")  # the kinds of questions before a step; a yes starts it
REJECTED = dict.fromkeys((*ABOUT_STEPS, "approval"), "rejected the plan") | {
    "budget": "granted no more budget"
}
"""By kind of question, what a reviewer did who rejected it."""


@dataclass(frozen=True)
class Settings:
    """How often a reviewer can ask for a changed plan. See `Policy`."""

    max_changes: int = 3


class GrantScope(NamedTuple):
    """A grant, the steps and the rollback of the plan that it was given with, and the name of the reviewer."""

    grant: Grant
    steps: tuple[Step, ...]
    by: str
    rollback: tuple[Call, ...]


@dataclass
class Approvals(Part):
    """The reviews so far, as the rules need them.

    Attributes:
        approved: the hashes of the approved plans; `latest_hash` is the hash of the latest plan, taken when it came in;
            without a reviewer, when a person first answered a question.
        rejected: the rejection that ends the run, in words: of a plan, a step, or more budget; "" without one.
        changes_asked: how often a reviewer asked for a changed plan.
        grant_scope: the bounds for later plans; `begun`: the steps that have started since the grant.
        opened: the steps whose gate is open.
        changed: the steps whose words an evaluator changed.
        covered: the lineages of the steps that the latest approval allows to run once; `seen`: the steps that were done then.
        given: how many plans a reviewer approved.
        received: the text of each step when it came in, to detect a change in place.
    """

    approved: set[str] = field(default_factory=set)
    latest_hash: str = ""
    rejected: str = ""
    changes_asked: int = 0
    grant_scope: GrantScope | None = None
    begun: list[Step] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    covered: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    given: int = 0
    received: dict[str, str] = field(default_factory=dict)
    lineages: dict[str, str] = field(default_factory=dict, compare=False)  # by step; a cache

    def receive(self, board: Board, steps: Iterable[Step]) -> None:
        """Note the text of the steps that a person is asked about: a step that changes in place asks again."""
        self.received |= {
            step.id: word_for_word(step) for step in steps if board.has_reviewer or step.gate
        }


def needs_approval(board: Board) -> bool:
    """Whether a reviewer must approve the plan before any of its steps starts."""
    return board.has_reviewer and board[Approvals].latest_hash not in board[Approvals].approved


def must_be_seen(board: Board, step: Step) -> bool:
    """Whether an approval must name exactly this step: it must run at most once, or it can delete or overwrite data."""
    destructive = board.started.destructive
    return (step.tool in destructive if step.tool else bool(destructive)) or board.effects_of(
        step
    ) == "once"


def why_asked(board: Board, step_id: str) -> str | None:
    """Return why a person is asked right before the step; "": because it has a gate; None: the step starts without a question."""
    mine, step = board[Approvals], board.steps[step_id]
    if step_id in mine.received and mine.received[step_id] != word_for_word(step):
        return "it was changed in place"
    if step_id in mine.opened:
        return None
    if step_id in mine.changed:
        return "the evaluator changed the words that its executor reads"
    if step.gate:
        return ""
    runs_once = board.started.reviewer and board.effects[step_id] == "once"
    if runs_once and not mine.covered >= lineages(board.steps, [step_id], mine.lineages):
        return "it must run at most once, and a step that it depends on has changed since the approval"
    return None


def _before_plan(board: Board, plan: Plan | None) -> None:
    if plan is None:
        return
    mine = board[Approvals]
    mine.latest_hash = plan.hash if board.has_reviewer else ""
    for old in (mine.opened, mine.received, mine.lineages, mine.changed):
        old.clear()
    mine.receive(board, plan.steps)


def _plan_proposed(board: Board, event: e.PlanProposed) -> None:
    if event.granted_by and event.plan is not None and not event.problems:
        board[Approvals].approved.add(event.plan.hash)  # a plan within the grant is approved


def _step_started(board: Board, event: e.StepStarted) -> None:
    mine = board[Approvals]
    if mine.grant_scope is not None and event.attempt == 1:  # a retry is not a further step
        mine.begun.append(board.steps[event.step])


def _judged(board: Board, event: Judged) -> None:
    mine, step = board[Approvals], event.changed
    if step is not None:
        mine.opened.discard(step.id)
        mine.lineages.clear()
        mine.receive(board, [step])
        if board.has_reviewer and step.tool is None:
            mine.changed.add(step.id)


def _reviewed(board: Board, event: e.Reviewed) -> None:
    mine, question = board[Approvals], board.asked
    mine.latest_hash = mine.latest_hash or event.plan_hash
    if event.verdict == "reject" and question.kind in REJECTED:
        words = f"{event.by} {REJECTED[question.kind]}"
        mine.rejected = f"{words}: {event.comment}" if event.comment else words
    if question.kind not in ABOUT_STEPS and question.kind != "approval":
        return
    if question.path:  # the run inside the step reads the other verdicts
        return
    if event.verdict == "change":
        _ask_for_changes(board, event)
    elif event.verdict == "approve" and question.plan is None:
        mine.opened.add(
            question.step or ""
        )  # a yes about a step does not approve the plan, and the grant stays
    elif event.verdict == "approve":
        _approve(board, event)


def _ask_for_changes(board: Board, event: e.Reviewed) -> None:
    mine = board[Approvals]
    mine.grant_scope, mine.begun = None, []
    mine.changes_asked += 1
    mine.approved.clear()
    text = board.proposal.to_json(indent=None) if board.proposal else ""
    board.reject(
        (Problem("change_asked", None, event.comment, "change the plan accordingly"),), text
    )


def _approve(board: Board, event: e.Reviewed) -> None:
    mine = board[Approvals]
    if event.plan is not None:
        board.adopt(event.plan)
    plan = board.proposal or board.plan
    mine.approved.add(plan.hash)
    mine.given += 1
    careful = [
        step_id for step_id in board.unfinished if must_be_seen(board, board.steps[step_id])
    ]
    mine.covered, mine.seen = lineages(board.steps, careful, mine.lineages), set(board.results)
    mine.grant_scope, mine.begun = None, []
    if event.grant is not None:
        mine.grant_scope = GrantScope(event.grant, board.plan.steps, event.by, plan.rollback)
    if not needs_approval(board):
        list_calls(board)


def granting_reviewer(board: Board, plan: Plan) -> str:
    """Return the name of the reviewer whose grant covers `plan`, "" if none does. See `Grant` for the bounds."""
    scope = board[Approvals].grant_scope
    if scope is None or any(outside_grant(board, plan, scope)):
        return ""
    return scope.by


def outside_grant(board: Board, plan: Plan, scope: GrantScope) -> Iterator[str]:
    """Yield the reasons why a grant does not cover `plan`.

    The steps that were started under the grant count too, so that many small plans do not exceed it.
    """
    mine = board[Approvals]
    new: list[Step] = []
    for step in (*mine.begun, *plan.steps):
        if step not in scope.steps and step not in new:
            new.append(step)
    if len(new) > scope.grant.new_steps:
        yield f"{len(new)} new steps, and the grant is for {scope.grant.new_steps}"
    for call in scope.rollback:
        if call not in plan.rollback:
            yield f"it drops {call.tool} from the rollback"
    free = [step for step in scope.steps if not step.gate]
    known = {_call(call) for step in free for call in (step, step.undo)} | {
        _call(call) for call in scope.rollback
    }
    tools = {step.tool for step in free}
    for step in new:
        if step.gate:
            yield f"step {step.id} has a gate"
        if step.tool not in tools or (_has_effects(board, step) and _call(step) not in known):
            yield f"step {step.id} makes a call that the approved plan does not make"
    undos = [step.undo for step in new if step.undo is not None]
    for undo in (*undos, *plan.rollback):
        if _call(undo) not in known:
            yield f"the approved plan does not call {undo.tool} so"
    yield from _uncovered(board, plan, scope)


def _uncovered(board: Board, plan: Plan, scope: GrantScope) -> Iterator[str]:
    """Yield a reason for each step that needs care and is not exactly as it was approved.

    If an approved step used a tool with such care, every later step that uses it needs the same care.
    """
    mine = board[Approvals]
    careful = {step.tool for step in scope.steps if must_be_seen(board, step)}
    steps = board.steps | {step.id: step for step in plan.steps}
    for step in plan.steps:
        if step.tool not in careful and not must_be_seen(board, step):
            continue
        if step not in scope.steps or step.id in board.attempt:
            yield f"step {step.id} must be as it was approved, and is new or was tried before"
        elif not mine.covered >= lineages(steps, [step.id]):
            yield f"a step that step {step.id} depends on has changed"


def _call(call: Step | Call | None) -> str:
    """The call of a step, an undo or a rollback as text; references count as they are written."""
    return "" if call is None else text_of([call.tool, call.params])


def _has_effects(board: Board, step: Step) -> bool:
    """Whether a call changes something, or declares nothing. A tool that can delete or overwrite changes something."""
    return board.effects_of(step) != "none" or step.tool in board.started.destructive


def stop_if_rejected(board: Board, _policy: object) -> Choice | None:
    """Stop the run if the reviewer rejected the plan, or granted no more budget."""
    reason = board[Approvals].rejected
    return when_idle(board, e.Ended(board.now, "stopped", reason)) if reason else None


@only_if(has_planner)
def stop_after_changes(board: Board, policy: Settings) -> Choice | None:
    """Stop the run if the reviewer asked for a changed plan more than `max_changes` times."""
    if board[Approvals].changes_asked <= policy.max_changes:
        return None
    reason = f"the reviewer asked for a change more than {policy.max_changes} times (max_changes)"
    return when_idle(board, e.Ended(board.now, "stopped", reason))


@only_if(lambda _policy, started: started.reviewer)
def ask_for_approval(board: Board, _policy: object) -> Choice | None:
    """Pause until the reviewer has decided about the plan."""
    if not needs_approval(board) or board.planning:
        return None
    verdicts = {
        "approve": "The run carries out exactly this plan.",
        "reject": "The run ends, and no step of the plan starts.",
    }
    return e.Paused(
        board.now,
        Question("approval", verdicts | _change(board), plan=board.proposal or board.plan),
    )


def ask_at_gate(board: Board, _policy: object, event: e.StepStarted, _executor: Any) -> Choice:
    """Guard: pause before a step that needs a person's yes."""
    why = why_asked(board, event.step)
    return event if why is None else ask_about_step(board, event.step, why)


def ask_about_step(
    board: Board, step_id: str, why: str, kind: str = "gate", call: ExactCall | None = None
) -> Choice:
    """Pause before a step. Running steps finish first, so the board does not change meanwhile."""
    what = (
        "exactly this call is made"
        if call is not None
        else "the step starts with exactly these arguments"
    )
    verdicts = {
        "approve": f"{what[0].upper()}{what[1:]}, and the yes covers nothing else.",
        "reject": "The run ends, and the step does not start.",
    }
    question = Question(kind, verdicts | _change(board), why, step_id, call=call)
    return when_idle(board, e.Paused(board.now, question), WAIT)


def _change(board: Board) -> dict[str, str]:
    asks = "The planner writes another plan, after your comment."
    return {"change": asks} if board.has_planner else {}


def ask_in_full(board: Board, _policy: object, event: e.Paused, executor: Any) -> Choice:
    """Guard: a question names its call with resolved arguments, and has its number."""
    question = event.question
    if question.path:
        return event  # the run inside the step has done this
    step = board.steps.get(question.step or "")
    call = question.call
    if call is None and step is not None and question.kind != "undo":
        call = call_of(step, board.results, None if executor is None else executor.tools)
    return replace(event, question=replace(question, call=call, number=board.questions + 1))


def call_of(step: Step, results: Mapping[str, Any], tools: Toolbox | None) -> ExactCall:
    """Return the call of a step with resolved arguments; of a step without a tool, its words and its inputs."""
    if step.tool is None:
        return ExactCall(
            None,
            {step_id: results[step_id] for step_id in step.depends_on if step_id in results},
            step.description,
        )
    params = dict(step.params)
    with suppress(MissingResultError):
        params = resolve(step.params, results)
    if tools is not None and step.tool in tools:
        params = tools[step.tool].complete(params)
    return ExactCall(step.tool, params)


CAPABILITY = Capability(
    Approvals,
    folds={
        e.PlanProposed: _plan_proposed,
        e.StepStarted: _step_started,
        Judged: _judged,
        e.Reviewed: _reviewed,
    },
    before_plan=_before_plan,
)
