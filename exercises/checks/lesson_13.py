"""Lesson 13, what happened, what did it cost, did it get better: what its exercises are judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from math import comb, isclose, isfinite
from numbers import Real
from random import Random
from typing import Any

from exercises.exercise import Trial, exercise, unforeseen
from planexec_lab import spans, views
from planexec_lab.spans import Span, names
from planexec_lite import (
    Plan,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
)
from planexec_lite.capabilities.retries import Backoff
from planexec_lite.events import Event, Inside
from planexec_lite.meter import ModelCall, charge
from planexec_lite.model.prices import cost


class _World:
    """A world in which each piece of work asks a model, no two for the same price, and some fail some times."""

    def __init__(self, **failures: int) -> None:
        self.failures, self.asked = failures, 0
        self.tools = Toolbox(
            [Tool(self.work, latency=lambda name, seconds: seconds, effects="none"), Tool(self.back, effects="none")]
        )

    def ask(self, model: str = "gpt-4o-mini") -> None:
        """Ask a model."""
        self.asked += 1
        charge(call=ModelCall(model, 1000 + 37 * self.asked, 100 + 11 * self.asked, 0.5))

    def work(self, name: str, seconds: float) -> str:
        """Work for some seconds."""
        self.ask()
        self.fail(name)
        return f"{name} is done"

    def fail(self, name: str) -> None:
        """Fail if it is to fail once more."""
        if self.failures.get(name, 0):
            self.failures[name] -= 1
            raise ConnectionError(f"{name} did not answer")

    def back(self, name: str) -> str:
        """Take something back."""
        self.fail("back")
        return f"{name} is undone"


class _Written:
    """A planner that asks a model, and hands out these plans one after the other."""

    def __init__(self, world: _World, *plans: Any) -> None:
        self.world, self.plans = world, list(plans)

    def plan(self, goal: str, board: Any, tools: Toolbox) -> Plan:
        self.world.ask("gpt-4o")
        charge(1.0)
        self.world.fail("planner")
        return Plan.parse(self.plans.pop(0) if len(self.plans) > 1 else self.plans[0])


class _Hands:
    """Carries out a step with a tool; one without a tool is a run of the agent inside."""

    def __init__(self, tools: Toolbox, agent: PlannerExecutor) -> None:
        self.tools, self.agent = tools, agent

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        return (ToolExecutor(self.tools) if step.tool else self.agent).execute(step, inputs)


def _step(id: str, seconds: float, *after: str, name: str = "", **more: Any) -> dict[str, Any]:
    """A step that works for some seconds."""
    params = {"name": name or id, "seconds": seconds}
    return {"id": id, "tool": "work", "params": params, "depends_on": list(after), **more}


def _task(id: str, *after: str) -> dict[str, Any]:
    """A step that is a run of its own."""
    return {"id": id, "description": f"Do what step {id} asks for", "depends_on": list(after)}


def _agent(world: _World, *plans: Any, inside: Any = None, policy: Policy | None = None) -> PlannerExecutor:
    """An agent with these plans; `inside` is the agent that carries out its steps without a tool."""
    hands = _Hands(world.tools, inside) if inside else ToolExecutor(world.tools)

    def judge(step: Any, result: Any) -> Verdict:
        world.ask()
        world.fail("judge")
        return Verdict("accept", "it holds")

    return PlannerExecutor(_Written(world, *plans), hands, None, RuleEvaluator(judge), Simulated(2), policy or Policy())


def example() -> Run:
    """A run to try an answer on: one step is tried twice, another is a run of its own."""
    world = _World(b=1, y=1)
    within = _agent(world, [_step("a", 2.0), _step("b", 1.0, "a", name="y")], policy=Policy(retries=1))
    plan = [_step("1", 2.0), _step("2", 3.0, name="b"), _task("3", "1", "2")]
    return _agent(world, plan, inside=within, policy=Policy(retries=1, backoff=Backoff(first=1.0, jitter=0.0))).run(
        "Try it"
    )


@cache
def _runs() -> dict[str, Run]:
    """Runs of all kinds, by what is special about them; no answer can change them."""
    again = Policy(retries=1, backoff=Backoff(first=2.0, jitter=0.0))
    made: dict[str, Run] = {}

    world = _World()
    plan = [_step("1", 3.0), _step("2", 2.0), _step("3", 1.0, "1", "2", success_criteria="it holds")]
    made["two steps side by side"] = _agent(world, plan).run("Work")

    world = _World(**{"1": 1})
    made["a step that is tried twice"] = _agent(world, [_step("1", 3.0), _step("2", 1.0, "1")], policy=again).run(
        "Work"
    )

    world = _World(**{"2": 1})
    first, second = [_step("1", 1.0), _step("2", 2.0, "1")], [_step("1", 1.0), _step("2b", 4.0, "1")]
    policy = Policy(replan="failure", max_replans=1)
    made["a plan that is made again"] = _agent(world, first, second, policy=policy).run("Work")

    world = _World(y=1)
    within = _agent(world, [_step("a", 2.0), _step("b", 1.0, "a", name="y")], policy=Policy(retries=1))
    plan = [_step("1", 1.0), _task("2", "1"), _task("3", "1"), _step("4", 2.0, "2", "3")]
    made["runs inside two steps, side by side"] = _agent(world, plan, inside=within).run("Work")

    world = _World(x=1)
    deepest = _agent(world, [_step("a", 1.0), _step("b", 2.0, "a", name="x")])
    within = _agent(world, [_step("a", 1.0), _task("b", "a")], inside=deepest)
    plan = [_step("1", 1.0), _task("2", "1")]
    made["a run inside a run inside a run, tried twice"] = _agent(world, plan, inside=within, policy=again).run("Work")

    world = _World(**{"2": 9})
    undo = {"tool": "back", "params": {"name": "1"}}
    plan = [_step("1", 1.0, undo=undo), _step("2", 2.0, "1")]
    made["a run that fails, and is taken back"] = _agent(world, plan, policy=Policy(rollback="failed")).run("Work")

    world = _World(judge=1, back=9, **{"3": 9})
    plan = [_step("1", 1.0, undo=undo), _step("2", 2.0, "1", success_criteria="it holds"), _step("3", 1.0, "2")]
    made["a judge that fails, and an undo"] = _agent(world, plan, policy=Policy(rollback="failed")).run("Work")

    made["a planner that fails"] = _agent(_World(planner=9), plan).run("Work")

    world = _World()
    deepest = _agent(world, [_step("a", 1.0)])
    within = _agent(world, [_step("a", 1.0), _task("2", "a"), _step("b", 1.0, "2")], inside=deepest)
    plan = [_step("1", 1.0), _task("2", "1")]
    made["a run inside step 2 of a run inside step 2"] = _agent(world, plan, inside=within).run("Work")
    return made


class _Record(list[Event]):
    """The events of a run; its text says what is special about it."""

    def __init__(self, events: Sequence[Event], told: str) -> None:
        super().__init__(events)
        self.told = told

    def __repr__(self) -> str:
        return f"<{len(self)} events: {self.told}>"


KINDS = {"PlanStarted": "plan", "StepStarted": "step", "JudgeStarted": "judge", "BackoffStarted": "backoff"}
KINDS |= {"UndoStarted": "undo"}
FIELDS = ("name", "start", "end", "parent", "error")
FORM = "a list of spans, each with name, start, end, parent and error"
Row = tuple[str, float, float, str | None, int | None]
"""A span: name, start, end, error ("?": it may say anything), and the place of the span around it."""


def _wanted(events: Sequence[Event]) -> list[Row]:
    """The spans that the kit makes of the events, without what jobs did inside."""
    made = spans.of(Run(list(events)))
    kept = [one for one in made if names.STARTED in one.attributes or _doing(one) == names.INVOKE_AGENT]
    places = {one.span_id: place for place, one in enumerate(kept)}
    around = {one.span_id: one.parent_id for one in made}
    rows: list[Row] = []
    for one in kept:
        parent = one.parent_id
        while parent is not None and parent not in places:
            parent = around[parent]
        kind = KINDS.get(str(one.attributes.get(names.STARTED)))
        step = one.attributes.get(names.STEP)
        name = "run" if kind is None else f"{kind} {step}" if step else kind
        start, end = ((at - made[0].start) / 1e9 for at in (one.start, one.end))
        over = names.ENDED in one.attributes or f"{names.OWN}status" in one.attributes
        end = end if over else max(event.at for event in events)
        rows.append((name, start, end, one.error, None if parent is None else places[parent]))
    return rows


def _doing(span: Span) -> Any:
    return span.attributes.get(names.OPERATION)


@exercise(
    "13.1",
    nudge="Take each event out of its wrappers first, and note the steps on the way: that path says in which run it happened. "
    "Then keep what has begun and not ended, in a dict.",
    question="Step a is under way in two runs at once. What has to be in the key of your dict, so that an end finds its own "
    "beginning?",
    learned="A span is two events with the same key, and its parent is what was open around it: whoever has the events has every "
    "trace, whoever has the trace alone has lost the rest.",
    seconds=10.0,
)
def spans_from_events(trial: Trial, spans_of: Any) -> None:
    """The spans of a run: each job once for each try, inside the run that it belongs to, a run in a step inside that step."""
    nested = _runs()["runs inside two steps, side by side"]
    trial.show(views.spans, nested)
    for told, events in _records():
        came = trial.call(spans_of, _Record(events, told))
        _judge_spans(trial, _read(trial, came), _wanted(events))


def _records() -> Iterator[tuple[str, list[Event]]]:
    """Whole runs; then one that is under way."""
    for told, run in _runs().items():
        yield told, run.events
    run = _runs()["runs inside two steps, side by side"]
    inside = [place for place, event in enumerate(run.events) if isinstance(event, Inside)]
    for place in (inside[4], inside[-5]):
        yield f"{len(run.events) - place} events later it will have ended", run.events[:place]


def _read(trial: Trial, came: Any) -> list[Row]:
    """The learner's spans, written as dicts, as tuples, or as objects."""
    trial.want(isinstance(came, (list, tuple)) and came, FORM, "One value for each span, in a list.")
    rows: list[Row] = []
    for one in came:
        if isinstance(one, Mapping):
            values = [one.get(name, ...) for name in FIELDS]
        elif isinstance(one, (tuple, list)) and len(one) == len(FIELDS):
            values = list(one)
        else:
            values = [getattr(one, name, ...) for name in FIELDS]
        trial.want(... not in values, FORM, "Each span has all five.")
        name, start, end, parent, error = values
        fits = isinstance(start, Real) and isinstance(end, Real) and isinstance(name, str)
        trial.want(fits, "a text as name, numbers as start and end", "Times are seconds on the clock of the run.")
        place = parent is None or (type(parent) is int and 0 <= parent < len(came))
        trial.want(place, "the place of the span around it in the list, None for the run",
                   "A parent is a place: 0, 1, … Every span is there, also of what is under way.")  # fmt: skip
        trial.want(error is None or isinstance(error, str), "a text or None as error", "An error is said in words.")
        rows.append((name, float(start), float(end), error, parent))
    return rows


