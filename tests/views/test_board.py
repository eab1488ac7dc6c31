"""The board: every step with its state, and what is wrong, in words."""

import pytest

from planexec_lab import views
from planexec_lite import ApproveAll, Plan, PlannerExecutor, Run, Simulated, Toolbox, ToolExecutor
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


def test_a_rejected_result_says_so_and_the_caption_says_why() -> None:
    figure = views.board(worlds.replanned())
    assert figure.text == (
        "Finished: 5 of 5 steps done\n"
        "  step  status                   what                         waits for  result\n"
        '  1     ✓ done                   List the endpoints                      "took 2"\n'
        '  2     ✓ done, result rejected  Update endpoints to use JWT  1          "took 20"\n'
        '  2b    ✓ done                   Fix the token header         2          "took 5"\n'
        '  3     ✓ done                   Update tests                 2b         "took 15"\n'
        '  4     ✓ done                   Run test suite               3          "took 8"\n'
        "  5     ↷ superseded             Tell everybody               4\n"
        "The result of step 2 was rejected: 2 endpoints answer <401>."
    )
    assert ">result rejected</span>" in figure.table
    assert 'line-through">Tell everybody<' in figure.table
    assert "2 endpoints answer &lt;401&gt;" in figure._repr_html_()


def test_judging_unverified_superseded_and_news_are_said_in_words() -> None:
    figure = views.board(worlds.midway())
    assert figure.text == (
        "2 of 3 steps done\n"
        "  step  status              what              waits for  result\n"
        '  1     ✓ done              Read                         "read"\n'
        '  2     ✓ done, unverified  Back up           1          {"size": 4}\n'
        '  4     ? judging           Migrate the half  2          {"rows": 9}\n'
        "  3     ↷ superseded        Migrate           2\n"
        "Unverified: no evaluator judged 2 by its success criterion. News: “the window closes at <18:00>”."
    )
    assert figure.table.count(">unverified</span>") == 1
    assert figure.table.count("line-through") == 1


def test_without_an_evaluator_a_step_with_a_criterion_is_unverified() -> None:
    run = worlds.run(worlds.criteria(worlds.chain(2), "2"))
    assert "  2     ✓ done, unverified  Do part 2" in views.board(run).text


def test_only_the_latest_news_are_told_and_the_others_counted() -> None:
    run = worlds.midway()
    for number in range(4):
        run.record(e.NewsReceived(15.0, f"news {number}"))
    assert views.board(run).caption.endswith("Earlier news: 2. News: “news 1”. News: “news 2”. News: “news 3”.")


def test_the_error_of_an_earlier_try_is_called_so() -> None:
    run = Run()
    run.record(e.RunStarted(0.0, "goal", planner=False, reviewer=False))
    run.record(e.PlanProposed(0.0, worlds.chain(1)))
    run.record(e.StepStarted(0.0, "1", 1, 2))
    run.record(e.StepFailed(1.0, "1", "OSError: busy"))
    run.record(e.StepStarted(1.0, "1", 2, 2))
    assert "before: OSError: busy" in views.board(run).text
