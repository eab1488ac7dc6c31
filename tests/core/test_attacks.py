"""What attacks found, and what they did not: no unapproved work, no lost run, no endless wait, whatever comes together."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from planexec_lite import (
    ApproveAll,
    AskPerson,
    Board,
    Decision,
    Grant,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    RuleEvaluator,
    Run,
    ScriptedReviewer,
    Simulated,
    Step,
    Team,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.judging import Judging, Verdict
from planexec_lite.events import Inside, StepStarted, from_dict, to_dict
from planexec_lite.meter import charge


class World:
    """Tools that remember what they did; `locked` are texts that can't be deleted once."""

    def __init__(self, *locked: str) -> None:
        self.did: list[Any] = []
        self.locked = list(locked)

    def delete(self, what: str) -> str:
        """Delete something."""
        if what in self.locked:
            self.locked.remove(what)
            raise OSError("locked")
        self.did.append(what)
        return what

    def put(self, x: bool | int | float) -> str:
        """Put a value somewhere."""
        self.did.append(x)
        return repr(x)

    @property
    def executor(self) -> ToolExecutor:
        return ToolExecutor(Toolbox([Tool(self.delete, effects="idempotent"), Tool(self.put, effects="idempotent")]))


class Answers:
    """A planner that gives its answers in turn, the last one again and again."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = answers, 0

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        self.asked += 1
        return Plan.parse(self.answers[min(self.asked, len(self.answers)) - 1])


def delete(id: str, what: str, **more: Any) -> dict[str, Any]:
    return {"id": id, "tool": "delete", "params": {"what": what}, **more}


def put(x: object, **more: Any) -> dict[str, Any]:
    return {"id": "put", "tool": "put", "params": {"x": x}, **more}


def agent(world: World, planner: Any, reviewer: Any = None, **more: Any) -> PlannerExecutor:
    policy = Policy(replan="failure")
    return PlannerExecutor(planner, world.executor, reviewer, workers=Simulated(), policy=policy, **more)


def after_json(run: Run) -> Board:
    return Board.of(from_dict(data) for data in json.loads(json.dumps([to_dict(event) for event in run.events])))


@pytest.mark.parametrize("edited", [True, 1.0, 2], ids=repr)
def test_an_edit_that_python_calls_equal_is_an_edit(edited: object) -> None:
    world = World()
    one = agent(world, Answers([put(1)]), AskPerson())
    run = one.resume(one.run("put"), Decision("approve", plan=Plan.parse([put(edited)])))
    assert [repr(x) for x in world.did] == [repr(edited)]
    assert run.board.reviews[-1].plan is not None


@pytest.mark.parametrize("later", [True, 1.0], ids=repr)
def test_a_grant_does_not_take_one_argument_for_another_that_python_calls_equal(later: object) -> None:
    world = World("x")
    first = [delete("0", "x"), put(1, depends_on=["0"])]
    second = [delete("0", "x", timeout=9), put(later, depends_on=["0"])]
    reviewer = ScriptedReviewer([Decision("approve", grant=Grant(1))])
    run = agent(world, Answers(first, second), reviewer).run("put")
    assert (run.status, world.did) == ("paused", [])


def test_the_rollback_of_a_plan_that_nobody_approved_is_not_granted() -> None:
    world = World("x")
    back = [{"tool": "put", "params": {"x": 1}}]
    unseen = {"steps": [delete(f"n{n}", "y") for n in range(4)], "rollback": back}
    later = {"steps": [delete("0", "y")], "rollback": back}
    one = agent(
        world,
        Answers([delete("0", "x")], unseen, later),
        ScriptedReviewer([Decision("approve", grant=Grant(1))]),
    )
    run = one.tell(one.run("clean"), "hurry")
    assert (run.status, run.reason, world.did) == ("paused", "waits for approval", [])


def test_the_plan_that_waits_for_a_decision_cannot_be_changed_in_place() -> None:
    world = World()
    one = agent(world, Answers([delete("1", "cache")]), AskPerson())
    run = one.run("clean")
    assert run.board.proposal is not None
    with pytest.raises(TypeError, match="make a copy"):
        run.board.proposal.steps[0].params["what"] = "production"
    assert one.resume(run, Decision("approve")).status == "finished"
    assert world.did == ["cache"]


def test_a_decision_that_names_its_plan_does_not_decide_about_another() -> None:
    world = World()
    one = agent(world, Answers([delete("1", "cache")], [delete("1", "production")]), AskPerson())
    harmless, harmful = one.run("clean"), one.run("clean")
    decision = Decision("approve", of=harmless.plan.hash)
    with pytest.raises(ValueError, match="another plan"):
        one.resume(harmful, decision)
    assert world.did == []
    assert one.resume(harmless, decision).status == "finished"


def test_two_resumes_of_one_paused_run_know_nothing_of_each_other() -> None:
    world = World()
    one = agent(world, Answers([delete("1", "cache")]), AskPerson())
    paused = one.run("clean")
    before = list(paused.events)
    approved, rejected = one.resume(paused, Decision("approve")), one.resume(paused, Decision("reject", comment="no"))
    assert (approved.status, rejected.status, paused.status) == ("finished", "stopped", "paused")
    assert paused.events == before
    assert world.did == ["cache"]


@pytest.mark.parametrize("says", ["approve", {"verdict": "approve"}, RuntimeError("out of office")], ids=repr)
def test_a_reviewer_that_fails_late_does_not_take_the_finished_work_with_it(says: Any) -> None:
    class Late:
        def review(self, plan: Plan, board: Board, tools: Toolbox) -> Any:
            if not board.reviews:
                return Decision("approve")
            if isinstance(says, Exception):
                raise says
            return says

    world = World("x")
    one = agent(world, Answers([delete("1", "a"), delete("2", "x")], [delete("3", "b")]), Late())
    with pytest.raises((TypeError, RuntimeError)) as problem:
        one.run("clean")
    run = problem.value.run  # type: ignore[attr-defined]
    assert (run.status, run.results, world.did) == ("paused", {"1": "a"}, ["a"])
    assert one.resume(run, Decision("approve")).status == "finished"
    assert world.did == ["a", "b"]


@pytest.mark.parametrize(
    "verdict",
    [
        lambda step: Verdict("replan", "no", rejects=["1"]),  # type: ignore[arg-type]
        lambda step: Verdict("modify", "no", changed=step.model_copy(update={"description": ["x"]})),
        lambda step: Verdict("modify", "no", changed="step 1"),  # type: ignore[arg-type]
    ],
    ids=["a list is rejected", "a description is a list", "a step is a text"],
)
@pytest.mark.parametrize("reviewer", [None, ApproveAll()], ids=["alone", "reviewed"])
def test_an_evaluator_that_says_nonsense_ends_no_run_and_spoils_no_log(
    verdict: Callable[[Step], Verdict], reviewer: Any
) -> None:
    class Odd:
        def evaluate(self, step: Step, result: Any, board: Board) -> Verdict:
            return verdict(step)

    world = World()
    steps = [delete("1", "a", success_criteria="gone", retries=1), delete("2", "b", depends_on=["1"])]
    run = agent(world, Answers(steps), reviewer, evaluator=Odd()).run("clean")
    assert (run.status, world.did, run.board[Judging].unverified) == ("finished", ["a", "b"], {"1"})
    assert after_json(run) == run.board


@pytest.mark.parametrize("steps", ["many", -1, True, 2.5, None], ids=repr)
def test_a_grant_is_for_a_number_of_steps(steps: Any) -> None:
    with pytest.raises(ValueError, match="new_steps"):
        Grant(steps)


def test_an_async_tool_that_stops_its_loop_takes_no_other_with_it() -> None:
    async def stop(x: str = "a") -> str:
        asyncio.get_running_loop().stop()
        await asyncio.sleep(0)
        return x

    async def go_on(x: str = "a") -> str:
        await asyncio.sleep(0)
        return x

    plan = Plan.parse([{"id": "1", "tool": "stop"}, {"id": "2", "tool": "go_on", "depends_on": ["1"]}])
    assert (
        execute(plan, ToolExecutor(Toolbox([Tool(stop, effects="none"), Tool(go_on, effects="none")]))).status
        == "finished"
    )


# --- everything at once -----------------------------------------------------------------------------------------------


class Written(Answers):
    """A planner that writes step by step, and sometimes breaks off, falls silent or takes back what it wrote."""

    stream = True

    def parts(self, goal: str, board: Board, tools: Toolbox) -> Iterator[Step | Plan]:
        end, steps, complete, at = self.answers[min(self.asked, len(self.answers) - 1)]
        self.asked += 1
        left = [Step(**step) for step in steps if step["id"] not in board.results]
        for number, step in enumerate(left):
            charge(seconds=1)
            yield step
            if number == at and end == "breaks off":
                raise RuntimeError("cut")
            if number == at and end == "falls silent":
                return
        if left and end == "takes back":
            left[0] = left[0].model_copy(update={"description": "another"})
        yield Plan(goal=goal, steps=tuple(left), complete=complete)

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        last = [*self.parts(goal, board, tools)][-1:]
        if not last or not isinstance(last[0], Plan):
            raise RuntimeError("no plan")
        return last[0]


class Moody:
    """A reviewer who approves, edits, grants, asks for changes, rejects, or leaves it to a person."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        mood = self.chance.random()
        if mood < 0.15:
            left = [step for step in plan.steps if step.id not in board.results]
            edited = tuple(step.model_copy(update={"description": "edited"}) for step in left)
            return Decision("approve", plan=plan.changed(steps=edited)) if edited else Decision("approve")
        if mood < 0.4:
            return Decision("approve", grant=Grant(self.chance.randint(0, 5)))
        if mood < 0.55:
            return Decision("change", comment="otherwise") if mood < 0.5 else None
        return Decision("approve") if mood < 0.95 else Decision("reject")


