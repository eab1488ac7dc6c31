"""Checks for lesson 09, failure and rollback."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from planexec_lab import views
from planexec_lite import (
    Board,
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
    tool,
)
from planexec_lite.assembly import decide
from planexec_lite.run.events import (
    Ended,
    Event,
    Inside,
    PlanProposed,
    RollbackStarted,
    RunStarted,
    StepDone,
    StepFailed,
    StepLate,
    StepStarted,
    UndoDone,
    UndoFailed,
    UndoStarted,
)
from planexec_lite.tools import Effects

from exercises.checker.checks import material
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise, raising, shown

KNOWN = ("failure", "rollback", "run_anyway", "retries", "retry_on")
SHAPES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "run_anyway": (lambda ids: _several(ids, lambda id: isinstance(id, str)), 'step ids, as in ["report"]'),
    "retries": (
        lambda number: (
            type(number) is int or (isinstance(number, dict) and all(type(n) is int for n in number.values()))
        ),
        'a number, or numbers by step id, as in {"report": 1}',
    ),
    "retry_on": (
        lambda kinds: (
            kinds is None or _several(kinds, lambda kind: isinstance(kind, type) and issubclass(kind, Exception))
        ),
        "kinds of errors, as in [ValueError]",
    ),
}
WORDS = {StepStarted: "starts", StepDone: "done", StepFailed: "fails", StepLate: "too late", UndoDone: "undone"}
WORDS |= {UndoStarted: "undo starts", UndoFailed: "undo fails"}


def _several(values: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(values, (list, tuple, set, frozenset)) and all(map(fits, values))


class _Record(list[Event]):
    """A run's events; the repr summarises the steps."""

    def __repr__(self) -> str:
        told = [f"{event.step} {WORDS[type(event)]}" for event in self if type(event) in WORDS]  # type: ignore[union-attr]
        return f"<{', '.join(told)}>"


@exercise("09.1")
def exact_undo(trial: Trial, undo_order: Any) -> None:
    """The ids of the steps to undo, in the order of their undo."""
    for number, (run, wanted) in enumerate(_rolled_back()):
        before = _before_rollback(run)
        if number == 0:
            trial.show(views.timeline, Run(before))
        _judge_undo(trial, undo_order, before, wanted)
    for events in [*(events for _, events in material.records()), _done_again()]:
        last = {event.step: event for event in events if isinstance(event, (StepDone, UndoDone))}
        done = [event.step for event in events if isinstance(event, StepDone) and event is last[event.step]]
        _judge_undo(trial, undo_order, events, done[::-1])


def _judge_undo(trial: Trial, undo_order: Any, events: list[Event], wanted: list[str]) -> None:
    came = trial.call(undo_order, _Record(events))
    fits = isinstance(came, (list, tuple)) and all(isinstance(id, str) for id in came)
    trial.want(fits, 'ids in order, as in ["b", "a"]', "Return the ids as a list.")
    given = {event.step for event in events if isinstance(event, StepDone)}
    gone = {event.step for event in events if isinstance(event, UndoDone)} - set(wanted)
    told = str(wanted)
    inner = {getattr(event.event, "step", None) for event in events if isinstance(event, Inside)}
    rule = "A step without a result has nothing to undo."
    if (set(came) - given) & inner:
        rule = "The events of a nested run, wrapped in `Inside`, don't count."
    trial.want(given.issuperset(came), told, rule)
    trial.want(not gone & set(came), told, "Don't undo a step that is already undone.")
    trial.want(len(set(came)) == len(came), told, "Undo each step once, even if it had several attempts.")
    rule = "Undo every step that gave a result, even if it failed later, if the result is empty, or if an undo failed."
    trial.want(set(came) == set(wanted), told, rule)
    trial.want([*came] == wanted, told, "Undo the latest result first: it might depend on all earlier results.")


