"""The scoreboard: every number is counted again here, from the events as JSON and without code of the scoreboard."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import accumulate
from typing import Any

import pytest

from planexec_lab.scoreboard import KINDS, Faults, Kind, Row, assumptions, figures, published, row
from planexec_lab.scoreboard.__main__ import main
from planexec_lab.variations import VARIATIONS
from planexec_lite import HybridExecutor, PlannerExecutor, Policy, ReActExecutor, RulePlanner, Simulated, ToolExecutor
from planexec_lite.model.prices import PRICES
from planexec_lite.run.events import to_dict
from planexec_lite.tools import Tool, Toolbox
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


def flat(events: list[dict[str, Any]], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every event, however deep, with the steps that it is inside of, such as "1/2/"."""
    for event in events:
        if event["event"] == "Inside":
            yield from flat([event["inner"]], f"{path}{event['step']}/")
        else:
            yield path, event


def wasted_in(events: list[dict[str, Any]]) -> int:
    """Errors that an executor was shown, steps with a tool that failed without a word from inside, and what was undone."""
    tools: dict[str, Any] = {}
    wasted = 0
    inside = {path[:place] for path, _ in flat(events) for place, letter in enumerate(path) if letter == "/"}
    for path, event in flat(events):
        match event:
            case {"event": "PlanProposed", "plan": {"steps": steps}}:
                tools |= {path + step["id"]: step["tool"] for step in steps}
            case {"event": "StepProposed", "step": step}:
                tools[path + step["id"]] = step["tool"]
            case {"event": "Observation", "error": True}:
                wasted += 1
            case {"event": "StepFailed", "step": id}:
                wasted += tools[path + id] is not None and path + id not in inside
            case {"event": "UndoDone", "step": id}:
                wasted += "rollback" not in id
    return wasted


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
    assert figures.replans == sum(reasons[why] for why in ("failure", "news", "stall", "step"))
    fit = [event["plan"] for event in runs[0] if event["event"] == "PlanProposed" and not event.get("problems")]
    assert figures.horizon == max((len(plan["steps"]) for plan in fit), default=0)
    assert figures.complete == bool(fit and fit[0].get("complete", True))
    begun = [(event["event"] == "StepStarted") - (event["event"] in ("StepDone", "StepFailed")) for event in runs[0]]
    assert figures.workers == max(accumulate(begun))
    assert figures.wasted == wasted_in(events)


def test_what_is_taken_back_is_wasted_and_a_step_without_a_call_is_not() -> None:
    def fails() -> None:
        raise RuntimeError("no")

    given = {"make": lambda: 1, "unmake": lambda: 2, "tell": lambda: 3, "fails": fails}
    tools = Toolbox(Tool(function, name=name, effects="none") for name, function in given.items())
    steps = [
        {"id": 1, "tool": "make", "undo": {"tool": "unmake"}},
        {"id": 2, "tool": "make", "undo": {"tool": "unmake"}, "depends_on": [1]},
        {"id": 3, "tool": "fails", "depends_on": [2]},
        {"id": 4, "description": "Ask a model that is not there", "depends_on": [2]},
    ]
    plan = {"goal": "g", "steps": steps, "rollback": [{"tool": "tell"}]}
    inner = PlannerExecutor(
        RulePlanner(lambda goal: plan),
        HybridExecutor(ToolExecutor(tools), ReActExecutor(None, Toolbox())),
        workers=Simulated(),
        policy=Policy(rollback="failed"),
    )
    run = inner.run("g")
    assert run.status == "rolled back"
    assert sum(type(event).__name__ == "StepFailed" for event in run.events) == 2
    assert sum(type(event).__name__ == "UndoDone" for event in run.events) == 3
    assert figures(run).wasted == wasted_in([to_dict(event) for event in run.events]) == 3
    around = replace(inner, planner=RulePlanner(lambda goal: [{"id": "1", "description": "g"}]), executor=inner)
    nested = around.run("g")
    assert figures(nested).wasted == 3


@pytest.mark.parametrize("kind", few(KINDS, 1))
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


def test_the_command_says_what_it_assumes_and_compares(capsys: pytest.CaptureFixture[str]) -> None:
    main(["clock", "trail", "flights"])
    text = " ".join(capsys.readouterr().out.split())
    for words in (*VARIATIONS, "variations reach every goal", assumptions.in_words(), published.in_words()):
        assert " ".join(words.split()) in text
    with pytest.raises(SystemExit) as left:
        main(["chess"])
    assert left.value.code == 2
    assert "there is no task 'chess'; there are: arithmetic, kitchen" in capsys.readouterr().err


def test_the_command_fits_a_terminal_and_ends_in_words_when_it_is_interrupted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["clock"]) == 0
    printed = capsys.readouterr()
    assert max(map(len, printed.out.splitlines())) <= 100
    assert printed.err == "task 1 of 1: clock\n"

    def interrupted(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("planexec_lab.scoreboard.__main__.rows", interrupted)
    assert main(["clock"]) == 130
    assert capsys.readouterr().err.endswith("interrupted: the rest of the tables is missing\n")