def plans(chance: random.Random) -> Iterator[Any]:
    for number in range(chance.randint(1, 4)):
        ids = [f"{letter}{chance.choice(['', number])}" for letter in "abcdefg"[: chance.randint(1, 7)]]
        steps = []
        for at, id in enumerate(ids):
            before = [other for other in ids[:at] if chance.random() < 0.35]
            x = f"{{step_{before[0]}_result}}!" if before and chance.random() < 0.5 else id
            step: dict[str, Any] = {"id": id, "tool": f"t{chance.randrange(4)}", "params": {"x": x}}
            step |= {"depends_on": before, "gate": chance.random() < 0.2, "retries": chance.choice([0, 0, 1, 2])}
            step |= {"success_criteria": "ok"} if chance.random() < 0.3 else {}
            step |= {"timeout": chance.choice([0.7, 1.5, 3])} if chance.random() < 0.3 else {}
            steps.append(step)
        end = chance.choice(["well", "well", "well", "breaks off", "falls silent", "takes back"])
        yield end, steps, chance.random() < 0.8, chance.randrange(len(ids))


def tools(chance: random.Random) -> Toolbox:
    def one(number: int) -> Tool:
        def body(x: str) -> list[object]:
            charge(seconds=(number + 1) * chance.choice([0.5, 1, 2]))
            if chance.random() < 0.25:
                raise OSError("no")
            return [number, x]

        async def later(x: str = "") -> list[object]:
            await asyncio.sleep(0)
            return body(x)

        def now(x: str = "") -> list[object]:
            return body(x)

        function = later if number == 3 else now
        function.__name__ = f"t{number}"
        effects: Any = ("none", "idempotent", "once", "none")[number]
        return Tool(function, effects=effects, uses=("oven",) if number < 2 else ())

    return Toolbox([one(number) for number in range(4)])


