"""Checks for lesson 15: the same pattern elsewhere."""

from __future__ import annotations

from operator import add, eq, or_
from typing import Any

from planexec_lab import views
from planexec_lite import Plan, Simulated, Toolbox, ToolExecutor, execute, tool

from exercises.checker import drawn
from exercises.checker.checks import said
from exercises.checker.comparing import compare
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise, raising

REDUCERS = {"union": or_, "sum": add}


@exercise("15.1")
def one_superstep(trial: Trial, superstep: Any) -> None:
    """A function of the state, the changes of a round and the reducers: it returns the new state, or None."""
    cases = {
        rule: [
            [state, changes, {name: REDUCERS[one] for name, one in reducers.items()}, wanted]
            for state, changes, reducers, wanted in rows
        ]
        for rule, rows in data("15.1")["cases"].items()
    }
    compare(trial, superstep, cases, same=eq)
    error = KeyError("no total")
    trial.lets_through(error, superstep, {"calls": 3}, [{"calls": 1}], {"calls": raising(error)})


@tool(latency=lambda minutes: 60 * minutes, effects="none")
def work(minutes: float) -> float:
    """Work for this many minutes."""
    return minutes


@exercise("15.2")
def two_rules(trial: Trial, rounds: Any, ready: Any) -> None:
    """Two numbers: the minutes in rounds, and the minutes if each step starts when it is ready."""
    minutes, given = drawn.drawn("15.2"), data("15.2")
    steps = [
        {"id": id, "tool": "work", "params": {"minutes": minutes[id]}, "depends_on": on}
        for id, on in given["needs"].items()
    ]
    run = execute(Plan.parse(steps), ToolExecutor(Toolbox([work])), workers=Simulated(4))
    for guess, right, (name, wanted, rule) in zip(
        (rounds, ready), drawn.two_rules(minutes), given["cases"], strict=True
    ):
        trial.given(name, guess)
        trial.want(said.number(trial, guess, f"minutes, as in `{name} = 30`") == right, wanted, rule)
    trial.show(views.timeline, run)


@exercise("15.3")
def find_results(trial: Trial, replayed: Any) -> None:
    """A function of stored results and calls: it returns the result of each call, or None."""
    compare(trial, replayed, data("15.3")["cases"])
