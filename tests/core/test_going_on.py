"""Resuming: interrupted, paused and failed runs; a person decides about a call in doubt; the tools must be the same."""

from typing import Any

import pytest

from planexec_lite import (
    ApproveAll,
    AskPerson,
    Board,
    Decision,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Run,
    Simulated,
    Tool,
    Toolbox,
)
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.capabilities.replanning import Replanning
from planexec_lite.run import events as e
from tests.core.agents import agent_for, carry_out
from tests.core.shapes import Portions, check_fold, left, step
from tests.core.world import World


def look(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "look", *after, name=id, **more)


def pay(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "pay", *after, name=id, **more)


def check(run: Run) -> Run:
    check_fold(run)
    assert not run.board.in_flight
    return run


def cut_off(run: Run) -> list[str | None]:
    events = [one for one in run.events if isinstance(one, e.Requeued | e.StepInDoubt)]
    return [one.step for one in events if getattr(one, "reason", "") != "cancelled"]


@pytest.mark.parametrize("workers", [Inline(), Simulated(), Simulated(1)], ids=["inline", "simulated", "one slot"])
@pytest.mark.parametrize("trip", "12345")
def test_a_call_that_is_interrupted_is_made_again_or_in_doubt(trip: str, workers: Any) -> None:
    world = World(cut=trip, after=True)
    agent = world.agent([look("1"), pay("2", "1"), look("3"), pay("4", "2", "3"), look("5", "4")], workers=workers)
    before = left(lambda: agent.run("go"))
    events = list(before.events)
    run = check(agent.resume(before))
    assert (before.status, before.events, trip in cut_off(run)) == ("running", events, True)
    assert world.done.count("2") == 1 >= world.done.count("4")
    if trip in "24":
        assert (run.status, run.board.state[trip], [*run.board[Doubt].attempts]) == ("paused", "in doubt", [trip])
        assert run.reason == f"waits for your answer: was step {trip} done?"
        assert agent.resume(run).status == "paused"
    else:
        assert run.status == "finished"
        assert (set(world.done), world.done.count(trip)) == (set("12345"), 2)
        assert {event.attempt for event in run.events if isinstance(event, e.StepStarted)} == {1}


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError], ids=["interrupt", "error"])
@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
def test_an_error_of_watch_leaves_no_step_in_doubt(problem: Any, workers: Any) -> None:
    for at in range(1, 7):
        seen: list[int] = []

        def watch(run: Run, at: int = at, seen: list[int] = seen) -> None:
            seen.append(1)
            if len(seen) == at:
                raise problem

        world, plan = World(), [pay("1"), pay("2", "1", success_criteria="fine"), pay("3", "2")]
        agent = world.agent(plan, evaluator=lambda *_: True, workers=workers, watch=watch)
        try:
            run = agent.run("go")
        except problem as caught:
            run = check(agent.resume(caught.run))
        assert (run.status, world.done, len(seen) >= at) == ("finished", ["1", "2", "3"], True)


def test_an_interrupted_planner_judge_or_reviewer_is_asked_again() -> None:
    stops = ["planner", "reviewer", "judge", "planner again"]

    def asked(role: str) -> bool:
        if role in stops:
            stops.remove(role)
            raise KeyboardInterrupt
        return True

    class Roles(Portions):
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            asked("planner again" if board.steps else "planner")
            return super().plan(goal, board, tools)

        def review(self, question: e.Question, board: Board, tools: Toolbox) -> Decision:
            return question.decide("approve" if asked("reviewer") else "reject")

    world, roles = World(broken=["2"]), Roles([pay("1", success_criteria="paid"), look("2", "1")], [look("3")])
    bounds: dict[str, Any] = {"replan": "failure", "max_replans": 1, "failure": "stop"}
    agent = world.agent(roles, reviewer=roles, evaluator=lambda *_: asked("judge"), **bounds)
    run = left(lambda: agent.run("go"))
    for _ in range(3):
        run = left(lambda run=run: agent.resume(run))  # type: ignore[misc]
    run = check(agent.resume(run))
    assert (run.status, world.done, run.board[Replanning].asked["replans"]) == ("finished", ["1", "2", "3"], 1)
    assert cut_off(run) == [None, "1", None]
    assert not run.board[Judging].unverified


