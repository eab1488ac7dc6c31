"""What a run inside a step did is taken back with the run around it, step by step."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lab.views.narration import trace
from planexec_lab.views.review_desk import desk
from planexec_lite import (
    Decision,
    HybridExecutor,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    Pool,
    Simulated,
    Team,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.assembly import Board
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.events import (
    Inside,
    PlanProposed,
    RunStarted,
    StepDone,
    UndoStarted,
)
from planexec_lite.meter import emit
from tests.capabilities.scaffold import FAILED, Site, broken, call, up
from tests.core.deep import NO, YES, to_the_end
from tests.core.shapes import Portions, check_fold, step
from tests.views.test_review_desk import words

BUILD = step("1", None, description="build")


def around(site: Site, inner: PlannerExecutor, *steps: Any, policy: Policy = FAILED, **more: Any) -> PlannerExecutor:
    """An agent whose steps are runs of `inner`, but for those that name a tool."""
    executor = HybridExecutor(ToolExecutor(site.tools), inner)
    return PlannerExecutor(Portions([*steps]), executor, **{"workers": Simulated(), "policy": policy, **more})


def test_what_was_done_inside_is_undone_in_its_place() -> None:
    site = Site()
    agent = around(site, site.agent([up("a"), up("b", "a")]), up("0"), BUILD | {"depends_on": ["0"]}, broken("2", "1"))
    run = agent.run("build")
    check_fold(run)
    assert (run.status, site.log) == ("rolled back", ["+0", "+a", "+b", "-b", "-a", "-0"])
    assert run.reason.endswith("; undone: 1/b, 1/a, 0")
    assert run.board.state == {"0": "undone", "1": "undone", "2": "failed"}
    assert "inside step 1: the undo of step b is called: take_down(name={step_b_result.name})" in trace(run)


def test_runs_inside_that_went_on_side_by_side_are_undone_one_after_the_other() -> None:
    site = Site()
    inner = PlannerExecutor(
        Portions([up("a", quarters=2), up("b", "a", quarters=6)], [up("c", quarters=4), up("d", "c", quarters=8)]),
        ToolExecutor(site.tools),
        workers=Simulated(),
    )
    agent = around(site, inner, BUILD, step("2", None, description="build"))
    run = agent.roll_back(agent.run("build"))
    assert run.board[Rollback].undone == ["2/d", "2/c", "1/b", "1/a"]


def test_an_undo_of_the_outer_step_stands_for_all_inside() -> None:
    site = Site()
    outer = BUILD | {"undo": call("tell", text="all of it")}
    agent = around(site, site.agent([up("a"), up("b", "a", undo=None)]), outer, broken("2", "1"))
    run = agent.run("build")
    assert (site.log, run.board[Rollback].undone) == (["+a", "+b", "!all of it"], ["1"])
    assert run.board[Rollback].remains == []
    again = agent.roll_back(run)
    assert again.reason == "asked for; nothing was undone"


def test_what_can_not_be_undone_inside_is_named_and_the_step_stays_done() -> None:
    site = Site()
    agent = around(site, site.agent([up("a"), step("b", "tell", "a", text="done")]), BUILD, broken("2", "1"))
    run = agent.run("build")
    assert run.reason.endswith("; undone: 1/a; not undone: 1/b (no undo of its own)")
    assert run.board.state["1"] == "done"


def test_a_run_inside_that_changed_nothing_leaves_nothing_to_take_back() -> None:
    site = Site()
    run = around(site, site.agent([step("a", "look")]), BUILD, broken("2", "1")).run("build")
    assert (run.status, run.board[Rollback].started) == ("failed", None)


def test_a_run_inside_that_failed_and_kept_its_work_is_taken_back_from_outside() -> None:
    site = Site()
    run = around(site, site.agent([up("a"), broken("b", "a")], policy=Policy()), BUILD).run("build")
    assert (run.status, site.log, run.board.state) == ("rolled back", ["+a", "-a"], {"1": "failed"})


def test_what_was_done_again_in_another_try_is_undone_once() -> None:
    site = Site()
    site.tools = Toolbox([tool for tool in site.tools if tool.effects != "once"])
    inner = PlannerExecutor(
        Portions([up("a"), broken("b", "a")], [up("a"), up("c", "a")]), ToolExecutor(site.tools), workers=Simulated()
    )
    run = around(site, inner, BUILD | {"retries": 1}, broken("2", "1")).run("build")
    check_fold(run)
    assert site.log == ["+a", "+a", "+c", "-c", "-a"]
    assert run.board[Rollback].remains == []


def test_what_the_plan_inside_lists_comes_behind_its_steps() -> None:
    site = Site()
    inner = site.agent({"steps": [up("a", undo=None), up("b", "a")], "rollback": [
        call("take_down", name="{step_a_result.name}"), call("take_down", name="b"), call("tell", text="sorry")]})  # fmt: skip
    agent = around(site, inner, up("0"), BUILD | {"depends_on": ["0"]}, broken("2", "1"))
    run = agent.run("build")
    check_fold(run)
    assert site.log == ["+0", "+a", "+b", "-b", "-a", "!sorry", "-0"]
    assert run.reason.endswith(
        "; undone: 1/b, 0; called: 1/rollback 1, 1/rollback 3; not undone: 1/a (no undo of its own)"
    )
    assert agent.roll_back(run).reason.endswith("asked for; nothing was undone; not undone: 1/a (no undo of its own)")


def test_what_a_run_inside_could_not_undo_is_tried_again_only_by_hand() -> None:
    site = Site(stuck="a")
    agent = around(site, site.agent([up("a"), up("b", "a"), broken("c", "b")]), BUILD)
    run = agent.run("build")
    assert site.log == ["+a", "+b", "-b", "-a"]
    assert run.board[Rollback].remains == [("1/a", "RuntimeError: a is stuck")]
    site.stuck.clear()
    assert agent.roll_back(run).reason == "asked for; undone: 1/a"
    assert site.standing == []


def asking(id: str, *after: str) -> dict[str, Any]:
    one = up(id, *after)
    return one | {"undo": one["undo"] | {"gate": True}}


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_no_to_an_undo_inside_leaves_that_out_and_the_rest_goes_on(depth: int) -> None:
    site = Site()
    agent = site.agent([asking("a"), asking("b", "a"), asking("c", "b"), broken("d", "c")])
    for _ in range(depth):
        agent = around(site, agent, BUILD)
    run, asked = to_the_end(agent, agent.run("build"), lambda gate: NO if gate == "undo b" else YES)
    check_fold(run)
    assert asked == ["undo c", "undo b", "undo a"]
    assert (run.status, site.standing) == ("rolled back", ["b"])
    assert run.board[Rollback].remains == [("1/" * depth + "b", "Ada rejected it: not now")]


def test_a_run_that_waits_inside_is_taken_back() -> None:
    site = Site()
    agent = around(site, site.agent([up("a"), up("b", "a", gate=True)]), up("0"), BUILD | {"depends_on": ["0"]})
    waits = agent.run("build")
    assert waits.status == "paused"
    assert agent.roll_back(waits).reason == "asked for; undone: 1/a, 0"


def test_the_desk_shows_what_an_undo_inside_is_given() -> None:
    site = Site()
    agent = around(site, site.agent([up("a"), asking("b", "a")]), BUILD)
    text = words(desk(agent.roll_back(agent.run("build")), site.tools, by="Ada"))
    assert "The run inside waits before the undo of step b." in text


@pytest.mark.slow
def test_on_threads_too() -> None:
    site = Site()
    with ThreadPoolExecutor(2) as threads:
        inner = PlannerExecutor(Portions([up("a"), up("b", "a")]), ToolExecutor(site.tools))
        agent = around(site, inner, BUILD, up("2", "1"), workers=Pool(threads))
        run = agent.roll_back(agent.run("build"))
    assert (run.reason, site.log[3:]) == ("asked for; undone: 2, 1/b, 1/a", ["-2", "-b", "-a"])


PLAN = Plan.parse([up("a")])
LIKE_A_RUN: dict[str, list[Any]] = {
    "a result out of nowhere": [StepDone(0.0, "a", 1)],
    "a run that skips its plan": [RunStarted(0.0, "x", True, False), StepDone(0.0, "a", 1)],
    "a plan alone": [PlanProposed(0.0, PLAN)],
    "an event with odd fields": [RunStarted(0.0, "x", True, False, effects=7), PlanProposed(0.0, 3)],  # type: ignore[arg-type]
    "an event inside nowhere": [RunStarted(0.0, "x", True, False), Inside(0.0, "q", Inside(0.0, "r", 5))],
    "no event": [{"event": "RunStarted"}, 5, None],
}


@pytest.mark.parametrize("emitted", LIKE_A_RUN.values(), ids=LIKE_A_RUN)
def test_what_only_looks_like_a_run_breaks_nothing(emitted: list[Any]) -> None:
    site = Site()

    def build() -> str:
        """Build, and tell strange things."""
        for event in emitted:
            emit(event)
        return "built"

    tools = Toolbox([*site.tools, Tool(build, effects="idempotent")])
    run = execute(Plan.parse([step("1", "build"), broken("2", "1")]), ToolExecutor(tools), policy=FAILED)
    assert (run.status, run.board.state) == ("rolled back", {"1": "done", "2": "failed"})
    assert run.board[Rollback].remains == [("1", "no undo of its own")]
    assert Board.of(run.events) == run.board
    assert UndoStarted not in map(type, run.events)


def test_a_decision_names_the_undo_inside() -> None:
    site = Site()
    agent = around(site, site.agent([asking("a")]), BUILD)
    run = agent.roll_back(agent.run("build"))
    assert run.reason == "waits inside step 1, before the undo of step a"
    with pytest.raises(ValueError, match="this run waits inside step 1, before the undo of step a"):
        agent.resume(run, Decision("approve", gate="undo a"))
    assert agent.resume(run, Decision("approve", gate="undo 1")).status == "rolled back"


def test_three_levels_deep_the_latest_comes_first() -> None:
    site = Site()
    plans = [up("a", quarters=2), up("b", "a", quarters=6)], [up("c", quarters=4), up("d", "c", quarters=8)]
    inner = PlannerExecutor(Portions(*plans), ToolExecutor(site.tools), workers=Simulated())
    agent = around(site, around(site, inner, step("m", None), step("n", None)), BUILD)
    run = agent.roll_back(agent.run("build"))
    assert run.board[Rollback].undone == ["1/n/d", "1/n/c", "1/m/b", "1/m/a"]


# a plan that has to say how it is taken back


NEEDED = Policy(rollback="failed", require_undo=True)


def executors(site: Site, inner: PlannerExecutor) -> dict[str, Any]:
    """The ways in which a step without a tool comes to be a run of `inner`."""
    return {
        "itself": inner,
        "hybrid": HybridExecutor(ToolExecutor(site.tools), inner),
        "team": Team({"crew": inner, "tools": ToolExecutor(site.tools)}),
    }


@pytest.mark.parametrize("way", ["itself", "hybrid", "team"])
def test_a_step_whose_run_must_say_how_it_is_taken_back_needs_no_undo(way: str) -> None:
    site = Site()
    inner = site.agent([up("a"), broken("b", "a")], policy=NEEDED)
    agent = PlannerExecutor(Portions([BUILD]), executors(site, inner)[way], workers=Simulated(), policy=NEEDED)
    run = agent.run("build")
    check_fold(run)
    assert (run.status, site.log) == ("failed", ["+a", "-a"])
    plan = Plan.parse([BUILD, {**BUILD, "id": "2"}])
    finished = site.agent([up("c")], policy=NEEDED)
    again = execute(plan, executors(site, finished)[way], workers=Simulated(), policy=NEEDED)
    assert (again.status, site.log) == ("finished", ["+a", "-a", "+c", "+c"])


@pytest.mark.parametrize("way", ["itself", "hybrid", "team"])
def test_a_step_whose_run_need_not_say_it_needs_an_undo_as_any(way: str) -> None:
    site = Site()
    executor = executors(site, site.agent([up("a", undo=None)], policy=FAILED))[way]
    with pytest.raises(PlanError) as caught:
        execute(Plan.parse([BUILD]), executor, workers=Simulated(), policy=NEEDED)
    assert [(problem.code, problem.step) for problem in caught.value.problems] == [("no_undo", "1")]
    assert site.log == []


def test_a_call_beside_a_run_inside_needs_an_undo_all_the_same() -> None:
    site = Site()
    agent = around(site, site.agent([up("a")], policy=NEEDED), BUILD, up("2", undo=None), policy=NEEDED)
    run = agent.run("build")
    assert run.status == "failed"
    assert [(problem.code, problem.step) for problem in run.board.problems] == [("no_undo", "2")]
    unfit = site.agent([up("a", undo=None)], policy=NEEDED)
    assert "no_undo" in str(around(site, unfit, BUILD, policy=NEEDED).run("build").events)
    assert site.log == []
