"""Shared by the tests of the core: random plans, a workshop that logs its calls, checks of runs, an independent schedule."""

import json
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import strategies as st

from planexec_lite import Board, Plan, Policy, Run, Step, Tool, Toolbox
from planexec_lite.assembly import decide
from planexec_lite.core import Event
from planexec_lite.meter import charge
from planexec_lite.run import events as e
from planexec_lite.run.events import StepDone, StepFailed, StepSkipped, StepStarted, from_dict, to_dict

NAMES = (
    [str(n) for n in range(1, 15)],
    ["1", "1.1", "1.2", "2", "5b", "a-b", "x_y", "10", "1.1.1", "b", "B", "3-4", "a_result", "0"],
)
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
json_values = st.recursive(plain, lambda part: st.lists(part) | st.dictionaries(st.text(), part), max_leaves=12)


@dataclass(frozen=True)
class Job:
    """A step of a random plan, with its duration in quarters of a second and the number of failures before it succeeds."""

    id: str
    waits_for: tuple[str, ...] = ()
    quarters: int = 0
    fails: int = 0
    retries: int = 0
    tool: str = "work"

    @property
    def works_out(self) -> bool:
        return self.fails <= self.retries


@st.composite
def jobs(draw: st.DrawFn, most: int = 10, failures: bool = True, tools: Sequence[str] = ("work",)) -> list[Job]:
    """Random jobs without cycles, in an order that is independent of their dependencies."""
    names = draw(st.sampled_from(NAMES))[: draw(st.integers(1, most))]
    made = []
    for place, name in enumerate(names):
        waits_for = draw(st.lists(st.sampled_from(names[:place]), unique=True, max_size=3)) if place else []
        fails, retries = (draw(st.sampled_from((0, 0, 0, 1, 2))), draw(st.integers(0, 2))) if failures else (0, 0)
        quarters, tool = draw(st.integers(0, 6)), draw(st.sampled_from(tools))
        made.append(Job(name, tuple(waits_for), quarters, fails, retries, tool))
    return draw(st.permutations(made))


def plan_of(made: Sequence[Job]) -> Plan:
    """The jobs as a plan for a `Workshop`; each step uses the results of its dependencies."""
    steps = []
    for job in made:
        uses = [f"{{step_{id}_result}}" for id in job.waits_for]
        params = {"step": job.id, "quarters": job.quarters, "fails": job.fails, "uses": uses}
        depends_on = list(job.waits_for)
        steps.append(
            {"id": job.id, "tool": job.tool, "params": params, "depends_on": depends_on, "retries": job.retries}
        )
    return Plan.parse({"goal": "build", "steps": steps})


