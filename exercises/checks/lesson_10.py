"""Lesson 10, pause and resume: what its exercises are judged by."""

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

from exercises.checks.hashes import in_process
from exercises.exercise import Raised, Trial, exercise
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
from planexec_lite.events import Event, Reviewed
from planexec_lite.meter import ModelCall, charge

STEPS = (
    {"id": "look", "effects": "none"},
    {"id": "pay", "effects": "once"},
    {"id": "count", "effects": "none"},
    {"id": "send", "effects": "once"},
)
FILE = "journal.jsonl"


class _Cut(BaseException):
    """The process is ended here, where there is no other one to end."""


class _World:
    """What the calls do, in a folder of its own: a line in a file each time, which stays whatever becomes of the process.

    `moment`: "before" or "after" what a step does, where the process is killed.
    """

    def __init__(self) -> None:
        self.moment: tuple[str, str] | None = None
        self.apart = False
        self.left: bytes | None = None

    def call(self, id: str) -> str:
        """Carry a step out. Returns its result."""
        self._may_die("before", id)
        number = self.called().count(id) + 1
        with Path("effects.txt").open("a", encoding="utf-8") as file:
            file.write(f"{id}\n")
        self._may_die("after", id)
        return f"{id} {number}"

    def called(self) -> list[str]:
        """The steps that were carried out so far, by whatever process."""
        path = Path("effects.txt")
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def _may_die(self, when: str, id: str) -> None:
        if self.moment != (when, id):
            return
        if self.apart:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left = _journal()
        raise _Cut


@exercise(
    "10.1",
    nudge="A line before the call and a line behind it, each on disk before anything else happens. A "
    "process that comes later may find the first one without the second.",
    question="The process dies while it writes a line. What stands at the end of the file, and where does your next line begin?",
    learned="A start before the call, its result behind it, and nothing that rests on a result before it is on disk: so a later "
    "process knows what was done, and what nobody knows.",
    seconds=20.0,
)
def journal(trial: Trial, carry_on: Any) -> None:
    """All results and None; or, where a step that may be done once was under way, those that are there and its id."""
    with _folder() as world:
        results, doubt = _come(trial, carry_on, world)
        trial.want(world.called() == _ids(), "each step called once, in order", "Undisturbed, a plan is carried out.")
        trial.want(
            (results, doubt) == (_results(_ids()), None), f"({_results(_ids())}, None)", "Results are handed out by id."
        )
        before = _journal()
        again = _come(trial, carry_on, world)
        trial.want(world.called() == _ids(), "no call at all", "What is done is read, and not done again.")
        trial.want(again == (results, None), f"({results}, None)", "The results are those that were written down.")
        trial.want(_journal().startswith(before), "a file that is only added to", "What is written down stays.")
    for moments in _moments():
        with _folder() as world:
            _judge(trial, carry_on, world, moments)


def _moments() -> Iterator[Sequence[tuple[str, str, bool]]]:
    """Where the process is killed, one after the other, and whether the line that it wrote last is torn."""
    for id in _ids():
        for when in ("before", "after"):
            yield [(when, id, False)]
    yield [("after", "look", False), ("after", "look", False), ("before", "count", False)]
    yield [("before", "pay", True), ("after", "pay", False)]
    yield [("before", "look", True), ("after", "pay", False)]
    yield [("after", "count", True), ("after", "send", False)]


