"""The release with this kit."""

from concurrent.futures import ThreadPoolExecutor
from functools import wraps

from openai import OpenAI
from shop import BUDGET, GOAL, STATE, ask, call, say, shop
from spans import exporter

from planexec_lab import spans
from planexec_lite import (
    AskPerson,
    Budget,
    Decision,
    Journal,
    LLMPlanner,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    Pool,
    Tool,
    Toolbox,
    ToolExecutor,
)

export, reported = spans.live(exporter()), 0  # ours: trace


def logged(name):
    """Return a tool of the shop that writes to the suite's log."""
    return wraps(getattr(shop, name))(lambda *args, **params: call(name, **params))


def watch(run):
    """Report the new events."""
    global reported
    export(run)  # ours: trace
    for event in run.events[reported:]:  # ours: progress
        say(event)  # ours: progress
    reported = len(run.events)


def shown(plan):
    """Return the plan as the person sees it: parameters are pairs in all programs of this folder."""
    pairs = [[{"name": name, "value": value} for name, value in step.params.items()] for step in plan.steps]
    return {
        "steps": [
            {"id": s.id, "tool": s.tool, "params": p, "depends_on": list(s.depends_on)}
            for s, p in zip(plan.steps, pairs, strict=True)
        ]
    }


def edited(answer, plan):
    """Return the person's plan."""
    if not answer["plan"]:
        return None
    steps = [
        step | {"params": {param["name"]: param["value"] for param in step["params"]}}
        for step in answer["plan"]["steps"]
    ]
    return Plan.parse({"goal": plan.goal, "steps": steps, "rollback": [call.model_dump() for call in plan.rollback]})


tools = Toolbox(Tool(logged(name), latency=seconds, effects=effects) for name, (seconds, effects) in shop.TOOLS.items())
agent = PlannerExecutor(
    LLMPlanner(OpenAI(max_retries=0)),
    ToolExecutor(tools),
    reviewer=AskPerson(),
    workers=Pool(ThreadPoolExecutor(4)),
    policy=Policy(
        replan="failure", max_replans=1, rollback="failed", budget=Budget(model_calls=BUDGET), over_budget="stop"
    ),
    watch=watch,
    journal=Journal(STATE / "runs.db"),
)
run = agent.resume(agent.journal.load(1)) if (STATE / "runs.db").exists() else agent.run(GOAL)
while run.status == "paused":
    approval = run.question.kind == "approval"
    answer = ask(shown(run.plan) if approval else {"in doubt": run.question.step})
    try:
        if not approval:
            decision = Decision("not done" if answer["again"] else "done")
        else:
            decision = Decision("approve", plan=edited(answer, run.plan)) if answer["yes"] else Decision("reject")
        run = agent.resume(run, decision)
    except PlanError as error:
        say("the edited plan is invalid:", error)
say("USAGE", run.usage.input_tokens, run.usage.output_tokens)