class Workshop:
    """A tool with two names that works or fails as its parameters ask, and logs each call in order."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, Any]] = []
        self.calls: Counter[str] = Counter()
        self.busy = self.most_busy = 0
        self._lock = threading.Lock()

    @property
    def toolbox(self) -> Toolbox:
        return Toolbox([Tool(self.work, effects="none"), Tool(self.work, name="bake", uses="oven", effects="none")])

    def work(self, step: str, quarters: int, fails: int, uses: list[str]) -> str:
        with self._lock:
            self.log.append(("begin", step, uses))
            self.calls[step] += 1
            self.busy += 1
            self.most_busy = max(self.busy, self.most_busy)
            well = self.calls[step] > fails
        charge(quarters / 4)
        with self._lock:
            self.busy -= 1
            self.log.append(("end" if well else "fail", step, None))
        if not well:
            raise RuntimeError(f"{step} went wrong")
        return f"{step} {{step_{step}_result}}"


def greedy(made: Sequence[Job], slots: float, stop: bool, ovens: float = math.inf) -> list[tuple[str, float, float]]:
    """The schedule by hand: (id, start, end) of every attempt, in the order of their starts."""
    now, started, done, failed = 0.0, Counter[str](), set[str](), set[str]()
    running: list[tuple[float, int, Job]] = []
    again: list[Job] = []
    schedule: list[tuple[str, float, float]] = []
    while True:
        while len(running) < slots and not (stop and failed):
            ready = again + [job for job in made if not started[job.id] and done >= set(job.waits_for)]
            full = sum(job.tool == "bake" for _, _, job in running) >= ovens
            job = next((job for job in ready if not (full and job.tool == "bake")), None)
            if job is None:
                break
            again = [other for other in again if other is not job]
            started[job.id] += 1
            running.append((now + job.quarters / 4, len(schedule), job))
            schedule.append((job.id, now, now + job.quarters / 4))
        if not running:
            return schedule
        now = min(end for end, _, _ in running)
        for end, _, job in sorted(running, key=lambda item: item[1]):
            if end == now:
                if started[job.id] > job.fails:
                    done.add(job.id)
                elif started[job.id] <= job.retries:
                    again.append(job)
                else:
                    failed.add(job.id)
        running = [item for item in running if item[0] != now]


def problems_of_state(board: Board) -> Iterator[str]:
    """Yield the contradictions on a board, as sentences. A correct board has none."""
    running = {step_id for step_id, job in board.in_flight.items() if isinstance(job, StepStarted)}
    if running != {step_id for step_id, state in board.state.items() if state == "running"}:
        yield f"the running steps are {sorted(map(str, running))}, and the states say otherwise"
    if board.state.keys() != board.steps.keys():
        yield "not every step has a state"
    for step_id in board.results:
        if board.state[step_id] != "done":
            yield f"step {step_id} has a result, and is {board.state[step_id]}"
    for step_id in (*board.failed, *board.retry):
        if board.state[step_id] != "failed":
            yield f"step {step_id} failed, and is {board.state[step_id]}"
    if (ready := board.queue.first()) is not None and board.state[ready] != "waiting":
        yield f"step {ready} is ready, and is {board.state[ready]}"
    if board.ended and (board.in_flight or board.paused):
        yield "the run has ended, and jobs are still running"


class Checked(Board):
    """A board that checks itself after each event."""

    def apply(self, event: Event) -> None:
        super().apply(event)
        if wrong := [*problems_of_state(self)]:
            raise AssertionError(f"after {event!r}: {'; '.join(wrong)}")


def check_fold(run: Run) -> None:
    """The board is the fold of the events, also after JSON and after each event."""
    assert Checked.of(run.events) == run.board
    again = [from_dict(json.loads(json.dumps(to_dict(event)))) for event in run.events]
    assert again == run.events
    board = Board()
    for place, event in enumerate(again):
        assert Board.of(again[:place]) == board
        board.apply(event)
    assert board == run.board


DECIDED = e.StepStarted | e.PlanStarted | e.JudgeStarted | e.StepSkipped | e.StepBlocked | e.Paused
DECIDED |= e.BackoffStarted | e.RollbackStarted | e.UndoStarted | e.Ended


def without_key(event: Any) -> Any:
    """An event as the rules return it, without the parts that an executor adds."""
    return replace(event, call="", number=0, lane=0, inside=0, reserved=0) if isinstance(event, StepStarted) else event


def check_replay(run: Run, policy: Policy) -> None:
    """The rules decide the same again at each point of a run, and change nothing."""
    board = Board()
    for event in run.events:
        if isinstance(event, DECIDED):
            before = board.copy()
            assert decide(board, policy) == without_key(event)
            assert board == before
        board.apply(event)
    assert decide(board, policy) is None


def first_ready(board: Board, order: Sequence[str]) -> str | None:
    """By hand: the first waiting step whose dependencies are done and whose limits allow it."""
    running = [board.steps[id].tool or "" for id, state in board.state.items() if state == "running"]
    for id in order:
        one = board.steps[id]
        if board.state[id] == "waiting" and all(board.state[other] == "done" for other in one.depends_on):
            mine = [limit for limit in board.started.limits if (one.tool or "") in limit.tools]
            if all(sum(tool in limit.tools for tool in running) < limit.slots for limit in mine):
                return id
    return None


def check_order(run: Run, slots: float = math.inf) -> None:
    """No step starts too early or too often, and slots and limits are kept."""
    board, running, begun = Board(), dict[str, str](), dict[str, int]()
    for event in run.events:
        if isinstance(event, StepStarted):
            assert board.state[event.step] == ("waiting" if event.attempt == 1 else "failed")
            if event.attempt == 1:
                first = first_ready(board, tuple(board.steps))
                assert event.step == first, f"step {event.step} started before step {first}"
        elif isinstance(event, StepSkipped):
            assert board.state[event.step] == "waiting"
        board.apply(event)
        if isinstance(event, e.StepProposed | e.PlanProposed | e.Reviewed):  # another plan can use the same id
            begun = {id: begun[id] for id in begun if board.state[id] != "waiting"}
        if isinstance(event, StepStarted):
            step = board.steps[event.step]
            assert event.step not in running, f"{event.step} runs twice at once"
            assert event.attempt == begun.get(event.step, 0) + 1 <= event.attempts
            assert all(board.state[other] == "done" for other in step.depends_on), f"{event.step} began too early"
            running[event.step] = step.tool or ""
            begun[event.step] = event.attempt
            assert len(running) <= slots
            for limit in board.started.limits:
                at_once = sum(tool in limit.tools for tool in running.values())
                assert at_once <= limit.slots, f"{at_once} at once under the limit {limit.name}"
        elif isinstance(event, StepDone | StepFailed | e.Requeued):
            del running[event.step]
            begun[event.step] -= isinstance(event, e.Requeued)
    assert not running
    for id, state in run.board.state.items() if run.status == "finished" else ():
        after = run.board.steps[id].depends_on
        ready = state == "waiting" and all(run.board.state[other] == "done" for other in after)
        assert not ready, f"the run ended, but step {id} never started"


END = "the plan that was written so far"


class Writing:
    """A planner that streams its answers in turn, and then always the last one.

    In an answer, a dict is a step, a float is the seconds until the next part, an exception is raised, and a function is called.
    `END` is the plan of all steps before it; an answer without `END` breaks off.
    """

    stream = True

    def __init__(self, *answers: Sequence[Any]) -> None:
        self.answers, self.asked, self.told = answers, 0, list[list[str]]()

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        raise AssertionError("it is streamed")

    def parts(self, goal: str, board: Board, tools: Toolbox) -> Iterator[Step | Plan]:
        self.told.append([problem.code for problem in board.problems])
        answer = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        steps: list[Any] = []
        for part in answer:
            if isinstance(part, dict):
                steps.append(part)
                yield from Plan.parse([part]).steps
            elif isinstance(part, float):
                charge(part)
            elif isinstance(part, BaseException):
                raise part
            elif part is END:
                yield Plan(steps=tuple(step for one in steps for step in Plan.parse([one]).steps))
            elif isinstance(part, Plan):
                yield part
            else:
                part()


class Portions:
    """A planner that returns its plans in turn, and then always the last one."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked, self.told = answers, 0, list[list[str]]()

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        self.told.append([problem.code for problem in board.problems])
        self.asked += 1
        return Plan.parse(self.answers[min(self.asked, len(self.answers)) - 1])


