"""Thinking ahead: the steps that a mind would plan, each from what it expects of those before it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from planexec_lab.worlds.minds.mind import EXPECTED, Act, Answer, Later, Mind, Seen, following
from planexec_lite.tools import references

MOST = 40
"""How many steps are thought ahead at most."""


def ahead(
    mind: Mind, seen: Sequence[Seen], number: int = 0, most: int = MOST
) -> tuple[list[dict[str, Any]], str | None]:
    """Return the next steps as a planner writes them, and the answer once it is reached.

    Args:
        mind: chooses the next call.
        seen: the calls so far with their results.
        number: the last number in use; the new steps are numbered from the next.
        most: the most steps.
    """
    steps: list[dict[str, Any]] = []
    while len(steps) < most:
        act = following(mind, seen)
        if isinstance(act, Answer):
            return steps, act.text
        number += 1
        expected = mind.expects(act, Later(f"{{step_{number}_result}}"))
        steps.append(_step(str(number), act, steps, None if most == 1 else expected.assumed))
        seen = [*seen, Seen(act.tool, act.params, expected.result)]
    return steps, None


def _step(id: str, act: Act, before: Sequence[Mapping[str, Any]], assumed: Any) -> dict[str, Any]:
    """A step; it depends on its references and, unless it is independent, on the steps without dependents."""
    waited_for = {id for step in before for id in step["depends_on"]}
    last = [] if act.alone else [step["id"] for step in before if step["id"] not in waited_for]
    named = [reference.step for reference in references.find(dict(act.params))]
    return {
        "id": id,
        "description": act.why,
        "tool": act.tool,
        "params": dict(act.params),
        "depends_on": sorted({*named, *last}, key=int),
        "success_criteria": None if assumed is None else EXPECTED + json.dumps(assumed, ensure_ascii=False),
    }
