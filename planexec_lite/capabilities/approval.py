"""Approval (lesson 07): if a run has a reviewer, no step starts before the reviewer has approved the plan. A gate asks again.

An approval is for the hash of one plan; an edited plan has another hash. A step that must run at most once is approved together
with every step that it depends on, and the run asks again if one of them changes. A grant lets later plans run without another
approval while they stay within its bounds.

What a yes is bound to, and what refuses anything else:

- a question: its digest, of which the plan or the call is a part (`run.decisions`, and the board for events that are replayed);
- a plan: its hash, `Approvals.approved` (`ask_for_approval`);
- a step: its text when the plan came in, `Approvals.received` (`ask_at_gate`). While a run waits for a person nothing
  runs, and each new plan clears the yes, so the arguments that were shown are those that the step gets;
- a call that a model chose: its text with its arguments (`capabilities.chosen_calls`, `tools.approved`);
- the tools: their pins (`capabilities.tool_pins`, when a run is continued).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from pydantic import NonNegativeInt

from planexec_lite.capabilities.judging import Judged
from planexec_lite.capabilities.undo import list_calls
from planexec_lite.core import (
    WAIT,
    Board,
    Capability,
    Choice,
    Part,
    only_with,
    when_idle,
)
from planexec_lite.core.events import Ended, Paused, PlanProposed, Reviewed, StepStarted
from planexec_lite.core.questions import ExactCall, Grant, Question
from planexec_lite.plan import Call, Plan, Problem, Step, lineages, word_for_word
from planexec_lite.tools import Toolbox, references, text_of

# the kinds of questions about a plan or a step of it
ABOUT_PLANS = ("approval", "gate", "repeat", "call")


@dataclass(frozen=True)
class Settings:
    """How often a reviewer can ask for a changed plan. See `Policy`."""

    max_changes: NonNegativeInt = 3


class GrantScope(NamedTuple):
    """A grant, the plan that it was given with, with the steps that were done before, and the name of the reviewer."""

    grant: Grant
    plan: Plan
    by: str


class Approvals(Part):
    """The reviews so far, as the rules need them.

    Attributes:
        approved: the hashes of the approved plans; `latest_hash` is the hash of the latest plan, taken when it came in;
            without a reviewer it is "" until a gate is answered.
        rejected: who rejected the plan, a step or more budget, and why; "" if nobody did. It ends the run.
        changes_asked: how often a reviewer asked for a changed plan.
        grant_scope: the bounds for later plans; `begun`: the steps that have started since the grant.
        asks: by step, why a person is asked right before it; "": because it has a gate; None: the person said yes.
        covered: the lineages of the steps in the plan that was approved last; `seen`: the steps that were done then.
        given: how many plans a reviewer approved.
        received: the digest of each step that a yes covers (with a reviewer all, otherwise those with a gate), from when it
            came in, to detect a change in place.
    """

    approved: set[str] = set()
    latest_hash: str = ""
    rejected: str = ""
    changes_asked: int = 0
    grant_scope: GrantScope | None = None
    begun: list[Step] = []
    asks: dict[str, str | None] = {}
    covered: set[str] = set()
    seen: set[str] = set()
    given: int = 0
    received: dict[str, str] = {}
    _lineages: dict[str, str] = {}  # by step; a cache

    def receive(self, board: Board, steps: Sequence[Step]) -> None:
        """Note the steps with a gate, and a digest of each that a person is asked about, to detect a change in place."""
        self._lineages.clear()
        self.asks |= {step.id: "" for step in steps if step.gate}
        self.received |= {
            step.id: word_for_word(step) for step in steps if board.has_reviewer or step.gate
        }


def must_be_seen(board: Board, step: Step) -> bool:
    """Whether an approval must name exactly this step: it must run at most once, or it can delete or overwrite data."""
    destructive = board.started.destructive
    is_destructive = step.tool in destructive if step.tool else bool(destructive)
    return is_destructive or board.effects_of(step) == "once"


def _before_plan(board: Board, plan: Plan) -> None:
    mine = board[Approvals]
    mine.latest_hash = plan.hash if board.has_reviewer else ""
    mine.asks.clear()
    mine.received.clear()
    mine.receive(board, plan.steps)


def _plan_proposed(board: Board, event: PlanProposed) -> None:
    mine = board[Approvals]
    if event.problems:
        return
    if event.granted_by:  # a plan within the grant is approved
        mine.approved.add(mine.latest_hash)
    if not board.has_reviewer or mine.latest_hash in mine.approved:
        list_calls(board)


def _step_started(board: Board, event: StepStarted) -> None:
    mine = board[Approvals]
    if mine.grant_scope is not None and event.attempt == 1:  # a retry is not a further step
        mine.begun.append(board.steps[event.step])


def _judged(board: Board, event: Judged) -> None:
    mine, step = board[Approvals], event.changed
    if step is not None:
        mine.asks.pop(step.id, None)
        mine.receive(board, [step])
        if board.has_reviewer and step.tool is None:
            mine.asks[step.id] = "the evaluator changed the words that its executor reads"


def _reviewed(board: Board, event: Reviewed) -> None:
    mine, question = board[Approvals], board.asked
    mine.latest_hash = mine.latest_hash or event.plan_hash
    if event.verdict == "reject" and question.kind in (*ABOUT_PLANS, "budget"):
        did = "granted no more budget" if question.kind == "budget" else "rejected the plan"
        comment = f": {event.comment}" if event.comment else ""
        mine.rejected = f"{event.by} {did}{comment}"
    if question.path or question.kind not in ABOUT_PLANS:
        return  # the run inside the step reads the other verdicts
    if event.verdict == "approve" and question.plan is None:
        # a yes about a step does not approve the plan, and the grant stays
        mine.asks[question.step or ""] = None
        return
    mine.grant_scope, mine.begun = None, []
    if event.verdict == "change":
        mine.changes_asked += 1
        mine.approved.clear()
        asked = Problem("change_asked", None, event.comment, "change the plan accordingly")
        board.reject((asked,), (board.proposal or board.plan).to_json(indent=None))
    elif event.verdict == "approve":
        _approve(board, event)


def _approve(board: Board, event: Reviewed) -> None:
    mine = board[Approvals]
    if event.plan is not None:
        board.adopt(event.plan)
    mine.approved.add(mine.latest_hash)  # a plan that was changed in place cannot be approved
    mine.given += 1
    mine.covered = lineages(board.steps, board.unfinished, mine._lineages)
    mine.seen = set(board.results)
    if event.grant is not None:
        mine.grant_scope = GrantScope(event.grant, board.plan, event.by)
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
    mine, approved = board[Approvals], scope.plan
    new: list[Step] = []
    for step in (*mine.begun, *plan.steps):
        if step not in approved.steps and step not in new:
            new.append(step)
    if len(new) > scope.grant.new_steps:
        yield f"{len(new)} new steps, and the grant is for {scope.grant.new_steps}"
    for call in approved.rollback:
        if call not in plan.rollback:
            yield f"it drops {call.tool} from the rollback"
    free = [step for step in approved.steps if not step.gate]
    known = set(map(_text, approved.rollback))
    for step in free:
        known |= {_text(call) for call in (step, step.undo) if call is not None}
    tools = {step.tool for step in free}
    for step in new:
        if step.gate:
            yield f"step {step.id} has a gate"
        has_effects = board.effects_of(step) != "none"
        if step.tool not in tools or (has_effects and _text(step) not in known):
            yield f"step {step.id} makes a call that the approved plan does not make"
    undos = [step.undo for step in new if step.undo is not None]
    for undo in (*undos, *plan.rollback):
        if _text(undo) not in known:
            yield f"the approved plan does not call {undo.tool} so"
    # if an approved step used a tool with care, every later step that uses it needs the same care
    careful = {step.tool for step in approved.steps if must_be_seen(board, step)}
    steps = board.steps | {step.id: step for step in plan.steps}
    for step in plan.steps:
        if step.tool not in careful and not must_be_seen(board, step):
            continue
        if step not in approved.steps or step.id in board.attempt:
            yield f"step {step.id} must be as it was approved, and is new or was tried before"
        elif not mine.covered >= lineages(steps, [step.id]):
            yield f"a step that step {step.id} depends on has changed"


def _text(call: Step | Call) -> str:
    """The call of a step, an undo or a rollback. Its references are not resolved."""
    return text_of([call.tool, call.params])


def stop_if_rejected(board: Board, policy: Settings) -> Choice | None:
    """Stop the run if the reviewer rejected the plan, granted no more budget, or asked for more than `max_changes` changes."""
    mine = board[Approvals]
    reason = mine.rejected
    if mine.changes_asked > policy.max_changes:
        reason = (
            f"the reviewer asked for a change more than {policy.max_changes} times (max_changes)"
        )
    return when_idle(board, Ended(board.now, "stopped", reason)) if reason else None


@only_with("reviewer")
def ask_for_approval(board: Board, _policy: object) -> Choice | None:
    """Pause until the reviewer has decided about the plan."""
    if board[Approvals].latest_hash in board[Approvals].approved:
        return None
    plan = board.proposal or board.plan
    verdicts = _verdicts(
        board,
        "The run carries out exactly this plan.",
        "The run ends, and no step of the plan starts.",
    )
    return Paused(board.now, Question("approval", verdicts, plan=plan))


def ask_at_gate(board: Board, _policy: object, event: StepStarted, _executor: Any) -> Choice:
    """Guard: pause before a step that needs a person's yes."""
    mine, step_id = board[Approvals], event.step
    if step_id not in mine.received:
        return event  # there is neither a reviewer nor a gate
    why = mine.asks.get(step_id)
    needs_cover = step_id not in mine.asks and board.effects[step_id] == "once"
    if mine.received[step_id] != word_for_word(board.steps[step_id]):
        why = "it was changed in place"
    elif needs_cover and not mine.covered >= lineages(board.steps, [step_id], mine._lineages):
        why = "it must run at most once, and a step that it depends on has changed since the approval"
    return event if why is None else ask_about_step(board, step_id, why)


