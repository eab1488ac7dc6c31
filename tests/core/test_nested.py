"""A run inside a step: it pauses, fails, rolls back and is resumed with the outer run."""

from typing import Any

import pytest

from planexec_lab import views
from planexec_lab.views.narration import trace
from planexec_lite import (
    AskPerson,
    Budget,
    Decision,
    HybridExecutor,
    Journal,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    tool,
)
from planexec_lite.capabilities.rollback import Rollback, not_undone
from planexec_lite.meter import ModelCall, charge
from planexec_lite.model.prompt_text import DATA_RULE
from planexec_lite.run.events import Inside, StepDone, from_dict, to_dict
from tests.capabilities.scaffold import FAILED, Site, broken, call, up
from tests.core.agents import agent_for
from tests.core.shapes import check_fold, left, step
from tests.core.world import World, nested_in

CALLED: list[str] = []


@tool(latency=2.0, effects="none")
def chop(what: str) -> str:
    CALLED.append(what)
    return f"chopped {what}"


@tool(latency=3.0, effects="none")
def boil(what: str) -> str:
    CALLED.append(what)
    if what == "a stone":
        raise ValueError("it stays hard")
    return f"boiled {what}"


TOOLS = Toolbox([chop, boil])
OUTER = [
    step("1", None, description="prepare leeks"),
    step("2", None, description="prepare carrots"),
    step("3", None, "1", "2", description="serve"),
]


def inner_rule(goal: str) -> Any:
    """Chop what is to be prepared, then boil it; serving is one call."""
    words = goal.splitlines()[0].split()
    if words[0] == "serve":
        return [step("plate", "chop", what="parsley")]
    return [step("a", "chop", what=words[-1]), step("b", "boil", "a", what="{step_a_result}")]


def inner(**options: Any) -> PlannerExecutor:
    CALLED.clear()
    return agent_for(TOOLS, RulePlanner(inner_rule), **options)


def outer(executor: Any, plan: Any = OUTER, **options: Any) -> PlannerExecutor:
    return agent_for(executor, plan, **options)


def test_the_clock_of_the_outer_run_includes_the_time_inside() -> None:
    run = outer(inner()).run("dinner")
    assert run.makespan == 7.0  # 2 + 3 for both preparations, side by side, then 2
    assert [event.seconds for event in run.events if isinstance(event, StepDone)] == [5.0, 5.0, 2.0]
    chopped = [event for event in run.events if isinstance(event, Inside) and isinstance(event.event, StepDone)]
    assert [f"{event.step}/{event.event.step} {event.at:g}" for event in chopped] == [
        "1/a 2", "1/b 5", "2/a 2", "2/b 5", "3/plate 7",
    ]  # fmt: skip


def test_the_goal_inside_has_the_task_its_criterion_and_earlier_results() -> None:
    goals: list[str] = []
    below = agent_for(TOOLS, RulePlanner(lambda goal: goals.append(goal) or [step("1", "chop", what="x")]))
    taste = step("2", None, "1", description="taste it", of="{step_1_result}", success_criteria="it is salty")
    agent_for(below, [step("1", None, description="cook"), taste]).run("dinner")
    assert goals == [
        "cook",
        'taste it\nUse: data: {"of": "chopped x"}\nDone when: it is salty\n'
        f'{DATA_RULE}\nResult of step 1: data: "chopped x"',
    ]


def test_a_run_inside_that_fails_fails_the_step_and_says_why() -> None:
    words = "the run inside failed: step b failed: ValueError: it stays hard"
    for what, bound, reason in (("a stone", 50, words), ("eggs", 0, "max_repairs")):
        run = agent_for(agent_for(TOOLS, [step("b", "boil", what=what)], max_steps=bound), OUTER).run("dinner")
        assert (run.status, run.inside("1").status) == ("failed", "failed")
        assert reason in run.board.errors["1"]


