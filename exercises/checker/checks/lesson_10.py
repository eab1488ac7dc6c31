"""Checks for lesson 10, pause and resume."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn

from planexec_lab import views
from planexec_lite import (
    Budget,
    Decision,
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
)
from planexec_lite.meter import ModelCall, charge
from planexec_lite.run.events import Event, Inside, Reviewed

from exercises.checker.checks import material
from exercises.checker.checks.hashes import in_process
from exercises.checker.data import data
from exercises.checker.exercise import Raised, Trial, exercise, unforeseen

STEPS = (
    {"id": "look", "effects": "none"},
    {"id": "pay", "effects": "once"},
    {"id": "count", "effects": "none"},
    {"id": "send", "effects": "once"},
)
FILE = "journal.jsonl"


class _Cut(BaseException):
    """Raised instead of killing the process, where no second process is available."""


class _World:
    """The world of the calls: each call writes a line to a file, which survives a crash of the process.

    `results` are by step id; by default, a text with the number of the call. `moment` says when to kill the process:
    "before" or "after" a step's effect, and the step's id.
    """

    def __init__(self, results: Mapping[str, Any] | None = None) -> None:
        self.results = results or {}
        self.moment: tuple[str, str] | None = None
        self.apart = False
        self.left: bytes | None = None

    def call(self, id: str) -> Any:
        """Run a step and return its result."""
        self._may_die("before", id)
        number = self.called().count(id) + 1
        with Path("effects.txt").open("a", encoding="utf-8") as file:
            file.write(f"{id}\n")
        self._may_die("after", id)
        return self.results.get(id, f"{id} {number}")

    def called(self) -> list[str]:
        """Return the ids of the steps run so far, by any process."""
        path = Path("effects.txt")
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def _may_die(self, when: str, id: str) -> None:
        if self.moment != (when, id):
            return
        if self.apart:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left = _journal()
        raise _Cut


@exercise("10.1")
def journal(trial: Trial, carry_on: Any) -> None:
    """All results and None; or, if a step that must run at most once was interrupted, the results so far and its id."""
    with _folder() as world:
        results, doubt = _come(trial, carry_on, world)
        rule = "Without a crash, run the whole plan: each step once, in order."
        trial.want(world.called() == _ids(), f"calls of {_ids()}", rule, f"calls of {world.called()}")
        wanted = f"({_results(_ids())}, None)"
        trial.want((results, doubt) == (_results(_ids()), None), wanted, "Return the results by id, and None.")
        before = _journal()
        trial.scenario = "started again after the last step"
        again = _come(trial, carry_on, world)
        rule, came = (
            "Read finished steps from the file; don't run them again.",
            f"calls of {world.called()[len(STEPS) :]}",
        )
        trial.want(world.called() == _ids(), "no call", rule, came)
        trial.want(again == (results, None), wanted, "Return the recorded results.")
        rule = "Append to the file; never change recorded lines."
        trial.want(_journal().startswith(before), "a file that begins with its earlier content", rule)
    for moments in _moments():
        with _folder() as world:
            _judge(trial, carry_on, world, moments)
    _falsy(trial, carry_on)
    _others(trial, carry_on)


def _others(trial: Trial, carry_on: Any) -> None:
    """Check other steps in another file: the call of the second raises."""
    file, first, second = (f"{name}{mark}" for name, mark in zip("fab", unforeseen(carry_on, 3), strict=True))
    steps = [{"id": first, "effects": "none"}, {"id": second, "effects": "once"}]
    error, calls = ConnectionError("no answer"), list[str]()

    def call(id: str) -> str:
        calls.append(id)
        if id == second and calls.count(id) == 1:
            raise error
        return id

    with _folder():
        trial.scenario = f"the call of {second!r} raises a ConnectionError"
        trial.lets_through(error, _of_new_process(trial, carry_on), steps, file, call)
        there = sorted(path.name for path in Path().iterdir())
        trial.want(there == [file], f"one file, {file!r}", "Keep the journal in the file `path`.", f"the files {there}")
        trial.scenario += ", then started again"
        came = _both(trial, trial.call(_of_new_process(trial, carry_on), steps, file, call))
        wanted = f"({{{first!r}: {first!r}}}, {second!r}), and no call"
        right = came == ({first: first}, second)
        rule = "The effects of a step are in `steps`. A call that raised might have happened: it is in doubt."
        trial.want(right and calls == [first, second], wanted, rule)


def _falsy(trial: Trial, carry_on: Any) -> None:
    """Check that a result such as 0 or None counts as a result, in the same process and in the next."""
    for shift in range(2):
        values = dict(zip(_ids(), material.FALSY[shift:], strict=False))
        with _folder(values) as world:
            _killed(trial, carry_on, world, ("before", "count"))
            trial.scenario = f"the calls return {', '.join(map(repr, values.values()))}; killed before 'count' ran"
            came = _come(trial, carry_on, world)
            rule, calls = "Read finished steps from the file; don't run them again.", f"calls of {world.called()[2:]}"
            trial.want(world.called() == _ids(), f"calls of {_ids()[2:]}", rule, calls)
            trial.want(
                came == (values, None), f"({values}, None)", "A result can be 0, an empty string or list, or None."
            )


def _moments() -> Iterator[Sequence[tuple[str, str, bool]]]:
    """Yield the moments at which the process is killed, and whether its last line is torn."""
    for id in _ids():
        for when in ("before", "after"):
            yield [(when, id, False)]
    yield [("after", "look", False), ("after", "look", False), ("before", "count", False)]
    yield [("before", "pay", True), ("after", "pay", False)]
    yield [("before", "look", True), ("after", "pay", False)]
    yield [("before", "send", True), ("after", "send", False)]


def _judge(trial: Trial, carry_on: Any, world: _World, moments: Sequence[tuple[str, str, bool]]) -> None:
    """Kill the answer at these moments, then start it again without a kill."""
    done: list[str] = []  # the steps whose results must be on disk
    told: list[str] = []
    for when, id, torn in moments:
        before = _journal()
        trial.scenario = ", then ".join(told) or "started for the first time"
        _killed(trial, carry_on, world, (when, id))
        told.append(f"killed {when} {id!r} ran")
        trial.told, trial.called = "", f"carry_on(steps, {FILE!r}, call)"
        trial.came, trial.scenario = "nothing, because the process was killed", ", then ".join(told)
        after = _journal()
        rule = "If the process dies while it rewrites the file, the old lines are lost. Append to the file."
        grows = after.startswith(before) or moments[0][2]
        trial.want(grows, "a file that begins with its earlier content", rule)
        rule = "Memory is lost in a crash: write the start and close the file before the call."
        trial.want(after or id in ("look", "count"), f"a line in the file before {id!r} runs", rule, "an empty file")
        if torn and after:
            _tear(after)
            told[-1] += f" and in the middle of a line; the file ends with {_last_line()!r}"
        done = _ids()[: _ids().index(id)]
    called, (when, id, torn) = world.called(), moments[-1]
    trial.scenario = f"{', then '.join(told)}; then started again"
    results, doubt = _come(trial, carry_on, world)
    more = world.called()[len(called) :]
    repeated = [one for one in done if one in more]
    rule = "Read finished steps from the file; don't run them again."
    if len(moments) > 1 and moments[0][2]:
        rule += " If the file ends with half a line, your next line must not begin behind it."
    trial.want(not repeated, f"no second call of {', '.join(repeated)}", rule, f"calls of {more}")
    calls = f"calls of {more}"
    if id in ("pay", "send") and not torn:
        rule = "This step must happen at most once and might have happened already: only a person can find out."
        if len(moments) > 1 and moments[0][2]:
            rule += " If your line begins behind half a line, the next process can't read it."
        trial.want(id not in more, f"no call of {id!r}", rule, calls)
        rule = "Return the id of the uncertain step; it counts neither as done nor as failed."
        trial.want(doubt == id, f"(…, {id!r})", rule)
        trial.want(not more, "no call", "Run no further step after an uncertain one.", calls)
        wanted = {one: f"{one} {called.count(one)}" for one in done}
        trial.want(results == wanted, f"({wanted}, {id!r})", "Return the results of all finished steps.")
        return
    trial.want(doubt is None, "(…, None)", "Repeating this step does no harm, so run it again.")
    left = _ids()[len(done) :]
    trial.want(more == left, f"calls of {left}", "Record a step as done only after its call.", calls)
    wanted = {one: f"{one} {world.called().count(one)}" for one in _ids()}
    trial.want(results == wanted, f"({wanted}, None)", "Return the result of the call that finished.")


def _come(trial: Trial, carry_on: Any, world: _World) -> tuple[Any, Any]:
    """Run the answer without a kill and return its two values."""
    world.moment = None
    trial.told = f"carry_on(steps, {FILE!r}, call)"
    return _both(trial, trial.call(_of_new_process(trial, carry_on), list(STEPS), FILE, world.call))


def _both(trial: Trial, came: Any) -> tuple[Any, Any]:
    """Check the form of the answer's two values and return them."""
    fits = isinstance(came, (tuple, list)) and len(came) == 2 and isinstance(came[0], Mapping)
    trial.want(fits, "`(results, doubt)`: a dict by id, and an id or None", "Return both values.")
    return dict(came[0]), came[1]


