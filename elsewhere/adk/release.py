"""The release with Google's ADK: a workflow node that asks the planner, asks the person, and runs the plan as a graph."""

import asyncio
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # ours: quiet

from google.adk.agents import Context, LlmAgent, RunConfig
from google.adk.apps import App, ResumabilityConfig
from google.adk.events import Event, RequestInput
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.workflow import START, FunctionNode, JoinNode, Workflow, node
from google.genai import types
from ours import Answer, CheckedPlan, begun_before, roll_back
from shop import BUDGET, INSTRUCTIONS, KEY, MODEL, STATE, URL, ask, attempt, question, say
from spans import to_file

model = LiteLlm(f"openai/{MODEL}", api_base=URL, api_key=KEY)
planner = LlmAgent(name="planner", model=model, instruction=INSTRUCTIONS, output_schema=CheckedPlan)
who = {"user_id": "ann", "session_id": "1"}


def node_of(step):
    """Return the node that runs one step. Its route says whether the step worked."""

    async def work(ctx: Context):
        if begun_before(step) and not ask({"in doubt": step.id})["again"]:  # ours: once
            return Event(output=f"{step.tool}: a person says that it was done", route="done")  # ours: once
        ok, result = await asyncio.to_thread(attempt, step)
        return Event(
            output=result, state={f"{'done' if ok else 'failed'} {step.id}": result}, route="done" if ok else "failed"
        )

    return FunctionNode(func=work, name=f"step_{step.id}")


def graph_of(plan):
    """Return a workflow with one node for each step. A step with several dependencies gets a join node."""
    nodes, edges = {step.id: node_of(step) for step in plan.steps}, []
    for step in plan.steps:
        entry = nodes[step.id]
        if len(step.depends_on) > 1:
            entry = JoinNode(name=f"before_{step.id}")
            edges.append((entry, nodes[step.id]))
        edges += [(nodes[id], {"done": entry}) for id in step.depends_on] or [(START, entry)]  # ours: skip
    return Workflow(name=f"steps_{plan.steps[0].id}", edges=edges)


def recorded(state, kind):
    """Return the results of the steps that are done, or failed, from the session's state."""
    return {key.split()[1]: value for key, value in state.to_dict().items() if key.startswith(f"{kind} ")}


@node(rerun_on_resume=True)
async def release(ctx: Context):
    """Plan, ask and run, twice at most."""
    failed = {}
    for round in (0, 1):
        plan = await ctx.run_node(planner, question(failed), run_id=f"plan{round}")
        answer = ctx.resume_inputs.get(f"approve{round}")
        if answer is None:
            yield RequestInput(interrupt_id=f"approve{round}", payload=plan, response_schema=Answer)
            return
        answer = Answer.model_validate(answer)
        plan = answer.plan or CheckedPlan.model_validate(plan)
        if not answer.yes or not plan.steps:
            break
        await ctx.run_node(graph_of(plan), run_id=f"steps{round}")
        failed = recorded(ctx.state, "failed")
        if not failed:
            break
    if failed:  # ours: undo
        roll_back(list(recorded(ctx.state, "done").values()))  # ours: undo
    yield Event(output=failed or "done")


def unanswered(events):
    """Return the questions to the person that have no answer yet."""
    answered = {answer.id for event in events for answer in event.get_function_responses()}
    return [call for event in events for call in event.get_function_calls() if call.id not in answered]


async def main():
    """Run the workflow; a session in SQLite keeps its events."""
    app = App(
        name="release",
        root_agent=Workflow(name="deploy", edges=[(START, release)]),
        resumability_config=ResumabilityConfig(is_resumable=True),
    )
    sessions = SqliteSessionService(str(STATE / "adk.db"))
    runner = Runner(app=app, session_service=sessions, auto_create_session=True)
    session = await sessions.get_session(app_name="release", **who)
    events = list(session.events) if session else []
    message, invocation = types.Content(role="user", parts=[types.Part(text=question())]), None
    if events:  # ours: resume
        message, invocation = None, events[-1].invocation_id  # ours: resume
    while True:
        if message or not unanswered(events):
            limits = RunConfig(max_llm_calls=BUDGET or 4)
            async for event in runner.run_async(
                new_message=message, invocation_id=invocation, run_config=limits, **who
            ):
                events.append(event)
                say(event.node_info.path, event.output)
        if not (asked := unanswered(events)):
            break
        response = types.FunctionResponse(id=asked[0].id, name=asked[0].name, response=ask(asked[0].args["payload"]))
        message, invocation = types.Content(role="user", parts=[types.Part(function_response=response)]), None
        events.append(Event(content=message))
    used = [event.usage_metadata for event in events if event.usage_metadata]
    say("USAGE", sum(one.prompt_token_count for one in used), sum(one.candidates_token_count for one in used))


to_file()  # ours: trace
asyncio.run(main())
