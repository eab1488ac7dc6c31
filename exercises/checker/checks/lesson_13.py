"""Checks for lesson 13: traces, costs, and comparing two versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from math import comb, isclose, isfinite
from numbers import Real
from random import Random
from typing import Any

from planexec_lab import spans, views
from planexec_lab.spans import Span, names
from planexec_lite import Run
from planexec_lite.model.prices import cost
from planexec_lite.run.events import Event, Inside, PlanProposed, PlanStarted

from exercises.checker.checks import material
from exercises.checker.exercise import Trial, exercise, shown, unforeseen

KINDS = {"PlanStarted": "plan", "StepStarted": "step", "JudgeStarted": "judge", "BackoffStarted": "backoff"}
KINDS |= {"UndoStarted": "undo"}
FIELDS = ("name", "start", "end", "parent", "error")
FORM = "a list of spans, each with name, start, end, parent and error"
Row = tuple[str, float, float, str | None, int | None]
"""A span: name, start, end, error, and the list index of its parent span."""


def _wanted(events: Sequence[Event]) -> list[Row]:
    """Return the spans that the kit makes from the events, without the spans inside jobs."""
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
        error = one.error if kind != "plan" or one.error in _raised_by(events) else None
        rows.append((name, start, end, error, None if parent is None else places[parent]))
    return rows


def _raised_by(events: Sequence[Event]) -> set[str | None]:
    """Return the errors that planners raised, in the run and in nested runs."""
    proposed = [event.event if isinstance(event, Inside) else event for event in events]
    return {event.error for event in proposed if isinstance(event, PlanProposed)}


def _doing(span: Span) -> Any:
    return span.attributes.get(names.OPERATION)


@exercise("13.1")
def spans_from_events(trial: Trial, spans_of: Any) -> None:
    """A run's spans: one for each attempt of each job, inside its own run; a nested run is inside its step."""
    trial.show(views.spans, material.runs()["nested runs inside two parallel steps"])
    for told, events in material.records():
        planned = any(isinstance(event, PlanStarted) for event in events)
        trial.wanted = "" if planned else "no plan span: no event in this record starts one"
        came = trial.call(spans_of, material.Record(events, told))
        _judge_spans(trial, _read(trial, came), _wanted(events))


def _read(trial: Trial, came: Any) -> list[Row]:
    """Read the learner's spans from dicts, tuples or objects."""
    trial.want(isinstance(came, (list, tuple)) and came, FORM, "Return a list with one value for each span.")
    rows: list[Row] = []
    for one in came:
        if isinstance(one, Mapping):
            values = [one.get(name, ...) for name in FIELDS]
        elif isinstance(one, (tuple, list)) and len(one) == len(FIELDS):
            values = list(one)
        else:
            values = [getattr(one, name, ...) for name in FIELDS]
        trial.want(... not in values, FORM, "Each span needs all five values.")
        name, start, end, parent, error = values
        fits = isinstance(start, Real) and isinstance(end, Real) and isinstance(name, str)
        trial.want(fits, "a string as name, numbers as start and end", "Times are seconds on the run's clock.")
        place = parent is None or (type(parent) is int and 0 <= parent < len(came))
        trial.want(
            place,
            "the list index of the parent span, or None for the run",
            "A parent is an index into your list: 0, 1, … Include spans that have not ended.",
        )
        trial.want(error is None or isinstance(error, str), "a string or None as error", "An error is its message.")
        rows.append((name, float(start), float(end), error, parent))
    return rows