def _rolled_back() -> Iterator[tuple[Run, list[str]]]:
    """Yield runs with a rollback, and the ids that the kit undid, in order."""
    for steps, breaks, slots, rejects in _failures():
        run = _carried_out(steps, breaks, slots, rejects)
        yield run, _undone(run)
    run = _carried_out(_chain("abcd"), {}, 1, {})
    agent = _agent({}, 1, {})
    left = next(n for n, event in enumerate(run.events, 1) if isinstance(event, StepDone) and event.step == "c")
    whole = agent.roll_back(Run(run.events[:left]))  # a run that was interrupted at that moment
    yield whole, _undone(whole)
    half = agent.roll_back(run, to="b")
    whole = agent.roll_back(half)
    yield whole, _undone(whole)
    agent.roll_back(whole)
    yield agent.roll_back(whole), []
    yield _carried_out(_chain("ab"), {"a": 9}, 1, {}), []


def _done_again() -> list[Event]:
    """Return a record in which the last step gives another result after its undo."""
    run = _carried_out(_chain("abcd"), {}, 1, {})
    events = _agent({}, 1, {}).roll_back(run, to="b").events
    first = next(event for event in events if isinstance(event, StepDone) and event.step == "d")
    return [*events, replace(first, at=events[-1].at)]


def _failures() -> Iterator[tuple[list[dict[str, Any]], dict[str, int], int, dict[str, int]]]:
    """Yield the steps, how often each fails (-2: from its second call on), the slots, and how often the judge rejects a result."""
    trip = ["flight", "hotel", "car", "dinner"]
    yield [_step(id, trip[:n][-1:], 1) for n, id in enumerate(trip)], {"flight": 1, "dinner": 9}, 1, {}
    uneven = [_step("a", [], 5), _step("b", [], 2), _step("c", [], 3), _step("d", ["a", "b", "c"], 1)]
    yield uneven, {"d": 9}, 3, {}
    yield uneven, {"d": 9}, 3, {"b": 1}
    yield uneven, {"b": -2}, 3, {"b": 1}
    yield [_step("a", [], 1), _step("b", [], 9) | {"timeout": 120}, _step("c", ["a"], 20)], {"c": 9}, 2, {}
    for seed in range(4):
        luck = Random(seed)
        ids = luck.sample("pqrstu", 6)
        steps = [
            _step(id, [other for other in ids[:n] if luck.random() < 0.3], luck.randint(1, 9))
            for n, id in enumerate(ids)
        ]
        yield [*steps, _step("z", ids, 1)], dict.fromkeys(ids[::3], 1) | {"z": 9}, 3, dict.fromkeys(ids[1::3], 1)


def _chain(ids: str) -> list[dict[str, Any]]:
    return [_step(id, [*ids[:n][-1:]], 1) for n, id in enumerate(ids)]


def _step(id: str, waits_for: list[str], minutes: int) -> dict[str, Any]:
    return {
        "id": id,
        "tool": "do",
        "params": {"what": id, "minutes": minutes},
        "depends_on": waits_for,
        "undo": {"tool": "take_back", "params": {"what": id}},
    }


def _carried_out(steps: list[dict[str, Any]], breaks: Mapping[str, int], slots: int, rejects: Mapping[str, int]) -> Run:
    agent = _agent(breaks, slots, rejects)
    judged = [step | {"success_criteria": "it holds"} if step["id"] in rejects else step for step in steps]
    return execute(
        Plan.parse(judged), agent.executor, evaluator=agent.evaluator, workers=agent.workers, policy=agent.policy
    )


