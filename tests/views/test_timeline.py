"""The timeline: bars where the events say, one lane a slot, labels that fit, and failures in words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views.drawing.text_fitting import width
from planexec_lab.views.drawing.theme import SMALL
from planexec_lab.views.timeline_drawing.bars import Bar, bars, lanes
from planexec_lab.views.timeline_drawing.label import label
from planexec_lite import Plan, Policy, Run, Toolbox, ToolExecutor, execute, tool
from planexec_lite import events as e
from planexec_lite.tools import Limit
from tests.rounds import rounds
from tests.views import worlds
from tests.views.drawing import drawn, lines


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
        "Idle: slot 2 for 88 s, of 103 s.\n"
        "Thick outline: the critical path 1 → 2 → 4 → 5 → 6 → 7 → 8, 103 s, as long as the run. Dotted: idle."
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
    text = " ".join(drawn(figure))
    assert "✗" in text
    assert "Step 5 failed 3 times: RuntimeError" in text
    assert "Skipped: 6, 7 and 8." in text
    assert "Skipped: 6, 7 and 8." in figure.text


def test_what_came_through_at_its_second_try_is_not_said_to_be_undone() -> None:
    tries = iter([OSError("no network"), None])

    @tool(effects="idempotent", latency=1.0)
    def put() -> None:
        """Put it there; the first try fails."""
        if error := next(tries):
            raise error

    @tool(latency=1.0, effects="none")
    def look() -> None:
        """Look at it; it is not well."""
        raise ValueError("it is not well")

    @tool(latency=1.0, effects="none")
    def take_back() -> None:
        """Take it back."""

    undo = {"tool": "take_back"}
    plan = Plan.parse(
        [{"id": 1, "tool": "put", "retries": 1, "undo": undo}, {"id": 2, "tool": "look", "depends_on": [1]}]
    )
    tools = Toolbox([put, look, take_back])
    text = views.timeline(execute(plan, ToolExecutor(tools), policy=Policy(rollback="failed"))).text
    assert "Step 1 failed, then done." in text
    assert "Undone: 1." in text


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
    assert "  planner  planning             0 s   –  6 s   invalid" in figure.text
    assert "✗\u00a0invalid" in figure.svg


def test_what_is_in_flight_lasts_until_now() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False))
    run.record(e.PlanProposed(0.0, worlds.plan([("1", "a", 1, []), ("2", "b", 1, [])])))
    run.record(e.StepStarted(0.0, "1"))
    run.record(e.StepStarted(0.0, "2"))
    run.record(e.StepDone(5.0, "1", None, seconds=5.0))
    assert bars(run)[1] == Bar("2", 0.0, 5.0, "running")
    assert "now: running" in views.timeline(run).svg


def test_a_slot_says_how_long_it_was_idle_and_one_that_never_was_says_nothing() -> None:
    figure = views.timeline(worlds.run(worlds.plan(worlds.DEPLOY), slots=2))
    assert [words for words in drawn(figure) if words.startswith(("slot", "idle"))] == ["slot 1", "slot 2", "idle 88 s"]
    assert "Idle: slot 2 for 88 s, of 103 s." in figure.alt
    alone = views.timeline(worlds.run(worlds.plan(worlds.DEPLOY), slots=1))
    assert "idle" not in " ".join(drawn(alone)) + alone.text


def test_the_idle_time_of_many_slots_is_told_for_the_first_eight() -> None:
    text = views.timeline(worlds.run(worlds.plan([(str(n), "", n + 1, []) for n in range(11)]), slots=None)).text
    assert "slot 8 for 3 s and 2 more, of 11 s each." in text


@pytest.mark.slow
def test_the_critical_path_is_told_beside_the_length_of_the_run() -> None:
    rows = [("1", "", 4.0, []), ("2", "", 4.0, []), ("3", "", 2.0, ["1", "2"])]
    two, one = (views.timeline(worlds.run(worlds.plan(rows), slots)).caption for slots in (2, 1))
    assert "the critical path 1 → 3, 6 s, as long as the run." in two
    assert "the critical path 1 → 3, 6 s, 4 s less than the run." in one


def test_the_critical_path_is_joined_by_a_line_where_it_changes_lanes_or_waits() -> None:
    straight = worlds.run(worlds.chain(3))
    across = worlds.run(worlds.plan([("1", "", 1.0, []), ("2", "", 2.0, []), ("3", "", 3.0, ["2"])]))
    assert [len(lines(views.timeline(run), 2.5)) for run in (straight, across)] == [0, 1]


def test_planning_beside_the_steps_has_a_lane_and_stands_in_the_title() -> None:
    figure = views.timeline(worlds.streamed())
    assert figure.title == "2 steps in 8 s, 5 s of it planning; one after the other they would take 10 s"
    assert "  planner  planning         0 s  –  5 s  done" in figure.text
    assert "  slot 1   step 1    Read   2 s  –  4 s  done  critical" in figure.text


def test_a_step_that_was_taken_back_before_it_began_has_no_bar_of_that_start() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False))
    run.record(e.PlanProposed(0.0, worlds.plan([("1", "a", 1, []), ("2", "b", 1, [])])))
    run.record(e.StepStarted(0.0, "1"))
    run.record(e.StepStarted(0.0, "2"))
    run.record(e.StepDone(1.0, "1", None, seconds=1.0))
    run.record(e.Requeued(1.0, "2", "cancelled"))
    assert [bar.step for bar in bars(run)] == ["1"]
    assert "Never started: 2." in views.timeline(run).text
    run.record(e.StepStarted(1.0, "2"))
    run.record(e.StepDone(3.0, "2", None, seconds=2.0))
    assert bars(run)[1] == Bar("2", 1.0, 3.0, "done")


def test_a_late_result_is_told_and_does_not_count() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False))
    run.record(e.PlanProposed(0.0, worlds.chain(2)))
    run.record(e.StepStarted(0.0, "1"))
    run.record(e.StepFailed(2.0, "1", "no answer in 2 s", 2.0, in_doubt=True))
    run.record(e.StepLate(5.0, "1", "made", None, 5.0))
    figure = views.timeline(run)
    assert bars(run) == [Bar("1", 0.0, 2.0, "failed")]
    assert "Step 1 had timed out; its result at 5 s does not count." in drawn(figure)
    assert "had timed out" in figure.text


def test_what_only_so_many_steps_may_use_is_told_with_the_steps_that_did() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False, limits=(Limit("oven", ("work",), 1),)))
    run.record(e.PlanProposed(0.0, worlds.plan([("1", "a", 1, []), ("2", "b", 1, [])])))
    for id, start in (("1", 0.0), ("2", 1.0)):
        run.record(e.StepStarted(start, id))
        run.record(e.StepDone(start + 1, id, None, 1.0))
    assert "oven: 1 at once, used by 1 and 2." in views.timeline(run).text


@rounds(30)
@given(worlds.plans(), st.integers(1, 5), st.data())
def test_bars_of_a_lane_follow_one_another_and_lanes_are_no_more_than_slots(
    plan: Plan, slots: int, data: st.DataObject
) -> None:
    steps = [
        step.model_copy(
            update={
                "tool": "work",
                "description": step.description.replace("\ud800", ""),  # what JSON can't hold is never run
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


def test_judging_has_a_lane_replanning_a_reason_and_a_failing_verdict_words() -> None:
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
        "Idle: slot 1 for 10 s, of 75 s.\n"
        "Step 3 failed by verdict at 43 s (replan): 2 endpoints answer <401>.\n"
        "Superseded by a later plan: 5.\n"
        "Thick outline: the critical path 1 → 2 → 2b → 3 → 4, 65 s, 10 s less than the run. Dotted: idle."
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
        "News: “the window closes at <18:00>”.\nSuperseded by a later plan: 3.\nDotted: idle."
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


def test_a_verdict_with_the_same_words_is_told_once() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False, evaluator=True))
    run.record(e.PlanProposed(0.0, worlds.criteria(worlds.chain(1), "1")))
    for number in range(9):
        run.record(e.StepStarted(float(number), "1", number + 1, 9))
        run.record(e.StepDone(number + 1.0, "1", None, 1.0))
        run.record(e.JudgeStarted(number + 1.0, "1"))
        run.record(e.Judged(number + 1.0, "1", "retry", f"too thin by {number // 8 + number % 8}"))
    assert "Step 1 failed by verdict at 2 s and 9 s (retry): too thin by 1." in views.timeline(run).text


@pytest.mark.parametrize(
    ("inside", "beside", "expected"),
    [
        (200, 0, ["replanning after a failure"]),
        (90, 0, ["replanning after", "a failure"]),
        (10, 80, ["replanning"]),
        (10, 55, ["repl…ing"]),
        (0, 9, []),
    ],
)
def test_a_planners_label_does_without_its_reason_before_it_is_shortened(
    inside: float, beside: float, expected: list[str]
) -> None:
    bar = Bar(None, 0, 1, "done", what="replanning after a failure")
    lines = label(bar, "", inside, beside, rows=2)[0]
    assert lines == expected
