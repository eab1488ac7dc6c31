"""Checks for lesson 15: the same pattern elsewhere."""

from __future__ import annotations

from operator import add, or_
from typing import Any

from planexec_lab import views
from planexec_lite import Plan, Simulated, Toolbox, ToolExecutor, execute, tool

from exercises.checker import drawn
from exercises.checker.checks import said
from exercises.checker.exercise import Trial, exercise, shown

REFUSED = "Two changes of one field in one round are refused, unless the field has a reducer."
MERGED = (
    "A reducer gets the value so far and the value of a change, one change after the other, in the order of the list."
)
REPLACED = "Without a reducer, the value of the only change replaces the old value."
KEPT = "Fields that are in no change keep their values."
ROUNDS: list[tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any], dict[str, Any] | None, str]] = [
    ({"done": {1: "a"}}, [{"done": {2: "b"}}, {"done": {3: "c"}}], {"done": or_}, {"done": {1: "a", 2: "b", 3: "c"}}, MERGED),
    ({"log": "x"}, [{"log": "b"}, {"log": "a"}], {"log": add}, {"log": "xba"}, MERGED),
    ({"calls": 3}, [{"calls": 1}, {"calls": 1}], {"calls": add}, {"calls": 5}, MERGED),
    ({"plan": [1]}, [{"plan": [2]}], {}, {"plan": [2]}, REPLACED),
    ({"plan": [1]}, [{"plan": []}], {}, {"plan": []}, REPLACED),
    ({"done": {}}, [{"done": {2: "b"}}, {"done": {3: "c"}}], {}, None, REFUSED),
    ({"plan": 0}, [{"plan": 4}, {"plan": 4}], {}, None, REFUSED),
    ({"plan": [1], "done": {}}, [{"done": {1: ""}}, {"plan": [2]}], {"done": or_}, {"plan": [2], "done": {1: ""}}, REPLACED),
    ({"plan": [1], "done": {1: "a"}}, [], {"done": or_}, {"plan": [1], "done": {1: "a"}}, KEPT),
    ({"plan": [1], "calls": 2}, [{"calls": 1}], {"calls": add}, {"plan": [1], "calls": 3}, KEPT),
]  # fmt: skip


@exercise(
    "15.1",
    nudge="Go through the changes one after the other, and through the fields of each. Remember which fields have been "
    "changed in this round.",
    question="What do you know about a field when its second change arrives, and which question about it comes first?",
    learned="A field that parallel nodes change needs a reducer. Without one, a graph refuses the round, and the calls have "
    "been made.",
)
def one_superstep(trial: Trial, superstep: Any) -> None:
    """A function of the state, the changes of a round and the reducers: it returns the new state, or None."""
    for state, changes, reducers, wanted, rule in ROUNDS:
        came = trial.call(superstep, state, changes, reducers)
        trial.want(came == wanted, repr(wanted), rule)


NEEDS = {"A": (), "B": (), "A2": ("A",), "B2": ("B",), "C": ("A2", "B2")}


@tool(latency=lambda minutes: 60 * minutes, effects="none")
def work(minutes: float) -> float:
    """Work for this many minutes."""
    return minutes


@exercise(
    "15.2",
    nudge="Draw a lane for each chain. In rounds, nothing of the second round starts before the slowest step of the first "
    "one has ended.",
    question="Which steps are in the second round, and when does it begin?",
    learned="A barrier costs time if one chain has a long step in one round, and another chain has one in the next.",
)
def two_rules(trial: Trial, rounds: Any, ready: Any) -> None:
    """Two numbers: the minutes in rounds, and the minutes if each step starts when it is ready."""
    minutes = drawn.drawn("15.2")
    steps = [
        {"id": id, "tool": "work", "params": {"minutes": minutes[id]}, "depends_on": list(on)}
        for id, on in NEEDS.items()
    ]
    in_rounds, when_ready = drawn.two_rules(minutes)
    run = execute(Plan.parse(steps), ToolExecutor(Toolbox([work])), workers=Simulated(4))
    for name, guess, right, wanted, rule in (
        (
            "rounds",
            rounds,
            in_rounds,
            "the minute in which the third round ends",
            "A round ends with its slowest step.",
        ),
        (
            "ready",
            ready,
            when_ready,
            "the minute in which step C ends",
            "A step starts when its own dependencies have ended.",
        ),
    ):
        trial.given(name, guess)
        trial.want(said.number(trial, guess, f"minutes, as in `{name} = 30`") == right, wanted, rule)
    trial.show(views.timeline, run)


ORDER = "Find a result by its call: the order of the calls can be another one after a crash."
ARGUMENTS = "Two calls with the same name and different arguments are different calls."
ONCE = "Each stored result belongs to one call: the second equal call gets the second result."
NOTHING = "A call without a stored result gets None, and it must run."
_PAY, _MAIL = ("pay", {"to": "Ann", "cents": 5}), ("mail", {"to": "Ann"})
_BEN = ("pay", {"to": "Ben", "cents": 5})
_REPLAYS: tuple[tuple[list[Any], list[Any], list[Any], str], ...] = (
    ([(*_PAY, "p1"), (*_MAIL, "m1")], [_PAY, _MAIL], ["p1", "m1"], ORDER),
    ([(*_PAY, "p1"), (*_MAIL, "m1")], [_MAIL, _PAY], ["m1", "p1"], ORDER),
    ([(*_PAY, "p1"), (*_BEN, "p2")], [_BEN, _PAY], ["p2", "p1"], ARGUMENTS),
    ([(*_PAY, "p1"), (*_PAY, "p2")], [_PAY, _PAY], ["p1", "p2"], ONCE),
    ([(*_PAY, "p1"), (*_MAIL, "m1"), (*_PAY, "p2")], [_PAY, _PAY, _PAY, _MAIL], ["p1", "p2", None, "m1"], NOTHING),
    ([(*_PAY, "p1")], [_BEN, _PAY], [None, "p1"], NOTHING),
    ([], [_MAIL], [None], NOTHING),
    ([(*_PAY, "p1")], [], [], NOTHING),
    (
        [(*_PAY, "p1")],
        [(_PAY[0], dict(reversed(_PAY[1].items())))],
        ["p1"],
        "The order of the keys of a dict means nothing.",
    ),
    *(
        ([(*_PAY, one), (*_PAY, "p2")], [_PAY, _PAY], [one, "p2"], "A result can be empty.")
        for one in (0, "", [], False)
    ),
)


@exercise(
    "15.3",
    nudge="Keep a list of the results that no call has taken yet. For each call, take the first one with the same name and the "
    "same arguments.",
    question="In the broken version, what does the second call get if the first call of the old process is missing?",
    learned="A stored result needs a key that does not depend on timing: what was called, with what, and how many times before.",
)
def find_results(trial: Trial, replayed: Any) -> None:
    """A function of stored results and calls: it returns the result of each call, or None."""
    for stored, calls, expected, rule in _REPLAYS:
        came = trial.call(replayed, stored, calls)
        trial.want(isinstance(came, list) and shown(came) == shown(expected), repr(expected), rule)