def _judge_spans(trial: Trial, rows: list[Row], wanted: list[Row]) -> None:
    """First what holds of any spans, then what this record asks for."""
    top = [name for name, *_, parent in rows if parent is None]
    trial.want(top == ["run"], "one span without a parent, 'run'", "All that happened, happened in the run.")
    for place, row in enumerate(rows):
        trial.want(_roots(rows, place), f"{row[0]!r} inside the run", "Whoever goes up from a span comes to the run.")
    have, need = (Counter(one[0] for one in some) for some in (rows, wanted))
    for name in sorted(need | have):
        trial.want(
            have[name] == need[name],
            f"{need[name]} × {name!r}; it has {have[name]}",
            "Each time that something began is a span: a step that was tried twice has two, and what began inside a step counts.",
        )
    starts = [sorted((one[0], round(one[1], 6)) for one in some) for some in (rows, wanted)]
    for name, start, end, _, parent in rows:
        trial.want(start <= end, f"{name!r}, from {start:g} s, with a later end", "Nothing ends before it begins.")
        if parent is None or starts[0] == starts[1]:
            continue
        around = rows[parent]
        trial.want(around[1] <= start + 1e-6 and end <= around[2] + 1e-6,
                   f"{name!r}, {start:g} to {end:g} s, inside {around[0]!r}, {around[1]:g} to {around[2]:g} s",
                   "Each span lies within its parent. The clock of a run inside begins at 0; `Inside` says when that was "
                   "outside.")  # fmt: skip
    for name in sorted({one[0] for one in wanted}):
        _same(trial, name, *([one for one in some if one[0] == name] for some in (rows, wanted)))
    found, meant = (_drawn(some) for some in (rows, wanted))
    missing = [line for line in meant if line not in found]
    trial.want(found == meant, missing[0] if missing else "every span below its own parent",
               "A job stands in the run that it belongs to, a run inside in the try of the step that it was begun by. "
               "Two runs side by side may both have a step a.")  # fmt: skip