def _judge_spans(trial: Trial, rows: list[Row], wanted: list[Row]) -> None:
    """Check first the rules for all spans, then the spans of this record."""
    top = [name for name, *_, parent in rows if parent is None]
    rule = "Everything happens inside the run, so only the run has no parent."
    trial.want(
        top == ["run"], "one span without a parent, 'run'", rule, f"without a parent: {', '.join(top) or 'none'}"
    )
    for place, row in enumerate(rows):
        rule = "Following the parents of any span must lead to the run."
        trial.want(_roots(rows, place), f"{row[0]!r} inside the run", rule, f"the parents of {row[0]!r} form a cycle")
    have, need = (Counter(one[0] for one in some) for some in (rows, wanted))
    for name in sorted(need | have):
        rule = (
            "Each start event makes a span: a step with two attempts has two spans, and jobs of nested runs count too."
            if have[name] < need[name]
            else "Only a start event makes a span."
        )
        trial.want(have[name] == need[name], f"{need[name]} × {name!r}", rule, f"{have[name]} × {name!r}")
    starts = [sorted((one[0], round(one[1], 6)) for one in some) for some in (rows, wanted)]
    for name, start, end, _, parent in rows:
        came = f"your {name!r} goes from {start:g} to {end:g} s"
        trial.want(start <= end, "an end that is not before the start", "A span can't end before it starts.", came)
        if parent is None or starts[0] == starts[1]:
            continue
        around = rows[parent]
        came += f", outside its parent {around[0]!r}, {around[1]:g} to {around[2]:g} s"
        rule = "The clock of a nested run starts at 0; `Inside` gives the outer time."
        inside = around[1] <= start + 1e-6 and end <= around[2] + 1e-6
        trial.want(inside, "each span within its parent", rule, came)
    for name in sorted({one[0] for one in wanted}):
        _same(trial, name, *([one for one in some if one[0] == name] for some in (rows, wanted)))
    found, meant = (_drawn(some) for some in (rows, wanted))
    missing, extra = ([line for line in some if line not in other] for some, other in ((meant, found), (found, meant)))
    rule = (
        "A job belongs to its own run, and a nested run to the attempt of the step that started it. Two parallel runs "
        "can both have a step a."
    )
    wanted = missing[0] if missing else "every span below its own parent"
    trial.want(found == meant, wanted, rule, extra[0] if extra else "")


def _same(trial: Trial, name: str, mine: list[Row], theirs: list[Row]) -> None:
    """Check the times and errors of all spans with this name."""

    def times(some: list[Row]) -> str:
        pairs = sorted((round(one[1], 6), round(one[2], 6)) for one in some)
        return f"{name!r} from {' and '.join(f'{start:g} to {end:g} s' for start, end in pairs)}"

    def errors(some: list[Row]) -> str:
        ordered = sorted(some, key=lambda one: (one[1], one[2], one[3] or ""))
        return f"{name!r} with {' and '.join(repr(one[3] or None) for one in ordered)} as error"

    rule = (
        "A span starts with its start event and ends with its end event. A span without an end event ends at the latest "
        "time in the record."
    )
    trial.want(times(mine) == times(theirs), times(theirs), rule, times(mine))
    rule = (
        "A failed span has the error message of its event, a successful span has None. The problems of a plan and the "
        "reason of a judge are no errors."
    )
    trial.want(errors(mine) == errors(theirs), errors(theirs), rule, errors(mine))


def _roots(rows: list[Row], place: int) -> bool:
    """Return whether the chain of parents ends at a span without a parent."""
    for _ in rows:
        above = rows[place][4]
        if above is None:
            return True
        place = above
    return False


def _drawn(rows: list[Row]) -> list[str]:
    """Return each span as its path from the run, with times, sorted."""

    def way(row: Row) -> str:
        named = f"{row[0]} ({row[1]:g} to {row[2]:g} s)"
        return named if row[4] is None else f"{way(rows[row[4]])} > {named}"

    return sorted(map(way, rows))


@exercise("13.2")
def costs_along_the_tree(trial: Trial, costs: Any) -> None:
    """For each span id, two sums in dollars: the span's own cost, and its total with all spans inside it."""
    trial.show(views.spans, material.runs()["nested runs inside two parallel steps"])
    for number, (told, run) in enumerate(material.runs().items()):
        made = _disguised(spans.of(run))
        listed = list(made)
        if number % 3 == 1:
            listed.reverse()  # a collector receives spans in the order of their ends
        elif number % 3 == 2:
            Random(number).shuffle(listed)
        came = trial.call(costs, material.Record(listed, told, "spans"))
        _judge_costs(trial, _sums(trial, came, made), made, cost(run.board.calls))
    made = spans.of(material.runs()["two parallel steps"])
    calls = [one for one in made if _doing(one) == names.CHAT]
    alike = {names.COST: 0.25 * len(calls)}, {names.COST: 0.25}
    made = [
        replace(one, attributes={**one.attributes, **alike[one in calls]}) if names.COST in one.attributes else one
        for one in made
    ]
    came = trial.call(costs, material.Record(made, "calls with equal costs", "spans"))
    _judge_costs(trial, _sums(trial, came, made), made, 0.25 * len(calls))