def test_several_last_steps_inside_give_their_results_by_id() -> None:
    below = agent_for(TOOLS, [step("a", "chop", what="x"), step("b", "boil", what="y")])
    run = agent_for(below, [step("1", None, description="both")]).run("dinner")
    assert run.answer == {"a": "chopped x", "b": "boiled y"}
    with pytest.raises(ValueError, match="no run inside step 9"):
        run.inside("9")


ASKED = [{"id": 1, "description": "prepare leeks"}, {"id": 2, "description": "serve", "depends_on": [1]}]


def test_a_pause_inside_pauses_the_outer_run_which_continues_from_there() -> None:
    agent = agent_for(inner(reviewer=AskPerson()), ASKED)
    run = agent.run("dinner")
    assert (run.status, run.board.state["1"], CALLED) == ("paused", "waiting", [])
    assert run.reason == "waits for approval inside step 1"
    proposal = run.inside("1").board.proposal
    assert [from_dict(to_dict(event)) for event in run.events] == run.events
    assert Run(run.events).status == "paused"
    assert "0 of 2 steps done" in views.timeline(run).text
    assert "step 1 pauses for approval inside step 1" in trace(run)
    with pytest.raises(ValueError, match="another question"):
        agent.resume(run, Decision("approve", of="0" * 64))
    with pytest.raises(ValueError, match="edit"):
        agent.resume(run, Decision("approve", plan=proposal))
    no = agent.resume(run, Decision("reject", by="you", comment="no leeks"))
    assert (no.status, "no leeks" in no.reason, CALLED) == ("stopped", True, [])
    run = agent.resume(run, run.question.decide("approve", by="you"))
    assert (CALLED, run.inside("1").board.reviews[0].by) == (["leeks", "chopped leeks"], "you")
    assert run.reason == "waits for approval inside step 2"
    states = [line.split()[-1] for line in views.timeline(run).text.splitlines() if "slot 1" in line]
    assert states[1:] == ["done", "paused"]
    run = agent.resume(run, Decision("approve", by="you"))
    assert (run.status, run.answer, run.makespan) == ("finished", "chopped parsley", 7.0)
    assert CALLED == ["leeks", "chopped leeks", "parsley"]


BUILD = step("1", None, description="build")


def around(site: Site, inner: PlannerExecutor, *steps: Any) -> PlannerExecutor:
    """Return an agent whose steps without a tool are runs of `inner`."""
    return agent_for(HybridExecutor(ToolExecutor(site.tools), inner), [*steps], policy=FAILED)


def test_the_undo_of_the_outer_step_replaces_those_inside() -> None:
    site = Site()
    outer = BUILD | {"undo": call("tell", text="all of it")}
    agent = around(site, site.agent([up("a"), up("b", "a", undo=None)]), outer, broken("2", "1"))
    run = agent.run("build")
    assert (site.log, run.board[Rollback].undone) == (["+a", "+b", "!all of it"], ["1"])
    assert not not_undone(run.board)
    again = agent.roll_back(run)
    assert again.reason == "requested; nothing was undone"


def test_the_rollback_of_the_inner_plan_follows_the_undos_of_its_steps() -> None:
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
    assert agent.roll_back(run).reason.endswith("requested; nothing was undone; not undone: 1/a (no undo of its own)")


UNDO = {"tool": "refund", "params": {"name": "x"}}
PAY = step("1", "pay", name="x") | {"undo": UNDO}
PUT = step("2", "put", "1", name="y")
MAIL = step("1", "mail", name="x")


def test_a_doubt_in_a_nested_run_is_named_even_if_another_step_has_its_id(journal: Journal) -> None:
    world = World(cut="y", after=True)
    left(lambda: nested_in(world, journal, PAY, PUT).run("go"))
    other = nested_in(world, journal, PAY, PUT, outer=[step("1", None, description="something else")])
    run = other.roll_back(other.tell(journal.load(1), "news"))
    check_fold(run)
    assert (world.done.count("x"), world.done.count("undo x"), run.status) == (1, 0, "partly rolled back")
    assert "1/2 (interrupted; unknown whether it was done)" in run.reason


