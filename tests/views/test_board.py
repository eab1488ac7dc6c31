"""The board: every step with its state, and what is wrong, in words."""

import pytest

from planexec_lite import ApproveAll, Plan, PlannerExecutor, Run, Simulated, Toolbox, ToolExecutor, views
from planexec_lite import events as e
from planexec_lite.plan import Problem
from tests.views import worlds


def test_the_text_of_a_failed_run() -> None:
    assert views.board(worlds.deploy(fails=["5"], retries=1)).text == (
        "Step 5 failed: 4 of 8 steps done, 3 skipped\n"
        "  step  status     what                        waits for  attempt  result\n"
        '  1     ✓ done     Run full test suite                    1 of 2   "took 20"\n'
        '  2     ✓ done     Build Docker image          1          1 of 2   "took 30"\n'
        '  3     ✓ done     Backup production database             1 of 2   "took 15"\n'
        '  4     ✓ done     Deploy to staging           2          1 of 2   "took 12"\n'
        "  5     ✗ failed   Verify staging works        4          2 of 2   RuntimeError: 3 of 12 checks failed\n"
        "  6     – skipped  Deploy to production        3, 5                step 5 failed\n"
        "  7     – skipped  Verify production works     6                   step 6 skipped\n"
        "  8     – skipped  Send notification           7                   step 7 skipped\n"
        "Ended: step 5 failed: RuntimeError: 3 of 12 checks failed; skipped behind it: 6, 7, 8."
    )


def test_text_and_html_name_the_same_steps_and_states() -> None:
    figure = views.board(worlds.deploy(fails=["5"]))
    for word, times in (("✓ done", 4), ("✗ failed", 1), ("– skipped", 3)):
        assert figure.text.count(word) == figure.table.count(f">{word}<") == times


def test_a_board_is_shown_like_its_run() -> None:
    run = worlds.deploy()
    assert views.board(run.board) == views.board(run)


def test_names_are_escaped() -> None:
    html = views.board(worlds.run(worlds.HOSTILE_PLAN))._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


class _Once:
    """A planner that gives one plan."""

    def __init__(self, plan: Plan) -> None:
        self.answer = plan

    def plan(self, goal: str, board: object, tools: object) -> Plan:
        return self.answer


@pytest.mark.parametrize("approved", [True, False])
def test_a_paused_run_says_what_it_waits_for(approved: bool) -> None:
    class Nobody:
        def review(self, plan: Plan, board: object, tools: object) -> None:
            return None

    steps = worlds.plan(worlds.DEPLOY).steps
    gated = Plan(steps=(*steps[:-1], steps[-1].model_copy(update={"gate": True})))
    reviewer = ApproveAll() if approved else Nobody()
    agent = PlannerExecutor(_Once(gated), ToolExecutor(Toolbox([worlds.work])), reviewer, Simulated(4))  # type: ignore[arg-type]
    run = agent.run("Deploy")
    expected = "Finished: 8 of 8 steps done" if approved else "Paused for approval of the plan: 0 of 8 steps done"
    assert views.board(run).title == expected
    if not approved:
        assert "now: paused" in views.timeline(run).svg


def test_a_refused_plan_is_reported() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=True, reviewer=False))
    assert views.board(run).text == "No plan yet"
    run.record(e.PlanStarted(0.0, "first"))
    run.record(e.PlanProposed(2.0, None, (Problem("not_json", None, "this is <prose>", "write JSON"),)))
    figure = views.board(run)
    assert "this is <prose>" in figure.text
    assert "this is &lt;prose&gt;" in figure._repr_html_()


def test_superseded_steps_stay_on_the_board_and_are_named_below_the_graph() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=True, reviewer=False))
    for steps in (["1", "2"], ["3"]):
        run.record(e.PlanStarted(run.board.now, "first"))
        run.record(
            e.PlanProposed(run.board.now, Plan(steps=worlds.plan([(id, f"Part {id}", 1, []) for id in steps]).steps))
        )
    assert views.board(run).text.count("↷ superseded") == 2
    assert "Not drawn: 1 and 2, superseded by a later plan." in views.graph(run).text
