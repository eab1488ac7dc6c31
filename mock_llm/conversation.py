"""Which conversations the API takes: roles, contents, and every tool call answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .exchange import ApiError
from .refusals import NAME, empty_array, missing, refuse, unknown, unsupported, wrong_name, wrong_type, wrong_value

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
FIELDS = "role content name tool_calls tool_call_id refusal audio function_call annotations".split()
ONLY_FOR = {"tool_calls": "assistant", "refusal": "assistant", "annotations": "assistant", "tool_call_id": "tool"}
PARTS = ("text", "image_url", "input_audio", "refusal", "file")


def messages_problem(messages: Any) -> ApiError | None:
    """The API's refusal of a conversation, or None."""
    if not isinstance(messages, list):
        return wrong_type("messages", "an array of objects", messages)
    if not messages:
        return empty_array("messages", "a conversation has at least one message.")
    return next(_problems(messages), None)


def _problems(messages: Sequence[Any]) -> Iterator[ApiError]:
    for index, message in enumerate(messages):
        yield from _message_problems(message, f"messages[{index}]")
    yield from _pairing_problems(messages)


def _message_problems(message: Any, at: str) -> Iterator[ApiError]:
    if not isinstance(message, dict):
        hint = 'a message is an object: {"role": "user", "content": "…"}.'
        yield wrong_type(at, "an object", message, hint)
        return
    role = message.get("role")
    if not isinstance(role, str) or role not in ROLES:
        yield wrong_value(f"{at}.role", role, ROLES, "say who speaks in this message.")
    if role == "function" or message.get("function_call") or message.get("audio"):
        yield unsupported(f"'{at}' (functions and audio)", "use tool calls and text.", at)
    for name in message:
        if name not in FIELDS:
            yield unknown(f"{at}.{name}", "a message has no such field; is it spelled right?")
        elif message[name] is not None and ONLY_FOR.get(name, role) != role:
            yield unknown(f"{at}.{name}", f"only messages of role {ONLY_FOR[name]} have it.")
    for name in ("name", "tool_call_id", "refusal"):
        if message.get(name) is not None and not isinstance(message[name], str):
            yield wrong_type(f"{at}.{name}", "a string", message[name])
    if role == "tool" and message.get("tool_call_id") is None:
        yield missing(f"{at}.tool_call_id", "say which call this is the result of.")
    yield from _content_problems(message, f"{at}.content")
    yield from _call_problems(message, f"{at}.tool_calls")


def _content_problems(message: Mapping[str, Any], at: str) -> Iterator[ApiError]:
    content = message.get("content")
    if content is None:
        speaks = message["role"] == "assistant" and (message.get("tool_calls") or message.get("refusal"))
        if not speaks:
            hint = "only an assistant message that calls tools or refuses may have no content."
            yield refuse("Invalid value for 'content': expected a string, got null.", hint, at)
    elif isinstance(content, list):
        if not content:
            yield empty_array(at, "a message says something.")
        for index, part in enumerate(content):
            yield from _part_problems(part, f"{at}[{index}]")
    elif not isinstance(content, str):
        hint = "content is a text; dump other values to JSON first."
        yield wrong_type(at, "one of a string or array of objects", content, hint)


def _part_problems(part: Any, at: str) -> Iterator[ApiError]:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in PARTS:
        hint = 'a part of a message is {"type": "text", "text": "…"}.'
        yield wrong_value(f"{at}.type", kind, PARTS, hint)
    elif kind not in ("text", "refusal"):
        yield unsupported(f"'{at}' ({kind})", "send text.", at)
    elif not isinstance(part.get(kind), str):
        yield missing(f"{at}.{kind}", f"a part of type {kind} has a text in {kind}.")


def _call_problems(message: Mapping[str, Any], at: str) -> Iterator[ApiError]:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list):
        yield wrong_type(at, "an array of objects", calls)
        return
    if not calls:
        yield empty_array(at, "leave tool_calls out of a message that calls none.")
    for index, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            yield missing(f"{at}[{index}].function", "say which function is called.")
            return
        if call.get("type") != "function":
            yield wrong_value(f"{at}[{index}].type", call.get("type"), ("function", "custom"), "it is 'function' here.")
        parts = {"id": call.get("id"), "function.name": function.get("name")}
        parts["function.arguments"] = function.get("arguments")
        for name, text in parts.items():
            if not isinstance(text, str):
                yield wrong_type(f"{at}[{index}].{name}", "a string", text)
        if not NAME.fullmatch(str(function["name"])):
            yield wrong_name(f"{at}[{index}].function.name", function["name"])


def _pairing_problems(messages: Sequence[Mapping[str, Any]]) -> Iterator[ApiError]:
    called: list[str] = []  # ids that the latest assistant message called
    waiting: list[str] = []  # those of them that have no answer yet
    for index, message in enumerate(messages):
        at = f"messages.[{index}]"
        if message["role"] != "tool":
            yield from _unanswered(waiting, f"{at}.role")
            called = [call["id"] for call in message.get("tool_calls") or ()]
            waiting = list(called)
            continue
        answered = message.get("tool_call_id")
        if not called:
            text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            hint = "put the assistant's message that called the tool before its result."
            yield refuse(f"Invalid parameter: {text}", hint, f"{at}.role")
        elif answered not in called:
            text = f"'tool_call_id' of '{answered}' not found in 'tool_calls' of previous message."
            hint = f"the calls to answer are {', '.join(called)}."
            yield refuse(f"Invalid parameter: {text}", hint, f"{at}.tool_call_id")
        elif answered not in waiting:
            text = f"Duplicate value for 'tool_call_id' of '{answered}'."
            yield refuse(f"Invalid parameter: {text}", "answer each call once.", f"{at}.tool_call_id")
        waiting = [call for call in waiting if call != answered]
    yield from _unanswered(waiting, f"messages.[{len(messages) - 1}].role")


def _unanswered(waiting: Sequence[str], param: str) -> Iterator[ApiError]:
    if waiting:
        text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        text += "'tool_call_id'. The following tool_call_ids did not have response messages: "
        hint = "answer every call with a message of role tool, even when the tool failed."
        yield refuse(text + ", ".join(waiting), hint, param)
