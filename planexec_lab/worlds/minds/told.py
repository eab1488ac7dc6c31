"""The results in a request: a planner's request has the run so far, an executor's has its conversation."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from planexec_lab.worlds.minds.mind import Seen
from planexec_lite.tools import references

_JUDGED = "judged: "  # how the board says that a step failed by a verdict: it gave a result, which is the reason
_DATA = "data: "
_ENTRY = re.compile(
    r"^- step (?P<id>[\w.-]+), (?P<step>.*?): (?P<state>done, result|waiting|failed|skipped|superseded|undone|running|in doubt)"
    r"(?P<text>.*?)(?=\n- step |\n\nNews:|\n\nPlan the rest|\Z)",
    re.M | re.S,
)
_ERROR = re.compile(r"\w*Error: ")


class Entry(NamedTuple):
    """A line of the record: a step, its call or task, its state, and the text about it."""

    id: str
    step: str
    state: str
    text: str


def entries_in(told: str) -> list[Entry]:
    """Read the steps of the record that a planner is shown."""
    _, _, record = told.partition("\nSo far:\n")
    return [
        Entry(one["id"], one["step"], one["state"].partition(",")[0], one["text"].strip(" ,"))
        for one in _ENTRY.finditer(record)
    ]


def recorded(told: str) -> dict[str, Seen | None]:
    """Read the outcome of each step with a tool from a planner's request, by id; None if there is no outcome yet."""
    results: dict[str, Any] = {}
    record: dict[str, Seen | None] = {}
    for id, call, state, text in entries_in(told):
        record[id] = None
        if state in ("done", "failed"):
            tool, params = call_in(call)
            result = value_of(text)
            failed = state == "failed"
            if failed and str(result).startswith(_JUDGED):
                failed, result = False, value_of(result.removeprefix(_JUDGED))
            if not failed:
                results[id] = result
                params = references.resolve(params, results)
            record[id] = Seen(tool, params, result, failed)
    return record


def observed(messages: Sequence[Mapping[str, Any]]) -> list[Seen]:
    """Read what an executor has seen: each call of its conversation, and what came back."""
    texts = {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
    calls = [call for message in messages for call in message.get("tool_calls") or ()]
    return [
        Seen(
            call["function"]["name"],
            json.loads(call["function"]["arguments"]),
            value_of(texts[call["id"]]),
            failed=_ERROR.match(texts[call["id"]]) is not None,
        )
        for call in calls
    ]


def call_in(call: str) -> tuple[str, dict[str, Any]]:
    """Read the tool and the arguments of a call as a step writes it: ``search(query='wind', day={step_1_result})``."""
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return node.func.id, {str(part.arg): _argument(part.value) for part in node.keywords}


def _argument(node: ast.expr) -> Any:
    """A value; a reference is without quotes in a call, and Python parses it as a set."""
    return ast.unparse(node) if isinstance(node, ast.Set) else ast.literal_eval(node)


def value_of(text: str) -> Any:
    """Read a result as it was before it was written as text, or as data."""
    if text.startswith(_DATA):
        value, _ = json.JSONDecoder().raw_decode(text, len(_DATA))
        return value_of(value) if isinstance(value, str) else value
    try:
        return json.loads(text)
    except ValueError:
        return text