def _disguised(made: Sequence[Span]) -> list[Span]:
    """Return the spans; the last model call failed and has another name, and a step has the name of a model call."""
    last = [one.span_id for one in made if _doing(one) == names.CHAT][-1]
    first = next(one.span_id for one in made if _doing(one) != names.CHAT and one.parent_id is not None)
    changes = {last: {"error": "it was cut off", "name": "answer"}, first: {"name": "chat gpt-4o"}}
    return [replace(one, **changes.get(one.span_id, {})) for one in made]


def _sums(trial: Trial, came: Any, made: Sequence[Span]) -> dict[str, tuple[float, float]]:
    """Read the learner's own cost and total for each span."""
    trial.want(isinstance(came, Mapping), "a dict: span_id -> (own, total)", "Use the span id as the key.")
    ids = {one.span_id for one in made}
    rule = "Each span needs an entry under its span_id, because names can repeat."
    trial.want(
        set(came) == ids, f"{len(ids)} entries, one for each span_id", rule, f"{len(came)} entries: {shown(came)}"
    )
    for pair in came.values():
        fits = (
            isinstance(pair, (tuple, list)) and len(pair) == 2 and all(isinstance(one, (Real, Decimal)) for one in pair)
        )
        trial.want(fits, "two numbers for each span, (own, total)", "For a span without costs, return 0.")
    return {id: (float(own), float(total)) for id, (own, total) in came.items()}


def _judge_costs(trial: Trial, sums: dict[str, tuple[float, float]], made: Sequence[Span], bill: float) -> None:
    """Check own costs, totals, and the sum of the tree."""
    for one in made:
        own, asked = sums[one.span_id][0], _doing(one) == names.CHAT
        price = float(one.attributes.get(names.COST, 0.0)) if asked else 0.0  # type: ignore[arg-type]
        rule = "The cost of a run is the sum of its calls. As an own cost, it would count them twice."
        if asked:
            rule = "Every model call counts, in every attempt, in failed steps, and if the call itself failed."
        elif not one.attributes.get(names.COST):
            rule = "A model call is a span whose operation is `chat`; a name can be anything. Other spans have no own cost."
        if abs(own - price) < 1e-5:
            rule = "Round only for display: rounded parts don't add up to the exact sum."
        what = f"the own cost of {one.name!r}"
        trial.want(_near(own, price), f"{_dollars(price)} as {what}", rule, f"{_dollars(own)} as {what}")
    below: dict[str | None, list[Span]] = {}
    for one in made:
        below.setdefault(one.parent_id, []).append(one)
    totals: dict[str, float] = {}
    for one in reversed(made):
        totals[one.span_id] = sums[one.span_id][0] + sum(totals[inner.span_id] for inner in below.get(one.span_id, ()))
        rule = "A total is the own cost of the span plus the own costs of all spans inside it, at any depth."
        what, mine = f"the total of {one.name!r}", sums[one.span_id][1]
        wanted, came = (f"{_dollars(amount)} as {what}" for amount in (totals[one.span_id], mine))
        trial.want(_near(mine, totals[one.span_id]), wanted, rule, came)
    wanted, rule = (
        f"{_dollars(bill)} as the run's total, as in the ledger",
        "The total of the tree must equal the bill.",
    )
    trial.want(_near(sums[made[0].span_id][1], bill), wanted, rule, f"{_dollars(sums[made[0].span_id][1])}")


def _near(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)


def _dollars(amount: float) -> str:
    return f"${amount:.8f}"


