"""The release as a LlamaIndex workflow: steps that are connected by typed events."""

import asyncio
import json

from llama_index.core.callbacks import CallbackManager, TokenCountingHandler
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from llama_index.observability.otel import LlamaIndexOpenTelemetry
from ours import Answer, CheckedPlan, begun_before, roll_back
from pydantic import BaseModel
from shop import BUDGET, INSTRUCTIONS, KEY, MODEL, STATE, URL, Step, ask, attempt, question, say
from spans import exporter
from workflows import Context, Workflow, step
from workflows.events import Event, HumanResponseEvent, InputRequiredEvent, StartEvent, StopEvent

saved, usage = STATE / "context.json", TokenCountingHandler()
model = OpenAILike(
    model=MODEL,
    api_base=URL,
    api_key=KEY,
    is_chat_model=True,
    is_function_calling_model=True,
    callback_manager=CallbackManager([usage]),
)


class Proposed(InputRequiredEvent):
    """A plan that waits for the person."""

    plan: CheckedPlan


class Answered(HumanResponseEvent):
    """The person's answer."""

    answer: Answer


class Failed(Event):
    """The plan failed, and the planner must replan."""


class Ready(Event):
    """A step can start."""

    step: Step


class Over(Event):
    """A step has ended."""

    step: Step
    ok: bool
    result: str


class Board(BaseModel):
    """The state of the workflow."""

    plan: CheckedPlan = CheckedPlan(steps=[])
    begun: list[str] = []
    done: dict[str, str] = {}
    failed: dict[str, str] = {}
    replans: int = 0
    calls: int = 0
    asking: bool = False


class Release(Workflow):
    """Plan, ask, dispatch, work."""

    @step
    async def plan(self, ctx: Context[Board], ev: StartEvent | Failed) -> Proposed | StopEvent:
        """Ask the model for a plan."""
        board = await ctx.store.get_state()
        asked = question((board.done | board.failed) if board.failed else None)
        chat = [ChatMessage(role="system", content=INSTRUCTIONS), ChatMessage(role="user", content=asked)]
        for calls in (1, 2, 3):
            if BUDGET and board.calls + calls > BUDGET:  # ours: budget
                return StopEvent(result="the budget is used up")  # ours: budget
            await ctx.store.set("calls", board.calls + calls)  # ours: budget
            try:
                plan = (await model.as_structured_llm(CheckedPlan).achat(chat)).raw
                break
            except ValueError as error:  # an invalid plan goes back to the model
                if calls == 3:
                    raise
                chat.append(ChatMessage(role="user", content=str(error)))  # ours: repair
        await ctx.store.set("plan", plan)
        await ctx.store.set("asking", True)  # ours: waits
        return Proposed(plan=plan)

    @step(num_workers=1)
    async def dispatch(self, ctx: Context[Board], ev: Answered | Over) -> Ready | Failed | StopEvent | None:
        """Start every ready step."""
        async with ctx.store.edit_state() as board:
            board.asking = False  # ours: waits
            if isinstance(ev, Over):
                (board.done if ev.ok else board.failed)[ev.step.id] = ev.result
            elif not ev.answer.yes:
                return StopEvent(result="rejected")
            else:
                board.plan = ev.answer.plan or board.plan
            for one in board.plan.steps:
                if one.id not in board.begun and board.done.keys() >= set(one.depends_on):  # ours: no_barrier, skip
                    board.begun.append(one.id)
                    ctx.send_event(Ready(step=one))
            if len(board.begun) > len(board.done) + len(board.failed):
                return None
            board.replans += bool(board.failed)
            if board.replans == 1:
                return Failed()
        if board.failed:  # ours: undo
            roll_back(list(board.done.values()))  # ours: undo
        return StopEvent(result=board.failed or "done")

    @step(num_workers=4)
    async def work(self, ctx: Context[Board], ev: Ready) -> Over:
        """Run one step."""
        if begun_before(ev.step) and not ask({"in doubt": ev.step.id})["again"]:  # ours: once
            return Over(step=ev.step, ok=True, result=f"{ev.step.tool}: a person says that it was done")  # ours: once
        ok, result = await asyncio.to_thread(attempt, ev.step)
        over = Over(step=ev.step, ok=ok, result=result)
        ctx.write_event_to_stream(over)
        return over


async def main():
    """Run the workflow, and save its context after each event."""
    flow, ctx = Release(timeout=None), None
    if saved.exists():  # ours: waits, resume
        ctx = Context.from_dict(flow, json.loads(saved.read_text()))  # ours: waits, resume
    handler = flow.run(ctx=ctx)
    if ctx and await ctx.store.get("asking"):  # ours: waits
        plan = await ctx.store.get("plan")  # ours: waits
        handler.ctx.send_event(Answered(answer=ask(plan.model_dump())))  # ours: waits
    async for event in handler.stream_events(expose_internal=True):
        saved.with_name("new").write_text(json.dumps(handler.ctx.to_dict()))  # ours: waits, resume
        saved.with_name("new").replace(saved)  # ours: waits, resume
        if isinstance(event, Proposed):
            handler.ctx.send_event(Answered(answer=ask(event.plan.model_dump())))
        elif isinstance(event, Over):
            say(event.step.id, event.result)
    await handler
    say("USAGE", usage.prompt_llm_token_count, usage.completion_llm_token_count)


LlamaIndexOpenTelemetry(span_exporter=exporter(), span_processor="simple").start_registering()  # ours: trace
asyncio.run(main())
