"""The release with the OpenAI Agents SDK: one agent, and a tool that needs approval and runs the approved plan."""

import asyncio
import json

from agents import Agent, Runner, RunState, function_tool, set_trace_processors
from agents.tool_context import ToolContext
from agents.tracing import TracingProcessor, custom_span
from ours import CheckedPlan, begun_before, roll_back
from shop import BUDGET, INSTRUCTIONS, MODEL, STATE, Plan, ask, question, run_step, say

saved, journal = STATE / "state.json", STATE / "done.json"
edits, failed = {}, []


class ToFile(TracingProcessor):
    """Writes each span to a file."""

    on_trace_start = on_trace_end = on_span_start = shutdown = force_flush = lambda *_: None  # ours: trace

    def on_span_end(self, span):  # ours: trace
        with (STATE / "trace.json").open("a") as file:  # ours: trace
            file.write(json.dumps(span.export()) + "\n")  # ours: trace


def complain(context, error):
    """Tell the model what is wrong with its plan."""
    return str(error)  # ours: repair


@function_tool(needs_approval=True, failure_error_function=complain)
async def carry_out(context: ToolContext, plan: Plan) -> str:
    """Carry out a plan after a person has approved it."""
    plan = CheckedPlan(**edits.get(context.tool_call_id, plan.model_dump()))  # ours: edited
    done = json.loads(journal.read_text()) if journal.exists() else {}  # ours: resume
    tasks = {}

    async def work(step):
        await asyncio.gather(*[tasks[id] for id in step.depends_on])  # ours: parallel, no_barrier, skip
        if step.id in done:  # ours: resume
            return  # ours: resume
        if begun_before(step) and not ask({"in doubt": step.id})["again"]:  # ours: once
            return  # ours: once
        span = custom_span(step.tool)  # ours: trace
        span.start(mark_as_current=True)  # ours: trace
        done[step.id] = await asyncio.to_thread(run_step, step)
        span.finish(reset_current=True)  # ours: trace
        journal.write_text(json.dumps(done))  # ours: resume
        say(step.id, done[step.id])  # ours: progress

    for step in plan.steps:  # ours: parallel, no_barrier
        tasks[step.id] = asyncio.create_task(work(step))  # ours: parallel, no_barrier
    ended = await asyncio.gather(*tasks.values(), return_exceptions=True)  # ours: skip
    failed[:] = [f"step {step.id} failed: {error}" for step, error in zip(plan.steps, ended, strict=True) if error]
    return "\n".join([*done.values(), *failed]) if failed else "nothing failed"


async def main():
    """Run the agent until it has answered."""
    agent = Agent("release manager", instructions=INSTRUCTIONS, model=MODEL, tools=[carry_out])
    state = await RunState.from_string(agent, saved.read_text()) if saved.exists() else question()
    while (result := await Runner.run(agent, state, max_turns=BUDGET or 4)).interruptions:
        state = result.to_state()
        saved.write_text(state.to_string())
        for asked in result.interruptions:
            answer = ask(json.loads(asked.arguments)["plan"])
            if answer["plan"]:  # ours: edited
                edits[asked.call_id] = answer["plan"]  # ours: edited
            state.approve(asked) if answer["yes"] else state.reject(asked)
        saved.write_text(state.to_string())
    if failed:  # ours: undo
        roll_back(list(json.loads(journal.read_text()).values()))  # ours: undo
    say("USAGE", result.context_wrapper.usage.input_tokens, result.context_wrapper.usage.output_tokens)


set_trace_processors([ToFile()])  # ours: trace, quiet
asyncio.run(main())
