"""The kit on one page: which capabilities there are, and in which order their rules and guards are asked.

The first rule that returns an event wins. Comments explain the positions that matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from planexec_lite import core
from planexec_lite.capabilities import (
    approval,
    breaker,
    budget,
    call_limit,
    chosen_calls,
    deadline,
    doubt,
    judging,
    nesting,
    new_effects,
    news,
    once_calls,
    planning,
    progress,
    replanning,
    require_undo,
    retries,
    rollback,
    streaming,
    undo,
)
from planexec_lite.core import Answer, Guard, Rule, Signal
from planexec_lite.core import events as e
from planexec_lite.core.decide import ask_for_a_plan, finish, skip_unreachable, start_ready, wait_for_the_planner

CAPABILITIES = (
    rollback,
    undo,
    once_calls,  # before doubt: it asks how many attempts are in doubt before one less is
    approval,
    chosen_calls,
    nesting,
    news,
    replanning,
    streaming,
    retries,
    breaker,
    budget,
    judging,  # after the others: it takes over results and verdicts
    doubt,
    progress,
    call_limit,
)
RULES: tuple[Rule, ...] = (
    news.hear_news_first,
    wait_for_the_planner,
    rollback.undo_next,  # a run that is rolled back does nothing else
    doubt.ask_about_doubt,  # what is done next depends on what was done
    # reasons to stop, before anything new starts
    approval.stop_if_rejected,
    replanning.stop_after_news,
    deadline.stop_at_deadline,
    budget.stop_if_denied,
    approval.stop_after_changes,
    replanning.stop_at_failure,
    replanning.stop_after_repairs,
    judging.judge_next,  # a verdict might change what is left
    retries.back_off,
    retries.try_again,  # a retry might make a replan unnecessary
    replanning.replan,  # before steps behind the failure are skipped
    skip_unreachable,
    ask_for_a_plan,
    approval.ask_for_approval,  # the plan is there, and none of its steps has started
    start_ready,
    # nothing can start
    replanning.ask_for_more,
    replanning.fail,
    finish,
    budget.return_queued_jobs,
)
GUARDS: tuple[Guard, ...] = (
    retries.allow_retries,
    breaker.block_failing_tool,
    call_limit.limit_calls,
    # after those that say no by themselves: a person is asked only about a step that would start
    once_calls.identify,
    nesting.ask_inside,
    chosen_calls.ask_before_call,
    approval.ask_at_gate,  # after the special questions: one yes is enough
    budget.keep_within_budget,
    rollback.roll_back_first,
    nesting.report_doubt,
)
NEEDS: Mapping[Rule | Guard, str] = {
    news.hear_news_first: "planner",
    replanning.stop_after_news: "planner",
    approval.ask_for_approval: "reviewer",
    judging.judge_next: "evaluator",
    retries.back_off: "backoff",
    breaker.block_failing_tool: "breaker",
    call_limit.limit_calls: "max_calls",
    budget.keep_within_budget: "budget",
    budget.return_queued_jobs: "budget",
    nesting.ask_inside: "agent_inside",
}
"""What a rule or a guard tests before anything else: a role of the run, a setting, or a method of the executor."""
PLAN_CHECKS: tuple[planning.PlanCheck, ...] = (
    require_undo.undo_is_missing,
    require_undo.undo_is_dropped,
    replanning.failures_passed_over,
    once_calls.repeats,
    new_effects.added_effects,
    replanning.tried_before,
)
CONTEXT = (deadline.context, once_calls.context, budget.context, chosen_calls.context, nesting.context)
"""What a job is told when it starts (`JobContext`)."""
HEARD = streaming.HEARD | progress.HEARD
"""What is said inside a job, and the event that it means; everything else is told as `Inside`."""
SETTINGS = (replanning, retries, deadline, rollback, budget, call_limit)
"""The capabilities that check their settings."""

Event = (
    e.RunStarted
    | e.PlanStarted
    | e.PlanProposed
    | e.StepStarted
    | e.StepDone
    | e.StepFailed
    | e.StepPaused
    | e.StepBlocked
    | e.StepSkipped
    | e.Requeued
    | e.Inside
    | e.Paused
    | e.Reviewed
    | e.Ended
    | streaming.StepProposed
    | progress.StepProgress
    | judging.JudgeStarted
    | judging.Judged
    | retries.BackoffStarted
    | retries.BackoffEnded
    | doubt.StepInDoubt
    | doubt.StepLate
    | news.NewsReceived
    | rollback.RollbackStarted
    | rollback.UndoStarted
    | rollback.UndoDone
    | rollback.UndoFailed
    | rollback.UndoPaused
)
"""Everything that can happen. A new event also gets a sentence in `planexec_lab.views.narration`: the type checker asks for it."""


class Board(core.Board):
    """The board with all capabilities: see `planexec_lite.core.Board`."""

    capabilities = tuple(one.CAPABILITY for one in CAPABILITIES)


@dataclass(frozen=True)
class Policy(
    call_limit.Settings,
    budget.Settings,
    breaker.Settings,
    retries.Settings,
    new_effects.Settings,
    require_undo.Settings,
    rollback.Settings,
    approval.Settings,
    planning.Settings,
    replanning.Settings,
):
    """The settings of a run: what tells one variation of the pattern from another, and the bounds that make every loop end.

    Each capability declares its own, with their defaults.

    Args:
        failure: what a failed step means: "skip" its dependents, but for those that run anyway, and go on elsewhere; or
            "stop" the run: nothing starts any more, and what is under way ends.
        retries: how often a failed step is tried again, if it does not say so itself and a repeat does no harm; at
            most ten times.
        max_steps: the most steps that a planner may write into one plan.
        max_repairs: how often in a row an invalid plan may go back to the planner.
        max_changes: how often a reviewer may ask for a changed plan.
        max_rounds: how often the planner may be asked for more, because its horizon was reached or a step was done.
        replan: what makes the planner plan the rest again: "never", a "failure", every "step", or a "stall", when
            nothing else can be done. News from outside always does.
        max_replans: how often the rest may be planned again after a failure, a stall or news.
        rollback: when what was done is undone (see `Step.undo` and `Plan.rollback`): "never" by itself; when the run
            would end "failed", all retries and replans being used up; or whenever it would end "unfinished", after a
            plan was rejected or a bound was reached, too. Runs inside steps are rolled back with the rest.
        require_undo: a plan is invalid while a step of it changes the world and nothing undoes that, unless its gate
            asks a person (see `Plan.without_undo`). A step that is a run of its own needs no undo if the policy of that run
            has this too: what is done inside is undone step by step. A later plan must keep the calls of the rollback
            that undo what is done. A plan that a reviewer edits is the reviewer's own.
        no_new_effects: once a step has returned something, a later plan is invalid while it uses a tool with effects that no
            earlier plan used: what the planner reads must not widen what the run does. Sending a mail is such an effect, too.
            A step that an evaluator changed counts as a later plan. A step that a plan leaves to a model, or to another
            agent, leaves the choice of its calls to them; there each call that is `once` or destructive asks a person.
            If there is a reviewer, the person decides about the plan, and it is not invalid.
        backoff: how long a failed step waits before it is tried again, holding no slot; None: it does not wait.
        breaker: when a tool that keeps failing is left alone; None: it never is.
        deadline: seconds on the run's clock after which nothing starts any more, and the run is "stopped" unless all is
            done. A step that is under way then is given up, as with its own timeout; a run inside it stops too. A model that
            plans or judges has the seconds that are left (at least ten real ones on a virtual clock); then its answer is not
            read to its end, and the job fails. A rollback runs to its end. The time that a paused run waits does not count, but
            that of a reviewer who is asked in between does. None: there is none.
        budget: how much the run may use, over all the times that it is resumed. A run inside a step gets what is left of the
            model calls, tokens, dollars and seconds when the step starts; so do others beside it (see `Budget`). None: there
            is no bound.
        over_budget: when something more is needed than the budget has: the run may "pause" and ask for more, or "stop".
        max_calls: by tool, how many steps that name it may start in the run; each attempt counts. A further one fails.

    Raises `ValueError` for a bound below zero, too many retries, or a word that is not among these.
    """

    def __post_init__(self) -> None:
        for one in SETTINGS:
            one.check(self)
        for name in ("retries", "max_steps", "max_repairs", "max_changes", "max_rounds", "max_replans"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: a bound is zero or more")


def answer(board: core.Board, policy: Policy, executor: Any = None) -> Answer:
    """Return the next event of the run; `HOLD` or `WAIT` if it has ended, or must wait for a job or a person.

    `executor` says what the calls of a step are; without it, no call gets a key, and no repeat is seen.
    """
    return core.decide(board, policy, RULES, GUARDS, executor)


def decider(board: core.Board, policy: Policy, executor: Any = None) -> Callable[[core.Board], Answer]:
    """Return a function that answers as `answer` does for the run of `board`, but skips rules whose need (`NEEDS`) is not met."""

    def is_asked(rule: Rule | Guard) -> bool:
        need = NEEDS.get(rule, "")
        return not need or any(getattr(one, need, None) for one in (board.started, policy, executor))

    rules, guards = tuple(filter(is_asked, RULES)), tuple(filter(is_asked, GUARDS))
    return lambda board: core.decide(board, policy, rules, guards, executor)


def decide(board: core.Board, policy: Policy) -> core.Event | None:
    """Return the next event of the run; None if it has ended, or must wait for a job or a person."""
    event = answer(board, policy)
    return None if isinstance(event, Signal) else event