def _judge(trial: Trial, carry_on: Any, world: _World, moments: Sequence[tuple[str, str, bool]]) -> None:
    """Kill the answer at these moments, and then let it go on."""
    done: list[str] = []  # what was on disk, whatever the answer says of it
    for when, id, torn in moments:
        before = _journal()
        _killed(trial, carry_on, world, (when, id))
        trial.called, trial.came = (
            f"carry_on(steps, {FILE!r}, call), killed {when} what {id!r} does",
            "nothing any more",
        )
        after = _journal()
        trial.want(
            after.startswith(before) or moments[0][2], "a file that is only added to",
            "To write a file anew is to lose it, where the process dies in the middle.",
        )  # fmt: skip
        trial.want(
            after, "something on disk by then",
            "What a process holds in its memory dies with it: a start is in the file, and the file closed, before the call.",
        )  # fmt: skip
        if torn:
            _tear(after)
        done = _ids()[: _ids().index(id)]
    called, (when, id, torn) = world.called(), moments[-1]
    results, doubt = _come(trial, carry_on, world)
    more = world.called()[len(called) :]
    told = f"killed {when} what {id!r} does, then started again: "
    repeated = [one for one in done if one in more]
    trial.want(not repeated, f"{told}no second call of {', '.join(repeated)}", "What is done is read, not done again.")
    if id in ("pay", "send") and not torn:
        trial.want(
            id not in more, f"{told}no call of {id!r}",
            "It may have been done, and may be done only once: nobody but a person can tell.",
        )  # fmt: skip
        trial.want(doubt == id, f"{told}(…, {id!r})", "A step that nobody knows of is named, and counts as neither.")
        trial.want(not more, f"{told}no call at all", "Nothing goes on behind a step that nobody knows of.")
        wanted = {one: f"{one} {called.count(one)}" for one in done}
        trial.want(results == wanted, f"{told}({wanted}, {id!r})", "What was done has its result.")
        return
    trial.want(doubt is None, f"{told}(…, None)", "A repeat of this step does no harm: it is carried out again.")
    left = _ids()[len(done) :]
    trial.want(more == left, f"{told}calls of {left}", "A line that says 'done' is true when it is written.")
    wanted = {one: f"{one} {world.called().count(one)}" for one in _ids()}
    trial.want(results == wanted, f"{told}{wanted}", "A result is that of the call that ended.")


def _come(trial: Trial, carry_on: Any, world: _World) -> tuple[Any, Any]:
    """What the answer hands out, when nobody kills it."""
    world.moment = None
    came = trial.call(carry_on, list(STEPS), FILE, world.call)
    fits = isinstance(came, (tuple, list)) and len(came) == 2 and isinstance(came[0], Mapping)
    trial.want(fits, "`(results, doubt)`: a dict by id, and an id or None", "An answer hands out both.")
    return dict(came[0]), came[1]


def _killed(trial: Trial, carry_on: Any, world: _World, moment: tuple[str, str]) -> None:
    """Run the answer in a process of its own, which ends by SIGKILL at that moment; in this one where there is no other."""
    world.moment, world.left = moment, None
    folder = {path: path.read_bytes() for path in Path().iterdir()}
    world.apart = hasattr(os, "fork") and sys.platform != "emscripten"
    if world.apart and _ended_by_kill(carry_on, world):
        return
    world.apart = False
    for path in Path().iterdir():
        path.unlink()
    for path, content in folder.items():
        path.write_bytes(content)
    try:
        trial.call(carry_on, list(STEPS), FILE, world.call)
    except Raised as error:
        if not isinstance(error.error, _Cut):
            raise
        Path(FILE).write_bytes(world.left or b"")  # what a killed process would have left
    if world.left is None:
        trial.wrong(f"a call of {moment[1]!r}", "What is left is carried out, in order.")


def _ended_by_kill(carry_on: Any, world: _World) -> bool:
    with warnings.catch_warnings():  # the copy calls nothing but the answer, and never comes back
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _and_no_further(carry_on, world)
    status = None
    try:
        _, status = os.waitpid(child, 0)
    finally:
        if status is None:  # somebody has lost patience
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL


def _and_no_further(carry_on: Any, world: _World) -> NoReturn:
    """What the copy of this process does."""
    with suppress(BaseException):
        sys.stdout = sys.stderr = StringIO()
        carry_on(list(STEPS), FILE, world.call)
    os._exit(0)


