"""Runs whose spans are compared, and traces as other frameworks export them, written small."""

import sys
from collections.abc import Callable
from typing import Any

from mock_llm import MockLLM
from planexec_lite import (
    ApproveAll,
    Decision,
    Plan,
    PlannerExecutor,
    Policy,
    ReActExecutor,
    RulePlanner,
    Run,
    Simulated,
    ToolExecutor,
    execute,
)
from planexec_lite.capabilities.retries import Backoff
from planexec_lite.meter import ModelCall, charge
from planexec_lite.plan import Step
from planexec_lite.roles.reviewers import AskPerson
from planexec_lite.run import events
from tests.capabilities.scaffold import Site
from tests.core.shapes import step
from tests.core.test_nested import inner, outer
from tests.roles.test_react import TOOLS, call, scene
from tests.views import worlds

GOAL = "put up both"


def retried() -> Run:
    """A step fails, waits, and is done at its second try."""
    plan = Plan.parse([step("1", "put_up", name="a", fails=1, quarters=8), step("2", "put_up", "1", name="b")])
    policy = Policy(retries=1, backoff=Backoff(2.0, jitter=0.0))
    return execute(plan, ToolExecutor(Site().tools), workers=Simulated(), policy=policy)


def rolled_back() -> Run:
    """The second step fails, and the first is taken back."""
    undo = {"tool": "take_down", "params": {"name": "a"}}
    plan = Plan.parse([step("1", "put_up", name="a", undo=undo), step("2", "put_up", "1", name="b", fails=9)])
    return execute(plan, ToolExecutor(Site().tools), workers=Simulated(), policy=Policy(rollback="failed"))


def nested(reviewer: Any = None) -> Run:
    """Three steps, each a run of its own."""
    return outer(inner(reviewer=reviewer)).run("dinner")


def nested_and_paused() -> Run:
    """A run inside a step waits for a person."""
    return nested(AskPerson())


def nested_and_resumed() -> Run:
    """The same, gone on with after a yes to each."""
    agent = outer(inner(reviewer=AskPerson()))
    run = agent.run("dinner")
    while run.status == "paused":
        run = agent.resume(run, Decision("approve"))
    return run


class Writer:
    """A planner that says what its model used."""

    def plan(self, *_: object) -> Plan:
        charge(3.0, ModelCall("gpt-4o", 400, 90, 3.0))
        return Plan.parse([step("1", "put_up", name="a"), step("2", "put_up", "1", name="b")]).changed(goal=GOAL)


def planned() -> Run:
    """A model plans, a reviewer approves, and news comes."""
    return PlannerExecutor(Writer(), ToolExecutor(Site().tools), ApproveAll(), workers=Simulated()).run(GOAL)


def in_turns() -> Run:
    """A model carries a step out: it thinks, calls a tool twice, one call fails, and answers."""
    llm = MockLLM(
        [
            scene("look", call({"where": "nowhere"}), turn=1),
            scene("again", call({"where": "the hall"}), turn=2),
            scene("say", {"text": "found", "latency": 0.5}, turn=3),
        ]
    )
    executor = ReActExecutor(llm.client(), TOOLS, "gpt-4o-mini")
    return execute(Plan.parse([{"id": 1, "description": "find the key"}]), executor, workers=Simulated())


def invalid() -> Run:
    """The planner's answers are invalid, until it gives up."""
    agent = PlannerExecutor(RulePlanner(lambda _: [step("1", "dig")]), ToolExecutor(Site().tools), workers=Simulated())
    return agent.run(GOAL)


def interrupted() -> Run:
    """The process went away in the middle of a step, and it was done again."""
    return worlds.given(
        Plan(steps=(Step(id="1", tool="put_up", params={"name": "a"}),)),
        events.StepStarted(0.0, "1"),
        events.Requeued(1.5, "1", "interrupted"),
        events.StepStarted(1.5, "1"),
        events.StepDone(2.5, "1", {"up": ["ä\u2028{", None, 2**60]}, 1.0),
        events.Ended(2.5, "finished", "1 step done"),
    )


SAMPLES: dict[str, Callable[[], Run]] = {
    made.__name__: made
    for made in (
        retried, rolled_back, nested, nested_and_paused, nested_and_resumed, planned, in_turns, invalid, interrupted,
        worlds.replanned, worlds.midway, worlds.thinking, worlds.streamed,
    )
}  # fmt: skip


def long(length: int) -> Run:
    """A chain of steps that do nothing."""
    return worlds.run(worlds.chain(length))


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called: the same on every machine."""
    counted = 0

    def count(_: object, what: str, __: object) -> None:
        nonlocal counted
        counted += what in ("call", "c_call")

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return counted


BEGIN = 1_795_000_000_000_000_000  # nanoseconds
MILLI = 1_000_000


def otlp(*made: dict[str, Any]) -> dict[str, Any]:
    return {"resourceSpans": [{"scopeSpans": [{"scope": {"name": "theirs"}, "spans": list(made)}]}]}


def span(
    id: str, parent: str | None, name: str, start: float, end: float, error: str | None = None, **attributes: Any
) -> dict[str, Any]:
    """A span from `start` to `end`, in milliseconds; attributes are named with _ for a dot, and operation is short."""
    named = {
        "operation": "gen_ai.operation.name",
        "tool": "gen_ai.tool.name",
        "arguments": "gen_ai.tool.call.arguments",
        "result": "gen_ai.tool.call.result",
        "model": "gen_ai.request.model",
        "read": "gen_ai.usage.input_tokens",
        "written": "gen_ai.usage.output_tokens",
        "asked": "gen_ai.input.messages",
        "prompt": "gen_ai.prompt",
        "completion": "gen_ai.completion",
    }
    kinds = {key: "intValue" if isinstance(value, int) else "stringValue" for key, value in attributes.items()}
    made = {
        "traceId": "ab" * 16,
        "spanId": id,
        "name": name,
        "startTimeUnixNano": str(BEGIN + round(start * MILLI)),
        "endTimeUnixNano": str(BEGIN + round(end * MILLI)),
        "attributes": [{"key": named[key], "value": {kinds[key]: str(value)}} for key, value in attributes.items()],
    }
    made |= {"parentSpanId": parent} if parent else {}
    return made | ({"status": {"code": 2, "message": error}} if error is not None else {})


def chat(id: str, parent: str, start: float, end: float, **more: Any) -> dict[str, Any]:
    return span(id, parent, "chat gpt-4o-mini", start, end, operation="chat", model="gpt-4o-mini", **more)


def called(id: str, parent: str, start: float, end: float, tool: str = "weather", **more: Any) -> dict[str, Any]:
    return span(id, parent, f"execute_tool {tool}", start, end, operation="execute_tool", tool=tool, **more)


def agent(id: str, parent: str | None, start: float, end: float, **more: Any) -> dict[str, Any]:
    return span(id, parent, f"invoke_agent {id}", start, end, operation="invoke_agent", **more)