def _agent(breaks: Mapping[str, int], slots: int, rejects: Mapping[str, int]) -> PlannerExecutor:
    calls, looks = Counter[str](), Counter[str]()

    @tool(effects="idempotent", latency=lambda what, minutes: 60.0 * minutes)
    def do(what: str, minutes: int) -> str:
        """Do something."""
        calls[what] += 1
        number = breaks.get(what, 0)
        if calls[what] <= number or 0 < -number <= calls[what]:
            raise RuntimeError(f"{what} is broken")
        return what

    @tool(effects="idempotent")
    def take_back(what: str) -> None:
        """Take it back."""

    def judge(step: Any, result: Any) -> Verdict:
        looks[step.id] += 1
        return Verdict("retry", "once more") if looks[step.id] <= rejects.get(step.id, 0) else Verdict("accept")

    hands = ToolExecutor(Toolbox([do, take_back]))
    policy = Policy(retries=2, rollback="failed")
    return PlannerExecutor(None, hands, None, RuleEvaluator(judge), Simulated(slots), policy)


def _before_rollback(run: Run) -> list[Event]:
    """Return the events before the latest rollback, or all events without a rollback."""
    last = max((n for n, event in enumerate(run.events) if isinstance(event, RollbackStarted)), default=None)
    return [*run.events[:last]]


def _undone(run: Run) -> list[str]:
    """Return the ids of the steps that the latest rollback undid."""
    return [event.step for event in run.events[len(_before_rollback(run)) :] if isinstance(event, UndoStarted)]


@exercise("09.2")
def meanings(trial: Trial, disk: Any, concert: Any, prices: Any) -> None:
    """For each plan, the fields that make its failures end as the task requires."""
    runs = {}
    for name, fields in {"disk": disk, "concert": concert, "prices": prices}.items():
        trial.given(name, fields)
        trial.scenario = ""
        known = isinstance(fields, dict) and fields.keys() <= set(KNOWN)
        trial.want(known, f"a dict with only the keys {', '.join(KNOWN)}", "You can set only these fields.")
        for field, (fits, wanted) in SHAPES.items():
            trial.want(field not in fields or fits(fields[field]), wanted, "The task states the form of each field.")
        runs[f"The {name}"] = _days(trial, data("09.2")[name], fields)
    trial.show(views.timelines, runs)


def _days(trial: Trial, given: dict[str, Any], fields: dict[str, Any]) -> Run:
    """Run a plan on days with and without failures, count the calls in the world, and return the last run."""
    for day in given["days"]:
        breaks = {what: (times, ERRORS[kind](text)) for what, (times, kind, text) in day["breaks"].items()}
        log, run = _day(trial, given["steps"], fields, breaks)
        for wanted, rule, counts in day["wants"]:
            fits = all(least <= log.count(what) <= most for what, (least, most) in counts.items())
            trial.want(fits, wanted, rule)
    return run


ERRORS: dict[str, type[Exception]] = {one.__name__: one for one in (OSError, ConnectionError, LookupError)}
ONCE = ("charge", "refund", "print_posters")


def _day(
    trial: Trial, steps: list[dict[str, Any]], fields: dict[str, Any], breaks: Mapping[str, tuple[int, Exception]]
) -> tuple[list[str], Run]:
    """Return the calls in the world, in order, and the run."""
    log: list[str] = []
    try:
        plan, policy, tools = _set(steps, fields, log, breaks)
    except Exception as error:
        trial.wrong(f"fields that the kit accepts; it raised: {error}", "The kit rejects unknown values.")
    run = execute(plan, ToolExecutor(tools), workers=Simulated(1), policy=policy)
    failures = [f"{what} raises {type(error).__name__} ({error})" for what, (_, error) in breaks.items()]
    trial.scenario, trial.came = ", ".join(failures) or "no failures", f"the run called {', '.join(log) or 'nothing'}"
    return log, run