def test_a_run_accepts_a_decision_only_if_it_waits_for_one() -> None:
    world = World(cut="2", after=True)
    agent = world.agent([look("1"), look("2", "1")], reviewer=AskPerson())
    run = agent.resume(agent.run("go"))
    assert (run.status, run.reason) == ("paused", "waits for approval")
    run = left(lambda: agent.resume(run, Decision("approve")))
    with pytest.raises(ValueError, match="does not wait for a decision"):
        agent.resume(run, Decision("approve"))
    run = agent.resume(run)
    assert (agent.resume(run).events, world.done) == (run.events, ["1", "2", "2"])
    with pytest.raises(ValueError, match="does not wait for a decision"):
        agent.resume(run, Decision("approve"))
    with pytest.raises(ValueError, match="has ended"):
        agent.tell(run, "x")


@pytest.mark.parametrize("text", [None, 5, object(), b"go", ["x"], "\ud800"], ids=lambda text: type(text).__name__)
def test_a_goal_or_news_that_is_not_text_is_rejected(text: Any, journal: Journal) -> None:
    planner = Portions([look("1")])
    agent = World().agent(planner, reviewer=AskPerson(), journal=journal)
    with pytest.raises(ValueError, match="the goal"):
        agent.run(text)
    assert planner.asked == 0
    run = agent.run("go")
    for tell in (lambda: agent.tell(run, text), lambda: journal.tell(1, text)):
        with pytest.raises(ValueError, match="news"):
            tell()
    assert (journal.inbox(1), list(run.inbox), journal.load(1).events) == ([], [], run.events)


PAYING = [
    step("1", "put", name="a", undo={"tool": "take_back", "params": {"name": "a"}}),
    step("2", "pay", "1", name="Ann", success_criteria="an id", undo={"tool": "refund", "params": {"name": "Ann"}}),
]


def doubted(uses: str = "{step_2_result}", after: bool = True, **more: Any) -> tuple[World, PlannerExecutor, Run]:
    """Return a world whose payment was cut off, the agent, and its run, which was resumed."""
    world = World(cut="Ann", after=after)
    agent = world.agent([*PAYING, step("3", "look", "2", name=uses)], **more)
    return world, agent, agent.resume(left(lambda: agent.run("pay Ann")))


@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_call_in_doubt_counts_or_is_made_as_the_answer_says(gone: bool, workers: Any) -> None:
    world, agent, run = doubted(after=gone, workers=workers)
    assert (run.status, run.question and str(run.question)) == ("paused", "your answer: was step 2 done?")
    run = agent.resume(run, Decision("done", result="Ann") if gone else Decision("not done"))
    assert (run.status, run.results["3"], world.done) == ("finished", "Ann", ["a", "Ann", "Ann"])
    assert {event.attempt for event in run.events if isinstance(event, e.StepStarted)} == {1}
    assert not +run.board[Doubt].attempts
    assert [one.sure for one in run.board[OnceCalls].spent.values()] == [True]
    assert Run(list(run.events)).board == run.board


IN_DOUBT = "not undone: 2 (unknown whether it was done); not undone: 1 (step 2, which depends on it, is in doubt)"


@pytest.mark.parametrize(
    ("answer", "made", "status", "reason"),
    [
        (Decision("reject"), [], "partly rolled back", f"nothing was undone; {IN_DOUBT}"),
        (Decision("not done"), ["undo a"], "rolled back", "undone: 1"),
        (Decision("done", result="Ann"), ["undo Ann", "undo a"], "rolled back", "undone: 2, 1"),
    ],
    ids=["no answer", "not done", "done"],
)
@pytest.mark.parametrize("roles", [{}, {"reviewer": ["approve"]}], ids=["no reviewer", "a reviewer"])
def test_a_rollback_asks_about_a_step_in_doubt_first(
    roles: dict[str, Any], answer: Decision, made: list[str], status: str, reason: str
) -> None:
    world, agent, run = doubted(**roles)
    run = agent.resume(run, Decision("roll back", "Ann", comment="too late"))
    assert run.reason == "waits for your answer: was step 2 done?"
    run = agent.resume(run, answer)
    assert (run.status, world.done) == (status, ["a", "Ann", *made])
    assert run.reason == f"Ann asked for it: too late; {reason}"
    check(run)


def test_a_persons_result_is_checked_and_judged_like_any_other() -> None:
    seen: list[object] = []

    def judge(_: object, result: Any) -> bool:
        seen.append(result)
        return bool(result["id"])

    _, agent, run = doubted("{step_2_result.id}", evaluator=judge)
    for result in (None, {"number": 1}, "1"):
        with pytest.raises(ValueError, match=r"step 3 uses \{step_2_result\.id\}, and .*; say what step 2 gave"):
            agent.resume(run, Decision("done", result=result))
    with pytest.raises(ValueError, match=r"step 2: pay returned a value of type object, which JSON can't hold"):
        agent.resume(run, Decision("done", result=object()))
    with pytest.raises(ValueError, match="a result goes with 'done'"):
        Decision("not done", result=1)
    assert agent.resume(run, Decision("done", result={"id": "7"})).status == "finished"
    assert seen == [{"id": "7"}]
    assert agent.resume(run, Decision("done", result={"id": ""})).status == "failed"


