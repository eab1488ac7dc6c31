"""The kit beside what other frameworks are known for: `features.py WORLD STATE NAME [TEXT]`."""

import sys

from shop import say

from planexec_lite import (
    Decision,
    Plan,
    PlannerExecutor,
    RulePlanner,
    Run,
    ScriptedReviewer,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)


@tool
def visit(place: str, value: str = "") -> str:
    """Visit a place."""
    return f"{place} {value}".strip()


def plan_of(value):
    """Return a plan with two steps."""
    return Plan.parse(
        {
            "goal": "visit two places",
            "steps": [
                {"id": "1", "tool": "visit", "params": {"place": "first"}},
                {"id": "2", "tool": "visit", "params": {"place": "second", "value": value}, "depends_on": ["1"]},
            ],
        }
    )


def time_travel(text):
    """Go back to the events before the second step, change the plan, and run on."""
    agent = PlannerExecutor(
        RulePlanner(lambda goal: plan_of("one")),
        ToolExecutor(Toolbox([visit])),
        reviewer=ScriptedReviewer([Decision("approve")]),
    )
    run = agent.run("visit two places")
    place = next(number for number, event in enumerate(run.events) if getattr(event, "step", None) == "2")
    earlier = Run(run.events[:place])
    agent.planner = RulePlanner(lambda goal: plan_of("two"))  # ours: time_travel
    agent.reviewer = ScriptedReviewer([Decision("approve")] * 2)  # ours: time_travel
    later = agent.tell(earlier, "the value is two now")  # ours: time_travel
    say("LAST", " | ".join(later.results.values()))


def wiring(text):
    """Write a plan with a dependency on a step that does not exist."""
    plan = Plan.parse(
        {"goal": "x", "steps": [{"id": "1", "tool": "visit", "params": {"place": "first"}, "depends_on": ["9"]}]}
    )
    execute(plan, ToolExecutor(Toolbox([visit])))


globals()[sys.argv[3]](" ".join(sys.argv[4:]))