def _set(
    steps: list[dict[str, Any]],
    fields: dict[str, Any],
    log: list[str],
    breaks: Mapping[str, tuple[int, Exception]],
) -> tuple[Plan, Policy, Toolbox]:
    """Return the plan, the policy and the tools with the chosen fields."""
    anyway, retries = fields.get("run_anyway", ()), fields.get("retries", 0)
    ids = [step["id"] for step in steps]
    of_steps = retries if isinstance(retries, dict) else {}
    if unknown := [id for id in [*anyway, *of_steps] if id not in ids]:
        raise ValueError(f"there is no step {unknown[0]!r}, only {', '.join(ids)}")
    chosen = [step | {"run_anyway": step["id"] in anyway, "retries": of_steps.get(step["id"], 0)} for step in steps]
    policy = Policy(
        failure=fields.get("failure", "skip"),
        rollback=fields.get("rollback", "never"),
        retries=0 if of_steps or isinstance(retries, dict) else retries,
    )
    names = {step["tool"] for step in steps} | {step["undo"]["tool"] for step in steps if "undo" in step}
    return Plan.parse(chosen), policy, Toolbox(_tools(names, fields.get("retry_on"), log, breaks))


def _tools(
    names: set[str], retry_on: Any, log: list[str], breaks: Mapping[str, tuple[int, Exception]]
) -> Iterator[Tool]:
    def called(what: str) -> str:
        log.append(what)
        times, error = breaks.get(what, (0, None))
        if error is not None and log.count(what) <= times:
            raise error
        return what

    def named(name: str) -> Callable[..., str]:
        def price(of: str) -> str:
            """Ask for a price."""
            return called(f"price of {of}")

        def call() -> str:
            """Do it."""
            return called(name)

        return price if name == "price" else call

    for name in sorted(names):
        effects: Effects = "once" if name in ONCE else "none" if name in ("price", "add") else "idempotent"
        yield Tool(named(name), name=name, effects=effects, retry_on=retry_on, latency=60.0)


@exercise("09.3")
def every_order(trial: Trial, walk: Any) -> None:
    """All end states that the run can reach, and the events that lead to a forbidden decision, or None."""
    for failure, graph in data("09.3")["plans"]:
        _judge(trial, walk, _plan(graph, 0), Policy(failure=failure), decide, guilty=False)
    _judge(trial, walk, _plan({"a": (), "b": ()}, 1), Policy(failure="stop"), decide, guilty=False)
    three, stop = _plan({"a": (), "b": ("a",), "c": ()}, 0), Policy(failure="stop")
    trial.show(views.graph, three)
    for wrong in (hasty, eager, waits_for_ever):
        _judge(trial, walk, three, stop, wrong, guilty=True)
    for strict in (never_last, never_waits):
        _judge(trial, walk, _plan({"a": (), "b": (), "d": ()}, 0), Policy(), decide, guilty=True, asked=strict)
    error = ValueError("no such event")
    for rules, asked in ((raising(error), never_stuck), (decide, raising(error))):
        trial.lets_through(error, walk, _begun(three), stop, rules, asked)


def _plan(graph: Mapping[str, tuple[str, ...]], retries: int) -> Plan:
    return Plan.parse([{"id": id, "depends_on": waits_for, "retries": retries} for id, waits_for in graph.items()])


def _begun(plan: Plan) -> Board:
    events: list[Event] = [RunStarted(0.0, "", planner=False, reviewer=False), PlanProposed(0.0, plan)]
    return _Board.of(events)


class _Board(Board):
    """A board whose repr shows the state of each step."""

    def __repr__(self) -> str:
        return f"<board {', '.join(f'{id} {state}' for id, state in self.state.items())}>"


def hasty(board: Board, policy: Policy) -> Event | None:
    """A faulty `decide`: a stopping run does not wait for running steps."""
    if board.failed and not board.ended:
        return Ended(board.now, "failed", "a step failed")
    return decide(board, policy)


def eager(board: Board, policy: Policy) -> Event | None:
    """A faulty `decide`: it starts a step after a result although another step has failed."""
    return decide(board, replace(policy, failure="skip") if board.results else policy)


def waits_for_ever(board: Board, policy: Policy) -> Event | None:
    """A faulty `decide`: it keeps waiting after all running steps have failed."""
    return None if len(board.failed) == 2 else decide(board, policy)


