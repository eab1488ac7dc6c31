"""Run anyway: a step that starts when what it depends on has ended, whatever became of it. A failure never counts as done."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.marks import bounds
from planexec_lite import (
    Inline,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    Run,
    Simulated,
    ToolExecutor,
    execute,
)
from planexec_lite.events import StepStarted
from tests.core.shapes import Job, Portions, Workshop, Writing, check_fold, check_replay, jobs, plan_of, starts, step
from tests.rounds import rounds


def work(id: str, *after: str, fails: int = 0, quarters: int = 4, anyway: bool = False, **more: Any) -> dict[str, Any]:
    return step(id, "work", *after, step=id, quarters=quarters, fails=fails, uses=[], **more) | {"run_anyway": anyway}


def run_of(*steps: dict[str, Any], workers: Any = None, **settings: Any) -> Run:
    policy = Policy(**settings)
    tools = ToolExecutor(Workshop().toolbox)
    run = execute(Plan.parse(list(steps)), tools, workers=workers or Simulated(), policy=policy)
    check_fold(run)
    check_replay(run, policy)
    return run


def states(run: Run) -> str:
    return ", ".join(f"{id} {state}" for id, state in run.board.state.items())


def test_it_runs_behind_a_failure_and_the_run_has_failed_all_the_same() -> None:
    run = run_of(work("1", fails=9), work("2", "1"), work("3", "1", anyway=True), work("4", "3"))
    assert states(run) == "1 failed, 2 skipped, 3 done, 4 done"
    assert (run.status, run.reason) == ("failed", "step 1 failed: RuntimeError: 1 went wrong; skipped behind it: 2")


def test_it_runs_behind_a_step_that_was_skipped() -> None:
    assert (
        states(run_of(work("1", fails=9), work("2", "1"), work("3", "2", anyway=True))) == "1 failed, 2 skipped, 3 done"
    )


def test_it_waits_until_all_have_ended() -> None:
    run = run_of(work("1", fails=9), work("2", quarters=20), work("3", "1", "2", anyway=True))
    assert starts(run) == [("1", 0.0), ("2", 0.0), ("3", 5.0)]


def test_a_failure_that_is_tried_again_has_not_ended() -> None:
    run = run_of(work("1", fails=1, retries=1), work("2", "1", anyway=True))
    assert starts(run) == [("1", 0.0), ("1", 1.0), ("2", 2.0)]
    assert run.status == "finished"


def test_where_a_failure_stops_the_run_it_does_not_start() -> None:
    run = run_of(work("1", fails=9), work("2", "1", anyway=True), failure="stop")
    assert (run.status, states(run)) == ("failed", "1 failed, 2 waiting")


def test_it_gets_the_results_that_are_there_and_another_is_an_error() -> None:
    given: list[Any] = []

    class Noting(ToolExecutor):
        def execute(self, step: Any, inputs: Any) -> Any:
            given.append(dict(inputs))
            return super().execute(step, inputs)

    steps = [
        work("1", fails=9),
        work("2"),
        work("3", "1", "2", anyway=True),
        {"id": "4", "tool": "work", "params": {"input": "{step_1_result}"}, "depends_on": ["1"], "run_anyway": True},
    ]
    steps[3]["params"] = {"step": "{step_1_result}", "quarters": 1, "fails": 0, "uses": []}
    run = execute(Plan.parse(steps), Noting(Workshop().toolbox), workers=Simulated())
    assert given[2] == {"2": run.results["2"]}
    assert run.board.errors["4"] == "MissingResultError: {step_1_result}: step 1 has no result"


def test_a_replan_comes_first_and_what_was_to_run_anyway_is_planned_again() -> None:
    workshop = Workshop()
    agent = PlannerExecutor(
        Portions([work("1", fails=9), work("2", "1", anyway=True)], [work("3")]),
        ToolExecutor(workshop.toolbox),
        workers=Simulated(),
        policy=Policy(replan="failure"),
    )
    run = agent.run("build")
    assert (run.status, list(workshop.calls)) == ("finished", ["1", "3"])
    assert run.board.state["2"] == "superseded"


def test_it_may_arrive_after_the_failure_while_the_planner_still_writes() -> None:
    answer = [work("1", fails=9), 10.0, work("2", "1", anyway=True), work("3", "1"), 10.0]
    whole = Plan.parse([answer[0], answer[2], answer[3]])
    agent = PlannerExecutor(Writing([*answer, lambda: whole]), ToolExecutor(Workshop().toolbox), workers=Simulated())
    run = agent.run("build")
    check_fold(run)
    assert {id: state for id, state in run.board.state.items() if id != "3"} == {"1": "failed", "2": "done"}


def test_the_plan_says_so_and_so_does_the_desk() -> None:
    plan = Plan.parse([work("1"), work("2", "1", anyway=True)])
    assert '"run_anyway": true' in plan.to_json()
    assert plan.to_json().count("run_anyway") == 1
    assert Plan.parse(plan.to_json()) == plan
    assert plan.hash != Plan.parse([work("1"), work("2", "1")]).hash
    rows = Draft.of(plan, Workshop().toolbox).rows
    assert [bounds(row) for row in rows] == [[], ["runs even if what it waits for fails"]]


def by_hand(made: list[Job], anyway: set[str]) -> dict[str, str]:
    """What becomes of each step where a failure skips its dependents."""
    ended: dict[str, str] = {}
    while len(ended) < len(made):
        for job in made:
            if job.id not in ended and ended.keys() >= set(job.waits_for):
                begins = job.id in anyway or all(ended[other] == "done" for other in job.waits_for)
                ended[job.id] = "skipped" if not begins else "done" if job.works_out else "failed"
    return ended


@given(jobs(), st.data(), st.sampled_from(("threads", "inline", "simulated")), st.sampled_from((1, 3, None)))
@rounds(200)
def test_random_plans_end_as_by_hand_and_nothing_starts_too_early(
    made: list[Job], data: st.DataObject, kind: Literal["threads", "inline", "simulated"], slots: int | None
) -> None:
    anyway = set(data.draw(st.lists(st.sampled_from([job.id for job in made]))))
    plan = plan_of(made)
    plan = plan.changed(
        steps=tuple(
            one.model_copy(update={"run_anyway": one.id in anyway, "params": {**one.params, "uses": []}})
            for one in plan.steps
        )
    )
    workshop = Workshop()
    if kind == "threads":
        with ThreadPoolExecutor(3) as threads:
            run = execute(plan, ToolExecutor(workshop.toolbox), workers=Pool(threads, slots))
    else:
        workers = Simulated(slots) if kind == "simulated" else Inline()
        run = execute(plan, ToolExecutor(workshop.toolbox), workers=workers)
    check_fold(run)
    expected = by_hand(made, anyway)
    assert dict(run.board.state) == expected
    assert (run.status == "finished") == (set(expected.values()) <= {"done"})
    board = type(run.board)()
    for event in run.events:
        if isinstance(event, StepStarted):
            before = [board.state[other] for other in board.steps[event.step].depends_on]
            fits = ("done", "failed", "skipped") if event.step in anyway else ("done",)
            assert all(state in fits for state in before), f"{event.step} began too early"
            assert not set(board.retry) & set(board.steps[event.step].depends_on)
        board.apply(event)


@pytest.mark.parametrize("value", [True, False])
def test_a_plan_in_json_may_say_it(value: bool) -> None:
    assert Plan.parse([work("1", anyway=value)]).steps[0].run_anyway is value