VERDICTS = ("better", "worse", "can't tell")
ANSWER = "(verdict, difference, low, high), with one of 'better', 'worse', \"can't tell\""
CLOSE = 0.09  # an interval of 20 tasks that is not too narrow contains each true difference nearer than this
MISSES = 0.05  # share of cases in which a 95 % interval misses the true value
NARROW = 0.185  # for 100 tasks, 20 won and 10 lost: a 95 % interval is at least 0.2 wide, a 90 % interval at most 0.18
WIDE = 0.26  # a 99 % interval is at least 0.27 wide
CLAIMS = "A 95 % interval misses the true value in one of twenty cases. A narrower interval claims too much."


@exercise("13.3")
def is_it_better(trial: Trial, compare: Any) -> None:
    """The verdict, the mean difference between new and old over their common tasks, and its 95 % interval."""
    marks = unforeseen(compare, 3)
    trial.show(_tally)

    def told(won: int, lost: int, tasks: int, right: int = 0, mark: int = 0) -> tuple[str, float, float, float]:
        """Run the answer on `tasks` tasks, of which `won` were won, `lost` were lost, and `right` were right both times."""
        old, new = _outcomes(won, lost, tasks, right, marks[mark])
        came = _verdict(trial, trial.call(compare, old, new))
        difference = (won - lost) / tasks
        trial.called = f"compare(old, new), {tasks} tasks: {won} won, {lost} lost, the others unchanged"
        trial.came = f"{came[0]}, {came[1]:+.3f} [{came[2]:+.3f}, {came[3]:+.3f}]"
        trial.want(
            isclose(came[1], difference, abs_tol=1e-6),
            f"a difference of {difference:+.3f}",
            "The difference is the success rate of new minus that of old, over their common tasks.",
        )
        _coherent(trial, came, won + lost)
        return came

    came = told(3, 1, 20, 14)
    trial.want(
        came[0] == "can't tell",
        "can't tell: 17 of 20 against 15",
        "Coin flips give a result at least as uneven as three to one more often than not.",
    )
    trial.want(
        came[3] - came[2] > 0.2,
        "a wider interval: other tasks of the same kind would give other results",
        "The interval must show the effect of chance: a single task already changes the result by 0.05.",
    )
    for won, lost, tasks, right in ((0, 0, 20, 12), (5, 5, 20, 5), (0, 0, 4, 4)):
        trial.want(
            told(won, lost, tasks, right)[0] == "can't tell",
            "can't tell: as many won as lost",
            "A tie shows no difference.",
        )
    for won, lost, tasks in ((3, 0, 4), (4, 0, 4), (0, 4, 4), (5, 0, 20), (0, 5, 20)):
        came = told(won, lost, tasks)
        trial.want(
            came[0] == "can't tell",
            f"can't tell: only {won + lost} tasks differ",
            "A few coin flips are all equal more often than once in twenty cases, so a few tasks prove nothing.",
        )
    for won, lost, word in ((12, 1, "better"), (1, 12, "worse"), (30, 4, "better"), (6, 0, "better")):
        came = told(won, lost, 100, 40, 1)
        rule = (
            "Pair by task: tasks that are hard or easy for both versions add no uncertainty to the difference."
            if came[3] - came[2] < 0.45
            else "A 95 % interval gets narrower with more tasks. A wider interval claims too little."
        )
        trial.want(came[0] == word, f"{word}: {won} won and {lost} lost is unlikely by chance", rule)
    width = told(20, 10, 100, 40, 1)
    wanted, came_wide = "an interval about 0.21 wide", f"an interval {width[3] - width[2]:.2f} wide"
    trial.want(width[3] - width[2] > NARROW, wanted, CLAIMS, came_wide)
    rule = "A 95 % interval contains the true value in 95 of 100 cases. A wider interval claims too little."
    trial.want(width[3] - width[2] < WIDE, wanted, rule, came_wide)
    for won, lost in ((5, 1), (1, 5)):
        told(won, lost, 20, 7)  # 0 is at the edge of some intervals
    _one_sided(trial, compare, marks[2])
    _coverage(trial, told)


