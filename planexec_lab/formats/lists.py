"""Plain lists of steps, as people and models write them: ``1. Analyze the schema``, ``2) …``, ``- …``.

``(after 1, 2)``, ``depends on 1 and 2`` or ``needs step 1`` at the end of an item says what it waits for. In a list
without any such words each step waits for the one before it; in a list with some, an item without them waits for none.
"""

from __future__ import annotations

import re
from typing import Any

from planexec_lab.formats import llmcompiler
from planexec_lab.formats.shapes import fault
from planexec_lab.formats.steps import build, unwritable
from planexec_lite.plan import Plan

CARRIES = frozenset({"goal", "description"})
LINE = re.compile(r"[ \t]*(?:[0-9]+[.)]|[-*•])[ \t]+\S")

_ITEM = re.compile(r"([ \t]*)(?:([0-9]+)[.)]|[-*•])[ \t]+(.*)")
_GOAL = re.compile(r"[ \t]*(?:#+[ \t]*)?(?:Goal|Task):[ \t]*(.*)", re.IGNORECASE)
_IDS = r"(?P<ids>{one}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*){one})*)".format(one=r"(?:steps?\s+)?#?[0-9]+")
_WORDS = r"(?:after|depends\s+on|depending\s+on|needs|requires|waits\s+for)"
_HINT = re.compile(
    rf"\s*(?:[(\[]\s*{_WORDS}:?\s+(?:{_IDS}|nothing|none)\s*[)\]]"
    rf"|[,;:–—-]?\s*(?:depends\s+on:?\s+|{_WORDS}\s+(?=step)){_IDS.replace('<ids>', '<bare>')})\s*\.?\s*$",
    re.IGNORECASE,
)
_MEND = "write an item a line, '1. what to do', and what it waits for at its end: '(after 1, 2)'"


def recognises(data: Any) -> bool:
    """Is this a text that begins with an item or a goal, and has items, none of which is a numbered call?"""
    if not isinstance(data, str) or llmcompiler.recognises(data):
        return False
    lines = [line for line in data.splitlines() if line.strip()]
    return any(map(_ITEM.match, lines)) and (_ITEM.match(lines[0]) or _GOAL.match(lines[0])) is not None


def read(data: Any) -> Plan:
    """Read the list; a line ``Goal: …`` above it is the goal, and an indented line continues its item."""
    if not isinstance(data, str):
        raise fault("this is not a string", _MEND)
    goal, items, outer = "", list[tuple[str, list[str], int]](), ""
    for line, text in enumerate(data.splitlines(), 1):
        item = _ITEM.fullmatch(text)
        above = _GOAL.fullmatch(text) if not items else None
        if above:
            goal = above[1].strip()
        elif item:
            outer = outer if items else item[1]
            if items and len(item[1].expandtabs()) > len(outer.expandtabs()) + 1:
                raise fault(
                    f"line {line}: {text.strip()[:60]!r} is a list within a step", "write all steps in one list"
                )
            if items and bool(item[2]) != items[0][0].isdecimal():
                raise fault(f"line {line}: {text.strip()[:60]!r} is mixed with items of another kind", _MEND)
            items.append((item[2] or "", [item[3].strip()], line))
        elif text.strip():
            if not items or not text[:1].isspace():
                raise fault(f"line {line}: {text.strip()[:60]!r} is no item of the list", _MEND)
            items[-1][1].append(text.strip())
    return build(_steps(items), goal)


def write(plan: Plan) -> str:
    """Write the list; what a step waits for is left to the order where each waits for the one before it."""
    for step in plan.steps:
        if not step.id.isdecimal():
            message = f"an item of a list has a number, and this step is called {step.id!r}"
            raise unwritable(step.id, message, "number the steps")
    after = [list(step.depends_on) for step in plan.steps]
    hints = after if after != _in_order([step.id for step in plan.steps]) else [[] for _ in after]
    none = len(after) > 1 and hints is after and not any(after)
    lines = [f"Goal: {plan.goal}"] if plan.goal else []
    for step, ids in zip(plan.steps, hints, strict=True):
        hint = f" (after {', '.join(ids)})" if ids else " (after nothing)" if none else ""
        lines.append(f"{step.id}. {step.description}{hint}")
    return "\n".join([*lines, ""])


def _steps(items: list[tuple[str, list[str], int]]) -> list[dict[str, Any]]:
    numbers = [number for number, _, _ in items]
    by_place = set(numbers) <= {"", "1"}  # Markdown numbers items itself, so every item can have the number 1
    ids = [str(place) if by_place else number for place, number in enumerate(numbers, 1)]
    texts = [" ".join(lines) for _, lines, _ in items]
    hints = [_HINT.search(text) for text in texts]
    after = [re.findall(r"[0-9]+", hint["ids"] or hint["bare"] or "") if hint else [] for hint in hints]
    return [
        {"id": id, "description": text[: hint.start()] if hint else text, "depends_on": depends_on}
        for id, text, hint, depends_on in zip(ids, texts, hints, after if any(hints) else _in_order(ids), strict=True)
    ]


def _in_order(ids: list[str]) -> list[list[str]]:
    return [[], *([id] for id in ids[:-1])] if ids else []
