"""The timeline: bars follow the events, one lane for each slot, labels fit, failures are described."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views.drawing.text_fitting import width
from planexec_lab.views.drawing.theme import SMALL
from planexec_lab.views.timeline_drawing.bars import Bar, bars, lanes
from planexec_lab.views.timeline_drawing.label import label
from planexec_lab.views.timeline_drawing.model import _work
from planexec_lite import Plan, Run, Simulated, Toolbox, ToolExecutor, execute, tool
from planexec_lite.run import events as e
from planexec_lite.tools import Limit
from tests.rounds import rounds
from tests.views import worlds


@pytest.mark.parametrize(
    ("run", "title"),
    [
        (worlds.run(worlds.plan(worlds.DEPLOY), slots=1), "8 steps in 118 s, one after the other"),
        (worlds.deploy(fails=["5"]), "Step 5 failed at 70 s; 4 of 8 steps done"),
        (worlds.run(worlds.plan([("1", "", 0, [])])), "1 step in 0 s"),
        (worlds.run(worlds.plan([(str(n), "", 3600, []) for n in range(3)])),
         "3 steps in 60 min; one after the other they would take 180 min"),
        (worlds.streamed(), "2 steps in 8 s, 5 s of it planning; one after the other they would take 10 s"),
        (Run(), "Running at 0 s: 0 of 0 steps done"),
    ],
)  # fmt: skip
def test_the_title_states_the_finding(run: Run, title: str) -> None:
    assert views.timeline(run).title == title


BOTH = worlds.plan([("1", "a", 1, []), ("2", "b", 1, [])])
STARTED = e.StepStarted(0.0, "1"), e.StepStarted(0.0, "2")
LATE = e.StepFailed(2.0, "1", "no answer in 2 s", 2.0, in_doubt=True), e.StepLate(5.0, "1", "made", None, 5.0)
ONE_OVEN = (Limit("oven", ("work",), 1),)
INVALID = (
    e.RunStarted(0.0, "goal", planner=True, reviewer=False), e.PlanStarted(0.0, "first"),
    e.PlanProposed(6.0, None, seconds=6.0), e.PlanStarted(6.0, "repair"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("run", "expected", "words"),
    [
        (worlds.given(BOTH, *STARTED, e.StepDone(5.0, "1", None, seconds=5.0)),
         [Bar("1", 0.0, 5.0, "done"), Bar("2", 0.0, 5.0, "running")], "running"),
        (worlds.given(BOTH, *STARTED, e.StepDone(1.0, "1", None, seconds=1.0), e.Requeued(1.0, "2", "cancelled")),
         [Bar("1", 0.0, 1.0, "done")], "Never started: 2."),
        (worlds.given(worlds.chain(1), STARTED[0], *LATE),
         [Bar("1", 0.0, 2.0, "failed")], "Step 1 had timed out; its result at 5 s does not count."),
        (worlds.given(BOTH, STARTED[0], e.StepDone(1.0, "1", None, 1.0), e.StepStarted(1.0, "2"), limits=ONE_OVEN),
         [Bar("1", 0.0, 1.0, "done"), Bar("2", 1.0, 1.0, "running")], "oven: 1 at once, used by 1 and 2."),
        (worlds.midway(), None, "  evaluator  judging 2                                9 s   –  10 s  failed\n"),
        (worlds.midway(), None, "No verdict on step 2 at 10 s (RuntimeError: no model).\nNews: “the window closes at <18:00>”."),
        (worlds.deploy(fails=["5"], retries=2), None,
         "Step 5 failed 3 times: RuntimeError: 3 of 12 checks failed\nSkipped: 6, 7 and 8."),
        (Run(INVALID), None, "  planner  planning    0 s  –  6 s  invalid"),
        (worlds.streamed(), None, "  slot 1   step 1    Read   2 s  –  4 s  done  critical"),
    ],
)  # fmt: skip
def test_bars_stand_where_the_events_say(run: Run, expected: list[Bar] | None, words: str) -> None:
    assert expected is None or bars(run) == expected
    assert words in views.timeline(run).text


@rounds(30)
@given(worlds.plans(), st.integers(1, 5), st.data())
def test_bars_fit_into_as_many_lanes_as_slots(plan: Plan, slots: int, data: st.DataObject) -> None:
    rows = [(step.id, "", data.draw(st.integers(1, 9)), list(step.depends_on)) for step in plan.steps]
    fails = [step.id for step in plan.steps if data.draw(st.booleans())]
    if not rows:
        return
    run = worlds.run(worlds.plan(rows, fails), slots=slots, retries=1)
    shared = lanes(bars(run))
    assert len(shared) <= slots
    assert all(one.end <= other.start for lane in shared for one, other in pairwise(lane))
    assert sum(map(len, shared)) == sum(isinstance(event, e.StepStarted) for event in run.events)


@given(
    worlds.names,
    st.floats(0, 300),
    st.floats(-10, 300),
    st.sampled_from(["done", "failed", "running", "failed by verdict"]),
    st.integers(1, 3),
)
def test_a_label_fits_where_it_is_put(name: str, inside: float, beside: float, state: str, attempt: int) -> None:
    lines, within = label(Bar("12", 0, 1, state, attempt), name, inside, beside, rows=2)
    assert len(lines) <= 2
    for line in lines:
        assert width(line, SMALL) <= (inside + 10 if within else beside)
    if lines:
        assert lines[0].startswith("12")
        assert state == "done" or any(mark in " ".join(lines) for mark in "✗▸")


@pytest.mark.parametrize(
    ("verdict", "states"),
    [("retry", ["failed by verdict", "done"]), ("replan", ["failed by verdict"]), ("accept", ["done"])],
)
def test_a_verdict_belongs_to_the_try_that_it_is_about(verdict: e.Judgement, states: list[str]) -> None:
    def tried(at: float, attempt: int, verdict: e.Judgement) -> list[e.Event]:
        done = (
            e.StepDone(at + 1, "1", None, 1.0),
            e.JudgeStarted(at + 1, "1"),
            e.Judged(at + 1, "1", verdict, "too thin"),
        )
        return [e.StepStarted(at, "1", attempt, 2), *done]

    again = tried(1.0, 2, "accept") if verdict == "retry" else []
    run = worlds.given(worlds.criteria(worlds.chain(1), "1"), *tried(0.0, 1, verdict), *again, evaluator=True)
    assert [bar.state for bar in bars(run) if not bar.what] == states
    text = views.timeline(run).text
    assert ("Step 1 failed by verdict at 1 s" in text) == (verdict != "accept")
    assert "Step 1 failed:" not in text


# --- predicted starts -------------------------------------------------------------------------------------------------


def three(slots: int) -> Run:
    return worlds.run(worlds.plan([("1", "Read", 4, []), ("2", "Count", 4, []), ("3", "Tell", 2, ["1", "2"])]), slots)


def starts(run: Run) -> dict[str, float]:
    return {event.step: event.at for event in run.events if isinstance(event, e.StepStarted)}


def test_a_run_beside_the_starts_that_were_predicted() -> None:
    figure = views.timeline(three(1), predicted=starts(three(2)))
    assert figure.text == (
        "1 of 3 steps began when predicted: step 2 is the first that did not\n"
        "  slot 1  step 1  Read   0 s  –  4 s   done  critical  predicted 0 s – 4 s\n"
        "  slot 1  step 2  Count  4 s  –  8 s   done            predicted 0 s – 4 s\n"
        "  slot 1  step 3  Tell   8 s  –  10 s  done  critical  predicted 4 s – 6 s\n"
        "Later than predicted: 2 and 3 by 4 s.\n"
        "Thick outline: the critical path 1 → 3, 6 s, 4 s less than the run. Brackets: when each step was predicted."
    )
    figure = views.timeline(three(2), predicted={"1": 0, "2": 1.5})
    assert figure.title == "1 of 2 steps began when predicted: step 2 is the first that did not"
    assert "predicted 1.5 s – 5.5 s" in figure.text
    assert "Earlier than predicted: 2 by 1.5 s." in figure.text
    assert views.timeline(three(2), predicted={"1": 0, "2": 0, "3": 4}).title == "All 3 steps began when predicted"
    assert views.timeline(three(2), predicted={}).title == views.timeline(three(2)).title


# --- several runs, one above the other --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("runs", "title"),
    [
        ({"one": worlds.deploy(), "other": worlds.deploy()}, "one and other: each 103 s"),
        ({"alone": worlds.deploy()}, "alone: 103 s"),
        ({str(n): worlds.run(worlds.fan(6), n) for n in (1, 2, 6)}, "6: 4 s; 1: 14 s, 3.5 times as long"),
        ({"good": worlds.deploy(), "bad": worlds.deploy(fails=["5"])},
         "good: finished after 103 s; bad: failed after 70 s"),
        ({"nothing": Run()}, "nothing: running after 0 s"),
        ({"no time": worlds.run(worlds.plan([("1", "", 0, [])]))}, "no time: 0 s"),
    ],
)  # fmt: skip
def test_the_title_of_several_runs_states_the_finding(runs: dict[str, Run], title: str) -> None:
    assert views.timelines(runs).title == title
    assert views.timelines(runs, "Mine").title == "Mine"


def test_work_counts_from_when_the_step_was_ready_and_no_second_twice() -> None:
    @tool(latency=lambda seconds: seconds, effects="none")
    def work(seconds: float) -> None:
        """Work."""

    steps: list[Any] = [
        {"id": "1", "tool": "work", "params": {"seconds": 1.0}},
        {
            "id": "2",
            "tool": "work",
            "params": {"seconds": 2.9306640625},
            "depends_on": ["1"],
        },  # its start is rounded down
    ]
    run = execute(Plan.parse(steps), ToolExecutor(Toolbox([work])), workers=Simulated())
    assert views.durations(run) == {"1": 1.0, "2": 2.930664062}
    early, cut_off, again = Bar("2", 0.0, 0.5, "done"), Bar("2", 1.0, 2.0, "interrupted"), Bar("2", 1.0, 3.0, "done")
    assert _work(run, [Bar("1", 0.0, 1.0, "done"), early, cut_off, again])[1:] == [(cut_off, 1.0), (again, 1.0)]
