"""The step table: where each step of all plans so far stands, changed by the transitions of `transitions` alone."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from planexec_lite.board.part import Part
from planexec_lite.board.ready_queue import ReadyQueue
from planexec_lite.board.transitions import TRANSITIONS, IllegalTransition, State, Transition
from planexec_lite.plan import Plan, Step
from planexec_lite.tools.limits import Limit

_ONLY = (1, 1)  # the first attempt of one
Signature = frozenset[tuple[str, str]]


def signature(steps: Iterable[Step]) -> Signature:
    """What some steps do, whatever their ids: how a plan that has been tried before is recognised."""
    return frozenset((step.description, str(step)) for step in steps)


def _does(step: Step) -> tuple[str, str]:
    """What a step does, whatever its id: its call, or its words."""
    return ("call", str(step)) if step.tool else ("words", f"{step.description} {step.params}")


@dataclass(slots=True, repr=False)
class StepTable(Part):
    """The steps of all plans so far, merged: a new plan keeps what is done and supersedes the rest."""

    steps: dict[str, Step] = field(default_factory=dict)
    state: dict[str, State] = field(default_factory=dict)
    results: dict[str, object] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    attempt: dict[str, tuple[int, int]] = field(default_factory=dict)
    failed: dict[str, None] = field(default_factory=dict)  # for good: they are not tried again
    retries: deque[str] = field(default_factory=deque)  # failed, and to be tried again
    resting: set[str] = field(default_factory=set)  # failed, and waiting before they are to be tried again
    rested: set[str] = field(default_factory=set)  # to be tried again, and they have waited
    doubted: dict[str, None] = field(default_factory=dict)  # cut off, and nobody has said yet whether they were done
    started: int = 0  # how many; what goes back to be started again counts once
    unreachable: deque[str] = field(default_factory=deque)  # waiting behind a step that failed for good
    to_judge: deque[str] = field(default_factory=deque)
    judging: dict[str, object] = field(default_factory=dict)  # results that don't count before they are judged
    unverified: set[str] = field(default_factory=set)  # done, and nobody judged the result
    rejected: dict[str, str] = field(default_factory=dict)  # done, and a later verdict rejected the result
    in_doubt: Counter[str] = field(default_factory=Counter)  # attempts that were given up
    late: dict[str, object] = field(default_factory=dict)  # what such an attempt came to
    unanswered: dict[str, Step] = field(default_factory=dict)  # failed for good, and no step has answered that
    answering: set[str] = field(default_factory=set)  # the steps that answer it when one of them is done
    waiting: frozenset[tuple[str, str]] = (
        frozenset()
    )  # what the plan before, which a streamed one replaces, still had to do
    tried: set[Signature] = field(default_factory=set)  # what has failed before
    plans: int = 0  # how many have come
    since: dict[str, int] = field(default_factory=dict)  # which plan brought the step; those of the first are not there
    arrived: dict[str, None] = field(default_factory=dict)  # of a plan that is still being written
    done_since_plan: int = 0
    limits: tuple[Limit, ...] = ()
    _queue: ReadyQueue = field(default_factory=ReadyQueue)

    @property
    def ready(self) -> str | None:
        """The first step, in plan order, that may start now; None if no step may."""
        return self._queue.first()

    @property
    def done(self) -> tuple[str, ...]:
        """The ids of the done steps, in the order in which they were done."""
        return tuple(self.results)

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The ids of the latest plan's steps that are not done."""
        return tuple(self._unfinished_backwards())[::-1]

    @property
    def has_more(self) -> bool:
        """Whether any step of the latest plan is not done."""
        return next(self._unfinished_backwards(), None) is not None

    def _unfinished_backwards(self) -> Iterator[str]:
        # from the end of the plan, so that `has_more` ends at once: the last steps are, as a rule, done last
        return (id for id in reversed(self._queue.ids) if self.state[id] not in ("done", "superseded"))

    @property
    def retry_next(self) -> str | None:
        """The first of the steps to be tried again that has a slot; None if there is none."""
        return next((id for id in self.retries if self._queue.has_slot(id)), None)

    def brought_by(self, id: str) -> int:
        """The number of the plan that brought the step as it is now, from 1."""
        return self.since.get(id, 1)

    def _next(self, transition: Transition, id: str) -> State:
        """The state that the step goes to. Raises `IllegalTransition` where it can't go."""
        state = self.state.get(id)
        try:
            return TRANSITIONS[transition][state]
        except KeyError:
            raise IllegalTransition(transition, id, state) from None

    # Plans

    def arrive(self, step: Step) -> None:
        """The planner, still writing, has put down a step: it joins, and what the plan before left undone goes."""
        self._check_new([step.id])
        if not self.arrived:
            self._supersede()
            self.plans += 1
        self.arrived[step.id] = None
        self._join([step])

    def withdraw(self) -> None:
        """The planner's answer came to nothing: what had arrived of it and has not started goes."""
        gone = [id for id in self.arrived if self.state[id] == "waiting"]
        if gone:
            self._queue.drop(gone)
            self.unreachable = deque(id for id in self.unreachable if id not in gone)
        for id in gone:
            self.state[id] = self._next("supersede", id)
        self.arrived.clear()

    def left_unanswered(self, plan: Plan) -> dict[str, Step]:
        """The steps that failed for good, and that would be forgotten if `plan` came now.

        A plan answers failures by a step that was not waiting before: it does the work again or otherwise, or checks the
        damage. Or it names the failed steps that it gives up, in `Plan.supersedes`.
        """
        failed = self._open_failures(plan)
        return {} if failed and self._answers_in(plan, failed) else failed

    def _open_failures(self, plan: Plan) -> dict[str, Step]:
        failed = self.unanswered | {id: self.steps[id] for id in self.failed}
        return {id: step for id, step in failed.items() if id not in plan.supersedes}

    def _answers_in(self, plan: Plan, failed: Mapping[str, Step]) -> set[str]:
        """The ids of the steps of `plan` that answer the failures."""
        waiting = self.waiting if self.arrived else self._still_to_do(failed)
        new = (step for step in plan.steps if step.id in self.arrived or step.id not in self.results)
        return {step.id for step in new if step.id in self.answering or _does(step) not in waiting}

    def _still_to_do(self, failed: Collection[str]) -> frozenset[tuple[str, str]]:
        return frozenset(
            _does(self.steps[id]) for id in self.unfinished if id not in failed and id not in self.answering
        )

    def replace(self, plan: Plan) -> None:
        """A valid plan takes the place of what is not done; of its steps, those that arrived before stand already."""
        self._check_new([step.id for step in plan.steps if step.id not in self.arrived])
        failed = self._open_failures(plan)
        self.answering = self._answers_in(plan, failed) if failed else set()
        if not self.arrived:
            self._supersede()
            self.plans += 1
        self.unanswered = {} if self.answering & self.results.keys() else failed
        self._join([step for step in plan.steps if step.id not in self.arrived])
        if self.arrived:
            # steps came in the order of writing; what counts is the order of the finished plan
            self._queue.order([step.id for step in plan.steps])
            for step in plan.steps:
                self.steps[step.id] = self.steps.pop(step.id)
        self.arrived.clear()
        self.done_since_plan = 0

    def _check_new(self, ids: Iterable[str]) -> None:
        """A plan may plan again what is not done; what is under way or done stays as it is."""
        for id in ids:
            if self.state.get(id) in ("running", "judging", "done"):
                self._next("propose", id)

    def _supersede(self) -> None:
        unfinished = self.unfinished
        self.unanswered |= {id: self.steps[id] for id in self.failed}
        self.waiting = self._still_to_do(self.unanswered) if self.unanswered else frozenset()
        self.state.update({id: self._next("supersede", id) for id in unfinished})
        # what is left is what the planner may write anew, and what it must not write again
        if self.failed:
            self.tried.add(signature(self.steps[id] for id in unfinished))
        for ids in (self.retries, self.unreachable, self.failed):
            ids.clear()
        self._queue = ReadyQueue(self.limits)

    def _join(self, steps: Sequence[Step]) -> None:
        ids = [step.id for step in steps]
        states = {id: self._next("propose", id) for id in ids}
        if self.plans > 1:
            self.since.update({step.id: self.plans for step in steps if self.steps.get(step.id) != step})
        again = self.steps.keys() & ids if self.steps else ()
        for id in again:  # a step that is planned again goes to the end, and its error is past
            del self.steps[id]
            self.errors.pop(id, None)
        self.steps.update(zip(ids, steps, strict=True))
        self.state.update(states)
        # a step that arrives while the planner is still writing may wait for one that has failed meanwhile
        skipped = [id for id, state in self.state.items() if state == "skipped"] if self.failed else []
        lost = {*self.failed, *skipped}
        self._queue.add(steps, self.results, lost)
        self.unreachable += (
            [s.id for s in steps if not s.run_anyway and not lost.isdisjoint(s.depends_on)] if lost else []
        )

    def change(self, step: Step) -> None:
        """A step is to be carried out otherwise from now on."""
        self.steps[step.id] = step
        self._queue.sort_in(step)

    # Steps

    def start(self, id: str, attempt: int, attempts: int) -> None:
        """A ready step runs, or, at a later attempt, one that is to be tried again."""
        if attempt == 1:
            state = self._next("start", id)
            if not self._queue.take(id):
                missing = [other for other in self.steps[id].depends_on if self.state.get(other) != "done"]
                raise IllegalTransition("start", id, "waiting", f"it waits for {', '.join(missing)}")
        else:
            state = self._next("retry", id)
            if id not in self.retries:
                raise IllegalTransition("retry", id, "failed", "it has no attempt left")
            self.retries.remove(id)
            self._queue.acquire(id)
        self.started += attempt == 1
        self.state[id] = state
        self.attempt[id] = _ONLY if attempts == 1 else (attempt, attempts)

    def requeue(self, id: str) -> None:
        """A step that was started goes back: it waits, or is to be tried again; that attempt does not count."""
        attempt, attempts = self.attempt.get(id, _ONLY)
        self.state[id] = self._next("requeue" if attempt == 1 else "cancel retry", id)
        self.doubted.pop(id, None)
        del self.attempt[id]
        self._queue.release(id)
        if attempt == 1:
            self.started -= 1
            self._queue.put(id)
        else:
            self.attempt[id] = (attempt - 1, attempts)
            self.retries.appendleft(id)

    def release(self, id: str) -> None:
        """A step's job is over: its slots are free."""
        self._queue.release(id)

    def judge(self, id: str, result: object) -> None:
        """A step gave a result that has to be judged before it counts."""
        self.state[id] = self._next("judge", id)
        self.doubted.pop(id, None)
        self.judging[id] = result
        self.to_judge.append(id)

    def doubt(self, id: str, error: str) -> None:
        """A step was cut off, and must not be started again before somebody says whether it was done. It keeps its slots."""
        self.state[id] = self._next("doubt", id)
        self.errors[id] = error
        self.doubted[id] = None

    def finish(self, id: str, result: object) -> None:
        """A step is done; what waited for it alone becomes ready."""
        self.state[id] = self._next("finish", id)
        self.doubted.pop(id, None)
        self.results[id] = result
        if self.errors:
            self.errors.pop(id, None)
        self.done_since_plan += 1
        if id in self.answering:
            self.unanswered = {}
        self._queue.finish(id)

    def fail(self, id: str, error: str, *, final: bool = False) -> None:
        """A step failed: with attempts left it is tried again, unless `final`; else what waits for it is unreachable."""
        self.state[id] = self._next("fail", id)
        self.errors[id] = error
        attempt, attempts = self.attempt[id]
        self.rested.discard(id)
        if attempt < attempts and not final:
            self.retries.append(id)
        else:
            self.failed[id] = None
            self._lose_dependents(id)

    def rest(self, id: str) -> None:
        """A step that is to be tried again waits before that."""
        if id not in self.retries:
            raise IllegalTransition("back off", id, self.state.get(id))
        self.retries.remove(id)
        self.resting.add(id)

    def wake(self, id: str) -> None:
        """It has waited: it is to be tried again now."""
        if id not in self.resting:
            raise IllegalTransition("come to this end", id, self.state.get(id))
        self.resting.remove(id)
        self.rested.add(id)
        self.retries.append(id)

    def skip(self, id: str, reason: str) -> None:
        """An unreachable step is skipped, and what waits for it is unreachable in turn."""
        self.state[id] = self._next("skip", id)
        self.errors[id] = reason
        self._lose_dependents(id)

    def undo(self, id: str) -> None:
        """A done step is as if it had not been done: its result does not count any more."""
        self.state[id] = self._next("undo", id)
        del self.results[id]

    def _lose_dependents(self, id: str) -> None:
        self.unreachable.extend(self._queue.lose(id))
        # a step behind two failures is named twice, and skipped once
        while self.unreachable and self.state[self.unreachable[0]] != "waiting":
            self.unreachable.popleft()
