"""Validation of a chat completion's messages: their roles and contents, and an answer to every tool call."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_llm.api import refusals
from mock_llm.api.conversation import call_id_errors, image_errors, part_field_errors, text_errors
from mock_llm.types import NAME, ApiError

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
FIELDS = "role content name tool_calls tool_call_id refusal audio function_call annotations".split()
PARTS = ("text", "image_url", "input_audio", "refusal", "file")


def messages_error(messages: Any) -> ApiError | None:
    """Return the API's error for a conversation, or None."""
    if not isinstance(messages, list):
        return refusals.invalid_type("messages", "an array of objects", messages)
    if not messages:
        return refusals.empty_array("messages", "a conversation has at least one message.")
    checked = (_message_errors(message, f"messages[{index}]") for index, message in enumerate(messages))
    return next(itertools.chain.from_iterable(checked), None)


def conversation_error(messages: Sequence[Mapping[str, Any]]) -> ApiError | None:
    """Return the API's error for a message without content or a call without a result, or None. The API looks for
    these last.
    """
    for index, message in enumerate(messages):
        speaks = message["role"] == "assistant" and (message.get("tool_calls") or message.get("refusal"))
        if message.get("content") is None and not speaks:
            hint = "only an assistant message with tool calls or a refusal can omit its content."
            text = "Invalid value for 'content': expected a string, got null."
            return refusals.bad_request(text, hint, f"messages.[{index}].content")
    return next(_pairing_errors(messages), None)


def _message_errors(message: Any, at: str) -> Iterator[ApiError]:
    if not isinstance(message, dict):
        hint = 'a message is an object: {"role": "user", "content": "…"}.'
        yield refusals.invalid_type(at, "an object", message, hint)
        return
    role = message.get("role")
    if role is None:
        yield refusals.missing_parameter(f"{at}.role", "add the role of this message.")
    if role not in ROLES:
        yield refusals.invalid_value(f"{at}.role", role, ROLES, "use one of these roles.")
    if role == "function" or message.get("function_call") or message.get("audio"):
        yield refusals.not_supported(f"'{at}' (functions and audio)", "use tool calls and text.", at)
    for name in message:
        # Clients send the model's messages back, and some add their own fields.
        if name not in FIELDS and role != "assistant":
            yield refusals.unknown_parameter(f"{at}.{name}", "a message has no such field; check the spelling.")
    for name in ("name", "tool_call_id", "refusal"):
        if message.get(name) is not None and not isinstance(message[name], str):
            yield refusals.invalid_type(f"{at}.{name}", "a string", message[name])
    name = message.get("name")
    if name is not None and re.search(r"[\s<|\\/>]", name):
        yield refusals.invalid_name(f"{at}.name", name)
    if message.get("tool_call_id") is not None:
        yield from call_id_errors(message["tool_call_id"], f"{at}.tool_call_id")
    if role == "tool" and message.get("tool_call_id") is None:
        yield refusals.missing_parameter(f"{at}.tool_call_id", "add the id of the call that this is the result of.")
    yield from _content_errors(message, f"{at}.content")
    if role == "assistant":
        yield from _call_errors(message, f"{at}.tool_calls")


def _content_errors(message: Mapping[str, Any], at: str) -> Iterator[ApiError]:
    content = message.get("content")
    expected = "one of a string or array of objects"
    if content is None and message["role"] == "developer":
        hint = "add the text of the instructions."
        yield (
            refusals.invalid_type(at, expected, None, hint)
            if "content" in message
            else refusals.missing_parameter(at, hint)
        )
    elif isinstance(content, list):
        for index, part in enumerate(content):
            if isinstance(part, dict) and part.get("type") == "image_url":
                yield from _image_errors(part.get("image_url"), message["role"], at, f"{at}[{index}].image_url")
            else:
                yield from _part_errors(part, f"{at}[{index}]")
                if message["role"] == "developer":  # the other roles ignore fields that they don't know
                    yield from part_field_errors(part, f"{at}[{index}]")
    elif not isinstance(content, str | None):
        yield refusals.invalid_type(at, expected, content, "content is a string; convert other values to JSON first.")


