"""LLMCompiler: numbered calls. Kim et al., "An LLM Compiler for Parallel Function Calling" (2023),
https://arxiv.org/abs/2312.04511.

``2. math("$1 / 2")`` calls a tool with literals, as Python writes them; ``join()`` ends the plan, and what follows it is left
out and listed. A lone argument is named ``input``, several ``arg1``, ``arg2``, …: `formats.named` gives them the names of
a toolbox. `dollars` says which ``$1`` is a result.
"""

from __future__ import annotations

import re
from typing import Any

from planexec_lab.formats import calls
from planexec_lab.formats.dollars import results_in
from planexec_lab.formats.shapes import fault, left_out
from planexec_lab.formats.steps import build, only_tools, step, whole
from planexec_lite.plan import Plan, Problem
from planexec_lite.tools import references

_NUMBERED = re.compile(r"^[ \t]*[0-9]+[.)][ \t]*\w+\(", re.M)

_SHAPE = 'write each step on a separate line: 1. search("Oslo"), then 2. math("$1 / 2"); the last one is join()'
_LINE = re.compile(r"([0-9]+)[.)]\s*(\w.*)")
_WHOLE = re.compile(r"\$\{[0-9]+\}")
_UNQUOTED = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|\$(?:[0-9]+|\{[0-9]+\})""")


def recognises(data: str) -> bool:
    """Is this a text with numbered calls?"""
    return _NUMBERED.search(data) is not None


def read(data: str) -> Plan:
    """Read the planner's text; ``Thought:`` becomes the description of the next step, ``Question:`` the goal."""
    goal = why = ""
    steps: list[dict[str, Any]] = []
    remarks: list[Problem] = []
    earlier, ended, over = set[str](), False, False
    for place, line in enumerate(data.splitlines(), 1):
        ended, over = ended or over, "<END_OF_PLAN>" in line
        text = line.replace("<END_OF_PLAN>", "").strip()
        if text.startswith("Question:") and not goal:
            goal = text.removeprefix("Question:").strip()
        elif text.startswith("Thought:"):
            why = f"{why} {text.removeprefix('Thought:')}".strip()
        elif numbered := _LINE.fullmatch(text):
            tool, params = _call(numbered[2], place)
            if tool == "join":
                remarks += [left_out(repr(one), place) for one in (why, text if params else "") if one]
                ended, why = True, ""
                continue
            if ended:
                raise fault(f"line {place}: {text[:60]!r} comes after join() or the end", "write join() last")
            steps.append(step(numbered[1], tool, params, results_in(earlier, place), why=why))
            earlier.add(numbered[1])
            why = ""
        elif text and not ended:
            raise fault(f"line {place}: {text[:60]!r} is no numbered call", _SHAPE)
        elif text:
            remarks.append(left_out(repr(text[:60]), place))
    remarks += [left_out(repr(why))] if why else []
    return build(steps, goal, left_out=remarks)


def write(plan: Plan) -> str:
    """Write numbered calls, with ``Thought:`` above one that has a description, and ``join()`` last."""
    lines = [f"Question: {plan.goal}"] if plan.goal else []
    for one, tool in only_tools(plan):
        params = references.translate(one.params, whole("${{{}}}"))
        lines += [f"Thought: {one.description}"] if one.description else []
        lines.append(f"{one.id}. {calls.written(tool, {name: _lone(value) for name, value in params.items()})}")
    last = max((int(one.id) for one in plan.steps if one.id.isdecimal()), default=0)
    return "\n".join([*lines, f"{last + 1}. join()", ""])


def _lone(value: Any) -> Any:
    """A whole argument needs no braces: ``$1``."""
    return value.replace("{", "").replace("}", "") if isinstance(value, str) and _WHOLE.fullmatch(value) else value


def _call(text: str, place: int) -> tuple[str, dict[str, Any]]:
    """Return the tool and its arguments; ``$1`` without quotes counts as a text."""
    try:
        return calls.read(_UNQUOTED.sub(lambda match: match[1] or f'"{match[0]}"', text))
    except ValueError as error:
        message = f"line {place}: {text[:60]!r} can't be read: {error}"
        raise fault(message, "close every bracket and quote; pass texts (in quotes), numbers and lists") from None