def allowed(board: Board, event: Event | None) -> bool:
    """Return whether `decide` is allowed to return this event under "stop".

    No step starts after a failure, and the run ends only when no job is running.
    """
    if isinstance(event, StepStarted):
        return not board.failed
    if isinstance(event, Ended):
        return not board.in_flight
    return never_stuck(board, event)


def never_stuck(board: Board, event: Event | None) -> bool:
    """Return whether `decide` named an event, a job is still running, or the run has ended."""
    return event is not None or bool(board.in_flight) or bool(board.ended)


def never_last(board: Board, event: Event | None) -> bool:
    """Return whether this is not an end after all steps have failed."""
    return not (isinstance(event, Ended) and len(board.failed) == len(board.state))


def never_waits(board: Board, event: Event | None) -> bool:
    """Return whether `decide` does not wait for step d alone."""
    return not (event is None and set(board.in_flight) == {"d"})


ALLOWS = {
    "never_stuck": "`never_stuck` allows any event, and None while a step runs or after the end.",
    "allowed": "`allowed` forbids a start after a failure, an end while a step runs, and None while nothing runs.",
}


def _judge(trial: Trial, walk: Any, plan: Plan, policy: Policy, rules: Any, guilty: bool, asked: Any = None) -> None:
    stops = policy.failure == "stop" and not any(step.retries for step in plan.steps)
    asked = asked or (allowed if stops else never_stuck)
    came = trial.call(walk, _begun(plan), policy, rules, asked)
    fits = isinstance(came, (tuple, list)) and len(came) == 2 and isinstance(came[0], (set, list, tuple, frozenset))
    trial.want(fits, "`(ends, trace)`: a set of ends, and a list of events or None", "Return both values.")
    ends, trace = came
    shaped = all(isinstance(end, frozenset) for end in ends)
    trial.want(
        shaped,
        "each end as a `frozenset(board.state.items())`",
        "Two end states are equal if every step has the same state.",
    )
    if not guilty:
        every = _ends(_begun(plan), policy, rules)
        trial.want(
            trace is None,
            f"None as trace: `{asked.__name__}` allows every decision here",
            f"{ALLOWS[asked.__name__]} Report a trace only for a forbidden decision.",
        )
        if more := set(ends) - every:
            trial.wrong(
                "only ends that a run can have",
                "Follow only events that can really happen.",
                f"an end with {_end(more)}",
            )
        if missing := every - set(ends):
            rule = "Every running step can succeed or fail, and any of them can end first."
            trial.wrong(
                f"{len(every)} ends, also this one: {_end(missing)}", rule, f"{len(set(ends))} ends: {shown(ends)}"
            )
        return
    trial.want(
        isinstance(trace, (list, tuple)) and trace,
        "the events that lead to the forbidden decision",
        f"`{asked.__name__}` forbids a decision in at least one order of events, and a complete walk finds it.",
    )
    board = _begun(plan)
    for event in trace[:-1]:
        told = "events that can follow each other from the first board"
        try:
            board.apply(event)
        except Exception as error:
            trial.wrong(told, "It must be possible to replay a trace.", f"the board rejects {shown(event)}: {error}")
    last = "the forbidden event as the last event of the trace"
    trial.want(
        not asked(board, trace[-1]) and rules(board, policy) == trace[-1],
        last,
        "A trace ends with the fault that it shows.",
    )


def _ends(board: Board, policy: Policy, rules: Any) -> set[frozenset[Any]]:
    ends, waiting = set(), [board]
    while waiting:
        board = waiting.pop()
        if board.ended:
            ends.add(frozenset(board.state.items()))
            continue
        event = rules(board, policy)
        outcomes: list[Event] = []
        for id in filter(None, board.in_flight):
            outcomes += [StepDone(0.0, id, None), StepFailed(0.0, id, "no")]
        for one in [event] if event else outcomes:
            after = board.copy()
            after.apply(one)
            waiting.append(after)
    return ends


def _end(ends: set[frozenset[Any]]) -> str:
    return min(", ".join(f"{id} {state}" for id, state in sorted(end)) for end in ends)
