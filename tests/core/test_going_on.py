"""A run that paused, was interrupted or failed is resumed; a person is asked about a call in doubt; the tools must be the same."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import (
    ApproveAll,
    AskPerson,
    Board,
    Decision,
    HybridExecutor,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RuleEvaluator,
    RulePlanner,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite import events as e
from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.judging import Judging
from planexec_lite.capabilities.once_calls import OnceCalls
from planexec_lite.capabilities.replanning import Replanning
from planexec_lite.meter import idempotency_key
from tests.core.shapes import Portions, check_fold, left, step


class World:
    """What was done; the first call of `trip` ends in an error, after its effect."""

    def __init__(self, trip: str = "", problem: Any = KeyboardInterrupt) -> None:
        self.did: list[str] = []
        self.trip, self.problem = trip, problem
        look, pay = Tool(self.do, name="look", effects="none"), Tool(self.do, name="pay", effects="once")
        self.executor = ToolExecutor(Toolbox([look, pay]))

    def do(self, what: str) -> str:
        """Do it."""
        self.did.append(what)
        if what == self.trip:
            self.trip = ""
            raise self.problem
        return what

    def agent(self, *plans: list[Any], **more: Any) -> PlannerExecutor:
        return PlannerExecutor(Portions(*plans), self.executor, **more)


def look(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "look", *after, what=id, **more)


def pay(id: str, *after: str, **more: Any) -> dict[str, Any]:
    return step(id, "pay", *after, what=id, **more)


def check(run: Run) -> Run:
    check_fold(run)
    assert not run.board.in_flight
    return run


def interrupted(run: Run) -> list[str | None]:
    cut_off = [one for one in run.events if isinstance(one, e.Requeued | e.StepInDoubt)]
    return [one.step for one in cut_off if getattr(one, "reason", "") != "cancelled"]


# What goes on


@pytest.mark.parametrize("workers", [Inline(), Simulated(), Simulated(1)], ids=["inline", "simulated", "one slot"])
@pytest.mark.parametrize("trip", "12345")
def test_a_call_that_is_interrupted_is_made_again_or_in_doubt(trip: str, workers: Any) -> None:
    world = World(trip)
    agent = world.agent([look("1"), pay("2", "1"), look("3"), pay("4", "2", "3"), look("5", "4")], workers=workers)
    before = left(lambda: agent.run("go"))
    events = list(before.events)
    run = check(agent.resume(before))
    assert (before.status, before.events, trip in interrupted(run)) == ("running", events, True)
    assert world.did.count("2") == 1 >= world.did.count("4")
    if trip in "24":
        assert (run.status, run.board.state[trip], [*run.board[Doubt].attempts]) == ("paused", "in doubt", [trip])
        assert run.reason == f"waits for your answer: was step {trip} done?"
        assert agent.resume(run).status == "paused"
    else:
        assert run.status == "finished"
        assert (set(world.did), world.did.count(trip)) == (set("12345"), 2)
        assert {event.attempt for event in run.events if isinstance(event, e.StepStarted)} == {1}


@pytest.mark.parametrize("problem", [KeyboardInterrupt, RuntimeError], ids=["interrupt", "error"])
@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
def test_a_watcher_that_breaks_leaves_no_doubt_about_what_has_not_begun(problem: Any, workers: Any) -> None:
    for at in range(1, 7):
        seen: list[int] = []

        def watch(run: Run, at: int = at, seen: list[int] = seen) -> None:
            seen.append(1)
            if len(seen) == at:
                raise problem

        world, plan = World(), [pay("1"), pay("2", "1", success_criteria="fine"), pay("3", "2")]
        agent = world.agent(plan, evaluator=RuleEvaluator(lambda *_: True), workers=workers, watch=watch)
        try:
            run = agent.run("go")
        except problem as caught:
            run = check(agent.resume(caught.run))
        assert (run.status, world.did, len(seen) >= at) == ("finished", ["1", "2", "3"], True)


def test_on_threads_what_was_in_flight_is_tried_again() -> None:
    world, begun, go_on = World(), threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        assert go_on.wait(20)
        return world.do("slow")

    def watch(run: Run) -> None:
        if "2" in run.board.results and begun.wait(20) and not go_on.is_set():
            go_on.set()
            raise KeyboardInterrupt

    world.executor = ToolExecutor(Toolbox([Tool(slow, effects="none"), *world.executor.tools]))
    with ThreadPoolExecutor(2) as threads:
        agent = world.agent([step("1", "slow"), look("2"), pay("3", "1")], workers=Pool(threads), watch=watch)
        run = check(agent.resume(left(lambda: agent.run("go"))))
    assert (run.status, interrupted(run), world.did.count("3")) == ("finished", ["1"], 1)


@pytest.mark.parametrize("replan", [False, True], ids=["the first plan", "a replan"])
def test_a_planner_that_was_interrupted_is_asked_again_and_it_counts_once(replan: bool) -> None:
    class Stops(Portions):
        stops = 1

        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            if self.stops and board.steps.keys() == ({"1"} if replan else set()):
                self.stops = 0
                raise KeyboardInterrupt
            return super().plan(goal, board, tools)

    world, policy = World("1", OSError("locked")), Policy(replan="failure", max_replans=1, failure="stop")
    agent = PlannerExecutor(Stops([look("1")], [look("2")]), world.executor, workers=Simulated(), policy=policy)
    run = check(agent.resume(left(lambda: agent.run("go"))))
    assert (run.status, world.did, run.board[Replanning].replans) == ("finished", ["1", "2"], 1)
    assert interrupted(run) == [None]


def test_a_judge_or_a_reviewer_that_was_interrupted_is_asked_again() -> None:
    stops = ["reviewer", "judge"]

    def asked(who: str) -> bool:
        if who in stops:
            stops.remove(who)
            raise KeyboardInterrupt
        return True

    class Reviews:
        def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision:
            return Decision("approve" if asked("reviewer") else "reject")

    world, judge = World(), RuleEvaluator(lambda *_: asked("judge"))
    agent = world.agent([pay("1", success_criteria="paid")], reviewer=Reviews(), evaluator=judge)
    unreviewed = left(lambda: agent.run("go"))
    run = check(agent.resume(left(lambda: agent.resume(unreviewed))))
    assert (run.status, world.did, interrupted(run)) == ("finished", ["1"], ["1"])
    assert not run.board[Judging].unverified


def test_a_run_takes_a_decision_or_news_only_when_it_waits_for_it() -> None:
    world = World("2")
    agent = world.agent([look("1"), look("2", "1")], reviewer=AskPerson())
    run = agent.resume(agent.run("go"))
    assert (run.status, run.reason) == ("paused", "waits for approval")
    run = left(lambda: agent.resume(run, Decision("approve")))
    with pytest.raises(ValueError, match="does not wait for a decision"):
        agent.resume(run, Decision("approve"))
    run = agent.resume(run)
    assert (agent.resume(run).events, world.did) == (run.events, ["1", "2", "2"])
    with pytest.raises(ValueError, match="does not wait for a decision"):
        agent.resume(run, Decision("approve"))
    with pytest.raises(ValueError, match="has ended"):
        agent.tell(run, "x")


@pytest.mark.parametrize("goal", [None, object(), b"go", "\ud800"], ids=lambda goal: type(goal).__name__)
def test_a_goal_that_cannot_be_written_is_rejected_before_anything_starts(goal: Any) -> None:
    planner = Portions([look("1")])
    agent = PlannerExecutor(planner, World().executor, AskPerson())
    with pytest.raises(ValueError, match="the goal"):
        agent.run(goal)
    assert planner.asked == 0
    with pytest.raises(ValueError, match="news"):
        agent.tell(agent.run("go"), goal)


# What is in doubt


class Bank:
    """Pays; the first payment is cut off, before or after the money has gone."""

    def __init__(self, *, gone: bool, cut: bool = True) -> None:
        self.paid: list[str] = []
        self.released = ""
        self.cut, self.gone = cut, gone
        tools = [Tool(self.pay, effects="once"), Tool(self.note, effects="none")]
        self.tools = Toolbox([*tools, *(Tool(one, effects="idempotent") for one in (self.refund, self.release))])

    def pay(self, to: str) -> dict[str, Any]:
        """Pay somebody."""
        if self.gone or not self.cut:
            self.paid.append(to)
        if self.cut:
            self.cut = False
            raise KeyboardInterrupt
        return {"id": len(self.paid)}

    def note(self, text: object) -> str:
        """Note something."""
        return f"noted {text}"

    def refund(self, number: int) -> str:
        """Give a payment back."""
        self.paid.clear()
        return f"{number} is back"

    def release(self, to: str) -> str:
        """Reserve money for somebody, or release it."""
        self.released = to
        return to

    def resumed(self, **more: Any) -> tuple[PlannerExecutor, Run]:
        """An agent that has paid, and its run, cut off and resumed."""
        agent = PlannerExecutor(RulePlanner(lambda goal: PLAN), ToolExecutor(self.tools), **more)
        return agent, agent.resume(left(lambda: agent.run("pay Ann")))


PLAN = Plan.parse(
    [
        step("1", "release", to="") | {"undo": {"tool": "release", "params": {"to": "Ann"}}},
        step("2", "pay", "1", to="Ann", success_criteria="an id")
        | {"undo": {"tool": "refund", "params": {"number": "{step_2_result.id}"}}},
        step("3", "note", "2", text="{step_2_result.id}"),
    ]
)


@pytest.mark.parametrize("workers", [Inline(), Simulated()], ids=["inline", "simulated"])
@pytest.mark.parametrize("gone", [True, False])
def test_a_call_in_doubt_counts_or_is_made_as_the_answer_says(gone: bool, workers: Any) -> None:
    bank = Bank(gone=gone)
    agent, run = bank.resumed(workers=workers)
    assert (run.status, run.board.paused and run.board.paused.gate) == ("paused", "doubt 2")
    run = agent.resume(run, Decision("done", result={"id": 1}) if gone else Decision("not done"))
    assert (run.status, run.results["3"], bank.paid) == ("finished", "noted 1", ["Ann"])
    assert {event.attempt for event in run.events if isinstance(event, e.StepStarted)} == {1}
    assert not +run.board[Doubt].attempts
    assert [one.sure for one in run.board[OnceCalls].spent] == [True]
    assert Run(list(run.events)).board == run.board


def test_what_was_done_before_is_taken_back_and_the_step_in_doubt_is_named() -> None:
    bank = Bank(gone=True)
    agent, run = bank.resumed()
    run = agent.resume(run, Decision("roll back", "Ann", comment="too late"))
    assert (run.status, bank.released, bank.paid) == ("rolled back", "Ann", ["Ann"])
    assert run.reason == "Ann asked for it: too late; undone: 1; not undone: 2 (unknown whether it was done)"


def test_a_result_that_a_person_gives_is_checked_and_judged_as_any_other() -> None:
    seen: list[object] = []

    def judge(_: object, result: Any) -> bool:
        seen.append(result)
        return bool(result["id"])

    agent, run = Bank(gone=True).resumed(evaluator=RuleEvaluator(judge))
    for result in (None, {"number": 1}, "1"):
        with pytest.raises(ValueError, match=r"step 3 uses \{step_2_result\.id\}, and .*; say what step 2 gave"):
            agent.resume(run, Decision("done", result=result))
    with pytest.raises(ValueError, match=r"step 2: pay returned a value of type object, which JSON can't hold"):
        agent.resume(run, Decision("done", result=object()))
    with pytest.raises(ValueError, match="a result goes with 'done'"):
        Decision("not done", result=1)
    assert agent.resume(run, Decision("done", result={"id": 7})).status == "finished"
    assert seen == [{"id": 7}]
    assert agent.resume(run, Decision("done", result={"id": 0})).status == "failed"


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision("approve"), r'"approve" is no answer here.*answer "done", "not done", "roll back"'),
        (Decision("reject"), '"reject" is no answer here'),
        (
            Decision("not done", gate="doubt 3"),
            "about step 3, which is in doubt, and this run waits for your answer: was",
        ),
        (Decision("not done", gate="2"), "about the gate of step 2, and this run waits for your answer"),
    ],
    ids=["yes", "no", "another doubt", "a gate"],
)
def test_an_answer_to_another_question_does_not_count(decision: Decision, words: str) -> None:
    agent, run = Bank(gone=True).resumed()
    with pytest.raises(ValueError, match=words):
        agent.resume(run, decision)
    asks = World().agent([look("1")], reviewer=AskPerson())
    with pytest.raises(ValueError, match='"done" is no answer here, since this run waits for approval'):
        asks.resume(asks.run("go"), Decision("done"))


@pytest.mark.parametrize("reviewer", [ApproveAll(), ScriptedReviewer(["approve"])], ids=["approves all", "scripted"])
def test_no_reviewer_answers_what_only_a_person_can_know(reviewer: Any) -> None:
    bank = Bank(gone=True)
    agent, run = bank.resumed(reviewer=reviewer)
    assert run.status == agent.resume(run).status == "paused"
    assert agent.resume(run, Decision("done", result={"id": 1})).status == "finished"
    assert bank.paid == ["Ann"]


def test_news_waits_until_it_is_known_what_was_done() -> None:
    agent, run = Bank(gone=True).resumed()
    told = agent.tell(run, "Ann has moved")
    assert told.reason == "waits for your answer: was step 2 done?"
    assert agent.resume(told, Decision("done", result={"id": 1})).board[Replanning].asked_for == "news"


def both_begun(*steps: Any) -> Run:
    """A run that was left while its two steps were in flight."""
    begun = e.RunStarted(0.0, "", False, False, effects={"pay": "once"})
    return Run([begun, e.PlanProposed(0.0, Plan.parse([*steps])), e.StepStarted(0.0, "1"), e.StepStarted(0.0, "2")])


def test_two_steps_in_doubt_are_asked_about_one_after_the_other() -> None:
    bank = Bank(gone=True, cut=False)
    agent = PlannerExecutor(None, ToolExecutor(bank.tools))
    run = agent.resume(both_begun(step("1", "pay", to="Ann"), step("2", "pay", to="Bob")))
    assert run.reason == "waits for your answer: was step 1 done?"
    run = agent.resume(run, Decision("done", result=1))
    assert run.reason == "waits for your answer: was step 2 done?"
    assert agent.resume(run, Decision("not done")).status == "finished"
    assert bank.paid == ["Bob"]


def test_a_failure_elsewhere_does_not_end_the_run_before_the_question() -> None:
    run = both_begun(step("1", "pay", to="Ann"), step("2", "note", text="x"))
    run.record(e.StepFailed(0.0, "2", "no"))
    agent = PlannerExecutor(None, ToolExecutor(Bank(gone=False).tools), policy=Policy(failure="stop"))
    run = agent.resume(run)
    assert run.reason == "waits for your answer: was step 1 done?"
    run = agent.resume(run, Decision("done"))
    assert (run.status, run.board.state) == ("failed", {"1": "done", "2": "failed"})


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize(("verdict", "paid"), [("done", 1), ("not done", 2), ("roll back", 1)])
def test_without_a_journal_a_step_is_in_doubt_when_the_run_inside_may_have_paid(
    hybrid: bool, verdict: Any, paid: int
) -> None:
    keys, noted = list[str | None](), list[str]()

    @tool(effects="once")
    def pay(to: str) -> str:
        keys.append(idempotency_key())
        return to

    @tool(effects="none")
    def note(text: str) -> str:
        noted.append(text)
        if len(noted) == 1:
            raise KeyboardInterrupt
        return text

    steps = [step("a", "pay", to="Ann"), step("b", "note", "a", text="{step_a_result}")]
    inner: Any = PlannerExecutor(RulePlanner(lambda goal: steps), ToolExecutor(Toolbox([pay, note])))
    inner = HybridExecutor(ToolExecutor(Toolbox([note])), inner) if hybrid else inner
    agent = PlannerExecutor(RulePlanner(lambda goal: [step("1", None, description="pay Ann")]), inner)
    run = agent.resume(left(lambda: agent.run("pay Ann")))
    assert run.reason == "waits for your answer: was step 1 done?"
    run = agent.resume(run, Decision(verdict, "Bob", result="Ann" if verdict == "done" else None))
    assert run.status == ("rolled back" if verdict == "roll back" else "finished")
    # told that it was not done, it begins again at the first step inside, and the bank is given the same key
    assert (len(keys), len(set(keys))) == (paid, 1)
    assert None not in keys


YES = Decision("approve", by="Ada")


def send(name: str) -> str:
    """Send it."""
    return name


def send_to(name: str, address: str) -> str:
    """Send it somewhere."""
    return f"{name} to {address}"


def send_on(name: str, copy: str = "boss") -> str:
    """Send it."""
    return name


LOOK = Tool(send, name="look", effects="none")


def tools(function: Any = send, effects: Any = "once", **more: Any) -> Toolbox:
    return Toolbox([Tool(function, name="send", effects=effects, **more), LOOK])


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Run 1 waits before step 2, which sends."""
    journal = Journal(tmp_path / "runs.db")
    steps = [step("1", "look", name="a"), step("2", "send", "1", name="{step_1_result}", gate=True)]
    execute(Plan.parse(steps), ToolExecutor(tools()), journal=journal)
    return journal


