"""The rules of the planner's instructions, each of which can be left out."""

from __future__ import annotations

import re

RULES: dict[str, str] = {
    "ids": "Give every step an id",
    "references": "To use the result of step 1",
    "dependencies": "depends_on lists",
    "criteria": "success_criteria says",
    "JSON alone": "Answer with JSON alone",
    "verify": "Verify:",
    "failure": "Say what may fail:",
    "span": "Write the whole plan",
}
"""The rules of the planner's instructions: a name, and how the rule begins there."""


def without(instructions: str, rule: str) -> str:
    """Return the instructions without one of the rules. Raises `ValueError` when they do not hold it exactly once."""
    left, times = re.subn(rf"^- {re.escape(RULES[rule])}.*(?:\n  .*)*\n?", "", instructions, flags=re.MULTILINE)
    if times != 1:
        raise ValueError(f"the rule {rule!r} (- {RULES[rule]} …) occurs {times} times in the instructions, not once")
    return left.rstrip("\n")