def _part_errors(part: Any, at: str) -> Iterator[ApiError]:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in PARTS:
        hint = 'a part of a message is {"type": "text", "text": "…"}.'
        yield refusals.invalid_value(f"{at}.type", kind, PARTS, hint)
    elif kind not in ("text", "refusal"):
        yield refusals.not_supported(f"'{at}' ({kind})", "send text.", at)
    else:
        yield from text_errors(part, kind, at)


def _image_errors(image: Any, role: str, at: str, where: str) -> Iterator[ApiError]:
    if role != "user":
        message = at.removesuffix(".content")
        text = f"Invalid '{message}'. Image URLs are only allowed for messages with role 'user', but this message with "
        hint = "show the image in a message of the user."
        yield refusals.bad_request(f"{text}role '{role}' contains an image URL.", hint, message, "invalid_value")
    if not isinstance(image, dict):
        yield refusals.invalid_type(
            where, "an object", image, 'an image is {"url": "https://…"} or {"url": "data:image/png;base64,…"}.'
        )
    else:
        yield from image_errors(image.get("url"), image.get("detail"), where, "url")


def _call_errors(message: Mapping[str, Any], at: str) -> Iterator[ApiError]:
    calls = message.get("tool_calls")
    if calls is None:
        return
    if not isinstance(calls, list):
        yield refusals.invalid_type(at, "an array of objects", calls)
        return
    if not calls:
        yield refusals.empty_array(at, "omit tool_calls if the message calls no tool.")
    for index, call in enumerate(calls):
        kind = "custom" if isinstance(call, dict) and call.get("type") == "custom" else "function"
        tool = call.get(kind) if isinstance(call, dict) else None
        if not isinstance(tool, dict):
            yield refusals.missing_parameter(f"{at}[{index}].{kind}", "add the tool that is called.")
            return
        if call.get("type") != kind:
            hint = "it is the type of the called tool."
            yield refusals.invalid_value(f"{at}[{index}].type", call.get("type"), ("function", "custom"), hint)
        parts = {"id": call.get("id"), f"{kind}.name": tool.get("name")}
        words = "arguments" if kind == "function" else "input"
        parts[f"{kind}.{words}"] = tool.get(words)
        for name, text in parts.items():
            if not isinstance(text, str):
                yield refusals.invalid_type(f"{at}[{index}].{name}", "a string", text)
        yield from call_id_errors(call["id"], f"{at}[{index}].id")
        if not NAME.fullmatch(str(tool["name"])):
            yield refusals.invalid_name(f"{at}[{index}].{kind}.name", tool["name"])


def _pairing_errors(messages: Sequence[Mapping[str, Any]]) -> Iterator[ApiError]:
    called: list[str] = []  # call ids of the latest assistant message
    waiting: list[str] = []  # the ids that have no answer yet
    answers: dict[str, int] = {}  # the message that answers each id
    for index, message in enumerate(messages):
        at = f"messages.[{index}]"
        if message["role"] != "tool":
            yield from _unanswered(waiting, f"{at}.role")
            called = [call["id"] for call in message.get("tool_calls") or ()] if message["role"] == "assistant" else []
            waiting = list(called)
            continue
        call_id = message.get("tool_call_id")
        if not called:
            text = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
            hint = "put the assistant message that called the tool before its result."
            yield refusals.bad_request(f"Invalid parameter: {text}", hint, f"{at}.role")
        elif call_id not in called:
            text = f"'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message."
            hint = f"the calls to answer are {', '.join(called)}."
            yield refusals.bad_request(f"Invalid parameter: {text}", hint, f"{at}.tool_call_id")
        elif call_id not in waiting:
            text = f"Duplicate value for 'tool_call_id' of '{call_id}', in messages[{answers[call_id]}] and messages[{index}]."
            yield refusals.bad_request(f"Invalid parameter: {text}", "answer each call once.", f"{at}.tool_call_id")
        answers[str(call_id)] = index
        waiting = [call for call in waiting if call != call_id]
    yield from _unanswered(waiting, f"messages.[{len(messages) - 1}].role")


def _unanswered(waiting: Sequence[str], param: str) -> Iterator[ApiError]:
    if waiting:
        text = "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        text += "'tool_call_id'. The following tool_call_ids did not have response messages: "
        hint = "answer every call with a message of role tool, even when the tool failed."
        yield refusals.bad_request(text + ", ".join(waiting), hint, param)
