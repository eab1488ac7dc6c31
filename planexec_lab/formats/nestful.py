"""NESTFUL: nested calls with labels. Basu et al., "NESTFUL: A Benchmark for Evaluating LLMs on Nested Sequences of
API Calls" (2024), https://arxiv.org/abs/2409.03797.

A call has a label, and ``$var1.field$`` names a field of its result. A label that can't be a step id gets the id
``call_2``, by its place. The pseudo-call ``var_result`` names the outputs: a lone one becomes the plan's answer with
its type, several become lines ``name: value``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from planexec_lab.formats import tool_calls
from planexec_lab.formats.shapes import load, shaped
from planexec_lab.formats.steps import Rewrite, build, only_tools, rewriter, step
from planexec_lite import references
from planexec_lite.plan import Plan
from planexec_lite.references import Reference, as_text

_SHAPE = 'write {"input": …, "output": [{"name": …, "arguments": {…}, "label": "var1"}, …]}'

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


class _Call(BaseModel):
    name: str
    arguments: dict[str, Any] = {}
    label: str | None = None


class _Row(BaseModel):
    input: str = ""
    output: list[_Call]


def recognises(data: Any) -> bool:
    """Is this a row with `output`, or a list of calls?"""
    if tool_calls.recognises(data):
        return False
    if isinstance(data, Mapping):
        return "output" in data
    return isinstance(data, list) and any(
        isinstance(call, Mapping) and {"name", "arguments"} <= {*call} for call in data
    )


def read(data: Any) -> Plan:
    """Read a row of the data set (its `output` can be JSON text), or a bare list of calls."""
    bare = not isinstance(data, Mapping)
    row = {"output": data} if bare else dict(data)
    if isinstance(row.get("output"), str):
        row["output"] = load(row["output"])
    checked = shaped(_Row, row, _SHAPE, wrapped=int(bare))
    calls = [call for call in checked.output if call.name != "var_result"]
    outputs = [call for call in checked.output if call.name == "var_result"]
    ids = [_id(call.label, place) for place, call in enumerate(calls, 1)]
    rewrite = _rewriter({call.label: id for call, id in zip(calls, ids, strict=True) if call.label})
    steps = [step(id, call.name, call.arguments, rewrite) for id, call in zip(ids, calls, strict=True)]
    return build(steps, checked.input, _answer(outputs[-1].arguments, rewrite) if outputs else None)


def _id(label: str | None, place: int) -> str:
    return label if label and re.fullmatch(r"[\w.-]+", label, re.ASCII) else f"call_{place}"


def _rewriter(ids: Mapping[str, str]) -> Rewrite:
    odd = [label for label in ids if not _PLAIN.fullmatch(label)]  # the others are what the pattern's end looks for
    known = "".join(re.escape(label) + "|" for label in sorted(odd, key=len, reverse=True))
    pattern = re.compile(rf"\$(?P<label>{known}{_PLAIN.pattern})(?P<path>(?:\.\w+(?: \w+)*|\[[0-9]+\])*)\$", re.ASCII)
    return rewriter(pattern, lambda match: Reference(ids.get(match["label"], match["label"]), match["path"]))


def _answer(outputs: Mapping[str, Any], rewrite: Rewrite) -> str:
    lone = len(outputs) == 1
    return rewrite(
        "\n".join(as_text(value) if lone else f"{name}: {as_text(value)}" for name, value in outputs.items())
    )


def write(plan: Plan) -> str:
    """Write a row of the data set; the answer is the output ``answer`` of ``var_result``."""
    calls = [
        {"name": tool, "arguments": references.translate(one.params, _field), "label": one.id}
        for one, tool in only_tools(plan)
    ]
    if plan.answer is not None:
        calls.append({"name": "var_result", "arguments": {"answer": references.translate(plan.answer, _field)}})
    return json.dumps({"input": plan.goal, "output": calls}, indent=2, ensure_ascii=False)


def _field(reference: Reference) -> str:
    return f"${reference.step}{reference.path}$"