def adventure(seed: int) -> Run:
    """A run in which everything that the kit knows comes together by chance."""
    chance = random.Random(seed)
    box, planner = tools(chance), Written(*plans(chance))
    planner.stream = chance.random() < 0.7

    def rule(step: Step, result: Any) -> Verdict:
        mood = chance.random()
        changes = {"description": "mod"} if mood < 0.75 else {"tool": "t1", "params": {"x": "mod"}}
        if 0.65 < mood < 0.85:
            return Verdict("modify", "m", changed=step.model_copy(update=changes))
        return Verdict("accept" if mood < 0.5 else "retry" if mood < 0.85 else "replan", "because")

    executor: Any = ToolExecutor(box)
    if chance.random() < 0.3:
        inner = Team({"c": ToolExecutor(box.only("t2")), "d": ToolExecutor(box.only("t3"))}, {"d": 1})
        executor = Team({"a": ToolExecutor(box.only("t0", "t1")), "b": inner}, {"a": chance.randint(1, 2)})
    limits = {"oven": 1} if chance.random() < 0.5 else {}
    one = PlannerExecutor(
        planner,
        executor,
        chance.choice([None, None, Moody(chance)]),
        chance.choice([None, RuleEvaluator(rule)]),
        Simulated(chance.choice([None, 1, 2, 3]), limits),
        Policy(
            failure=chance.choice(["skip", "stop"]),
            retries=chance.randint(0, 2),
            replan=chance.choice(["never", "failure", "step"]),
            max_replans=chance.randint(0, 4),
            max_rounds=chance.randint(0, 5),
        ),
    )
    run = one.run("goal")
    for _ in range(6):
        if run.status != "paused":
            break
        grant = Grant(3) if chance.random() < 0.3 else None
        run = one.tell(run, "news") if chance.random() < 0.3 else one.resume(run, Decision("approve", grant=grant))
    return run