def test_an_undo_inside_that_was_cut_off_is_not_repeated() -> None:
    world = World(after=True)
    agent = nested_in(world, None, step("1", "put", name="x") | {"undo": UNDO})
    done = agent.run("go")
    world.cut = "undo x"
    run = agent.roll_back(agent.resume(left(lambda: agent.roll_back(done))))
    assert run.reason == "requested; nothing was undone; not undone: 1 (it is unknown whether it was undone)"
    assert world.done.count("undo x") == 1


def test_an_approval_covers_one_call_also_after_a_crash() -> None:
    world = World(after=True)

    class Chooses:
        asks_models = chooses_calls = True
        tools = world.tools

        def execute(self, step: Any, inputs: Any) -> Any:
            return self.tools["pay"].call({"name": "x"})

    agent = agent_for(Chooses(), [step("1", None)], reviewer=AskPerson())
    approved = agent.resume(agent.run("go"), Decision("approve"))
    world.cut = "x"
    run = agent.resume(left(lambda: agent.resume(approved, Decision("approve"))))
    run = agent.resume(run, Decision("not done"))
    assert run.reason == 'waits for the gate of step 1: a model chose pay({"name": "x"})'
    assert world.done == ["x"]


def test_steps_granted_to_a_nested_run_are_not_granted_to_the_outer_one() -> None:
    bound = Policy(budget=Budget(steps=1))
    below = agent_for(World().tools, [step("a", "put", name="a"), step("b", "put", name="b")], policy=bound)
    plan = [step(str(n), None, description=str(n)) for n in (1, 2)]
    agent = agent_for(below, plan, workers=Simulated(1), policy=bound)
    run = agent.resume(agent.run("go"), Decision("approve", budget=Budget(steps=5)))
    assert run.reason == "waits for more budget: 1 of 1 step used"


def test_a_judge_does_not_use_the_model_calls_of_a_step_beside_it() -> None:
    class Asks:
        tools = World().tools

        def most_model_calls(self, step: Any) -> int:
            return int(step.id)

        def execute(self, step: Any, inputs: Any) -> str:
            for _ in range(int(step.id)):
                charge(2.0, ModelCall("m", 1, 1))
            return "done"

    def judge(step: Any, result: Any) -> bool:
        charge(1.0, ModelCall("m", 1, 1))
        return True

    plan = [step("1", None) | {"success_criteria": "good"}, step("2", None)]
    budget = Budget(model_calls=3)
    run = agent_for(Asks(), plan, evaluator=judge, workers=Simulated(2), budget=budget).run("go")
    assert (run.status, len(run.board.calls)) == ("paused", 3)
    assert run.reason == "waits for more budget: 3 of 3 model calls used"


def test_a_step_in_doubt_inside_is_named(journal: Journal) -> None:
    late = nested_in(World(), None, MAIL | {"timeout": 2.0})
    late_run = late.roll_back(late.run("go"))
    assert late_run.reason.endswith("not undone: 1/1 (unknown whether it was done)")
    assert late_run.status == "partly rolled back"
    agent = nested_in(World(cut="x", after=True), journal, MAIL)
    left(lambda: agent.run("go"))
    run = agent.roll_back(agent.resume(journal.load(1)))
    assert run.reason.endswith("not undone: 1/1 (unknown whether it was done)")


def test_the_calls_of_the_rollback_are_not_made_if_the_run_inside_did_nothing() -> None:
    world = World(cut="x")
    plan = {"steps": [step("1", None, description="A")], "rollback": [call("put", name="sorry")]}
    below = world.agent([step("a", "pay", name="x", gate=True)])
    agent = agent_for(HybridExecutor(ToolExecutor(world.tools), below), plan)
    paused = agent.run("go")
    run = agent.resume(left(lambda: agent.resume(paused, Decision("approve"))))
    run = agent.resume(run, Decision("roll back", "Ann"))
    run = agent.resume(run, Decision("not done", "Ann"))
    assert (run.status, world.done) == ("rolled back", [])
