"""The kit on one page: all capabilities, and the order of their rules and guards.

The first rule that returns an event wins. Comments explain the positions that matter.

After a step has failed, this happens in this order, as far as the settings allow it:

1. It waits and is tried again, until it has no attempts left. If it might have been done, a reviewer is asked.
2. The planner plans the rest again, at most `max_replans` times; with ``replan="stall"`` only after step 3.
3. The steps that depend on it are skipped, and the other steps still run. With ``failure="stop"`` nothing more starts, and
   `replanning.stop_at_failure` ends the run.
4. When nothing is left, a planner with a horizon is asked for more; otherwise `replanning.fail` ends the run.
5. The guard `roll_back_first` begins a rollback instead, and the run ends when all undos are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, get_args

from pydantic.dataclasses import dataclass

from planexec_lite import core
from planexec_lite.capabilities import (
    approval,
    breaker,
    budget,
    chosen_calls,
    deadline,
    doubt,
    judging,
    nesting,
    new_effects,
    news,
    once_calls,
    plain,
    planning,
    replanning,
    retries,
    rollback,
    stepping,
    streaming,
    undo,
)
from planexec_lite.core import Capability, Choice, Guards, Rule, Signal, Work
from planexec_lite.core.decide import applies
from planexec_lite.core.events import (
    Ended,
    Inside,
    Job,
    Paused,
    PlanProposed,
    PlanStarted,
    Requeued,
    Reviewed,
    RunStarted,
    StepBlocked,
    StepDone,
    StepFailed,
    StepPaused,
    StepSkipped,
    StepStarted,
)

CAPABILITIES: tuple[Capability, ...] = tuple(
    one.CAPABILITY
    for one in (
        plain,  # first: the others react to what it has done
        stepping,
        planning,
        undo,  # before rollback: a step in doubt that was done can be undone
        rollback,
        once_calls,  # before doubt: it reads the number of attempts in doubt before doubt lowers it
        approval,
        chosen_calls,
        nesting,
        new_effects,
        news,
        replanning,
        streaming,
        retries,
        deadline,
        breaker,
        budget,
        judging,  # after the others: it takes over results and verdicts
        doubt,
    )
)
RULES: tuple[Rule, ...] = (
    news.hear_news_first,
    plain.wait_for_the_planner,
    rollback.undo_next,  # during a rollback the run does nothing else
    doubt.ask_about_doubt,  # the next step depends on whether the doubtful one was done
    # reasons to stop, before anything new starts
    approval.stop_if_rejected,
    deadline.stop_at_deadline,
    replanning.stop_at_failure,  # a step with attempts left has not failed yet
    replanning.stop_without_plan,
    judging.judge_next,  # a verdict might change what is left
    retries.back_off,
    retries.try_again,  # a retry might make a replan unnecessary, also one that runs (`after_retries`)
    replanning.replan,  # before steps behind the failure are skipped
    plain.skip_unreachable,
    plain.ask_for_a_plan,
    approval.ask_for_approval,  # after the plan has arrived and before its first step starts
    plain.start_ready,
    # when no job can start
    replanning.ask_for_more,
    replanning.fail,
    plain.finish,
    budget.return_queued_jobs,
)
GUARDS: Guards = (
    (StepStarted, retries.allow_retries),
    (StepStarted, breaker.block_failing_tool),
    # after the guards that refuse automatically: a person is asked only about a step that would start
    (StepStarted, once_calls.identify),
    (Job, nesting.ask_inside),
    (StepStarted, chosen_calls.ask_before_call),
    (StepStarted, approval.ask_at_gate),  # after the special questions: one approval is enough
    (Job, budget.keep_within_budget),
    (Ended, rollback.roll_back_first),  # a rollback begins when retries and replans are used up
    (Ended, nesting.report_doubt),
    (Paused, approval.ask_in_full),  # last: it completes the questions of all others
)
WORK: Mapping[type[Job], Work] = {
    job: work for one in CAPABILITIES for job, work in one.work.items()
}
"""By job, how it is carried out."""
EMITS = {kind: event_of for one in CAPABILITIES for kind, event_of in one.emits.items()}
"""By type of value that a job emits, the function that returns its event. Other values become `Inside` events."""
CONTEXTS = {job: [one.context[job] for one in CAPABILITIES if job in one.context] for job in WORK}
"""By job, the functions that fill its `JobContext` when it starts."""
PLAN_CHECKS = tuple(check for one in CAPABILITIES for check in one.plan_checks)

Event = (
    RunStarted
    | PlanStarted
    | PlanProposed
    | StepStarted
    | StepDone
    | StepFailed
    | StepPaused
    | StepBlocked
    | StepSkipped
    | Requeued
    | Inside
    | Paused
    | Reviewed
    | Ended
    | streaming.StepProposed
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
    | rollback.UndoLeft
    | once_calls.OuterKnown
)
"""All event types. A new one also needs a sentence in `planexec_lab.views.narration`; the type checker reports a
missing one.
"""
_DIFFERENCE = {*get_args(Event)} ^ {Inside}.union(*(one.events for one in CAPABILITIES))
if _DIFFERENCE:
    raise TypeError(
        f"`Event` and the capabilities must name the same event types; one side lacks {[k.__name__ for k in _DIFFERENCE]}"
    )


class Board(core.Board):
    """The board with all capabilities: see `planexec_lite.core.Board`."""

    capabilities = CAPABILITIES


@dataclass(frozen=True, config=core.SETTINGS)
class Policy(
    budget.Settings,
    breaker.Settings,
    retries.Settings,  # and with it deadline.Settings, whose field it reads
    new_effects.Settings,
    rollback.Settings,
    approval.Settings,
    planning.Settings,
    replanning.Settings,
):
    """The settings of a run. They select a variation of the pattern, and they bound every loop.

    Each capability declares its own settings with their defaults.

    Args:
        failure: what a failed step means. "skip": its dependents are skipped, except those with `run_anyway`, and the
            other steps continue. "stop": no new steps start, running steps finish, and the run ends.
        retries: how many times a failed step is tried again, at most ten. A step's own value takes precedence. By
            default only steps that are safe to repeat are retried.
        max_steps: the maximum number of steps in a plan that the planner writes.
        max_repairs: the maximum number of invalid plans in a row that are returned to the planner.
        max_changes: the maximum number of changed plans that a reviewer can ask for.
        max_rounds: the maximum number of times that the planner is asked for more steps, because its horizon was
            reached or a step was done.
        replan: what triggers replanning: "never", a "failure", every "step", or a "stall", when no other work is
            possible. News always triggers it.
        max_replans: the maximum number of replans after a failure, a stall or news.
        rollback: when completed steps are undone (see `Step.undo` and `Plan.rollback`). "never": only on request.
            "failed": when the run would end as "failed" and all retries and replans are used up. "unfinished": also
            when it would end without finishing for another reason, such as a rejected plan or a reached bound. Nested
            runs are rolled back too.
        no_new_effects: after the first result, a later plan is invalid if it uses a tool with effects that no earlier
            plan used. Results that the planner reads can then not widen what the run does; sending an email is such an
            effect. In a step whose calls are chosen by a model or another agent, each call that is `once` or
            destructive asks a person. If there is a reviewer, the plan stays valid and the reviewer decides.
        backoff: how long a failed step waits before a retry, without using a slot; None: no wait.
        breaker: when calls to a failing tool are suspended; None: never.
        deadline: seconds on the run's clock after which no job starts. The run is then "stopped" unless all steps are
            done. A running step times out at the deadline, and so does its nested run. A model call for planning or
            judging gets the remaining seconds (at least ten real seconds on a virtual clock), after which its job
            fails. A rollback always runs to its end. Pauses do not count, but the time of a reviewer who answers during
            the run does. None: no deadline.
        budget: the maximum usage of the run, summed over all resumes. A nested run gets the model calls, tokens,
            dollars and seconds that remain when its step starts; parallel nested runs each get the full remainder (see
            `Budget`). None: no bound.
        over_budget: what happens when the budget is used up and more is needed: "pause" asks for more, "stop" ends the
            run.

    Raises `ValueError` for a negative bound, too many retries, or an unknown word.
    """


def chooser(
    started: RunStarted, policy: Policy, executor: Any = None
) -> Callable[[core.Board], Choice]:
    """Return the function that chooses the next event of a run: `HOLD` or `WAIT` if it has ended, or must wait.

    Rules and guards that can never apply in this run are left out. `executor` knows the calls of the steps. Without it,
    calls have no keys and repeated calls are not detected.
    """
    rules = [rule for rule in RULES if applies(rule, policy, started)]
    guards = [(about, guard) for about, guard in GUARDS if applies(guard, policy, started)]
    return partial(core.choose, policy=policy, rules=rules, guards=guards, executor=executor)


def decide(board: core.Board, policy: Policy) -> core.Event | None:
    """Return the next event of the run; None if it has ended, or must wait for a job or a person."""
    choice = chooser(board.started, policy)(board)
    return None if isinstance(choice, Signal) else choice
