"""The scoreboard: every number is counted again here, from the events as JSON and without code of the scoreboard."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, get_args

import pytest

from planexec_lab.scoreboard import Faults, Kind, Row, row
from planexec_lab.variations import VARIATIONS
from planexec_lite.model.prices import PRICES
from planexec_lite.run.events import to_dict
from tests.rounds import few

pytestmark = pytest.mark.wide


def recorded(one: Row) -> list[dict[str, Any]]:
    return [json.loads(json.dumps(to_dict(event))) for event in one.run.events]


def runs_of(events: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The run and, one after the other, the runs inside its steps, however deep: each without what is inside it."""
    inside: dict[str, list[dict[str, Any]]] = {}
    own = []
    for event in events:
        if event["event"] == "Inside":
            inside.setdefault(event["step"], []).append(event["inner"])
        else:
            own.append(event)
    yield own
    for some in inside.values():
        if any(event["event"] == "RunStarted" for event in some):
            yield from runs_of(some)


def calls(events: list[dict[str, Any]], *kinds: str) -> list[dict[str, Any]]:
    return [call for event in events if event["event"] in kinds for call in event.get("calls", ())]


PLANNING, JUDGING = ("PlanProposed",), ("Judged",)


WORLDS = {"migration": 0.15, "flights": 0.3, "trail": 0.3, "clock": 0.5, "bisect": 0.3}
"""Worlds in which numbers are counted again, and how flaky their tools are then."""


@pytest.mark.parametrize("task", few(WORLDS, 2))
@pytest.mark.parametrize("variation", VARIATIONS)
def test_each_number_can_be_counted_again_from_the_events(variation: str, task: str) -> None:
    one = row(variation, task, Faults("flaky tool", WORLDS[task], seed=3))
    events, figures = recorded(one), one.figures
    runs = list(runs_of(events))
    planner = [call for run in runs for call in calls(run, *PLANNING)]
    every = [call for event in events if event["event"] != "Inside" for call in event.get("calls", ())]
    assert figures.calls == len(every) == one.run.usage.calls
    assert figures.usage["planner"].calls == len(planner)
    dollars = sum(
        call["input_tokens"] * PRICES[call["model"]].read + call["output_tokens"] * PRICES[call["model"]].written
        for call in every
    )
    assert figures.dollars == pytest.approx(dollars / 1e6, rel=1e-12)
    assert figures.seconds == max(event["at"] for event in events if event["event"] != "Inside")
    reasons = Counter(event["reason"] for event in runs[0] if event["event"] == "PlanStarted")
    assert figures.reasons == dict(reasons)
    fit = [event["plan"] for event in runs[0] if event["event"] == "PlanProposed" and not event.get("problems")]
    assert figures.horizon == max((len(plan["steps"]) for plan in fit), default=0)
    assert figures.complete == bool(fit and fit[0].get("complete", True))
    begun = [(event["event"] == "StepStarted") - (event["event"] in ("StepDone", "StepFailed")) for event in runs[0]]
    assert figures.workers == max(accumulate(begun))


@pytest.mark.parametrize("kind", few(get_args(Kind), 1))
@pytest.mark.parametrize("variation", VARIATIONS)
def test_the_script_has_an_answer_whatever_goes_wrong(variation: str, kind: Kind) -> None:
    for task in ("arithmetic", "clock", "trail", "flights"):
        one = row(variation, task, Faults(kind, 0.6 if kind == "flaky tool" else 1.0, seed=1))
        assert "UnprocessableEntityError" not in str(one.run.events), task


@pytest.mark.parametrize("seed", range(4))
def test_a_wrong_first_plan_is_mended_or_goes_unnoticed(seed: int) -> None:
    faults = Faults("wrong first plan", 1.0, seed)
    one = row("replan on failure", "arithmetic", faults)
    if faults.wrong_plan() == "missing step":
        assert (one.run.status, one.reached, one.figures.reasons) == ("finished", False, {"first": 1})
    else:
        assert (one.reached, one.figures.reasons) == (True, {"first": 1, "repair": 1})
