"""Odd values in plans, tools and pictures are kept, or rejected with a message; none silently becomes another value."""

import json
import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest

from planexec_lab.cluster import ClusterPool
from planexec_lab.views import player
from planexec_lite import (
    Backoff,
    Inline,
    Journal,
    Plan,
    PlanError,
    Policy,
    Pool,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.capabilities.rollback import not_undone
from planexec_lite.meter import ModelCall, charge, emit
from planexec_lite.run import events as e
from planexec_lite.tools import ToolError
from planexec_lite.tools.references import MissingResultError
from planexec_lite.workers import Workers
from tests.core.agents import agent_for, carry_out
from tests.core.ending import to_its_end
from tests.core.shapes import step


def make() -> dict[str, Any]:
    return {"f": [1, {"g": 2}], "my name": 3}


def echo(x: Any) -> Any:
    return x


TOOLS = Toolbox([Tool(make, effects="none"), Tool(echo, effects="none")])


def test_a_missing_part_of_a_result_fails_the_step_or_the_answer() -> None:
    text, make = "{step_1_result.f[-3]}", step("1", "make")
    run = carry_out([make, step("2", "echo", "1", x=text)], TOOLS)
    assert (run.status, "the result has no" in run.reason) == ("failed", True)
    answered = carry_out({"steps": [make], "answer": text}, TOOLS)
    assert answered.status == "finished"
    with pytest.raises(MissingResultError, match=r"the plan's answer can't be written: .* has no .*see run\.results"):
        _ = answered.answer


@pytest.mark.parametrize("params", [{1: "a", "1": "b"}, {"x": [{1.5: 0, "1.5": 1}]}])
def test_names_that_are_no_strings_and_names_that_occur_twice_are_rejected(params: Any) -> None:
    for read in (lambda: Plan.parse([{"id": "1", "params": params}]), lambda: Step(id="1", params=params)):
        with pytest.raises(ValueError, match="should be a valid string"):
            read()
    for text in ('[{"id": "1", "params": {"to": "ACME", "to": "MALLORY"}}]', '{"steps": [], "steps": [{"id": "2"}]}'):
        with pytest.raises(PlanError, match="occurs twice"):
            Plan.parse(text)


class Mute:
    """An object without a text form."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


EMITTED: list[list[Any]] = [
    [
        b"\xff",
        Mute(),
        [Mute()],
        CYCLE,
        math.nan,
        "\ud800",
        e.Action("t", Mute()),
        e.Thought(b"\xff"),
        {1: 2, "1": 3},
        len,
    ],  # type: ignore[arg-type]
    [e.Inside(0.0, "1", Mute()), e.StepDone(0.0, "a", 1)],
    [e.RunStarted(0.0, "x", True, False, effects=7), e.PlanProposed(0.0, 3)],  # type: ignore[arg-type]
    [e.RunStarted(0.0, "x", True, False), e.Inside(0.0, "q", e.Inside(0.0, "r", 5))],
    [{"event": "RunStarted"}, 5, None],
]


@pytest.mark.parametrize("emitted", EMITTED)
def test_the_log_is_complete_and_the_run_as_before_whatever_a_tool_emits(emitted: list[Any]) -> None:
    def speak() -> None:
        for event in emitted:
            emit(event)

    agent = agent_for([Tool(speak, effects="idempotent")], [step("1", "speak")])
    run = agent.run("speak")
    assert (run.status, [*not_undone(agent.roll_back(run).board)]) == ("finished", [("1", "no undo of its own")])
    text = json.dumps([e.to_dict(event) for event in run.events], allow_nan=False)
    again = [e.from_dict(data) for data in json.loads(text)]
    assert [type(event) for event in again] == [type(event) for event in run.events]
    assert Run(run.events).board == run.board
    assert "inside step 1" in repr(player(run))


POOLS: list[Callable[[ThreadPoolExecutor], Workers]] = [Pool, ClusterPool]


@pytest.mark.parametrize("kinds", [*product(POOLS, repeat=2)])
def test_plans_inside_steps_of_a_pool_of_one_thread_end(
    kinds: Sequence[Callable[[ThreadPoolExecutor], Workers]],
) -> None:
    def nest(deep: int) -> int:
        if not deep:
            return 1
        plan = [step(str(n), "nest", deep=deep - 1) for n in (1, 2)]
        return sum(carry_out(plan, [Tool(nest, effects="none")], kinds[deep % 2](threads)).results.values())

    threads = ThreadPoolExecutor(1)  # not closed at the end: a thread that waits forever would stop the test there
    assert to_its_end(lambda: nest(3), 20) == 2**3


def test_runs_inside_runs_on_two_pools_in_turn_end() -> None:
    agent: Any = TOOLS
    with ThreadPoolExecutor(1) as a, ThreadPoolExecutor(1) as b:
        for threads, tool in ((a, "make"), (b, None), (a, None)):
            agent = agent_for(agent, [step("1", tool)], workers=Pool(threads))
        assert to_its_end(lambda: agent.run("x"), 20).status == "finished"


def twice(seconds: float) -> None:
    charge(seconds)
    charge(seconds)


ODD_TIMES: dict[str, tuple[Callable[[], Any], str]] = {
    "infinite": (lambda: charge(math.inf), "can't take inf seconds; charge zero or more, and at most 1e\\+09"),
    "no number": (lambda: charge(math.nan), "can't take nan seconds"),
    "negative": (lambda: charge(-1.0), "can't take -1.0 seconds"),
    "infinite in all": (lambda: twice(1e308), "can't take 1e\\+308 seconds"),
    "too many in all": (lambda: twice(6e8), "can't take 1200000000.0 seconds"),
    "of a model": (
        lambda: charge(call=ModelCall("m", 1, 1, math.inf)),
        "at most 1e\\+09 seconds, all zero or more; not .*seconds=inf",
    ),
    "of a model, no number": (
        lambda: charge(call=ModelCall("m", 1, 1, math.nan)),
        "seconds=nan",
    ),
    "negative tokens": (
        lambda: charge(call=ModelCall("m", -5, 1)),
        "whole numbers of tokens, .* zero or more; not .*input_tokens=-5",
    ),
    "half tokens": (lambda: charge(call=ModelCall("m", 1, 1.5)), "output_tokens=1.5"),  # type: ignore[arg-type]
    "true tokens": (lambda: charge(call=ModelCall("m", True, 1)), "input_tokens=True"),
    "of an event": (lambda: emit("seen", ago=math.inf), "can't have happened inf seconds ago"),
}


@pytest.mark.parametrize("workers", [Simulated(), Inline()], ids=["simulated", "inline"])
@pytest.mark.parametrize("kind", ODD_TIMES)
def test_a_time_or_a_count_that_no_run_could_store_fails_the_step(
    kind: str, workers: Workers, journal: Journal
) -> None:
    report, words = ODD_TIMES[kind]
    tools = ToolExecutor(Toolbox([Tool(report, name="odd")]))
    run = execute(Plan.parse([step("1", "odd")]), tools, workers=workers, journal=journal)
    assert re.search(words, run.board.errors["1"])
    assert journal.load(1).board == run.board
    assert math.isfinite(run.makespan)


@pytest.mark.parametrize("latency", [math.inf, math.nan, -1.0, 1e308, "2"])
def test_a_latency_is_a_time_that_a_run_can_store(latency: Any, journal: Journal) -> None:
    with pytest.raises(ToolError, match=r"tool 'make': latency=.*; give seconds from 0 to 1e\+09, or a function"):
        Tool(make, latency=latency)
    computed = Toolbox([Tool(make, latency=lambda: latency, effects="none")])
    run = execute(Plan.parse([step("1", "make")]), ToolExecutor(computed), workers=Simulated(), journal=journal)
    assert (run.status, journal.load(1).board) == ("failed", run.board)


def test_waits_without_end_are_stored(journal: Journal) -> None:
    def fail() -> None:
        raise OSError

    backoff = Policy(retries=3, backoff=Backoff(first=1e308, longest=1e308, factor=1.0, jitter=0.0))
    tools = ToolExecutor(Toolbox([Tool(fail, effects="none")]))
    run = execute(Plan.parse([step("1", "fail")]), tools, workers=Simulated(), policy=backoff, journal=journal)
    assert (run.status, run.makespan) == ("failed", 3e9)
    assert journal.load(1).board == run.board
