"""LLMCompiler: numbered calls. Kim et al., "An LLM Compiler for Parallel Function Calling" (2023),
https://arxiv.org/abs/2312.04511.

``2. math("$1 / 2")`` calls a tool with literals, as Python writes them; ``join()`` ends the plan, and what follows it
is not read. A lone argument is named ``input``, several ``arg1``, ``arg2``, …: `formats.named` gives them the names of
a toolbox. `dollars` says which ``$1`` is a result.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from planexec_lite.formats.dollars import UNREADABLE, expression, results_in
from planexec_lite.formats.shapes import fault, plain
from planexec_lite.formats.steps import build, by_position, step
from planexec_lite.plan import Plan

_SHAPE = 'write each step on a line of its own: 1. search("Oslo"), then 2. math("$1 / 2"); the last one is join()'
_LINE = re.compile(r"([0-9]+)\.\s*(\w.*)")
_UNQUOTED = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\$(?:[0-9]+|\{[0-9]+\})""")


def recognises(data: Any) -> bool:
    """Is this a text with numbered calls?"""
    return isinstance(data, str) and re.search(r"^[ \t]*[0-9]+\.[ \t]*\w+\(", data, re.M) is not None


def read(data: Any) -> Plan:
    """Read the planner's text; ``Thought:`` becomes the description of the next step, ``Question:`` the goal."""
    if not isinstance(data, str):
        raise fault("this is no text", _SHAPE)
    goal = why = ""
    steps: list[dict[str, Any]] = []
    for place, line in enumerate(data.splitlines(), 1):
        text = line.replace("<END_OF_PLAN>", "").strip()
        if text.startswith("Question:"):
            goal = text.removeprefix("Question:").strip()
        elif text.startswith("Thought:"):
            why = text.removeprefix("Thought:").strip()
        elif numbered := _LINE.fullmatch(text):
            tool, params = _call(numbered[2], place)
            if tool == "join":
                break
            earlier = {one["id"] for one in steps}
            steps.append(step(numbered[1], tool, params, results_in(earlier, place), why=why))
            why = ""
        elif text:
            raise fault(f"line {place}: {text[:60]!r} is no numbered call", _SHAPE)
    return build(steps, goal)


def _call(text: str, place: int) -> tuple[str, dict[str, Any]]:
    """Return the tool and its arguments; ``$1`` without quotes counts as a text."""
    try:
        call = expression(_UNQUOTED.sub(lambda match: match[1] or f'"{match[0]}"', text))
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            raise ValueError("it is no call of a tool")
        if any(keyword.arg is None for keyword in call.keywords):
            raise ValueError("** is no argument")
        params = by_position(map(ast.literal_eval, call.args))
        params |= {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        return call.func.id, plain(params)
    except UNREADABLE as error:
        message = f"line {place}: {text[:60]!r} can't be read: {getattr(error, 'msg', error)}"
        raise fault(message, "close every bracket and quote; pass texts (in quotes), numbers and lists") from None
