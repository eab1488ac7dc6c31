"""A planner with an executor is an executor too: bounded, metered, told to the run around it, and paused with it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lab import views
from planexec_lab.views.narration import trace
from planexec_lite import (
    ApproveAll,
    Board,
    HybridExecutor,
    LLMPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RulePlanner,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.decisions import Decision
from planexec_lite.events import Inside, RunStarted, StepDone, from_dict, to_dict
from planexec_lite.model.prompt_text import DATA_RULE
from planexec_lite.roles.reviewers import AskPerson
from tests.core.sums import FIRST, GOAL, SECOND, FakeClient
from tests.core.sums import TOOLS as SUMS

CALLED: list[str] = []


@tool(latency=2.0, effects="none")
def chop(what: str) -> str:
    """Chop something."""
    CALLED.append(what)
    return f"chopped {what}"


@tool(latency=3.0, effects="none")
def boil(what: str) -> str:
    """Boil something."""
    CALLED.append(what)
    if what == "a stone":
        raise ValueError("it stays hard")
    return f"boiled {what}"


TOOLS = Toolbox([chop, boil])
OUTER = [
    {"id": 1, "description": "prepare leeks"},
    {"id": 2, "description": "prepare carrots"},
    {"id": 3, "description": "serve", "depends_on": [1, 2]},
]


def inner_rule(goal: str) -> Any:
    """Chop what is to be prepared, then boil it; serving is one call."""
    words = goal.splitlines()[0].split()
    if words[0] == "serve":
        return [{"id": "plate", "tool": "chop", "params": {"what": "parsley"}}]
    return [
        {"id": "a", "tool": "chop", "params": {"what": words[-1]}},
        {"id": "b", "tool": "boil", "params": {"what": "{step_a_result}"}, "depends_on": ["a"]},
    ]


def inner(**options: Any) -> PlannerExecutor:
    CALLED.clear()
    return PlannerExecutor(RulePlanner(inner_rule), ToolExecutor(TOOLS), workers=Simulated(), **options)


def outer(executor: Any, plan: Any = OUTER, **options: Any) -> PlannerExecutor:
    return PlannerExecutor(RulePlanner(lambda goal: plan), executor, workers=Simulated(), **options)


def test_a_planner_with_an_executor_carries_out_steps() -> None:
    run = outer(inner()).run("dinner")
    assert (run.status, run.reason) == ("finished", "3 steps done")
    assert run.results == {"1": "boiled chopped leeks", "2": "boiled chopped carrots", "3": "chopped parsley"}
    assert run.answer == "chopped parsley"


def test_it_says_which_tools_it_has() -> None:
    assert inner().tools is TOOLS
    assert [tool.name for tool in HybridExecutor(ToolExecutor(TOOLS), inner()).tools] == ["chop", "boil"]
    assert execute(Plan.parse(OUTER), inner(), workers=Simulated()).status == "finished"


def test_the_clock_of_the_run_around_takes_in_the_time_inside() -> None:
    run = outer(inner()).run("dinner")
    assert run.makespan == 7.0  # 2 + 3 for both preparations, side by side, then 2
    assert [event.seconds for event in run.events if isinstance(event, StepDone)] == [5.0, 5.0, 2.0]
    chopped = [event for event in run.events if isinstance(event, Inside) and isinstance(event.event, StepDone)]
    assert [(event.step, event.event.step, event.at) for event in chopped] == [
        ("1", "a", 2.0),
        ("1", "b", 5.0),
        ("2", "a", 2.0),
        ("2", "b", 5.0),
        ("3", "plate", 7.0),
    ]


@pytest.mark.slow
def test_the_run_inside_can_be_looked_at_as_a_run_of_its_own() -> None:
    run = outer(inner()).run("dinner")
    inside = run.inside("2")
    assert (inside.status, inside.answer, inside.makespan) == ("finished", "boiled chopped carrots", 5.0)
    assert isinstance(inside.events[0], RunStarted)
    assert inside.events[0].goal == "prepare carrots"
    for draw in (views.board, views.timeline):
        assert "boil" in str(draw(inside).text)
    assert views.graph(inside.plan)
    with pytest.raises(ValueError, match="no run inside step 9"):
        run.inside("9")
    with pytest.raises(ValueError, match="no run inside step 1"):
        execute(Plan.parse([FIRST | {"tool": "chop", "params": {"what": "x"}}]), ToolExecutor(TOOLS)).inside("1")


def test_the_trace_tells_what_happens_inside_in_the_same_words() -> None:
    run = outer(outer(inner(), [{"id": "x", "description": "prepare leeks"}])).run("dinner")
    told = trace(run)
    assert "inside step 1: the run starts: prepare leeks" in told
    assert "inside step 1: inside step x: step a gives" in told
    assert "(at=" not in told


def test_events_of_a_run_inside_a_run_inside_are_written_and_read_back() -> None:
    run = outer(outer(inner(), [{"id": "x", "description": "prepare leeks"}])).run("dinner")
    assert run.inside("1").inside("x").answer == "boiled chopped leeks"
    assert [from_dict(to_dict(event)) for event in run.events] == run.events
    assert Board.of(run.events).results == run.results


def test_the_goal_inside_holds_the_task_its_criterion_and_what_came_before() -> None:
    goals: list[str] = []

    def rule(goal: str) -> Any:
        goals.append(goal)
        return [{"id": 1, "tool": "chop", "params": {"what": "x"}}]

    agent = PlannerExecutor(RulePlanner(rule), ToolExecutor(TOOLS), workers=Simulated())
    step = {"id": 2, "description": "taste it", "params": {"of": "{step_1_result}"}, "depends_on": [1],
            "success_criteria": "it is salty"}  # fmt: skip
    execute(Plan.parse([{"id": 1, "description": "cook"}, step]), agent, workers=Simulated())
    assert goals == [
        "cook",
        'taste it\nUse: data: {"of": "chopped x"}\nDone when: it is salty\n'
        f'{DATA_RULE}\nResult of step 1: data: "chopped x"',
    ]


def test_tokens_spent_inside_are_counted_once_outside() -> None:
    client = FakeClient({"goal": GOAL, "steps": [FIRST, SECOND], "rollback": [], "answer": None, "complete": True})
    agent = PlannerExecutor(LLMPlanner(client, "m"), ToolExecutor(SUMS), workers=Simulated())
    run = execute(Plan.parse([{"id": 1, "description": GOAL}]), agent, workers=Simulated())
    assert run.answer == 53
    assert (run.usage.calls, run.usage.input_tokens, run.usage.output_tokens) == (1, 100, 20)
    assert run.makespan == 1.5


def test_a_run_inside_that_fails_fails_the_step_and_says_why() -> None:
    plan = [{"id": 1, "description": "prepare it"}, {"id": 2, "description": "serve", "depends_on": [1]}]
    agent = PlannerExecutor(
        RulePlanner(lambda goal: [{"id": "b", "tool": "boil", "params": {"what": "a stone"}}]),
        ToolExecutor(TOOLS),
        workers=Simulated(),
    )
    run = outer(agent, plan).run("dinner")
    assert run.status == "failed"
    assert "the run inside failed: step b failed: ValueError: it stays hard" in run.board.errors["1"]
    assert run.inside("1").status == "failed"


def test_a_run_inside_has_its_own_bounds() -> None:
    def forever(goal: str) -> Any:
        return {"steps": [{"id": 1, "tool": "boil", "params": {"what": "a stone"}}]}

    agent = PlannerExecutor(RulePlanner(forever), ToolExecutor(TOOLS), workers=Simulated(), policy=Policy(max_steps=0))
    run = execute(Plan.parse([{"id": 1, "description": "prepare it"}]), agent, workers=Simulated())
    assert run.status == "failed"
    assert "max_repairs" in run.board.errors["1"]


def test_several_last_steps_inside_give_their_results_by_id() -> None:
    agent = PlannerExecutor(
        RulePlanner(lambda goal: [{"id": "a", "tool": "chop", "params": {"what": "x"}, "depends_on": []},
                                  {"id": "b", "tool": "boil", "params": {"what": "y"}, "depends_on": []}]),
        ToolExecutor(TOOLS), workers=Simulated(),
    )  # fmt: skip
    run = execute(Plan.parse([{"id": 1, "description": "both"}]), agent, workers=Simulated())
    assert run.answer == {"a": "chopped x", "b": "boiled y"}


def test_runs_inside_steps_work_on_threads() -> None:
    with ThreadPoolExecutor(2) as threads:
        agent = PlannerExecutor(RulePlanner(lambda goal: OUTER), inner(), workers=Pool(threads))
        run = agent.run("dinner")
    assert run.answer == "chopped parsley"
    assert run.inside("1").answer == "boiled chopped leeks"


ASKED = [{"id": 1, "description": "prepare leeks"}, {"id": 2, "description": "serve", "depends_on": [1]}]


def paused() -> tuple[PlannerExecutor, Run]:
    agent = outer(inner(reviewer=AskPerson()), ASKED)
    return agent, agent.run("dinner")


def test_a_pause_inside_pauses_the_run_around_it() -> None:
    _, run = paused()
    assert (run.status, run.board.state["1"], CALLED) == ("paused", "waiting", [])
    assert run.reason == "waits for gate of step 1: the run inside waits for approval"
    assert run.inside("1").status == "paused"
    assert run.inside("1").board.proposal is not None
    assert [from_dict(to_dict(event)) for event in run.events] == run.events
    assert Run(run.events).status == "paused"


@pytest.mark.slow
def test_the_pictures_of_a_run_that_pauses_inside_say_so() -> None:
    agent, run = paused()
    assert "0 of 2 steps done" in views.timeline(run).text
    assert "step 1 pauses: the run inside waits for approval" in trace(run)
    run = agent.resume(run, Decision("approve", by="you"))
    assert [line.split()[-1] for line in views.timeline(run).text.splitlines() if "slot 1" in line][1:] == [
        "done",
        "paused",
    ]
    assert "approve" in trace(run)


def test_resuming_the_run_around_goes_on_with_the_run_inside() -> None:
    agent, run = paused()
    run = agent.resume(run, Decision("approve", by="you"))
    assert run.inside("1").status == "finished"
    assert CALLED == ["leeks", "chopped leeks"]
    reviewed = [
        event.event for event in run.events if isinstance(event, Inside) and type(event.event).__name__ == "Reviewed"
    ]
    assert [event.by for event in reviewed] == ["you"]
    assert (run.status, run.reason) == ("paused", "waits for gate of step 2: the run inside waits for approval")
    run = agent.resume(run, Decision("approve", by="you"))
    assert (run.status, run.answer, run.makespan) == ("finished", "chopped parsley", 7.0)
    assert CALLED == ["leeks", "chopped leeks", "parsley"]


def test_a_decision_about_the_plan_inside_is_taken_and_one_about_another_is_not() -> None:
    agent, run = paused()
    proposal = run.inside("1").board.proposal
    assert proposal is not None
    with pytest.raises(ValueError, match="another plan"):
        agent.resume(run, Decision("approve", of="0" * 64))
    with pytest.raises(ValueError, match="edit"):
        agent.resume(run, Decision("approve", plan=proposal))
    assert agent.resume(run, Decision("approve", of=proposal.hash)).inside("1").status == "finished"


def test_a_no_to_the_run_inside_ends_the_run_around_it() -> None:
    agent, run = paused()
    run = agent.resume(run, Decision("reject", by="you", comment="no leeks"))
    assert (run.status, CALLED) == ("stopped", [])
    assert "no leeks" in run.reason


def test_a_pause_two_runs_deep_comes_to_the_top_and_goes_on_from_there() -> None:
    middle = outer(inner(reviewer=AskPerson()), [{"id": "m", "description": "prepare leeks"}])
    agent = outer(middle, [{"id": "t", "description": "all of it"}])
    run = agent.run("dinner")
    assert (run.status, run.inside("t").status, run.inside("t").inside("m").status) == ("paused",) * 3
    run = agent.resume(run, Decision("approve", by="you"))
    assert (run.status, run.answer) == ("finished", "boiled chopped leeks")
    assert CALLED == ["leeks", "chopped leeks"]


def test_steps_beside_one_that_waits_inside_are_finished_first() -> None:
    plan = [
        {"id": 1, "description": "prepare leeks"},
        {"id": 2, "tool": "boil", "params": {"what": "water"}, "depends_on": []},
    ]
    plan[0]["depends_on"] = []
    agent = outer(HybridExecutor(ToolExecutor(TOOLS), inner(reviewer=AskPerson())), plan)
    run = agent.run("dinner")
    assert (run.status, list(run.results)) == ("paused", ["2"])
    run = agent.resume(run, Decision("approve", by="you"))
    assert (run.status, CALLED) == ("finished", ["water", "leeks", "chopped leeks"])


def test_a_reviewer_of_the_run_around_answers_for_the_run_inside() -> None:
    agent = outer(inner(reviewer=AskPerson()), ASKED, reviewer=ApproveAll())
    assert agent.run("dinner").answer == "chopped parsley"