def _killed(trial: Trial, carry_on: Any, world: _World, moment: tuple[str, str]) -> None:
    """Run the answer in a child process that is killed by SIGKILL at that moment; without `fork`, simulate this here."""
    world.moment, world.left = moment, None
    carry_on = _of_new_process(trial, carry_on)
    folder = {path: path.read_bytes() for path in Path().iterdir()}
    world.apart = hasattr(os, "fork") and sys.platform != "emscripten"
    if world.apart and _ended_by_kill(carry_on, world):
        return
    world.apart = False
    for path in Path().iterdir():
        path.unlink()
    for path, content in folder.items():
        path.write_bytes(content)
    trial.told = f"carry_on(steps, {FILE!r}, call)"
    try:
        trial.call(carry_on, list(STEPS), FILE, world.call)
    except Raised as error:
        if not isinstance(error.error, _Cut):
            raise
        Path(FILE).write_bytes(world.left or b"")  # the file as a killed process would leave it
    if world.left is None:
        trial.wrong(f"a call of {moment[1]!r}", "Run the remaining steps in order.")


def _of_new_process(trial: Trial, carry_on: Any) -> Any:
    """Return the answer as a new process defines it, without the memory of the others."""
    return trial.anew()[0] if trial.anew else carry_on


def _ended_by_kill(carry_on: Any, world: _World) -> bool:
    with warnings.catch_warnings():  # the child process only calls the answer and never returns
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _and_no_further(carry_on, world)
    status = None
    try:
        _, status = os.waitpid(child, 0)
    finally:
        if status is None:  # the time limit stopped the wait
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _and_no_further(carry_on: Any, world: _World) -> NoReturn:
    """Run the answer in the child process, then exit."""
    with suppress(BaseException):
        sys.stdout = sys.stderr = StringIO()
        carry_on(list(STEPS), FILE, world.call)
    os._exit(0)