def _same(trial: Trial, name: str, mine: list[Row], theirs: list[Row]) -> None:
    """Times and errors of the spans of one name are those of the record."""
    found, meant = (sorted((round(one[1], 6), round(one[2], 6)) for one in some) for some in (mine, theirs))
    times = " and ".join(f"{start:g} to {end:g} s" for start, end in meant)
    trial.want(found == meant, f"{name!r} from {times}", "It begins with the event that begins it, and ends with the one that ends "
               "it; what has not ended ends at the latest time in the record.")  # fmt: skip
    errors = [
        [error for *_, error, _ in sorted(some, key=lambda one: (one[1], one[2], one[3] or ""))]
        for some in (mine, theirs)
    ]
    said = " and ".join(map(repr, errors[1]))
    trial.want([one or None for one in errors[0]] == errors[1], f"{name!r} with {said} as error",
               "What failed says so, in the words of its event, and what was done says nothing; what was done later does "
               "not change that.")  # fmt: skip


def _roots(rows: list[Row], place: int) -> bool:
    """Whether the way up from a span ends."""
    for _ in rows:
        above = rows[place][4]
        if above is None:
            return True
        place = above
    return False


def _drawn(rows: list[Row]) -> list[str]:
    """Each span by its way down from the run, with times: equal spans in equal places are equal."""

    def way(row: Row) -> str:
        named = f"{row[0]} ({row[1]:g} to {row[2]:g} s)"
        return named if row[4] is None else f"{way(rows[row[4]])} > {named}"

    return sorted(map(way, rows))


