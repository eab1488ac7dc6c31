"""Approval (lesson 07): if a run has a reviewer, no step starts before the reviewer has approved the plan. A gate asks again.

An approval is for the hash of one plan; an edited plan has another hash. A step that must run at most once is approved together
with every step that it depends on, and the run asks again if one of them changes. A grant lets later plans run without another
approval while they stay within its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from planexec_lite.capabilities.judging import Judged
from planexec_lite.capabilities.undo import list_calls
from planexec_lite.core import WAIT, Answer, Board, Capability, Part, when_idle
from planexec_lite.core import events as e
from planexec_lite.plan import Call, Plan, Problem, Step, lineages, word_for_word


@dataclass(frozen=True)
class Settings:
    """The settings of this capability."""

    max_changes: int = 3


class GrantScope(NamedTuple):
    """A grant, the steps and the rollback of the plan that it was given with, and the name of the reviewer."""

    grant: e.Grant
    steps: tuple[Step, ...]
    by: str
    rollback: tuple[Call, ...]


@dataclass
class Approvals(Part):
    """The reviews so far, as the rules need them.

    Attributes:
        approved: the hashes of the approved plans; `latest_hash` is the hash of the latest plan, taken when it came in.
        rejected: the rejection that ends the run.
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
    rejected: e.Reviewed | None = None
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
        self.received |= {step.id: word_for_word(step) for step in steps if board.has_reviewer or step.gate}


def needs_approval(board: Board) -> bool:
    """Whether a reviewer must approve the plan before any of its steps starts."""
    return board.has_reviewer and board[Approvals].latest_hash not in board[Approvals].approved


def must_be_seen(board: Board, step: Step) -> bool:
    """Whether an approval must name exactly this step: it must run at most once, or it can delete or overwrite data."""
    destructive = board.started.destructive
    return (step.tool in destructive if step.tool else bool(destructive)) or board.effects_of(step) == "once"


def why_asked(board: Board, id: str) -> str | None:
    """Return why a person is asked right before the step; "": because it has a gate; None: the step starts without a question."""
    mine, step = board[Approvals], board.steps[id]
    if id in mine.received and mine.received[id] != word_for_word(step):
        return "it was changed in place"
    if id in mine.opened:
        return None
    if id in mine.changed:
        return "the evaluator changed the words that its executor reads"
    if step.gate:
        return ""
    runs_once = board.has_reviewer and board.effects_of(step) == "once"
    if runs_once and not mine.covered >= lineages(board.steps, [id], mine.lineages):
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
    mine, asked = board[Approvals], board.paused
    reason, inside = (asked.reason, asked.inside) if asked else ("approval", None)
    if reason not in ("approval", "gate"):
        return
    if event.verdict == "reject":
        mine.rejected = None if inside == "undo" else event
    if event.step is None or event.verdict == "change":  # a yes at a gate is about that step: the grant stays valid
        mine.grant_scope, mine.begun = None, []
    if event.verdict == "change":
        mine.changes_asked += 1
        mine.approved.clear()
        text = board.proposal.to_json(indent=None) if board.proposal else ""
        board.reject((Problem("change_asked", None, event.comment, "change the plan accordingly"),), text)
    if event.verdict == "approve":
        if event.plan is not None:
            board.adopt(event.plan)
        if event.step is not None:
            mine.opened.add(event.step)
        if inside is None:
            _approve(board, event)


def _approve(board: Board, event: e.Reviewed) -> None:
    mine = board[Approvals]
    if event.step is None or event.plan is not None:  # a yes at a gate does not approve the plan
        mine.approved.add(event.plan_hash)
        careful = [id for id in board.unfinished if must_be_seen(board, board.steps[id])]
        mine.covered, mine.seen = lineages(board.steps, careful, mine.lineages), set(board.results)
        mine.given += 1
    if event.grant is not None:
        plan = board.plan
        mine.grant_scope, mine.begun = GrantScope(event.grant, plan.steps, event.by, plan.rollback), []
    if not needs_approval(board):
        list_calls(board)


CAPABILITY = Capability(
    Approvals,
    folds={e.PlanProposed: _plan_proposed, e.StepStarted: _step_started, Judged: _judged, e.Reviewed: _reviewed},
    before_plan=_before_plan,
)


def granting_reviewer(board: Board, plan: Plan) -> str:
    """Return the name of the reviewer whose grant covers `plan`, "" if none does. See `Grant` for the bounds.

    The steps that were started under the grant count too, so that many small plans do not exceed it. A step that must run at most
    once, or that can delete or overwrite data, is covered only if every step that it depends on is covered too, and if it has not
    been tried before. If an approved step used a tool with such care, every later step that uses it needs the same care.
    """
    mine = board[Approvals]
    if mine.grant_scope is None:
        return ""
    grant, approved, by, rollback = mine.grant_scope
    new: list[Step] = []
    for step in (*mine.begun, *plan.steps):
        if step not in approved and step not in new:
            new.append(step)
    known = {step.tool for step in approved if not step.gate}
    careful = {step.tool for step in approved if must_be_seen(board, step)}
    once = [step for step in plan.steps if step.tool in careful or must_be_seen(board, step)]
    steps = board.steps | {step.id: step for step in plan.steps}
    calls = [step.undo for step in new if step.undo] + [call for call in plan.rollback if call not in rollback]
    within = (
        len(new) <= grant.new_steps
        and all(step.tool in known and not step.gate for step in new)
        and all(step in approved and step.id not in board.attempt for step in once)
        and mine.covered >= lineages(steps, [step.id for step in once])
        and all(call.tool in known for call in calls)
    )
    return by if within else ""


def stop_if_rejected(board: Board, policy: object) -> Answer | None:
    """Stop the run if the reviewer rejected the plan."""
    review = board[Approvals].rejected
    if review is None:
        return None
    reason = f"{review.by} rejected the plan" + (f": {review.comment}" if review.comment else "")
    return when_idle(board, e.Ended(board.now, "stopped", reason))


def stop_after_changes(board: Board, policy: Settings) -> Answer | None:
    """Stop the run if the reviewer asked for a changed plan more than `max_changes` times."""
    if board[Approvals].changes_asked <= policy.max_changes:
        return None
    reason = f"the reviewer asked for a change more than {policy.max_changes} times (max_changes)"
    return when_idle(board, e.Ended(board.now, "stopped", reason))


def ask_for_approval(board: Board, policy: object) -> Answer | None:
    """Pause until the reviewer has decided about the plan."""
    return e.Paused(board.now, "approval") if needs_approval(board) and not board.planning else None


def ask_at_gate(board: Board, policy: object, event: e.StepStarted, executor: Any) -> Answer:
    """Guard: pause before a step that needs a person's yes. Running steps finish first, so the board does not change meanwhile."""
    if (why := why_asked(board, event.step)) is not None:
        return when_idle(board, e.Paused(board.now, "gate", event.step, why=why), WAIT)
    return event