@contextmanager
def _folder(results: Mapping[str, Any] | None = None) -> Iterator[_World]:
    """Run an answer in an empty folder."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        yield _World(results)


def _journal() -> bytes:
    return Path(FILE).read_bytes() if Path(FILE).exists() else b""


def _tear(content: bytes) -> None:
    """Leave half of the last line."""
    start = content.rstrip(b"\n").rfind(b"\n") + 1
    Path(FILE).write_bytes(content[: (start + len(content)) // 2])


def _last_line() -> str:
    return _journal().decode(errors="replace").splitlines()[-1]


def _ids() -> list[str]:
    return [step["id"] for step in STEPS]


def _results(ids: Sequence[str]) -> dict[str, str]:
    return {id: f"{id} 1" for id in ids}


BILL = {"to": "flat 11", "euros": 30}
OTHERS = data("10.2")["others"]


@exercise("10.2")
def stable_key(trial: Trial, key: Any) -> None:
    """A string that is the same for each repeat of a call and different for every other call."""

    def made(taken: Sequence[str] = (), process: int = 1, **changes: Any) -> str:
        call = {"run": "7", "step": "rent", "attempt": 1, "tool": "pay", "arguments": BILL} | changes
        trial.scenario = "in another process" if process > 1 else ""
        function = trial.anew()[0] if trial.anew and process > 1 else key
        with in_process(process):
            came = trial.call(function, call, list(taken))
        rule = "The key is sent with the call as a short string."
        trial.want(isinstance(came, str) and came, "a non-empty string", rule)
        return str(came)

    first = made()
    rule = "The same arguments must give the same key, so don't use randomness or clocks."
    trial.want(made() == first, "the same string again", rule, "a different string each time")
    told = "the key of the first attempt"
    trial.want(made(attempt=2) == first, told, "A second attempt is the same call, and the bank must recognise it.")
    trial.want(made(step="pay_rent") == first, told, "A replan can rename the step; the call is still the same.")
    for arguments in (BILL, {"from": "flat 11", "to": "flat 11"}):
        told, rule = "the same key as before, in another order", "The order of the arguments means nothing."
        reordered = dict(reversed(arguments.items()))
        trial.want(made(arguments=reordered) == made(arguments=arguments), told, rule)
    told = "the key of the first attempt"
    rule = "A new process, after a crash, has no memory of the first, and its `hash` and random numbers are different."
    trial.want(made(process=2) == first, told, rule)
    seen = [first]
    for rule, rows in OTHERS.items():
        for name, changes in rows:
            came = made(**changes)
            trial.want(came not in seen, f"a new key, because this is {name}", rule)
            seen.append(came)
    small, bills = BILL | {"euros": 3}, list[str]()
    for number in range(12):
        bills.append(made(bills, arguments=small))
        rule = "An equal call that is done or running has this key, so this call is a new one and needs another key."
        trial.want(bills[-1] not in bills[:-1], f"a key that is not in `taken`, for the bill number {number + 1}", rule)
        trial.want(bills[-1] not in seen, "a key that no other payment has", JOINED)
    rule = "Only equal calls count: another payment in `taken` does not change this key."
    trial.want(made(seen[2:]) == first, told, rule)
    rule = (
        "The first of the two equal calls is not known to be done, so this is its repeat, and its number is not taken."
    )
    trial.want(made(bills[1:2], arguments=small) == bills[0], "the key of the first of the two", rule)
    again = made(bills[::-1][:-3], arguments=small)
    trial.want(
        again == bills[0], "the key of the first bill", "Take the lowest number that is free, in any order of `taken`."
    )
    trial.want(made(bills[:3], 2, arguments=small) == bills[3], "the key of the fourth bill", KEYS)


JOINED = next(rule for rule in OTHERS if rule.startswith("Joined"))
KEYS = "The keys in `taken` were made by an earlier process. Find the next number from `taken` alone."
USED = "Every model call uses the budget: those of the planner, the judge and the steps, also in failed attempts."
NESTED = (
    "A step's end event already counts the calls of its nested run, so don't count the events inside `Inside` as well."
)
GRANTED = "Add every grant to the bound, whenever it was given."


@exercise("10.3")
def budget_left(trial: Trial, left: Any) -> None:
    """How many model calls a run has left: the bound plus all grants minus the calls used, but never below zero."""
    for bound, grant, each in ((4, 3, 1), (5, 2, 2), (2, 9, 3), (40, 0, 1)):
        run = _spent(bound, grant, each)
        if each == 3:
            trial.show(views.ledger, run)
        for events in _heads(run.events):
            _judge_left(trial, left, events, bound, USED)
    for told, events in material.records():
        _judge_left(trial, left, events, 30, NESTED if "nested" in told else USED)


def _judge_left(trial: Trial, left: Any, events: list[Event], bound: int, rule: str) -> None:
    used = sum(len(getattr(event, "calls", ())) for event in events)
    granted = [event.budget for event in events if isinstance(event, Reviewed) and event.budget is not None]
    grants = [more.model_calls or 0 for more in granted]
    right = max(0, bound + sum(grants) - used)
    came = trial.call(left, _Record(events), bound)
    trial.want(type(came) is int, "a whole number", "The number of calls is a whole number.")
    wanted = f"{right}: the bound is {bound}, {sum(grants)} were granted, {used} are used"
    over = "Running jobs may finish, so the usage can exceed the budget. Even then the rest is 0, not negative."
    trial.want(came >= 0, wanted, over)
    trial.want(came == right, wanted, GRANTED if grants else rule)


class _Record(list[Event]):
    """A run's events; the repr summarises the model calls."""

    def __repr__(self) -> str:
        told = []
        for event in self:
            inner = event.event if isinstance(event, Inside) else event
            if calls := getattr(inner, "calls", ()):
                told.append(f"{'Inside ' if inner is not event else ''}{type(inner).__name__} {len(calls)}")
        return f"<{len(self)} events; calls: {', '.join(told) or 'none'}>"


