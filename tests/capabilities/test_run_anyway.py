"""Run anyway: a step that starts after its dependencies have ended, done or failed. A failure never counts as done."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.marks import bounds
from planexec_lite import Inline, Plan, Pool, Simulated, ToolExecutor, execute
from planexec_lite.run.events import StepStarted
from tests.core.shapes import Job, Workshop, check_fold, jobs, plan_of, work
from tests.rounds import rounds


def test_it_gets_the_existing_results_and_a_missing_one_is_an_error() -> None:
    given: list[Any] = []

    class Noting(ToolExecutor):
        def execute(self, step: Any, inputs: Any) -> Any:
            given.append(dict(inputs))
            return super().execute(step, inputs)

    refers = work("4", "1", run_anyway=True)
    refers["params"]["step"] = "{step_1_result}"
    steps = [work("1", fails=9), work("2"), work("3", "1", "2", run_anyway=True), refers]
    run = execute(Plan.parse(steps), Noting(Workshop().toolbox), workers=Simulated())
    assert given[2] == {"2": run.results["2"]}
    assert run.board.errors["4"] == "MissingResultError: {step_1_result}: step 1 has no result"


def test_the_plan_and_the_desk_show_it() -> None:
    plan = Plan.parse([work("1"), work("2", "1", run_anyway=True)])
    assert '"run_anyway": true' in plan.to_json()
    assert plan.to_json().count("run_anyway") == 1
    assert Plan.parse(plan.to_json()) == plan
    assert plan.hash != Plan.parse([work("1"), work("2", "1")]).hash
    rows = Draft.of(plan, Workshop().toolbox).rows
    assert [bounds(row) for row in rows] == [[], ["runs even if what it waits for fails"]]


def by_hand(made: list[Job], anyway: set[str]) -> dict[str, str]:
    """Return the final state of each step if a failure skips its dependents."""
    ended: dict[str, str] = {}
    while len(ended) < len(made):
        for job in made:
            if job.id not in ended and ended.keys() >= set(job.waits_for):
                begins = job.id in anyway or all(ended[other] == "done" for other in job.waits_for)
                ended[job.id] = "skipped" if not begins else "done" if job.works_out else "failed"
    return ended


@given(jobs(), st.data(), st.sampled_from(("threads", "inline", "simulated")), st.sampled_from((1, 3, None)))
@rounds(200)
def test_random_plans_end_as_by_hand_and_no_step_starts_too_early(
    made: list[Job], data: st.DataObject, kind: str, slots: int | None
) -> None:
    limit, workshop = data.draw(st.sampled_from([{}, {"work": 1}, {"work": 2}])), Workshop()
    anyway = set(data.draw(st.lists(st.sampled_from([job.id for job in made]))))
    steps = [one.model_dump() | {"run_anyway": one.id in anyway} for one in plan_of(made).steps]
    plan = Plan.parse([one | {"params": one["params"] | {"uses": []}} for one in steps])
    with ThreadPoolExecutor(3) as threads:
        kinds = {"threads": Pool(threads, slots, limit), "simulated": Simulated(slots, limit), "inline": Inline()}
        run = execute(plan, ToolExecutor(workshop.toolbox), workers=kinds[kind])
    check_fold(run)
    assert workshop.most_busy <= min(slots or 3, 3, limit.get("work", 3))
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