def ask_about_step(
    board: Board, step_id: str, why: str, kind: str = "gate", call: ExactCall | None = None
) -> Choice:
    """Pause before a step. Running steps finish first, so the board does not change meanwhile."""
    what = (
        "The step starts with exactly these arguments"
        if call is None
        else "Exactly this call is made"
    )
    verdicts = _verdicts(
        board,
        f"{what}, and the yes covers nothing else.",
        "The run ends, and the step does not start.",
    )
    question = Question(kind, verdicts, why, step_id, call=call)
    return when_idle(board, Paused(board.now, question), WAIT)


def _verdicts(board: Board, approve: str, reject: str) -> dict[str, str]:
    verdicts = {"approve": approve, "reject": reject}
    if board.has_planner:
        verdicts["change"] = "The planner writes another plan, after your comment."
    return verdicts


def ask_in_full(board: Board, _policy: object, event: Paused, executor: Any) -> Choice:
    """Guard: a question names its call with resolved arguments, and has its number."""
    question = event.question
    if question.path:
        return event  # the run inside the step has done this
    step, call = board.steps.get(question.step or ""), question.call
    if call is None and step is not None:
        call = call_of(step, board.results, getattr(executor, "tools", None))
    return replace(event, question=replace(question, call=call, number=board.questions + 1))


def call_of(step: Step, results: Mapping[str, Any], tools: Toolbox | None) -> ExactCall:
    """Return the call of a step with resolved arguments; of a step without a tool, its words and its inputs."""
    if step.tool is None:
        inputs = {step_id: results[step_id] for step_id in step.depends_on if step_id in results}
        return ExactCall(None, inputs, step.description)
    params = references.resolved(step.params, results)
    if tools is not None and step.tool in tools:
        params = tools[step.tool].complete(params)
    return ExactCall(step.tool, params)


CAPABILITY = Capability(
    Approvals,
    folds={
        PlanProposed: _plan_proposed,
        StepStarted: _step_started,
        Judged: _judged,
        Reviewed: _reviewed,
    },
    before_plan=_before_plan,
)
