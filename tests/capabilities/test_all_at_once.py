"""All features combined at random: no unapproved work, no endless wait, and the same run each time."""

import asyncio
import random
from collections.abc import Iterator
from typing import Any

import pytest

from planexec_lite import Board, Decision, Grant, Plan, Run, Simulated, Step, Team, Tool, Toolbox
from planexec_lite.capabilities.approval import Approvals
from planexec_lite.capabilities.judging import Verdict
from planexec_lite.core.questions import Question
from planexec_lite.meter import charge
from planexec_lite.run.events import Inside, StepStarted
from tests.core.agents import agent_for, executor_of
from tests.core.shapes import Portions, Writing, check_fold


class Moody:
    """A reviewer that approves, edits, grants, asks for changes, rejects, or pauses at random."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision | None:
        mood = self.chance.random()
        if "not done" in question.verdicts:
            return question.decide("not done") if mood < 0.9 else None
        if question.plan is None or mood >= 0.55:
            return question.decide("approve" if mood < 0.95 else "reject")
        if mood < 0.15:
            left = [step for step in question.plan.steps if step.id not in board.results]
            edited = tuple(step.model_copy(update={"description": "edited"}) for step in left)
            return question.decide("approve", plan=question.plan.changed(steps=edited) if edited else None)
        if mood < 0.4:
            return question.decide("approve", grant=Grant(self.chance.randint(0, 5)))
        return question.decide("change", comment="otherwise") if mood < 0.5 else None


def decided(question: Question, grant: Grant | None) -> Decision:
    """A yes, with the grant if the question is about a plan; a step in doubt was not done."""
    if "not done" in question.verdicts:
        return question.decide("not done")
    return question.decide("approve", grant=grant if question.plan is not None else None)


def answers(chance: random.Random) -> Iterator[list[Any]]:
    """Plans as they are written; some break off, end without a plan, or change a step at the end."""
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
        whole = Plan.parse({"goal": "goal", "steps": steps, "complete": chance.random() < 0.8})
        first, *rest = whole.steps
        other = whole.changed(steps=(first.model_copy(update={"description": "another"}), *rest))
        parts = [part for one in steps for part in (1.0, one)]
        cut = parts[: 2 * chance.randrange(len(ids)) + 2]
        yield chance.choice([[*parts, whole], [*parts, whole], [*parts, other], cut, [*cut, RuntimeError("cut")]])


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
    """Return a run with a random choice of all features."""
    chance = random.Random(seed)
    box, made = tools(chance), [*answers(chance)]
    whole = [answer[-1] for answer in made if isinstance(answer[-1], Plan)]
    planner = Portions(*whole) if whole and chance.random() < 0.3 else Writing(*made)

    def rule(step: Step, result: Any) -> Verdict:
        mood = chance.random()
        if 0.65 < mood < 0.85:
            return Verdict("modify", "m", changed="mod")
        return Verdict("accept" if mood < 0.5 else "retry" if mood < 0.85 else "replan", "because")

    executor = executor_of(box)
    if chance.random() < 0.3:
        inner = Team({"c": executor_of(box.only("t2")), "d": executor_of(box.only("t3"))}, {"d": 1})
        executor = Team({"a": executor_of(box.only("t0", "t1")), "b": inner}, {"a": chance.randint(1, 2)})
    limits = {"oven": 1} if chance.random() < 0.5 else {}
    bounds = {"retries": chance.randint(0, 2), "max_replans": chance.randint(0, 4), "max_rounds": chance.randint(0, 5)}
    one = agent_for(
        executor,
        planner,
        reviewer=chance.choice([None, None, Moody(chance)]),
        evaluator=chance.choice([None, rule]),
        workers=Simulated(chance.choice([None, 1, 2, 3]), limits),
        failure=chance.choice(["skip", "stop"]),
        replan=chance.choice(["never", "failure", "step"]),
        **bounds,
    )
    run = one.run("goal")
    for _ in range(6):
        if run.status != "paused":
            break
        grant = Grant(3) if chance.random() < 0.3 else None
        run = one.tell(run, "news") if chance.random() < 0.3 else one.resume(run, decided(run.question, grant))
    return run


@pytest.mark.parametrize("seed", range(60))
def test_random_combinations_of_all_features_keep_the_promises(seed: int) -> None:
    run = adventure(seed)
    assert run.status != "running"
    check_fold(run)
    if seed % 6 == 0:
        assert adventure(seed).events == run.events
    board = Board()
    for event in run.events:
        if isinstance(event, StepStarted):
            step = board.steps[event.step]
            assert board.results.keys() >= set(step.depends_on)
            assert event.step not in board.results
            if board.has_reviewer and event.attempt == 1:
                assert board.proposal.hash in board[Approvals].approved
                assert step in board.proposal.steps
            assert not step.gate or event.attempt > 1 or board[Approvals].asks.get(event.step, "") is None
            for limit in board.started.limits:
                busy = [id for id in board.in_flight if id and board.state[id] == "running"]
                using = [id for id in busy if (board.steps[id].tool or "") in limit.tools]
                assert len(using) < limit.slots or (step.tool or "") not in limit.tools
        board.apply(event)
    times = [event.at for event in run.events if not isinstance(event, Inside)]
    assert times == sorted(times)