TOP = ("retries", "timeout", "gate", "effects", "success_criteria", "description", "undo", "run_anyway")


def step(id: str, tool: str | None, *after: str, **more: Any) -> dict[str, Any]:
    """A step as a dict: `more` holds the fields of the step that are named in `TOP`, and the parameters of its tool."""
    fields: dict[str, Any] = {name: more.pop(name) for name in TOP if name in more}
    return {"id": id, "tool": tool, "params": more, "depends_on": list(after), **fields}


def work(id: str, *after: str, fails: int = 0, quarters: int = 4, **more: Any) -> dict[str, Any]:
    """A step of a workshop."""
    return step(id, "work", *after, step=id, fails=fails, quarters=quarters, uses=[], **more)


def left(work: Callable[[], Any]) -> Run:
    with pytest.raises(KeyboardInterrupt) as problem:
        work()
    return problem.value.run  # type: ignore[attr-defined, no-any-return]


def starts(run: Run) -> list[tuple[str, float]]:
    """(id, start) of every attempt, in the order of the events."""
    return [(event.step, event.at) for event in run.events if isinstance(event, StepStarted)]


def reasons(run: Run) -> list[str]:
    """Why the planner was asked, each time."""
    return [event.reason for event in run.events if isinstance(event, e.PlanStarted)]
