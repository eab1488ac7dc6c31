"""What a request says was seen: a planner is told of the run so far, an executor has its conversation."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from planexec_lite import references
from planexec_lite.scenarios.minds.mind import Seen

_JUDGED = "judged: "  # how the board says that a step failed by a verdict: it gave a result, which is the reason
_LINE = re.compile(r"^- step ([\w.-]+), (\w+\(.*?\)): (done, result|failed,|\w+) ?(.*)$", re.M)
_ERROR = re.compile(r"\w*Error: ")


def recorded(told: str) -> dict[str, Seen | None]:
    """Read what a planner is told of each step, by its id: what became of its call; None while nothing has."""
    results: dict[str, Any] = {}
    record: dict[str, Seen | None] = {}
    for id, call, state, rest in _LINE.findall(told):
        record[id] = None
        if state in ("done, result", "failed,"):
            tool, params = call_in(call)
            failed = state == "failed," and not rest.startswith(_JUDGED)
            result = _value(rest.removeprefix(_JUDGED))
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
            _value(texts[call["id"]]),
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
    """A value; a reference stands in a call without quotes, and Python takes it for a set."""
    return ast.unparse(node) if isinstance(node, ast.Set) else ast.literal_eval(node)


def _value(text: str) -> Any:
    """A result that was written out: an object or a list as it is; anything else is a text."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict | list | bool | int) else text