def _heads(events: list[Event]) -> Iterator[list[Event]]:
    """Yield the record at several moments, also with an approval that grants nothing and a grant in dollars."""
    grants = [Reviewed(0.0, "approve", "", "you", budget=more) for more in (None, Budget(dollars=1.0))]
    for more in ([], grants):
        yield from ([*events[:length], *more] for length in range(0, len(events), 4))


def _spent(bound: int, grant: int, each: int) -> Run:
    """Return a run whose planner, judge and steps ask models, with a rejected plan, a step that fails once, and grants."""
    tries: list[str] = []

    def asked(times: int) -> None:
        for _ in range(times):
            charge(call=ModelCall("scripted", 10, 5))

    class Planner:
        def plan(self, goal: str, board: Any, tools: Any) -> Any:
            asked(1)
            tries.append("plan")
            step = {"tool": "think", "success_criteria": "it holds"}
            steps = [{"id": "a", **step}, {"id": "b", **step, "depends_on": ["a"]}]
            return Plan.parse(steps if len(tries) > 1 else steps[1:])

    def think() -> str:
        """Ask a model."""
        asked(each)
        tries.append("think")
        if tries.count("think") == 1:
            raise ConnectionError("no answer")
        return "thought"

    def judge(step: Any, result: Any) -> Verdict:
        asked(1)
        return Verdict("accept")

    hands = ToolExecutor(Toolbox([Tool(think, effects="none")]))
    policy = Policy(retries=1, budget=Budget(model_calls=bound))
    agent = PlannerExecutor(Planner(), hands, None, RuleEvaluator(judge), Simulated(1), policy)
    run = agent.run("Think twice")
    for _ in range(4):
        if run.status == "paused":
            run = agent.resume(run, Decision("approve", by="you", budget=Budget(model_calls=grant)))
    return run