@exercise(
    "13.2",
    nudge="Look at the drawing: which of the spans have a price, and which of these prices are the sum of others? Then ask of each "
    "price that is left, in which spans it was paid.",
    question="A call stands in a tool, in a step, in a run inside a step, in that step, in the run. To how many totals does it "
    "belong? And to how many own costs?",
    learned="One kind of span pays, all others hold what was paid in them. Whoever adds up whatever has a price counts a nested "
    "run as often as it is deep; whoever leaves out failures pays them all the same.",
    seconds=10.0,
)
def costs_along_the_tree(trial: Trial, costs: Any) -> None:
    """For each span, by its id, two sums in dollars: what was asked of models in it itself, and in it with all inside it."""
    trial.show(views.spans, _runs()["runs inside two steps, side by side"])
    for number, (told, run) in enumerate(_runs().items()):
        made = _cut_off(spans.of(run))
        listed = list(made)
        if number % 3 == 1:
            listed.reverse()  # a collector hears first of what ended first
        elif number % 3 == 2:
            Random(number).shuffle(listed)
        came = trial.call(costs, _Traced(listed, told))
        _judge_costs(trial, _sums(trial, came, made), made, run)


def _cut_off(made: Sequence[Span]) -> list[Span]:
    """The spans; the call of a model that was asked last failed."""
    last = [one.span_id for one in made if _doing(one) == names.CHAT][-1]
    return [replace(one, error="it was cut off") if one.span_id == last else one for one in made]