OTHER = e.Question("doubt", {"not done": "It starts again."}, step="3")


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision("approve"), r'"approve" is no answer to this question.*Answer "done", "not done", "roll back"'),
        (Decision("reject"), '"reject" is no answer to this question: your answer: was step 2 done'),
        (
            OTHER.decide("not done"),
            "answers another question; this run waits for your answer: was step 2 done",
        ),
        (Decision("not done", run="another run"), "answers another question"),
    ],
    ids=["yes", "no", "another doubt", "another run"],
)
def test_an_answer_to_another_question_does_not_count(decision: Decision, words: str) -> None:
    _, agent, run = doubted()
    with pytest.raises(ValueError, match=words):
        agent.resume(run, decision)
    asks = World().agent([look("1")], reviewer=AskPerson())
    with pytest.raises(ValueError, match='"done" is no answer to this question: approval'):
        asks.resume(asks.run("go"), Decision("done"))


@pytest.mark.parametrize("reviewer", [ApproveAll(), ["approve"]], ids=["approves all", "scripted"])
def test_a_reviewer_does_not_answer_for_a_person(reviewer: Any) -> None:
    world, agent, run = doubted(reviewer=reviewer)
    assert run.status == agent.resume(run).status == "paused"
    assert agent.resume(run, Decision("done", result="b")).status == "finished"
    assert world.done == ["a", "Ann", "b"]


YES = Decision("approve", by="Ada")


def send(name: str) -> str:
    return name


def send_to(name: str, address: str) -> str:
    return f"{name} to {address}"


def send_on(name: str, copy: str = "boss") -> str:
    return name


LOOK = Tool(send, name="look", effects="none")


def tools(function: Any = send, effects: Any = "once", **more: Any) -> list[Tool]:
    return [Tool(function, name="send", effects=effects, **more), LOOK]


CHANGED = {
    "gone": ([LOOK], ".*send"),
    "other parameters": (tools(send_to), ".*address"),
    "other effects": (tools(effects="none"), 'the effects of send were "once", and are "none"'),
    "another default": (tools(send_on), "send is not the tool that the plan was made with"),
    "it destroys now": (tools(destructive=True), "send is not the tool that the plan was made with"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_a_changed_tool_is_named_and_the_run_stays_as_it_is(name: str, journal: Journal) -> None:
    changed, words = CHANGED[name]
    steps = [step("1", "look", name="a"), step("2", "send", "1", name="{step_1_result}", gate=True)]
    before = carry_out(steps, tools(), journal=journal).events
    with pytest.raises(ValueError, match=f"the tools have changed since this run began: step 2: {words}"):
        agent_for(changed).resume(journal.load(1), YES)
    assert journal.load(1).events == before
    without_look = agent_for([Tool(send, effects="once")])  # no later step needs it
    assert without_look.resume(journal.load(1), YES).results == {"1": "a", "2": "a"}


def test_a_changed_tool_of_an_undo_is_named_however_the_run_continues() -> None:
    undo = {"tool": "send", "params": {"name": "b"}}
    steps = [step("1", "look", name="a", undo=undo), step("2", "look", "1", name="b", gate=True)]
    run = agent_for(tools(), {"steps": steps, "rollback": [undo]}).run("go")
    other = agent_for(tools(send_on), steps)
    for resume in (lambda: other.resume(run, YES), lambda: other.tell(run, "hurry"), lambda: other.roll_back(run)):
        with pytest.raises(ValueError, match="send is not the tool that the plan was made with"):
            resume()


def test_before_another_plan_a_new_or_changed_tool_is_refused() -> None:
    plan = {"steps": [step("1", "look", name="a", gate=True)], "complete": False}
    there = Tool(send, effects="none")
    run = agent_for([LOOK, there], plan).run("look")
    cases = {
        "wipe is new, and has effects": [there, Tool(send, name="wipe", effects="once")],
        "send is not the tool that the run began with": [Tool(send, effects="once")],
    }
    for words, others in cases.items():
        with pytest.raises(ValueError, match=words):
            agent_for([LOOK, *others], plan).resume(run, YES)
    harmless = agent_for([LOOK, there, Tool(send, name="peek", effects="none")])
    assert harmless.resume(run, Decision("reject", by="Ada")).status == "stopped"
