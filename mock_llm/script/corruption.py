"""Turns good plans into bad ones, as real models write them, for lessons on validation, repair and replanning.

A plan is plain JSON here: an object with a list `steps`. Each step is an object with `id` and `depends_on`, and with
`tool` and `params` if a corruption needs them. Of 1,971 plans that small models wrote for the tools of TaskBench, 45 %
name an unknown tool, have a dangling dependency or a cycle, or can't be read.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

Steps = list[dict[str, Any]]


def corrupted(plan: Any, how: str) -> Any:
    """Return a corrupted copy of a good plan.

    Args:
        plan: the good plan, as JSON.
        how: a name of `CORRUPTIONS`.

    Returns:
        The plan as JSON; for "prose", a string.

    Raises:
        ValueError: the corruption does not apply to this plan; for example, a cycle needs two steps.
    """
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    if not (isinstance(steps, list) and steps and all(isinstance(step, dict) and "id" in step for step in steps)):
        raise ValueError("it needs a plan in json: an object with a list 'steps', each step with an 'id'")
    made = copy.deepcopy(dict(plan))
    return CORRUPTIONS[how](made, made["steps"]) or made


def prose(plan: Any, steps: Steps) -> str:
    """Add friendly text around the JSON, although only JSON was requested."""
    return f"Sure! Here is a plan with {len(steps)} steps:\n\n{json.dumps(plan, ensure_ascii=False)}\n\nShall I begin?"


def unknown_tool(plan: Any, steps: Steps) -> None:
    """Let the last step call a tool that does not exist."""
    steps[-1]["tool"] = f"{steps[-1].get('tool') or 'tool'}_v2"


def dangling_dependency(plan: Any, steps: Steps) -> None:
    """Let the last step depend on a step that is not in the plan."""
    steps[-1]["depends_on"] = [*steps[-1].get("depends_on", ()), "99"]


def cycle(plan: Any, steps: Steps) -> None:
    """Let each step depend on the previous one, and the first on the last."""
    _at_least(2, steps, "a cycle")
    for index, step in enumerate(steps):
        step["depends_on"] = [steps[index - 1]["id"]]


def duplicate_ids(plan: Any, steps: Steps) -> None:
    """Give the last step the id of the first."""
    _at_least(2, steps, "a duplicate")
    steps[-1]["id"] = steps[0]["id"]


def ignored_instruction(plan: Any, steps: Steps) -> None:
    """Drop the last step. The plan is valid but does not do everything that was requested."""
    _at_least(2, steps, "leaving the last step out")
    left_out = steps.pop()["id"]
    for step in steps:
        step["depends_on"] = [need for need in step.get("depends_on", ()) if need != left_out]


def plausible_but_wrong(plan: Any, steps: Steps) -> None:
    """Swap the first two parameters of a step. The plan is valid, but its result is wrong."""
    for step in reversed(steps):
        params = step.get("params")
        if isinstance(params, dict) and len(params) > 1:
            (first, a), (second, b) = list(params.items())[:2]
            if a != b:
                params[first], params[second] = b, a
                return
    raise ValueError("it needs a step with two different parameters, to swap them")


CORRUPTIONS: Final[Mapping[str, Callable[[Any, Steps], str | None]]] = {
    function.__name__: function
    for function in (
        prose,
        unknown_tool,
        dangling_dependency,
        cycle,
        duplicate_ids,
        ignored_instruction,
        plausible_but_wrong,
    )
}


def _at_least(count: int, steps: Steps, what: str) -> None:
    if len(steps) < count:
        raise ValueError(f"{what} needs {count} steps, and this plan has {len(steps)}")