class _Traced(list[Span]):
    """Spans; their text says of which run."""

    def __init__(self, made: Sequence[Span], told: str) -> None:
        super().__init__(made)
        self.told = told

    def __repr__(self) -> str:
        return f"<{len(self)} spans: {self.told}>"


def _sums(trial: Trial, came: Any, made: Sequence[Span]) -> dict[str, tuple[float, float]]:
    """The learner's own cost and total by span."""
    trial.want(isinstance(came, Mapping), "a dict: span_id -> (own, total)", "A span is known by its id.")
    ids = {one.span_id for one in made}
    rule = "Each span has an entry by its span_id: two may have the same name."
    trial.want(set(came) == ids, f"{len(ids)} entries, one for each span", rule)
    for pair in came.values():
        fits = (
            isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(one, (Real, Decimal)) for one in pair)
        )
        trial.want(fits, "two numbers for each span, (own, total)", "Nothing is a number as well: 0.")
    return {id: (float(own), float(total)) for id, (own, total) in came.items()}


def _judge_costs(trial: Trial, sums: dict[str, tuple[float, float]], made: Sequence[Span], run: Run) -> None:
    """What was paid, by whom, and what it comes to above."""
    bill = cost(run.board.calls)
    added = sum(own for own, _ in sums.values())
    trial.came = f"{_dollars(added)} as the sum of all own costs, {_dollars(sums[made[0].span_id][1])} in all"
    for one in made:
        own, asked = sums[one.span_id][0], _doing(one) == names.CHAT
        price = one.attributes.get(names.COST, 0.0) if asked else 0.0
        rule = (
            "A call of a model costs what it costs, in whatever try, in a step that failed as well, and if it failed itself."
            if asked
            else "What a run says is the sum of its calls: taken as its own, they are paid twice."
        )
        if abs(own - price) < 1e-5:
            rule = "A sum is rounded where it is shown, and not before: rounded parts don't add up to it."
        trial.want(
            _near(own, price), f"{_dollars(price)} as the own cost of {one.name!r}; it has {_dollars(own)}", rule
        )
    below: dict[str | None, list[Span]] = {}
    for one in made:
        below.setdefault(one.parent_id, []).append(one)
    for one in reversed(made):
        total = sums[one.span_id][0] + sum(sums[inner.span_id][1] for inner in below.get(one.span_id, ()))
        trial.want(
            _near(sums[one.span_id][1], total),
            f"{_dollars(total)} as the total of {one.name!r}; it has {_dollars(sums[one.span_id][1])}",
            "A total is what was paid in the span itself and in all spans inside it, however deep.",
        )
    trial.want(_near(sums[made[0].span_id][1], bill), f"{_dollars(bill)} in all, as in the ledger",
               "The sum of the tree is the sum of the bill.")  # fmt: skip


def _near(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)


def _dollars(amount: float) -> str:
    return f"${amount:.8f}"


VERDICTS = ("better", "worse", "can't tell")
ANSWER = "(verdict, difference, low, high), with one of 'better', 'worse', \"can't tell\""
MISSES = 0.05  # of an interval that is said to hold 95 of 100 times
NARROW = 0.185  # wide, of 100 tasks, 20 won and 10 lost: an interval of 95 % is 0.2 or wider, one of 90 % at most 0.18
WIDE = 0.26  # one of 99 % is 0.27 or wider
CLAIMS = "An interval of 95 % misses the truth once in twenty times. One that is narrower claims more than it knows."


