"""The release with pydantic-ai and pydantic-graph: an agent with a deferred tool, and a graph that runs the steps."""

import asyncio
import json
from dataclasses import dataclass, field

import logfire
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from ours import CheckedPlan, begun_before, roll_back
from pydantic import TypeAdapter
from pydantic_ai import (
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ModelMessagesTypeAdapter,
    ToolApproved,
    UsageLimits,
)
from pydantic_ai.usage import RunUsage
from pydantic_graph import GraphBuilder, StepContext, reduce_null
from shop import BUDGET, INSTRUCTIONS, MODEL, STATE, Step, ask, attempt, question, say
from spans import exporter

messages, answers, journal = STATE / "messages.json", STATE / "answers.json", STATE / "done.json"
deferred, failures = TypeAdapter(DeferredToolResults), {}


@dataclass
class Board:
    """The state of the graph."""

    plan: CheckedPlan
    begun: set = field(default_factory=set)
    done: dict = field(default_factory=dict)
    failed: dict = field(default_factory=dict)


graph = GraphBuilder(state_type=Board, output_type=object)


@graph.step
async def ready(ctx: StepContext[Board, None, object]) -> list[Step]:
    """Return the steps that can start now."""
    board = ctx.state
    waiting = [step for step in board.plan.steps if step.id not in board.begun | board.done.keys()]
    steps = [step for step in waiting if board.done.keys() >= set(step.depends_on)]  # ours: skip
    board.begun |= {step.id for step in steps}
    return steps


@graph.step
async def work(ctx: StepContext[Board, None, Step]) -> None:
    """Run one step."""
    board, step = ctx.state, ctx.inputs
    if begun_before(step) and not ask({"in doubt": step.id})["again"]:  # ours: once
        board.done[step.id] = f"{step.tool}: a person says that it was done"  # ours: once
        return  # ours: once
    ok, result = await asyncio.to_thread(attempt, step)
    (board.done if ok else board.failed)[step.id] = result
    journal.write_text(json.dumps(board.done))  # ours: resume
    say(step.id, result)  # ours: progress


over = graph.join(reduce_null, initial=None)
graph.add(graph.edge_from(graph.start_node).to(ready), graph.edge_from(ready).map(downstream_join_id=over.id).to(work))
graph.add(
    graph.edge_from(work).broadcast(lambda path: [path.to(ready), path.to(over)]),
    graph.edge_from(over).to(graph.end_node),
)
release = graph.build()
agent = Agent(f"openai-chat:{MODEL}", instructions=INSTRUCTIONS, output_type=[str, DeferredToolRequests], retries=2)


@agent.tool_plain(requires_approval=True)
async def carry_out(plan: CheckedPlan) -> str:
    """Carry out a plan after a person has approved it."""
    board = Board(plan)
    board.done |= json.loads(journal.read_text()) if journal.exists() else {}  # ours: resume
    await release.run(state=board)
    failures.update(board.failed)
    return "\n".join((board.done | board.failed).values()) if board.failed else "nothing failed"


def main():
    """Run the agent until it has answered."""
    usage, prompt, history, results = RunUsage(), question(), None, None
    if messages.exists():
        prompt, history = None, ModelMessagesTypeAdapter.validate_json(messages.read_bytes())
        results = deferred.validate_json(answers.read_bytes()) if answers.exists() else None  # ours: resume
    while True:
        limits = UsageLimits(request_limit=BUDGET or 4)
        result = agent.run_sync(
            prompt, message_history=history, deferred_tool_results=results, usage=usage, usage_limits=limits
        )
        prompt, history = None, result.all_messages()
        if isinstance(result.output, str):
            break
        answers.unlink(missing_ok=True)  # ours: resume
        messages.write_bytes(result.all_messages_json())
        results = DeferredToolResults()
        for asked in result.output.approvals:
            answer = ask(asked.args_as_dict()["plan"] if "plan" in asked.args_as_dict() else asked.args_as_dict())
            results.approvals[asked.tool_call_id] = answer["yes"] and ToolApproved(override_args=answer["plan"])
        answers.write_bytes(deferred.dump_json(results))  # ours: resume
    if failures:  # ours: undo
        roll_back(list(json.loads(journal.read_text()).values()))  # ours: undo
    say("USAGE", usage.input_tokens, usage.output_tokens)


spans = SimpleSpanProcessor(exporter())  # ours: trace
logfire.configure(send_to_logfire=False, console=False, additional_span_processors=[spans])  # ours: trace
logfire.instrument_pydantic_ai()  # ours: trace
main()