@pytest.mark.parametrize("seed", range(60))
def test_whatever_comes_together_the_run_keeps_its_promises(seed: int) -> None:
    run = adventure(seed)
    assert run.status != "running"
    assert after_json(run) == run.board
    board = Board()
    for event in run.events:
        if isinstance(event, StepStarted):
            step = board.steps[event.step]
            assert board.results.keys() >= set(step.depends_on)
            assert event.step not in board.results
            if board.has_reviewer and event.attempt == 1:
                assert board.proposal is not None
                assert board.proposal.hash in board[Approvals].approved
                assert step in board.proposal.steps
            assert not step.gate or event.attempt > 1 or event.step in board[Approvals].opened
            for limit in board.started.limits:
                busy = [id for id in board.in_flight if id and board.state[id] == "running"]
                using = [id for id in busy if (board.steps[id].tool or "") in limit.tools]
                assert len(using) < limit.slots or (step.tool or "") not in limit.tools
        board.apply(event)
    times = [event.at for event in run.events if not isinstance(event, Inside)]
    assert times == sorted(times)


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_whatever_comes_together_the_same_happens_again(seed: int) -> None:
    one, other = ([to_dict(event) for event in adventure(seed).events] for _ in range(2))
    assert one == other


def test_an_edited_plan_that_is_invalid_leaves_the_run_as_it_was() -> None:
    world = World()
    one = agent(world, Answers([delete("1", "cache")]), AskPerson())
    run = one.run("clean")
    before = list(run.events)
    cycle = [delete("1", "a", depends_on=["2"]), delete("2", "b", depends_on=["1"])]
    with pytest.raises(PlanError, match="waits for"):
        one.resume(run, Decision("approve", plan=Plan.parse(cycle)))
    assert (run.events, world.did) == (before, [])
    assert one.resume(run, Decision("approve")).status == "finished"
