"""The board: every step with its state, and what is wrong, in words."""

import pytest

from planexec_lab import views
from planexec_lite import ApproveAll, PlannerExecutor, Run, Simulated, Toolbox, ToolExecutor
from planexec_lite import events as e
from planexec_lite.plan import Problem
from planexec_lite.roles.reviewers import AskPerson
from tests.views import worlds


def test_the_text_of_a_failed_run() -> None:
    run = worlds.deploy(fails=["5"], retries=1)
    figure = views.board(run)
    assert figure.text == (
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
    assert [figure.table.count(f">{word}<") for word in ("✓ done", "✗ failed", "– skipped")] == [4, 1, 3]
    assert views.board(run.board) == figure


@pytest.mark.parametrize(
    ("reviewer", "title"),
    [
        (ApproveAll(), "Finished: 8 of 8 steps done"),
        (AskPerson(), "Paused for approval of the plan: 0 of 8 steps done"),
    ],
)
def test_the_title_says_what_a_run_waits_for(reviewer: ApproveAll | AskPerson, title: str) -> None:
    planner, executor = worlds.Planner(worlds.plan(worlds.DEPLOY)), ToolExecutor(Toolbox([worlds.work]))
    run = PlannerExecutor(planner, executor, reviewer, Simulated(4)).run("Deploy")
    assert views.board(run).title == title
    assert ("now: paused" in views.timeline(run).svg) == title.startswith("Paused")


def test_a_refused_plan_is_reported() -> None:
    run = Run([e.RunStarted(0.0, "goal", planner=True, reviewer=False)])
    assert views.board(run).text == "No plan yet"
    run.record(e.PlanStarted(0.0, "first"))
    run.record(e.PlanProposed(2.0, None, (Problem("not_json", None, "this is <prose>", "write JSON"),)))
    figure = views.board(run)
    assert "this is <prose>" in figure.text
    assert "this is &lt;prose&gt;" in figure._repr_html_()


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


def test_judging_unverified_superseded_and_news_are_said_in_words() -> None:
    run = worlds.midway()
    assert views.board(run).text == (
        "2 of 3 steps done\n"
        "  step  status              what              waits for  result\n"
        '  1     ✓ done              Read                         "read"\n'
        '  2     ✓ done, unverified  Back up           1          {"size": 4}\n'
        '  4     ? judging           Migrate the half  2          {"rows": 9}\n'
        "  3     ↷ superseded        Migrate           2\n"
        "Unverified: no evaluator judged 2 by its success criterion. News: “the window closes at <18:00>”."
    )
    for number in range(4):
        run.record(e.NewsReceived(15.0, f"news {number}"))
    assert views.board(run).caption.endswith("Earlier news: 2. News: “news 1”. News: “news 2”. News: “news 3”.")


def test_the_error_of_an_earlier_try_is_called_so() -> None:
    failed = e.StepStarted(0.0, "1", 1, 2), e.StepFailed(1.0, "1", "OSError: busy"), e.StepStarted(1.0, "1", 2, 2)
    assert "before: OSError: busy" in views.board(worlds.given(worlds.chain(1), *failed)).text