def resumed(journal: Journal, toolbox: Toolbox) -> Run:
    return PlannerExecutor(None, ToolExecutor(toolbox)).resume(journal.load(1), YES)


CHANGED = {
    "gone": (Toolbox([LOOK]), ".*send"),
    "other parameters": (tools(send_to), ".*address"),
    "other effects": (tools(effects="none"), 'the effects of send were "once", and are "none"'),
    "another default": (tools(send_on), "send is not the tool that the plan was made with"),
    "it destroys now": (tools(destructive=True), "send is not the tool that the plan was made with"),
}


@pytest.mark.parametrize("name", CHANGED)
def test_what_has_changed_is_named_and_the_run_stays_as_it_is(name: str, journal: Journal) -> None:
    toolbox, words = CHANGED[name]
    before = journal.load(1).events
    with pytest.raises(ValueError, match=f"the tools have changed since this run began: step 2: {words}"):
        resumed(journal, toolbox)
    assert journal.load(1).events == before
    without_look = Toolbox([Tool(send, effects="once")])  # no step needs it any more
    assert resumed(journal, without_look).results == {"1": "a", "2": "a"}


@pytest.mark.parametrize("how", ["resume", "tell", "roll_back"])
def test_whoever_goes_on_with_a_run_needs_the_tools_that_it_began_with(how: str) -> None:
    def site(price: int) -> Toolbox:
        take = Tool(lambda: price, name="take", effects="idempotent")
        schema = {"type": "object", "properties": {"price": {"type": "integer", "default": price}}}
        return Toolbox([take, Tool.from_schema(lambda **given: given, schema, name="give", effects="idempotent")])

    steps = [step("1", "take", undo={"tool": "give"}), step("2", "give", "1", gate=True)]
    agent, other = (PlannerExecutor(RulePlanner(lambda goal: steps), ToolExecutor(site(price))) for price in (1, 2))
    run = agent.run("take it")
    arguments: dict[str, Any] = {"resume": [YES], "tell": ["hurry"], "roll_back": []}
    with pytest.raises(ValueError, match=r"give.* is not the tool that the plan was made with"):
        getattr(other, how)(run, *arguments[how])
    assert agent.resume(run, YES).status == "finished"


def test_where_a_planner_may_choose_a_new_or_another_tool_is_refused() -> None:
    plans = RulePlanner(lambda goal: {"steps": [step("1", "look", name="a", gate=True)], "complete": False})
    there = Tool(send, effects="none")
    run = PlannerExecutor(plans, ToolExecutor(Toolbox([LOOK, there]))).run("look")
    cases = {
        "wipe is new, and has effects": [there, Tool(send, name="wipe", effects="once")],
        "send is not the tool that the run began with": [Tool(send, effects="once")],
    }
    for words, others in cases.items():
        with pytest.raises(ValueError, match=words):
            PlannerExecutor(plans, ToolExecutor(Toolbox([LOOK, *others]))).resume(run, YES)
    harmless = PlannerExecutor(None, ToolExecutor(Toolbox([LOOK, there, Tool(send, name="peek", effects="none")])))
    assert harmless.resume(run, Decision("reject", by="Ada")).status == "stopped"
