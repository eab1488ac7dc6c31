"""Which input the Responses API takes: messages, function calls, and an output for every call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_llm.exchange import ApiError
from mock_llm.refusals import empty_array, missing, refuse, unknown, unsupported, wrong_type, wrong_value

ROLES = ("assistant", "system", "developer", "user")
FIELDS: dict[str, tuple[str, ...]] = {
    "message": ("type", "role", "content", "id", "status", "phase"),
    "function_call": ("type", "call_id", "name", "arguments", "id", "status", "namespace", "caller"),
    "function_call_output": ("type", "call_id", "output", "id", "status"),
}
NOT_TEXT = ("input_image", "input_file", "input_audio")
SPOKEN = ("output_text", "refusal")


def input_problem(given: Any) -> ApiError | None:
    """The API's refusal of an input, or None."""
    if isinstance(given, str):
        return None
    if not isinstance(given, list):
        return wrong_type("input", "one of a string or array of input items", given)
    if not given:
        return empty_array("input", "a conversation has at least one message.")
    return next(_problems(given), None)


def _problems(items: Sequence[Any]) -> Iterator[ApiError]:
    for index, item in enumerate(items):
        yield from _item_problems(item, f"input[{index}]")
    yield from _pairing_problems(items)


def _item_problems(item: Any, at: str) -> Iterator[ApiError]:
    if not isinstance(item, dict):
        yield wrong_type(at, "an object", item, 'an item is a message: {"role": "user", "content": "…"}.')
        return
    kind = item.get("type", "message")
    if kind == "reasoning":
        yield unsupported(f"'{at}' ({kind})", "leave it out; a scripted model does not reason.", at)
    if not isinstance(kind, str) or kind not in FIELDS:
        yield wrong_value(f"{at}.type", kind, tuple(FIELDS), "other items are not for a scripted model.")
        return
    for name in item:
        if name not in FIELDS[kind]:
            yield unknown(f"{at}.{name}", f"a {kind} has no such field; is it spelled right?")
    if kind == "message":
        role = item.get("role")
        if not isinstance(role, str) or role not in ROLES:
            yield wrong_value(f"{at}.role", role, ROLES, "say who speaks in this message.")
        yield from _content_problems(item.get("content"), SPOKEN if role == "assistant" else ("input_text",), at)
        return
    for name in ("call_id", "name", "arguments") if kind == "function_call" else ("call_id",):
        if not isinstance(item.get(name), str):
            yield missing(f"{at}.{name}", f"a {kind} has a text in {name}.")
    if kind == "function_call_output":
        yield from _content_problems(item.get("output"), ("input_text",), at, "output")


def _content_problems(content: Any, kinds: Sequence[str], at: str, name: str = "content") -> Iterator[ApiError]:
    if content is None:
        yield missing(f"{at}.{name}", "say what was said.")
    elif isinstance(content, list):
        for index, part in enumerate(content):
            yield from _part_problems(part, kinds, f"{at}.{name}[{index}]")
    elif not isinstance(content, str):
        yield wrong_type(f"{at}.{name}", "one of a string or array of objects", content)


def _part_problems(part: Any, kinds: Sequence[str], at: str) -> Iterator[ApiError]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in NOT_TEXT:
        yield unsupported(f"'{at}' ({kind})", "send text.", at)
    elif kind not in kinds:
        hint = "what the user says is input_text, what the assistant said is output_text."
        yield wrong_value(f"{at}.type", kind, ("input_text", *SPOKEN) if len(kinds) == 1 else kinds, hint)
    else:
        field = "refusal" if kind == "refusal" else "text"
        if not isinstance(part.get(field), str):
            yield missing(f"{at}.{field}", f"a part of type {kind} has a text in {field}.")


def _pairing_problems(items: Sequence[Mapping[str, Any]]) -> Iterator[ApiError]:
    waiting: list[str] = []
    called: set[str] = set()
    for item in items:
        if item.get("type") == "function_call":
            waiting.append(item["call_id"])
            called.add(item["call_id"])
        elif item.get("type") == "function_call_output":
            if item["call_id"] not in called:
                text = f"No tool call found for function call output with call_id {item['call_id']}."
                hint = "put the function_call that the model made before its output."
                yield refuse(text, hint, "input")
            waiting = [call for call in waiting if call != item["call_id"]]
    if waiting:
        text = f"No tool output found for function call {waiting[0]}."
        yield refuse(text, "answer every call with a function_call_output, even when the tool failed.", "input")