@contextmanager
def _folder() -> Iterator[_World]:
    """A folder without a journal, in which an answer runs."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        yield _World()


def _journal() -> bytes:
    return Path(FILE).read_bytes() if Path(FILE).exists() else b""


def _tear(content: bytes) -> None:
    """Leave half of the last line."""
    start = content.rstrip(b"\n").rfind(b"\n") + 1
    Path(FILE).write_bytes(content[: (start + len(content)) // 2])


def _ids() -> list[str]:
    return [step["id"] for step in STEPS]


def _results(ids: Sequence[str]) -> dict[str, str]:
    return {id: f"{id} 1" for id in ids}


@exercise(
    "10.2",
    nudge="Write down three payments of 30 euros: two steps of one run, and a second attempt of the first. One of the "
    "four values tells the first two apart, and is the same in the first and the third.",
    question="Tomorrow the same plan runs once more, and the rent is due again. What is another one tomorrow?",
    learned="A key names what is to happen, not the try: the run and the step, made before the first attempt and the same in "
    "every process.",
)
def stable_key(trial: Trial, key: Any) -> None:
    """A text that is the same for all attempts at one payment, and another one for each other payment."""
    bill = {"to": "the landlord", "euros": 30}

    def made(run: str, step: str, attempt: int, process: int = 1) -> str:
        with in_process(process):
            came = trial.call(key, run, step, attempt, bill)
        trial.want(isinstance(came, str) and came, "a text", "A key travels with the call: a short text.")
        return str(came)

    first = made("7", "3", 1)
    if made("7", "3", 1) != first:
        trial.came = "another text each time"
        trial.wrong("the same text again", "Who asks twice hears the same: chance and clocks make no key.")
    told = f"{first!r}, the key of the first attempt"
    trial.want(made("7", "3", 2) == first, told, "A second attempt is the same payment: the bank must recognise it.")
    rule = "`hash` gives other numbers in the process that comes after a crash."
    trial.want(made("7", "3", 1, process=2) == first, told, rule)
    seen = {first: ("7", "3")}
    for run, step in [
        ("7", "4"),
        ("8", "3"),
        ("7", "5b"),
        ("7", "13"),
        ("71", "3"),
        ("8", "4"),
        ("7", "a"),
        ("7", "b"),
    ]:
        came = made(run, step, 1)
        other = seen.setdefault(came, (run, step))
        rule = {
            True: "The same sum to the same people is not the same payment: rent and power may cost the same.",
            False: "What is due again in another run is another payment.",
        }[run == other[0]]
        if len(run + step) > 2 and len(other[0] + other[1]) > 2:
            rule = "Two names that are written together may read like two others: keep them apart."
        trial.want(
            other == (run, step), f"another key than that of step {other[1]} in run {other[0]}", rule
        )  # fmt: skip


USED = "Whoever asks a model uses the budget: planner, judge and steps, in attempts that fail too, each call of each."
GRANTED = "What is granted comes on top of the bound, whatever was used before and after."


@exercise(
    "10.3",
    nudge="The record holds all that was used: each event of a job that asked a model has `calls`. There are more kinds "
    "of them than plans.",
    question="A grant of two comes when five of five are used. How many are left then, and how many if only four were used?",
    learned="A budget that is added up from the record holds in every process; one that is counted in memory begins at zero "
    "after each crash.",
)
def budget_left(trial: Trial, left: Any) -> None:
    """How many calls of models a run may still make: its bound and what was granted, without what was used, never below zero."""
    for bound, grant, each in ((4, 3, 1), (5, 2, 2), (2, 9, 3), (40, 0, 1)):
        run = _spent(bound, grant, each)
        if each == 3:
            trial.show(views.ledger, run)
        for events in _heads(run.events):
            used = sum(len(getattr(event, "calls", ())) for event in events)
            granted = [event.budget for event in events if isinstance(event, Reviewed) and event.budget is not None]
            grants = [more.model_calls or 0 for more in granted]
            wanted = max(0, bound + sum(grants) - used)
            came = trial.call(left, _Record(events), bound)
            trial.want(type(came) is int, "a whole number", "Calls are counted.")
            told = f"{wanted}: of {bound} and {sum(grants)} granted, {used} are used"
            trial.want(
                came >= 0,
                told,
                "What was under way is heard out, so more may be used than there was; less than none is left of nothing.",
            )
            trial.want(came == wanted, told, GRANTED if grants else USED)


class _Record(list[Event]):
    """The events of a run; its text says who asked models, and what was granted."""

    def __repr__(self) -> str:
        told = [(type(event).__name__, len(getattr(event, "calls", ()))) for event in self]
        return (
            f"<{len(self)} events; calls: {', '.join(f'{name} {number}' for name, number in told if number) or 'none'}>"
        )


def _heads(events: list[Event]) -> Iterator[list[Event]]:
    """The record as it stood at some moments; and at the end, when somebody has granted dollars too."""
    for length in range(0, len(events), 4):
        yield events[:length]
    yield [*events, Reviewed(events[-1].at, "approve", "", "you", budget=Budget(dollars=1.0))]


def _spent(bound: int, grant: int, each: int) -> Run:
    """A run whose planner, judge and steps ask models: a plan that is refused, a step that fails once, a grant."""
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