@exercise(
    "13.3",
    nudge="Put the outcomes of each task side by side, by its name: lost, the same, won. Only these differences are chance, and "
    "they may have fallen otherwise: draw them again, or count.",
    question="Of twenty tasks three were won and one was lost. How often would four coins fall like that? And how many tasks must "
    "differ before all of them falling alike is rarer than once in twenty times?",
    learned="Two more of twenty is what chance does every other time. Pair by task, give the interval, and say 'can't tell' when "
    "0 is in it: that is an answer, and it says how many tasks you need.",
    seconds=20.0,
)
def is_it_better(trial: Trial, compare: Any) -> None:
    """The verdict, the mean difference of new and old over the tasks of both, and an interval that holds it 95 of 100 times."""
    marks = unforeseen(compare, 3)
    trial.show(_tally)

    def told(won: int, lost: int, tasks: int, right: int = 0, mark: int = 0) -> tuple[str, float, float, float]:
        """What the answer says of so many tasks, of which so many were won and lost, and so many right both times."""
        old, new = _outcomes(won, lost, tasks, right, marks[mark])
        came = _verdict(trial, trial.call(compare, old, new))
        difference = (won - lost) / tasks
        trial.called = f"compare(old, new), {tasks} tasks: {won} won, {lost} lost, the others as before"
        trial.came = f"{came[0]}, {came[1]:+.3f} [{came[2]:+.3f}, {came[3]:+.3f}]"
        trial.want(isclose(came[1], difference, abs_tol=1e-6), f"a difference of {difference:+.3f}",
                   "The difference is the share of new minus that of old, over the tasks that both have done.")  # fmt: skip
        _coherent(trial, came, won + lost)
        return came

    came = told(3, 1, 20, 14)
    trial.want(came[0] == "can't tell", "can't tell: 17 of 20 against 15",
               "Three won and one lost is what coins do more often than not.")  # fmt: skip
    trial.want(came[3] - came[2] > 0.2, "an interval that is wider: others of the same kind would have come out otherwise",
               "An interval says how far chance alone may carry: one task more or less is already 0.05.")  # fmt: skip
    for won, lost, tasks, right in ((0, 0, 20, 12), (5, 5, 20, 5), (0, 0, 4, 4)):
        trial.want(
            told(won, lost, tasks, right)[0] == "can't tell", "can't tell: as many won as lost", "A tie is no win."
        )
    for won, lost, tasks in ((3, 0, 4), (4, 0, 4), (0, 4, 4), (5, 0, 20), (0, 5, 20)):
        came = told(won, lost, tasks)
        trial.want(came[0] == "can't tell", f"can't tell: {won + lost} tasks differ",
                   "That so few coins fall alike happens more often than once in twenty times: so few tasks tell nothing, "
                   "however they came out.")  # fmt: skip
    for won, lost, word in ((12, 1, "better"), (1, 12, "worse"), (30, 4, "better")):
        came = told(won, lost, 100, 40, 1)
        trial.want(came[0] == word, f"{word}: {won} won and {lost} lost is hardly chance",
                   "Pair by task: what is hard for both, or easy for both, is no chance between them.")  # fmt: skip
    came = told(20, 10, 100, 40, 1)
    trial.want(came[3] - came[2] > NARROW, f"an interval about 0.21 wide; it is {came[3] - came[2]:.2f} wide", CLAIMS)
    trial.want(came[3] - came[2] < WIDE, f"an interval about 0.21 wide; it is {came[3] - came[2]:.2f} wide",
               "An interval of 95 % holds the truth in 95 of 100 cases. One that is wider claims less than it knows.")  # fmt: skip
    for won, lost in ((5, 1), (1, 5)):
        told(won, lost, 20, 7)  # 0 is at the edge of some intervals
    _one_sided(trial, compare, marks[2])
    _coverage(trial, told)


def _outcomes(won: int, lost: int, tasks: int, right: int, mark: str) -> tuple[dict[str, int], dict[str, int]]:
    """What came of both versions, by task, each in an order of its own; the same on every run."""
    same = tasks - won - lost
    right = min(right, same) or same // 2
    pairs = [(0, 1)] * won + [(1, 0)] * lost + [(1, 1)] * right + [(0, 0)] * (same - right)
    random = Random(f"{mark} {won} {lost} {tasks}")
    named = {f"task {number}": pair for number, pair in zip(random.sample(range(1, 1000), tasks), pairs, strict=True)}
    first, second = list(named), list(named)
    random.shuffle(first)
    random.shuffle(second)
    return {task: named[task][0] for task in first}, {task: named[task][1] for task in second}


