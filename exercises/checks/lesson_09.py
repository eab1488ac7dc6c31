"""Lesson 09, failure and rollback: what its exercises are judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from exercises.exercise import Trial, exercise
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
from planexec_lite.events import (
    Ended,
    Event,
    PlanProposed,
    RollbackStarted,
    RunStarted,
    StepDone,
    StepFailed,
    StepLate,
    StepStarted,
    UndoDone,
    UndoStarted,
)
from planexec_lite.tools import Effects

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


def _several(values: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(values, (list, tuple, set, frozenset)) and all(map(fits, values))


class _Record(list[Event]):
    """The events of a run; its text says what became of the steps."""

    def __repr__(self) -> str:
        told = [f"{event.step} {WORDS[type(event)]}" for event in self if type(event) in WORDS]  # type: ignore[union-attr]
        return f"<{', '.join(told)}>"


@exercise(
    "09.1",
    nudge="A step that was begun may have given nothing, and one that was begun twice may have given something once. "
    "Look for the event that says that there is something to take back.",
    question="When the result of a step arrives for the second time, where does the step stand in your list, and where "
    "should it stand?",
    learned="What is undone is what gave a result: once, the latest first. That stands in the record, and in no list that "
    "somebody wrote before the run.",
)
def exact_undo(trial: Trial, undo_order: Any) -> None:
    """The ids of the steps that have to be undone, in the order in which they are undone."""
    for number, (run, wanted) in enumerate(_rolled_back()):
        before = _before_rollback(run)
        if number == 0:
            trial.show(views.timeline, Run(before))
        came = trial.call(undo_order, _Record(before))
        fits = isinstance(came, (list, tuple)) and all(isinstance(id, str) for id in came)
        trial.want(fits, 'ids in order, as in ["b", "a"]', "An order is a list.")
        given = {event.step for event in before if isinstance(event, StepDone)}
        gone = {event.step for event in before if isinstance(event, UndoDone)}
        told = str(wanted)
        trial.want(given.issuperset(came), told, "A step that never gave a result has nothing that could be undone.")
        trial.want(
            not {id for id in came if id not in wanted} & gone, told, "What is undone already is not undone again."
        )
        trial.want(len(set(came)) == len(came), told, "Each step is undone once, however often it was tried.")
        trial.want(set(came) == set(wanted), told, "Every step that gave a result is undone, whatever came afterwards.")
        trial.want(
            [*came] == wanted, told, "The latest result goes first: it may rest on everything that was there before."
        )


def _rolled_back() -> Iterator[tuple[Run, list[str]]]:
    """Runs that were rolled back, with what the kit undid and in which order."""
    for steps, breaks, slots, rejects in _failures():
        run = _carried_out(steps, breaks, slots, rejects)
        yield run, _undone(run)
    run = _carried_out(_chain("abcd"), {}, 1, {})
    agent = _agent({}, 1, {})
    left = next(n for n, event in enumerate(run.events, 1) if isinstance(event, StepDone) and event.step == "c")
    whole = agent.roll_back(Run(run.events[:left]))  # a run that was left at that moment
    yield whole, _undone(whole)
    half = agent.roll_back(run, to="b")
    whole = agent.roll_back(half)
    yield whole, _undone(whole)
    agent.roll_back(whole)
    yield agent.roll_back(whole), []
    yield _carried_out(_chain("ab"), {"a": 9}, 1, {}), []


def _failures() -> Iterator[tuple[list[dict[str, Any]], dict[str, int], int, dict[str, int]]]:
    """Steps, how often each of them breaks (-2: from its second call on), slots, and how often a result is sent back."""
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
    """The events up to the latest rollback, all of them if there is none."""
    last = max((n for n, event in enumerate(run.events) if isinstance(event, RollbackStarted)), default=None)
    return [*run.events[:last]]


def _undone(run: Run) -> list[str]:
    """What the latest rollback called."""
    return [event.step for event in run.events[len(_before_rollback(run)) :] if isinstance(event, UndoStarted)]


@exercise(
    "09.2",
    nudge="Take one plan at a time, and tell its bad day step by step: which step has to start although another failed, "
    "and which must not start because another did.",
    question="Who asks for a second attempt: every step that a repeat does no harm to, or the one that takes money? And "
    "which error will be the same tomorrow?",
    learned="Three failures, three meanings: one needs a step that runs anyway, one a way back, one a second try. A policy is "
    "a decision about the world.",
)
def meanings(trial: Trial, disk: Any, concert: Any, prices: Any) -> None:
    """For each plan the fields that make its bad day end as it was asked for."""
    days = {"disk": (_disk, disk), "concert": (_concert, concert), "prices": (_prices, prices)}
    runs = {}
    for name, (judge, fields) in days.items():
        trial.given(name, fields)
        known = isinstance(fields, dict) and fields.keys() <= set(KNOWN)
        trial.want(
            known, f"a dict with no other names than {', '.join(KNOWN)}", "These are the fields that you may set."
        )
        for field, (fits, wanted) in SHAPES.items():
            trial.want(field not in fields or fits(fields[field]), wanted, "The task says what each field holds.")
        runs[f"The {name}"] = judge(trial, fields)
    trial.show(views.timelines, runs)


def _disk(trial: Trial, fields: dict[str, Any]) -> Run:
    log, run = _day(trial, DISK, fields, {})
    wanted = "on a good day, each step once"
    trial.want(
        sorted(log) == ["attach", "copy", "detach", "report"],
        f"{wanted}, not {_told(log)}",
        "A rule for the bad day leaves the good one as it is.",
    )
    log, run = _day(trial, DISK, fields, {"copy": (99, OSError("the disk is full"))})
    wanted = f"when the copy fails, a disk that is detached all the same, not {_told(log)}"
    trial.want("detach" in log, wanted, "What cleans up runs anyway; a run that stops begins nothing any more.")
    wanted = f"when the copy fails, no report, not {_told(log)}"
    trial.want("report" not in log, wanted, "What needs a result must not run without it.")
    return run


def _concert(trial: Trial, fields: dict[str, Any]) -> Run:
    log, run = _day(trial, CONCERT, fields, {})
    done = sorted(log) == ["charge", "print_posters", "print_tickets", "reserve"]
    trial.want(
        done, f"on a good day, each step once, not {_told(log)}", "A rule for the bad day leaves the good one as it is."
    )
    log, _ = _day(trial, CONCERT, fields, {"charge": (1, ConnectionError("the line dropped after the money had gone"))})
    wanted = f"when the line drops behind the payment, one payment, not {_told(log)}"
    trial.want(
        log.count("charge") == 1, wanted, "A payment whose answer was lost may have been made: a second try pays twice."
    )
    log, run = _day(trial, CONCERT, fields, {"print_tickets": (99, OSError("out of paper"))})
    wanted = f"when the tickets can't be printed, no posters, not {_told(log)}"
    trial.want("print_posters" not in log, wanted, "A run that goes on elsewhere does what nobody can take back.")
    once, _ = _day(trial, CONCERT, fields, {"print_posters": (1, OSError("the paper jams"))})
    wanted = f"when the printer jams behind the posters, no second print of them, not {_told(once)}"
    trial.want(once.count("print_posters") == 1, wanted, "What happens once is not tried again.")
    back = [what for what in log if what in ("refund", "free")]
    wanted = f"when the tickets can't be printed, a refund, and then the seats free again, not {_told(log)}"
    trial.want(back == ["refund", "free"], wanted, "A failure is no way back: the policy says when a rollback begins.")
    return run


def _prices(trial: Trial, fields: dict[str, Any]) -> Run:
    for price in ("price of leeks", "price of cream"):
        log, run = _day(trial, PRICES, fields, {price: (2, ConnectionError("no answer"))})
        wanted = f"when the service is down for two calls, both prices and the sum, not {_told(log)}"
        trial.want(run.status == "finished", wanted, "An error that goes away by itself is worth another try.")
    log, _ = _day(trial, PRICES, fields, {"price of leeks": (99, ConnectionError("no answer"))})
    wanted = f"three calls for one price at most, not {_told(log)}"
    trial.want(log.count("price of leeks") <= 3, wanted, "Every try costs: the bound is part of the rule.")
    log, run = _day(trial, PRICES, fields, {"price of leeks": (99, LookupError("no such thing"))})
    wanted = f"one call for a name that is not known, not {_told(log)}"
    trial.want(log.count("price of leeks") == 1, wanted, "An error that will be the same tomorrow is not worth a try.")
    wanted = f"the other price, though one is not known, not {_told(log)}"
    trial.want(
        "price of cream" in log, wanted, "A failure concerns what depends on it, unless the policy says otherwise."
    )
    wanted = f"no sum where a price is missing, not {_told(log)}"
    trial.want("add" not in log, wanted, "What needs a result must not run without it.")
    return run


DISK = (
    {"id": "attach", "tool": "attach"},
    {"id": "copy", "tool": "copy", "depends_on": ["attach"]},
    {"id": "detach", "tool": "detach", "depends_on": ["copy"]},
    {"id": "report", "tool": "report", "depends_on": ["copy"]},
)
CONCERT = (
    {"id": "seats", "tool": "reserve", "undo": {"tool": "free"}},
    {"id": "pay", "tool": "charge", "depends_on": ["seats"], "undo": {"tool": "refund"}},
    {"id": "tickets", "tool": "print_tickets", "depends_on": ["pay"]},
    {"id": "posters", "tool": "print_posters"},
)
PRICES = (
    {"id": "leeks", "tool": "price", "params": {"of": "leeks"}},
    {"id": "cream", "tool": "price", "params": {"of": "cream"}},
    {"id": "sum", "tool": "add", "depends_on": ["leeks", "cream"]},
)
ONCE = ("charge", "refund", "print_posters")


def _day(
    trial: Trial, steps: tuple[dict[str, Any], ...], fields: dict[str, Any], breaks: Mapping[str, tuple[int, Exception]]
) -> tuple[list[str], Run]:
    """What was called in the world, in that order, and the run."""
    log: list[str] = []
    try:
        plan, policy, tools = _set(steps, fields, log, breaks)
    except Exception as error:
        trial.wrong(f"fields that the kit takes; it says: {error}", "What the kit does not know, it refuses.")
    return log, execute(plan, ToolExecutor(tools), workers=Simulated(1), policy=policy)


def _set(
    steps: tuple[dict[str, Any], ...],
    fields: dict[str, Any],
    log: list[str],
    breaks: Mapping[str, tuple[int, Exception]],
) -> tuple[Plan, Policy, Toolbox]:
    """The plan, the policy and the tools with the fields that were chosen."""
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


def _told(log: list[str]) -> str:
    return ", ".join(log) or "nothing"


@exercise(
    "09.3",
    nudge="Two cases at each board: `decide` names an event, and there is one way on; or it waits, and each step that runs "
    "may come to two outcomes. Every way on needs a board of its own.",
    question="Two steps run. How many events may come next, and what would you never see if you heard out the first one "
    "before the second?",
    learned="Rules that are pure can be walked: every order, every outcome, in twenty lines. A test that you thought of finds the "
    "fault that you thought of; a walk finds the others.",
    seconds=20.0,
)
def every_order(trial: Trial, walk: Any) -> None:
    """All ends that a run can come to, and the events that lead to a forbidden one, None where there is none."""
    for graph, policy in _plans():
        _judge(trial, walk, _plan(graph, 0), policy, decide, guilty=False)
    _judge(trial, walk, _plan({"a": (), "b": ()}, 1), Policy(failure="stop"), decide, guilty=False)
    three, stop = _plan({"a": (), "b": ("a",), "c": ()}, 0), Policy(failure="stop")
    trial.show(views.graph, three)
    for wrong in (hasty, eager, waits_for_ever):
        _judge(trial, walk, three, stop, wrong, guilty=True)


def _plans() -> list[tuple[dict[str, tuple[str, ...]], Policy]]:
    skip, stop = Policy(), Policy(failure="stop")
    return [
        ({"a": ()}, skip),
        ({"a": (), "b": ("a",), "c": ()}, stop),
        ({"a": (), "b": ("a",)}, skip),
        ({"a": (), "b": (), "c": ("a", "b")}, skip),
        ({"c": (), "a": (), "b": ("c",)}, stop),
    ]


def _plan(graph: Mapping[str, tuple[str, ...]], retries: int) -> Plan:
    return Plan.parse([{"id": id, "depends_on": waits_for, "retries": retries} for id, waits_for in graph.items()])


def _begun(plan: Plan) -> Board:
    events: list[Event] = [RunStarted(0.0, "", planner=False, reviewer=False), PlanProposed(0.0, plan)]
    return _Board.of(events)


class _Board(Board):
    """A board whose text is where each step stands."""

    def __repr__(self) -> str:
        return f"<board {', '.join(f'{id} {state}' for id, state in self.state.items())}>"


def hasty(board: Board, policy: Policy) -> Event | None:
    """Wrong: a run that stops does not hear out what is under way."""
    if board.failed and not board.ended:
        return Ended(board.now, "failed", "a step failed")
    return decide(board, policy)


def eager(board: Board, policy: Policy) -> Event | None:
    """Wrong: behind a result something is begun, though another step has failed."""
    return decide(board, replace(policy, failure="skip") if board.results else policy)


def waits_for_ever(board: Board, policy: Policy) -> Event | None:
    """Wrong: where all that ran has failed, it goes on waiting."""
    return None if len(board.failed) == 2 else decide(board, policy)


def allowed(board: Board, event: Event | None) -> bool:
    """Whether `decide` may say this of the board: under "stop", nothing starts after a failure, and no job is left alone."""
    if isinstance(event, StepStarted):
        return not board.failed
    if isinstance(event, Ended):
        return not board.in_flight
    return never_stuck(board, event)


def never_stuck(board: Board, event: Event | None) -> bool:
    """Whether `decide` names an event, or there is something to wait for."""
    return event is not None or bool(board.in_flight)


def _judge(trial: Trial, walk: Any, plan: Plan, policy: Policy, rules: Any, guilty: bool) -> None:
    asked = allowed if policy.failure == "stop" and not any(step.retries for step in plan.steps) else never_stuck
    came = trial.call(walk, _begun(plan), policy, rules, asked)
    fits = isinstance(came, (tuple, list)) and len(came) == 2 and isinstance(came[0], (set, list, tuple, frozenset))
    trial.want(fits, "`(ends, trace)`: a set of ends, and a list of events or None", "A walk hands out both.")
    ends, trace = came
    shaped = all(isinstance(end, frozenset) for end in ends)
    trial.want(
        shaped,
        "each end as a `frozenset(board.state.items())`",
        "Two ends are the same when each step stands the same.",
    )
    if not guilty:
        every = _ends(_begun(plan), policy, rules)
        trial.want(trace is None, "None: all that this `decide` says is allowed", "A walk accuses nobody who is right.")
        if more := set(ends) - every:
            trial.wrong(f"no end with {_end(more)}: no run comes to that", "A walk takes no step that can't be taken.")
        if missing := every - set(ends):
            rule = "Every step that runs may come to either outcome, and any of them may come first."
            trial.wrong(f"{len(every)} ends; one that is missing: {_end(missing)}", rule)
        return
    trial.want(
        isinstance(trace, (list, tuple)) and trace,
        "the events that lead to what is not allowed",
        "This `decide` is wrong in one order of events: a walk meets it.",
    )
    board = _begun(plan)
    for event in trace[:-1]:
        told = "events that follow one another from the first board on"
        try:
            board.apply(event)
        except Exception as error:
            trial.wrong(f"{told}; of {event}, the board says: {error}", "A trace can be replayed.")
    last = "as the last event of the trace, the one that is not allowed there"
    trial.want(
        not allowed(board, trace[-1]) and rules(board, policy) == trace[-1], last, "A trace ends with the fault."
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
