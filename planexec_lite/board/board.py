"""The fold: what each event changes on the board. Without I/O and without a clock.

The rules of the fold; those that concern steps alone are carried out by the step table:

- a plan that is valid replaces what has not been done: done steps stay, unfinished ones are superseded;
- a step is ready when it is waiting and every step that it depends on is done, or, where it runs anyway, has ended;
- where there is an evaluator, a result whose step has a criterion does not count before it is judged;
- a failed step with attempts left is tried again, unless its tool says that the error will not go away by itself;
- behind a step that failed for good every waiting step is unreachable;
- a job that was interrupted is done again; a step that may be done once is in doubt, until somebody says what became of it;
- a step whose run inside is known up to where it was cut off is in no doubt: that run goes on from there;
- an attempt that is blocked counts as one that failed, though nothing was called;
- a step that timed out is in doubt: it is tried again only if a repeat does no harm, and a late result never counts;
- a step that arrives while the planner is still writing stands at once, and goes again if the answer comes to nothing;
- an approval belongs to the hash of a plan, and a reviewer's edited plan is a plan like any other;
- a step that may be done once is approved together with all that it depends on, and asks again when that changes;
- a call that may be done once and was made, or may have been, is remembered: a later plan that repeats it is held;
- a rollback takes back what gave a result, each step once and the latest first, whatever a judge said of it;
- what was done in a run inside a step is taken back in the same order, unless an undo of that step stands for it;
- an event whose step is in another state than it starts from is illegal, and changes nothing;
- the same events always give the same board.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import assert_never, get_args

from planexec_lite import events as e
from planexec_lite.board.approvals import Approvals
from planexec_lite.board.inside import RunsInside, board_of, innermost, left_inside, unknown
from planexec_lite.board.once_calls import OnceCalls
from planexec_lite.board.part import Part
from planexec_lite.board.proposals import Proposals
from planexec_lite.board.rollback import DEEPER, Completed, Rollback
from planexec_lite.board.spending import Spending
from planexec_lite.board.step_table import StepTable
from planexec_lite.board.tool_health import ToolHealth
from planexec_lite.board.transitions import IllegalTransition, State
from planexec_lite.events import Event, StepDone, StepStarted
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Plan, Problem, Step

INSIDE = "the run inside"
MOST_QUESTIONS = 20  # that one step may ask about the calls that its executor chooses
_EVENTS = get_args(Event)


@dataclass(slots=True, repr=False)
class Board(Part):
    """Everything that is known about a run. Read its attributes; change it through `apply` alone.

    Attributes:
        table: where each step stands.
        proposals: what the planner proposed, and the news.
        approvals: what the reviewer said.
        once: the calls that may be made once.
        rollback: what was done and can be taken back, and how far a rollback has come.
        inside: the boards of the runs inside steps, as far as they were told.
        cut_off: the steps whose run inside was cut off, and goes on when the step starts.
        health: how often in a row each tool's calls have failed.
        spending: what models were called, and what was granted beyond a budget.
    """

    goal: str = ""
    now: float = 0.0
    answers: int = 0  # how often somebody decided about the run
    has_planner: bool = False
    has_reviewer: bool = False
    has_evaluator: bool = False
    models_in_steps: bool = False
    pins: dict[str, str] = field(default_factory=dict)  # of the tools that were planned with and approved
    in_flight: set[str | None] = field(default_factory=set)
    paused: e.Paused | None = None
    ended: e.Ended | None = None
    table: StepTable = field(default_factory=StepTable)
    proposals: Proposals = field(default_factory=Proposals)
    approvals: Approvals = field(default_factory=Approvals)
    once: OnceCalls = field(default_factory=OnceCalls)
    rollback: Rollback = field(default_factory=Rollback)
    inside: RunsInside = field(default_factory=RunsInside)
    cut_off: set[str] = field(default_factory=set)
    health: ToolHealth = field(default_factory=ToolHealth)
    spending: Spending = field(default_factory=Spending)

    @classmethod
    def of(cls, events: Iterable[Event]) -> Board:
        """Return the board that `events` add up to. Raises `IllegalTransition` where they can't have happened."""
        board = cls()
        for event in events:
            board.apply(event)
        return board

    def apply(self, event: Event) -> None:
        """Take in one event. Raises `IllegalTransition` where it can't have happened; the board stays as it was then."""
        try:
            self._fold(event)
        except IllegalTransition as problem:
            problem.event = event
            raise
        if not isinstance(event, e.Inside):  # told when its step has ended, and dated back
            self.now = event.at

    def _fold(self, event: Event) -> None:
        table = self.table
        match event:
            case StepStarted():
                self._start(event.step, event.attempt, event.attempts)
                self.in_flight.add(event.step)
                if event.key:
                    self.once.begin(event.step, event.key)
            case StepDone():
                self._settle(event.step, event.calls)
                self.cut_off.discard(event.step)
                self.approvals.chosen.pop(event.step, None)
                if self.health.failures:
                    self.health.recover(table.steps[event.step].tool)
                self._give(event.step, event.result, event.at)
            case e.StepFailed():
                self._settle(event.step, event.calls)
                self.cut_off.discard(event.step)
                self.approvals.chosen.pop(event.step, None)
                table.release(event.step)
                if not event.final:
                    self.health.fail(table.steps[event.step].tool, event.at)
                # it may have been done: a later plan must not do it again unseen
                if event.in_doubt:
                    table.in_doubt[event.step] += 1
                    self._spend(event.step, sure=False)
                final = event.final or (event.in_doubt and not self.repeatable(event.step))
                table.fail(event.step, event.error, final=final)
            case e.BackoffStarted():
                table.rest(event.step)
                self.in_flight.add(event.step)
            case e.BackoffEnded():
                table.wake(event.step)
                self.in_flight.remove(event.step)
            case e.StepBlocked():
                self._start(event.step, event.attempt, event.attempts)
                table.release(event.step)
                table.fail(event.step, event.error)
            case e.StepHeld():
                if table.state.get(event.step) not in ("waiting", "failed"):
                    raise IllegalTransition("be held", event.step, table.state.get(event.step))
                self._hold(event.step, event.reason)
            case e.StepCancelled():
                if self.rollback.calling:
                    self._undo_again(event.step)
                else:
                    self._settle(event.step)
                    table.requeue(event.step)
            case e.StepPaused():
                self._settle(event.step, event.calls)
                self.cut_off.discard(event.step)
                if event.in_doubt:
                    self._spend(event.step, sure=True)
                self._wait(event)
            case e.StepLate():
                if not table.in_doubt[event.step]:
                    raise IllegalTransition("come late", event.step, table.state.get(event.step))
                self.spending.charge(event.calls)
                table.late[event.step] = event.error or event.result
                unknown_inside = event.step not in self.inside and event.step not in self.rollback.latest
                if event.error is None and unknown_inside:
                    self.rollback.doubt(table.steps[event.step], "it was done after it had been given up")
                self.once.learn(event.step, table.in_doubt[event.step], made=event.error is None)
                if event.error is None:
                    self.once.know_done(event.step)
                table.in_doubt -= Counter([event.step])  # one of the attempts that timed out
            case e.StepSkipped():
                table.skip(event.step, event.reason)
            case e.Interrupted():
                self._interrupt(event)
            case e.JudgeStarted():
                if event.step not in table.to_judge:
                    raise IllegalTransition("be judged", event.step, table.state.get(event.step))
                table.to_judge.remove(event.step)
                self.in_flight.add(event.step)
            case e.Judged():
                self._settle(event.step, event.calls, "judging")
                self._take_verdict(event)
            # an evaluator that fails takes nothing away from work that was done
            case e.JudgeFailed():
                self._settle(event.step, event.calls, "judging")
                table.unverified.add(event.step)
                self._finish(event.step, table.judging.pop(event.step))
            case e.PlanStarted():
                self.in_flight.add(None)
                self.proposals.ask(event.reason)
                self.spending.repairs += event.reason == "repair"
            case e.StepProposed():
                table.arrive(event.step)
            case e.PlanProposed():
                if event.problems or event.plan is None:
                    self._reject(event.problems, event.text or (event.plan.to_json(indent=None) if event.plan else ""))
                else:
                    self._accept(event.plan)
                    self.proposals.model_chooses = event.model_chooses
                    # an approval belongs to a hash, so what a grant covers is entered as one
                    if event.granted_by:
                        self.approvals.approved.add(event.plan.hash)
                    self._list_rollback()
                self._answered(event.calls)
            case e.PlanFailed():
                self._reject((Problem("planner_failed", None, event.error, "answer again"),), "")
                self._answered(event.calls)
            case e.Reviewed():
                self._decided_undo(event) if self.rollback.begun else self._review(event)
                self._go_on()
            case e.DoubtResolved():
                self._resolve(event)
                self._go_on()
            case e.BudgetGranted():
                self.spending.grant(event.more)
                self._go_on()
            case e.BudgetDenied():
                self.spending.denied = event
                self._go_on()
            case e.News():
                self.paused = None
                self.proposals.tell(event.text)
            case e.RollbackBegun():
                self._begin_rollback(event)
            case e.UndoStarted():
                self.rollback.start(event.step, table.state.get(event.step))
                self.in_flight.add(event.step)
            case e.UndoDone():
                self._undo(event.step)
                self.spending.charge(event.calls)
            case e.UndoFailed():
                self._undo(event.step, event.error, in_doubt=event.in_doubt)
                self.spending.charge(event.calls)
            case e.RunStarted():
                self.goal = event.goal
                self.has_planner, self.has_reviewer, self.has_evaluator = event.planner, event.reviewer, event.evaluator
                self.models_in_steps, self.pins = event.models_in_steps, event.pins
                table.limits, self.once.effects, self.once.destructive = event.limits, event.effects, event.destructive
            case e.Paused():
                self.paused = event
            case e.Ended():
                self.ended = event
            case e.Inside():
                self._happen_inside(event)
            case _:
                assert_never(event)

    # The rules that concern more than one part

    def _start(self, id: str, attempt: int, attempts: int) -> None:
        self.table.start(id, attempt, attempts)
        # a retry is no further step: it uses up nothing of the grant
        if attempt == 1 and self.approvals.begun is not None:
            self.approvals.begun.append(self.table.steps[id])

    def _settle(self, id: str, calls: tuple[ModelCall, ...] = (), state: State = "running") -> None:
        """A step's job has come to its end."""
        if id not in self.in_flight or self.table.state[id] != state:
            raise IllegalTransition("come to this end", id, self.table.state.get(id))
        self.in_flight.remove(id)
        self.once.running.discard(self.once.keys.get(id, ""))
        if calls:
            self.spending.charge(calls)

    def _go_on(self) -> None:
        """Somebody has decided about what was asked."""
        self.paused = None
        self.answers += 1

    def _answered(self, calls: tuple[ModelCall, ...]) -> None:
        """The planner has answered; a plan that was there from the first was not asked for."""
        self.in_flight.discard(None)
        self.spending.charge(calls)

    def _list_rollback(self) -> None:
        """What a plan lists for a rollback counts from when the plan may be carried out: of a rejected one, never."""
        if self.proposal is not None and not self.needs_approval:
            self.rollback.list_calls(self.proposal.rollback)

    def _begin_rollback(self, event: e.RollbackBegun) -> None:
        if self.in_flight:
            raise IllegalTransition("be rolled back", None, None, "work is in flight")
        again = self.ended is not None
        self.rollback.begin(event, unknown(self), left_inside(self, again))
        self.ended = self.paused = None

    def _undo(self, label: str, error: str | None = None, *, in_doubt: bool = False) -> None:
        """A call that takes something back has come to its end. What did not count stays as it is: failed, or superseded."""
        unsure = in_doubt and not self._undo_is_repeatable
        step = self.rollback.finish(label, self.state.get(label), error, unsure=unsure)
        self.in_flight.remove(label)
        if step is not None and self.state[step.id] == "done" and self.steps[step.id] == step:
            self.table.undo(step.id)

    def _decided_undo(self, event: e.Reviewed) -> None:
        why_not = f"{event.by} rejected it" + (f": {event.comment}" if event.comment else "")
        self.rollback.answer((event.step or "").removeprefix("undo "), "" if event.verdict == "approve" else why_not)
        self.approvals.reviews.append(event)

    @property
    def _undo_is_repeatable(self) -> bool:
        """Whether the undo that runs now may run again, by the effects of its tool in the run that its step belongs to."""
        undo = self.rollback.calling
        effects = board_of(self, undo.label).once.effects if undo else {}
        return undo is None or effects.get(undo.call.tool, "none") in ("none", "idempotent")

    def _undo_again(self, label: str) -> None:
        self.rollback.put_back(label, self.state.get(label))
        self.in_flight.remove(label)

    def _interrupt(self, event: e.Interrupted) -> None:
        """A job was cut off. What does no harm is done again, and counts once; a call that may be made once is in doubt."""
        table, job = self.table, event.step
        if (undo := self.rollback.calling) is not None and job == undo.label:
            if not self._undo_is_repeatable:
                self._undo(undo.label, "interrupted; nobody knows whether it was undone", in_doubt=True)
            else:
                self._undo_again(undo.label)
            return
        if job is None:
            self.in_flight.discard(None)
            table.withdraw()
            self.spending.repairs -= self.proposals.asked_for == "repair"
            self.proposals.interrupt()
            return
        if job in table.resting:  # it has waited long enough: whoever goes on does so later
            table.wake(job)
            self.in_flight.remove(job)
            return
        if job in self.approvals.chosen:  # the call that a person allowed may have been made
            self.approvals.chosen[job] = self.approvals.chosen[job]._replace(allowed=())
        judging = job in table.judging
        self._settle(job, event.calls, "judging" if judging else "running")
        if judging:
            # its result is kept: only the judgement is asked for again, and before others
            table.to_judge.appendleft(job)
        elif event.told and job in self.inside:
            if self.inside[job][-1].once.spent:
                self._spend(job, sure=True)
            self.cut_off.add(job)
            if self.waits_inside(job):  # what it waited for was decided when it went on
                del self.approvals.held[job]
            table.requeue(job)
        elif self.repeatable(job):
            self.rollback.doubt(table.steps[job], "interrupted; nobody knows whether it was done")
            table.requeue(job)
        else:
            table.in_doubt[job] += 1
            self._spend(job, sure=False)
            table.doubt(job, "interrupted; nobody knows whether it was done")

    def _resolve(self, event: e.DoubtResolved) -> None:
        """It is known what became of a step in doubt: its result counts as any other, or it is to be started again.

        A step whose run inside waits to be told goes on with it.
        """
        table, id = self.table, event.step
        if self.waits_inside(id):
            self.approvals.open(id)
            return
        if id not in table.doubted:
            raise IllegalTransition("be resolved", id, table.state.get(id))
        self.once.learn(id, table.in_doubt[id], made=False)  # where it was done, that is noted with its result
        table.in_doubt -= Counter([id])
        if event.done:
            self._give(id, event.result, event.at)
        else:
            table.requeue(id)

    def _give(self, id: str, result: object, at: float) -> None:
        """A step gave a result: it counts, or, with a criterion and an evaluator, has to be judged before."""
        table, step = self.table, self.table.steps[id]
        table.release(id)
        self.once.know_done(id)
        undo = None if step.undo is None else step.undo.model_dump_json()
        # where a run inside was told to its end, what lasts is what was done there
        told = bool(self.inside) and id in self.inside and self.inside[id][-1].ended is not None
        lasts = self.once.changes_world(step) and not told
        self.rollback.complete(Completed(id, step, result, undo, at, lasts, self.once.repeatable(step)))
        if step.success_criteria is None:
            self._finish(id, result)
        elif self.has_evaluator:
            table.judge(id, result)
        else:
            table.unverified.add(id)
            self._finish(id, result)

    def _happen_inside(self, event: e.Inside) -> None:
        """What happens in a run inside a step changes nothing here; but what is done there can be taken back from here."""
        id, told = event.step, event.event
        if id not in self.steps or not isinstance(told, _EVENTS):
            return
        if isinstance(told, e.RunStarted):
            self.inside.setdefault(id, []).append(Board())
        if id not in self.inside:
            return
        run = self.inside[id][-1]
        done = len(run.rollback.completed)
        try:
            run.apply(replace(told, at=event.at))
        except Exception:  # what a tool emits may look like a run, and be none
            del self.inside[id]
            self.rollback.forget(id + DEEPER)
            return
        label, happened = innermost(event)
        if isinstance(happened, e.UndoDone):
            self.rollback.undone_inside(label + DEEPER + happened.step)
        elif len(run.rollback.completed) > done:
            one = run.rollback.completed[next(reversed(run.rollback.completed))]
            self.rollback.complete(one._replace(label=id + DEEPER + one.label))

    def _take_verdict(self, event: e.Judged) -> None:
        result = self.table.judging.pop(event.step)
        if event.verdict == "accept":
            self._finish(event.step, result)
            return
        # the call was made as the step stood, so it is noted before the verdict changes the step
        self._spend(event.step, sure=True)
        if event.changed is not None:
            self.table.change(event.changed)
            self.approvals.close_gate(event.changed.id)
            self._receive([event.changed])
            if self.has_reviewer and event.changed.tool is None:
                self.approvals.held[event.step] = "the evaluator changed the words that its executor reads"
        if event.rejects is not None:
            self.table.rejected[event.rejects] = event.reason
        self.table.fail(event.step, f"judged: {event.reason}", final=event.verdict == "replan")

    def _accept(self, plan: Plan) -> None:
        """A valid plan takes the place of what is not done; every gate is closed again."""
        goes_on = {step.id for step in plan.steps if self.goes_on_inside(step)}
        still_held = {id: reason for id, reason in self.approvals.held.items() if id in goes_on}
        self.cut_off &= goes_on
        self.table.replace(plan)
        self.proposals.accept(plan, plan.hash if self.has_reviewer else "")
        self.approvals.close_gates(still_held)
        self._receive(plan.steps)

    def _receive(self, steps: Iterable[Step]) -> None:
        """Note what these steps say, where a person is asked about them: a step that changes in place asks again."""
        self.approvals.receive(step for step in steps if self.has_reviewer or step.gate)

    def _reject(self, problems: tuple[Problem, ...], text: str) -> None:
        """An answer of the planner is no valid plan: what had arrived of it goes."""
        self.table.withdraw()
        self.proposals.reject(problems, text)

    def _review(self, event: e.Reviewed) -> None:
        """A reviewer approves, perhaps after an edit; or asks for a change, which makes the plan invalid; or rejects."""
        approvals, rejects = self.approvals, event.verdict == "reject"
        goes_on = event.verdict == "approve" or (rejects and self.asked == "undo")
        approvals.reviews.append(event)
        approvals.rejected = event if rejects and not goes_on else None
        # a yes at a gate is about that step alone; the grant stands
        if event.step is None or event.verdict == "change":
            approvals.revoke()
        if event.budget is not None:
            self.spending.grant(event.budget)
        if event.verdict == "approve" and event.plan is not None:
            self._accept(event.plan)
        if goes_on and event.step is not None:
            approvals.open(event.step)
        if event.verdict == "approve":
            if event.step is None or event.plan is not None:  # a yes at a gate is none to the plan
                approvals.approved.add(event.plan_hash)
                careful = [id for id in self.table.unfinished if self.once.needs_approval(self.steps[id])]
                approvals.cover(careful, self.table)
            approvals.grant(event, self.plan)
            self._list_rollback()
        elif event.verdict == "change":
            approvals.changes_asked += 1
            approvals.approved.clear()
            text = self.proposal.to_json(indent=None) if self.proposal else ""
            self._reject((Problem("change_asked", None, event.comment, "change the plan accordingly"),), text)

    def _hold(self, id: str, reason: str) -> None:
        """A ready step may not start as it is: a person is asked; where none decides about the step, it fails."""
        if self.has_reviewer or self.steps[id].gate:
            self.approvals.held[id] = reason
        else:
            # only what runs can fail, so it is started in the table; the second of two attempts leaves no retry
            self._start(id, 2 if self.state[id] == "failed" else 1, 2)
            self.table.release(id)
            self.table.fail(id, reason, final=True)

    def _wait(self, event: e.StepPaused) -> None:
        """A step waits for a decision, which is asked for as at a gate: about the run inside, or about a call."""
        id, approvals = event.step, self.approvals
        if event.call and approvals.questions[id] >= MOST_QUESTIONS:
            self.table.release(id)
            self.table.fail(id, f"it asked a person about more than {MOST_QUESTIONS} calls: {event.reason}", final=True)
            return
        self.table.requeue(id)
        # the yes that opened it is used up: the next question is another
        approvals.opened.discard(id)
        approvals.held[id] = event.reason if event.call else f"{INSIDE} {event.reason}"
        if not event.call:
            return
        approvals.wait_for_call(id, event.call, event.made)
        if event.made:
            self.rollback.doubt(self.steps[id], f"it made {', '.join(one.text for one in event.made)} before it paused")

    def _finish(self, id: str, result: object) -> None:
        """A step is done, and so its call was made."""
        self._spend(id, sure=True)
        self.table.finish(id, result)

    def _spend(self, id: str, *, sure: bool) -> None:
        self.once.spend(id, self.table, self.approvals.given, sure=sure)

    # What can be read off it

    def __repr__(self) -> str:
        states = [state for state in self.state.values() if state != "superseded"]
        return f"Board({states.count('done')} of {len(states)} steps done)"

    @property
    def planning(self) -> bool:
        """Whether the planner is at work: only steps that have arrived of its plan may start meanwhile."""
        return None in self.in_flight

    @property
    def plan(self) -> Plan:
        """The merged plan: the done steps, and those of the latest plan."""
        steps = tuple(step for id, step in self.steps.items() if self.state[id] != "superseded")
        latest = self.proposal or Plan()
        return latest.changed(goal=latest.goal or self.goal, steps=steps)

    @property
    def needs_approval(self) -> bool:
        """Whether a reviewer has to approve the proposal before anything of it may start."""
        return self.has_reviewer and self.proposals.latest_hash not in self.approvals.approved

    def why_asked(self, id: str) -> str | None:
        """Why a person has to be asked right before the step, which is about to start; None: nobody has to be.

        It has a gate; or the run inside it waits for a decision; or it would repeat what may be done once; or it is no
        longer what the plan said when it came in; or it may be done once, and it, or a step that it depends on, is no
        longer what was approved.
        """
        if not self.approvals.stands(self.steps[id]):
            return "it was changed in place"
        if id in self.approvals.opened:
            return None
        if id in self.approvals.held:
            return self.approvals.held[id]
        if self.steps[id].gate:
            return ""
        if self.has_reviewer and self.runs_once(id) and not self.approvals.covers(id, self.table):
            return "it may be done once, and what it depends on has changed since the approval"
        return None

    def key_for(self, call: str) -> str:
        """The key of a call that starts: the call, and the lowest number of it that is not known to be done and does not run."""
        return self.once.next_key(call, {self.once.keys.get(id, "") for id in (*self.approvals.held, *self.cut_off)})

    @property
    def asked(self) -> e.PauseReason | None:
        """What a person is asked about, in this run or in the run inside the step that waits; None: nothing."""
        if self.paused is None:
            return None
        id = self.paused.step
        if id is not None and self.waits_inside(id) and id in self.inside:
            return self.inside[id][-1].asked or self.paused.reason
        return self.paused.reason

    def waits_inside(self, id: str) -> bool:
        """Whether the run inside a step waits for a decision."""
        return id not in self.table.doubted and self.approvals.held.get(id, "").startswith(INSIDE)

    def goes_on_inside(self, step: Step) -> bool:
        """Whether the run inside this very step waits or was cut off: a plan that keeps the step goes on with it."""
        return self.steps.get(step.id) == step and (self.waits_inside(step.id) or step.id in self.cut_off)

    def repeatable(self, id: str) -> bool:
        """Whether running the step twice does no harm, as far as its tool declares its effects."""
        return self.once.repeatable(self.table.steps[id])

    def runs_once(self, id: str) -> bool:
        """Whether the step must run at most once."""
        return self.once.runs_once(self.table.steps[id])

    @property
    def steps(self) -> dict[str, Step]:
        """The steps of all plans so far by id, in plan order."""
        return self.table.steps

    @property
    def state(self) -> dict[str, State]:
        """The state of each step by id."""
        return self.table.state

    @property
    def results(self) -> dict[str, object]:
        """The results of the done steps by id, in the order in which they were done."""
        return self.table.results

    @property
    def errors(self) -> dict[str, str]:
        """Why a step failed or was skipped, by id."""
        return self.table.errors

    @property
    def failed(self) -> dict[str, None]:
        """The steps that failed for good, in the order in which they did."""
        return self.table.failed

    @property
    def done(self) -> tuple[str, ...]:
        """The ids of the done steps, in the order in which they were done."""
        return self.table.done

    @property
    def rejected(self) -> dict[str, str]:
        """The done steps whose result a later verdict rejected, and why."""
        return self.table.rejected

    @property
    def left_in_doubt(self) -> list[str]:
        """What may be done once and was cut off in a run inside a step that has not gone on since, so that nobody was asked.

        Labels: "9/1" is step 1 of the run inside step 9.
        """
        waiting = ((id, runs[-1]) for id, runs in self.inside.items() if self.state.get(id) == "waiting")
        return [f"{id}{DEEPER}{label}" for id, run in waiting for label in [*run.table.doubted, *run.left_in_doubt]]

    @property
    def calls(self) -> list[ModelCall]:
        """The calls of models, in the order in which they were reported."""
        return self.spending.calls

    def used(self, name: str) -> float:
        """How much the run has used of what a `Budget` bounds. Raises `ValueError` for dollars where a price is missing."""
        match name:
            case "steps":
                return self.table.started
            case "model_calls":
                return len(self.spending.calls)
            case "tokens" | "dollars" | "repairs":
                return float(getattr(self.spending, name)) if name == "dollars" else int(getattr(self.spending, name))
            case "seconds":
                return self.now
            case "replans":
                return self.proposals.replans
        raise KeyError(name)

    @property
    def proposal(self) -> Plan | None:
        """The planner's latest valid plan, as the reviewer left it."""
        return self.proposals.latest

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the planner's latest answer."""
        return self.proposals.problems

    @property
    def reviews(self) -> list[e.Reviewed]:
        """What the reviewer said, in order."""
        return self.approvals.reviews

    @property
    def approved(self) -> set[str]:
        """The hashes of the approved plans."""
        return self.approvals.approved

    @property
    def opened(self) -> set[str]:
        """The steps whose gate is open."""
        return self.approvals.opened