def _verdict(trial: Trial, came: Any) -> tuple[str, float, float, float]:
    """The four parts of an answer."""
    parts = [came.get(one) for one in ("verdict", "difference", "low", "high")] if isinstance(came, Mapping) else came
    fits = isinstance(parts, (tuple, list)) and len(parts) == 4 and isinstance(parts[0], str)
    trial.want(fits, ANSWER, "An answer has four parts.")
    numbers = [one for one in parts[1:] if isinstance(one, Real) and not isinstance(one, bool) and isfinite(one)]
    trial.want(len(numbers) == 3, ANSWER, "A difference and the ends of its interval are numbers, between -1 and 1.")
    word = parts[0].replace("’", "'").casefold().strip()
    trial.want(word in VERDICTS, ANSWER, "There are three verdicts.")
    difference, low, high = map(float, numbers)
    return word, difference, low, high


def _coherent(trial: Trial, came: tuple[str, float, float, float], differ: int) -> None:
    """The verdict is that of the interval; where few tasks differ, it may be more careful."""
    word, difference, low, high = came
    trial.want(low <= difference + 1e-9 and difference <= high + 1e-9, "an interval around the difference",
               "What was seen lies in the interval.")  # fmt: skip
    excluded = "better" if low > 1e-9 else "worse" if high < -1e-9 else "can't tell"
    careful = word == "can't tell" and differ < 6
    trial.want(word == excluded or careful, f"{excluded!r}: the interval is [{low:+.3f}, {high:+.3f}]",
               "The verdict follows from the interval: 0 is in it, or it is not.")  # fmt: skip


def _one_sided(trial: Trial, compare: Any, mark: str) -> None:
    """Some tasks were done with one version only."""
    old, new = _outcomes(3, 1, 20, 14, mark)
    old |= {"only old 1": 0, "only old 2": 0}
    new |= {"only new 1": 1, "only new 2": 1, "only new 3": 1}
    came = _verdict(trial, trial.call(compare, old, new))
    trial.called = "compare(old, new), 20 tasks of both, 2 of old alone, 3 of new alone"
    trial.came = f"{came[0]}, {came[1]:+.3f} [{came[2]:+.3f}, {came[3]:+.3f}]"
    trial.want(isclose(came[1], 0.1, abs_tol=1e-6), "a difference of +0.100, over the 20 tasks that both have done",
               "A task that one version alone has done says nothing about the other.")  # fmt: skip


def _coverage(trial: Trial, told: Any) -> None:
    """How often the interval misses the truth, in a world where it is known: all that often happens there, with its probability."""
    for won, lost, floor in ((0.35, 0.1, 0.012), (0.25, 0.25, 0.02)):
        missed = 0.0
        for wins, losses, chance in _likely(20, won, lost, floor):
            _, _, low, high = told(wins, losses, 20)
            missed += 0.0 if low - 1e-9 <= won - lost <= high + 1e-9 else chance
        trial.called = f"compare(…) on 20 tasks, in a world where new wins {won:.0%} of all tasks and loses {lost:.0%}"
        trial.came = f"intervals that miss the true difference, {won - lost:g}, in {missed:.1%} of all cases or more"
        trial.want(missed <= MISSES, "5 % at the most", CLAIMS)


def _likely(tasks: int, won: float, lost: float, floor: float) -> Iterator[tuple[int, int, float]]:
    """How many are won and lost in such a world, with its probability, where that is not small."""
    for wins in range(tasks + 1):
        for losses in range(tasks + 1 - wins):
            ways = comb(tasks, wins) * comb(tasks - wins, losses)
            chance = ways * won**wins * lost**losses * (1 - won - lost) ** (tasks - wins - losses)
            if chance > floor:
                yield wins, losses, chance


def _tally() -> Any:
    """What is compared: how many tasks each version got right."""
    rows = {"old": {"right": 15, "wrong": 5}, "new": {"right": 17, "wrong": 3}}
    return views.tallies(rows, "17 of 20 tasks against 15: is it better?", wanted="right", of="tasks")
