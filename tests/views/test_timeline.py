"""The timeline: bars where the events say, one lane a slot, labels that fit, and failures in words."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planexec_lite import Plan, Run, views
from planexec_lite import events as e
from planexec_lite.views.bars import Bar, bars, lanes
from planexec_lite.views.label import label
from planexec_lite.views.theme import SMALL
from planexec_lite.views.words import width
from tests.views import worlds


def test_the_text_of_the_deployment() -> None:
    assert views.timeline(worlds.deploy()).text == (
        "8 steps in 103 s; one after the other they would take 118 s\n"
        "  slot 1  step 1  Run full test suite         0 s    –  20 s   done  critical\n"
        "  slot 1  step 2  Build Docker image          20 s   –  50 s   done  critical\n"
        "  slot 1  step 4  Deploy to staging           50 s   –  62 s   done  critical\n"
        "  slot 1  step 5  Verify staging works        62 s   –  70 s   done  critical\n"
        "  slot 1  step 6  Deploy to production        70 s   –  95 s   done  critical\n"
        "  slot 1  step 7  Verify production works     95 s   –  102 s  done  critical\n"
        "  slot 1  step 8  Send notification           102 s  –  103 s  done  critical\n"
        "  slot 2  step 3  Backup production database  0 s    –  15 s   done\n"
        "Thick outline: the critical path 1 → 2 → 4 → 5 → 6 → 7 → 8, 103 s."
    )


@pytest.mark.parametrize(
    ("run", "title"),
    [
        (worlds.run(worlds.plan(worlds.DEPLOY), slots=1), "8 steps in 118 s, one after the other"),
        (worlds.run(worlds.chain(1)), "1 step in 1 s"),
        (worlds.deploy(fails=["5"]), "Step 5 failed at 70 s; 4 of 8 steps done"),
        (worlds.run(worlds.plan([("1", "", 0, [])])), "1 step, none of which takes any time"),
        (
            worlds.run(worlds.plan([(str(n), "", 3600, []) for n in range(3)])),
            "3 steps in 60 min; one after the other they would take 180 min",
        ),
        (Run(), "Running at 0 s: 0 of 0 steps done"),
    ],
)
def test_the_title_states_the_finding(run: Run, title: str) -> None:
    assert views.timeline(run).title == title


def test_every_try_has_a_bar_and_failure_is_said_in_words() -> None:
    run = worlds.deploy(fails=["5"], retries=2)
    tries = [bar for bar in bars(run) if bar.step == "5"]
    assert [(bar.start, bar.end, bar.state, bar.attempt) for bar in tries] == [
        (62.0, 70.0, "failed", 1), (70.0, 78.0, "failed", 2), (78.0, 86.0, "failed", 3),
    ]  # fmt: skip
    figure = views.timeline(run)
    drawn = " ".join(text.text or "" for text in ElementTree.fromstring(figure.svg).iter() if text.tag.endswith("text"))
    assert "✗" in drawn
    assert "Step 5 failed 3 times: RuntimeError" in drawn
    assert "Skipped: 6, 7 and 8." in drawn
    assert "Skipped: 6, 7 and 8." in figure.text


def test_planning_has_a_lane_of_its_own() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=True, reviewer=False))
    run.record(e.PlanStarted(0.0, "first"))
    run.record(e.PlanProposed(6.0, None, seconds=6.0))
    run.record(e.PlanStarted(6.0, "repair"))
    run.record(e.PlanProposed(10.0, worlds.chain(1), seconds=4.0))
    run.record(e.StepStarted(10.0, "1"))
    run.record(e.StepDone(11.0, "1", None, seconds=1.0))
    run.record(e.Ended(11.0, "finished", "1 step done"))
    figure = views.timeline(run)
    assert figure.title == "1 step in 11 s, 10 s of it planning"
    assert "  planner  planning             0 s   –  6 s   refused" in figure.text
    assert "✗\u00a0refused" in figure.svg


def test_what_is_in_flight_lasts_until_now() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False))
    run.record(e.PlanProposed(0.0, worlds.plan([("1", "a", 1, []), ("2", "b", 1, [])])))
    run.record(e.StepStarted(0.0, "1"))
    run.record(e.StepStarted(0.0, "2"))
    run.record(e.StepDone(5.0, "1", None, seconds=5.0))
    assert bars(run)[1] == Bar("2", 0.0, 5.0, "running")
    assert "now: running" in views.timeline(run).svg


@settings(max_examples=30)
@given(worlds.plans(), st.integers(1, 5), st.data())
def test_bars_of_a_lane_follow_one_another_and_lanes_are_no_more_than_slots(
    plan: Plan, slots: int, data: st.DataObject
) -> None:
    steps = [
        step.model_copy(
            update={
                "tool": "work",
                "params": {"seconds": data.draw(st.integers(1, 9)), "fails": data.draw(st.booleans())},
            }
        )
        for step in plan.steps
    ]
    if not steps:
        return
    run = worlds.run(Plan(steps=tuple(steps)), slots=slots, retries=1)
    shared = lanes(bars(run))
    assert len(shared) <= slots
    for lane in shared:
        assert all(one.end <= other.start for one, other in pairwise(lane))
    started = sum(isinstance(event, e.StepStarted) for event in run.events)
    assert sum(map(len, shared)) == started


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


def test_judging_has_a_lane_replanning_its_reason_and_failed_by_verdict_is_said_in_words() -> None:
    figure = views.timeline(worlds.replanned())
    assert figure.text == (
        "5 steps in 75 s, 6 s of it planning and 4 s judging\n"
        "  planner    planning                                                 0 s   –  3 s   done\n"
        "  planner    replanning after a failure                               43 s  –  46 s  done\n"
        "  slot 1     step 1                      List the endpoints           3 s   –  5 s   done               critical\n"
        "  slot 1     step 2                      Update endpoints to use JWT  6 s   –  26 s  done               critical\n"
        "  slot 1     step 3                      Update tests                 27 s  –  42 s  failed by verdict  critical\n"
        "  slot 1     step 2b                     Fix the token header         46 s  –  51 s  done               critical\n"
        "  slot 1     step 3                      Update tests                 51 s  –  66 s  done               critical\n"
        "  slot 1     step 4                      Run test suite               67 s  –  75 s  done               critical\n"
        "  evaluator  judging 1                                                5 s   –  6 s   accepted\n"
        "  evaluator  judging 2                                                26 s  –  27 s  accepted\n"
        "  evaluator  judging 3                                                42 s  –  43 s  replan\n"
        "  evaluator  judging 3                                                66 s  –  67 s  accepted\n"
        "Step 3 failed by verdict at 43 s (replan): 2 endpoints answer <401>.\n"
        "Superseded by a later plan: 5.\n"
        "Thick outline: the critical path 1 → 2 → 2b → 3 → 4, 65 s."
    )
    for words in (
        "3 ✗\u00a0failed by\u00a0verdict",
        "3 ✗\u00a0replan",
        "1 ✓\u00a0accepted",
        "replanning after a failure",
    ):
        assert f">{words}<" in figure.svg
    assert views.durations(worlds.replanned())["3"] == 30


def test_an_evaluator_that_fails_and_news_are_told_below() -> None:
    text = views.timeline(worlds.midway()).text
    assert "replanning after news" in text
    assert "  evaluator  judging 2                                9 s   –  10 s  failed\n" in text
    assert "  evaluator  judging 4                                15 s  –  15 s  running\n" in text
    assert text.endswith(
        "No verdict on step 2 at 10 s (RuntimeError: no model).\n"
        "News: “the window closes at <18:00>”.\nSuperseded by a later plan: 3."
    )


@pytest.mark.parametrize(("verdict", "state"), [("retry", "done"), ("replan", "failed"), ("accept", "done")])
def test_a_verdict_belongs_to_the_try_that_it_is_about(verdict: e.Judgement, state: str) -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False, evaluator=True))
    run.record(e.PlanProposed(0.0, worlds.criteria(worlds.chain(1), "1")))
    run.record(e.StepStarted(0.0, "1", 1, 2))
    run.record(e.StepDone(1.0, "1", "thin", 1.0))
    run.record(e.JudgeStarted(1.0, "1"))
    run.record(e.Judged(1.0, "1", verdict, "too thin"))
    if verdict == "retry":
        run.record(e.StepStarted(1.0, "1", 2, 2))
        run.record(e.StepDone(2.0, "1", "thick", 1.0))
        run.record(e.JudgeStarted(2.0, "1"))
        run.record(e.Judged(2.0, "1", "accept"))
    states = [bar.state for bar in bars(run) if not bar.what]
    by_verdict = [] if verdict == "accept" else ["failed by verdict"]
    assert states == by_verdict + (["done"] if state == "done" else [])
    assert ("Step 1 failed by verdict at 1 s" in views.timeline(run).text) == bool(by_verdict)
    assert "Step 1 failed:" not in views.timeline(run).text


def test_a_verdict_with_the_same_words_is_told_once_and_many_are_counted() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False, evaluator=True))
    run.record(e.PlanProposed(0.0, worlds.criteria(worlds.chain(1), "1")))
    for number in range(9):
        run.record(e.StepStarted(float(number), "1", number + 1, 9))
        run.record(e.StepDone(number + 1.0, "1", None, 1.0))
        run.record(e.JudgeStarted(number + 1.0, "1"))
        run.record(e.Judged(number + 1.0, "1", "retry", f"too thin by {number // 8 + number % 8}"))
    assert "Step 1 failed by verdict at 2 s and 9 s (retry): too thin by 1." in views.timeline(run).text
    assert "And 2 more verdicts." in views.timeline(run).text


@pytest.mark.parametrize(
    ("inside", "beside", "said"),
    [
        (200, 0, ["replanning after a failure"]),
        (90, 0, ["replanning after", "a failure"]),
        (10, 80, ["replanning"]),
        (10, 55, ["repl…ing"]),
        (0, 9, []),
    ],
)
def test_a_planners_label_does_without_its_reason_before_it_is_shortened(
    inside: float, beside: float, said: list[str]
) -> None:
    bar = Bar(None, 0, 1, "done", what="replanning after a failure")
    lines = label(bar, "", inside, beside, rows=2)[0]
    assert lines == said
