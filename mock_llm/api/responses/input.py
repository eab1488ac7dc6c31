"""Validation of the input of a response: its messages and function calls, and an output for every call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_llm.api.conversation import call_id_errors, image_errors, text_errors
from mock_llm.types import (
    ApiError,
    bad_request,
    empty_array,
    invalid_type,
    invalid_value,
    missing_parameter,
    not_supported,
    unknown_parameter,
)

ROLES = ("assistant", "system", "developer", "user")
FIELDS: dict[str, tuple[str, ...]] = {
    "message": ("type", "role", "content", "id", "status", "phase"),
    "function_call": ("type", "call_id", "name", "arguments", "id", "status", "namespace", "caller"),
    "function_call_output": ("type", "call_id", "output", "id", "status"),
}
PREFIXES = {"message": "msg", "function_call": "fc"}
NOT_TEXT = ("input_file", "input_audio")
SAID = ("input_text", "input_image")
SPOKEN = ("output_text", "refusal")


def input_error(given: Any) -> ApiError | None:
    """Return the API's error for an input, or None."""
    if isinstance(given, str):
        return None
    if not isinstance(given, list):
        return invalid_type("input", "one of a string or array of input items", given)
    if not given:
        return empty_array("input", "a conversation has at least one message.")
    return next(_errors(given), None)


def _errors(items: Sequence[Any]) -> Iterator[ApiError]:
    for index, item in enumerate(items):
        yield from _item_errors(item, f"input[{index}]")
    yield from _pairing_errors(items)


def _item_errors(item: Any, at: str) -> Iterator[ApiError]:
    if not isinstance(item, dict):
        yield invalid_type(at, "an object", item, 'an item is a message: {"role": "user", "content": "…"}.')
        return
    kind = item.get("type", "message")
    if kind == "reasoning":
        yield not_supported(f"'{at}' ({kind})", "omit it; a scripted model does not reason.", at)
    if not isinstance(kind, str) or kind not in FIELDS:
        yield invalid_value(f"{at}.type", kind, tuple(FIELDS), "a scripted model does not support other items.")
        return
    for name in item:
        if name not in FIELDS[kind]:
            yield unknown_parameter(f"{at}.{name}", f"a {kind} has no such field; check the spelling.")
    yield from _id_errors(item, kind, f"{at}.id")
    if kind == "message":
        role = item.get("role")
        if not isinstance(role, str) or role not in ROLES:
            yield invalid_value(f"{at}.role", role, ROLES, "add the role of this message.")
        yield from _content_errors(item.get("content"), SPOKEN if role == "assistant" else SAID, at)
        return
    for name in ("call_id", "name", "arguments") if kind == "function_call" else ("call_id",):
        if not isinstance(item.get(name), str):
            yield missing_parameter(f"{at}.{name}", f"a {kind} needs a text in {name}.")
    yield from call_id_errors(item["call_id"], f"{at}.call_id")
    if kind == "function_call_output":
        yield from _content_errors(item.get("output"), SAID, at, "output")


def _id_errors(item: Mapping[str, Any], kind: str, at: str) -> Iterator[ApiError]:
    given, prefix = item.get("id"), PREFIXES.get(kind)
    if given is None or prefix is None:
        return
    if not isinstance(given, str):
        yield invalid_type(at, "a string", given)
    elif not given.startswith(prefix):
        text = f"Invalid '{at}': '{given}'. Expected an ID that begins with '{prefix}'."
        yield bad_request(text, "keep the item's original id, or omit it.", at, "invalid_value")


def _content_errors(content: Any, kinds: Sequence[str], at: str, name: str = "content") -> Iterator[ApiError]:
    if content is None:
        yield missing_parameter(f"{at}.{name}", "add the text of the message.")
    elif isinstance(content, list):
        for index, part in enumerate(content):
            yield from _part_errors(part, kinds, f"{at}.{name}[{index}]")
    elif not isinstance(content, str):
        yield invalid_type(f"{at}.{name}", "one of a string or array of objects", content)


def _part_errors(part: Any, kinds: Sequence[str], at: str) -> Iterator[ApiError]:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in NOT_TEXT:
        yield not_supported(f"'{at}' ({kind})", "send text.", at)
    elif kind not in kinds:
        hint = "use input_text for the user and output_text for the assistant."
        yield invalid_value(f"{at}.type", kind, kinds if kinds == SPOKEN else ("input_text", *SPOKEN), hint)
    elif kind == "input_image":
        yield from image_errors(part.get("image_url") or part.get("file_id"), part.get("detail"), at, "image_url")
    else:
        yield from text_errors(part, "refusal" if kind == "refusal" else "text", at)


def _pairing_errors(items: Sequence[Mapping[str, Any]]) -> Iterator[ApiError]:
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
                yield bad_request(text, hint, "input")
            waiting = [call for call in waiting if call != item["call_id"]]
    if waiting:
        text = f"No tool output found for function call {waiting[0]}."
        yield bad_request(text, "answer every call with a function_call_output, even when the tool failed.", "input")