def _outcomes(won: int, lost: int, tasks: int, right: int, mark: str) -> tuple[dict[str, int], dict[str, int]]:
    """Return the outcomes of both versions by task, each in its own reproducible order."""
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
    """Read the four parts of an answer."""
    parts = [came.get(one) for one in ("verdict", "difference", "low", "high")] if isinstance(came, Mapping) else came
    if isinstance(parts, (tuple, list)) and len(parts) == 3 and isinstance(parts[2], (tuple, list)):
        parts = [*parts[:2], *parts[2]]  # the interval as a pair
    fits = isinstance(parts, (tuple, list)) and len(parts) == 4 and isinstance(parts[0], str)
    trial.want(fits, ANSWER, "Return all four parts.")
    numbers = [one for one in parts[1:] if isinstance(one, Real) and not isinstance(one, bool) and isfinite(one)]
    trial.want(len(numbers) == 3, ANSWER, "The difference and the ends of its interval are numbers between -1 and 1.")
    word = parts[0].replace("’", "'").casefold().strip()
    trial.want(word in VERDICTS, ANSWER, "Use one of the three verdicts.")
    difference, low, high = map(float, numbers)
    return word, difference, low, high


def _coherent(trial: Trial, came: tuple[str, float, float, float], differ: int) -> None:
    """Check that the verdict follows from the interval; if few tasks differ, "can't tell" is always fine."""
    word, difference, low, high = came
    trial.want(
        low <= difference + 1e-9 and difference <= high + 1e-9,
        "an interval around the difference",
        "The observed difference must be inside the interval.",
    )
    excluded = "better" if low > 1e-9 else "worse" if high < -1e-9 else "can't tell"
    careful = word == "can't tell" and differ < 6
    trial.want(
        word == excluded or careful,
        f"{excluded!r}: the interval is [{low:+.3f}, {high:+.3f}]",
        "The verdict depends on whether the interval contains 0.",
    )


def _one_sided(trial: Trial, compare: Any, mark: str) -> None:
    """Check the case that some tasks were run with only one version."""
    old, new = _outcomes(3, 1, 20, 14, mark)
    old |= {"only old 1": 0, "only old 2": 0}
    new |= {"only new 1": 1, "only new 2": 1, "only new 3": 1}
    came = _verdict(trial, trial.call(compare, old, new))
    trial.called = "compare(old, new), 20 common tasks, 2 only in old, 3 only in new"
    trial.came = f"{came[0]}, {came[1]:+.3f} [{came[2]:+.3f}, {came[3]:+.3f}]"
    trial.want(
        isclose(came[1], 0.1, abs_tol=1e-6),
        "a difference of +0.100, over the 20 common tasks",
        "A task that only one version has run can't be compared.",
    )


def _coverage(trial: Trial, told: Any) -> None:
    """Add up the probabilities of all likely results whose interval misses the true difference, which is known here."""
    for won, lost, floor in ((0.35, 0.1, 0.012), (0.25, 0.25, 0.02)):
        missed = 0.0
        for wins, losses, chance in _likely(20, won, lost, floor):
            if abs((wins - losses) / 20 - (won - lost)) < CLOSE:
                continue
            _, _, low, high = told(wins, losses, 20)
            missed += 0.0 if low - 1e-9 <= won - lost <= high + 1e-9 else chance
        trial.called = f"compare(…) on 20 tasks, in a world where new wins {won:.0%} of all tasks and loses {lost:.0%}"
        trial.came = f"intervals that miss the true difference, {won - lost:g}, in at least {missed:.1%} of all cases"
        trial.want(missed <= MISSES, "at most 5 %", CLAIMS)


def _likely(tasks: int, won: float, lost: float, floor: float) -> Iterator[tuple[int, int, float]]:
    """Yield numbers of won and lost tasks with their probability, if it is above `floor`."""
    for wins in range(tasks + 1):
        for losses in range(tasks + 1 - wins):
            ways = comb(tasks, wins) * comb(tasks - wins, losses)
            chance = ways * won**wins * lost**losses * (1 - won - lost) ** (tasks - wins - losses)
            if chance > floor:
                yield wins, losses, chance


def _tally() -> Any:
    """Draw how many tasks each version solved."""
    rows = {"old": {"right": 15, "wrong": 5}, "new": {"right": 17, "wrong": 3}}
    return views.tallies(rows, "17 of 20 tasks against 15: is it better?", wanted="right", of="tasks")
