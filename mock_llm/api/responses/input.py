"""Validation of the input of a response: its messages, tool calls and other items, and an output for every call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mock_llm.api import refusals
from mock_llm.api.conversation import PART_FIELDS, call_id_errors, image_errors, part_field_errors, text_errors
from mock_llm.types import SERVICE_ITEMS, ApiError

from .conversion import CLIENT_CALLS, call_id_of
from .response import is_encrypted

ROLES = ("assistant", "system", "developer", "user")
CALLS = ("function_call", "custom_tool_call", *CLIENT_CALLS)
FIELDS: dict[str, tuple[str, ...]] = {
    "message": ("type", "role", "content", "id", "status", "phase"),
    "function_call": ("type", "call_id", "name", "arguments", "id", "status", "namespace", "caller", "async"),
    "function_call_output": ("type", "call_id", "output", "id", "status", "caller", "name", "namespace"),
    "custom_tool_call": ("type", "call_id", "name", "input", "id", "status", "namespace", "caller", "async"),
    "custom_tool_call_output": ("type", "call_id", "output", "id", "status", "caller"),
    "reasoning": ("type", "id", "summary", "content", "encrypted_content", "status"),
    **{kind: ("type", "id", "status", *item.fields) for kind, item in SERVICE_ITEMS.items()},
    "compaction": ("type", "id", "encrypted_content", "created_by"),
    "mcp_list_tools": ("type", "id", "server_label", "tools", "error"),
    "local_shell_call": ("type", "id", "call_id", "action", "status"),
    "local_shell_call_output": ("type", "id", "output", "status"),
    "shell_call": ("type", "id", "call_id", "action", "caller", "environment", "status", "created_by"),
    "shell_call_output": ("type", "call_id", "output", "id", "caller", "max_output_length", "status"),
    "apply_patch_call": ("type", "id", "call_id", "operation", "caller", "status", "created_by"),
    "apply_patch_call_output": ("type", "call_id", "status", "id", "caller", "output"),
    "computer_call": ("type", "id", "call_id", "pending_safety_checks", "action", "actions", "status"),
    "computer_call_output": ("type", "call_id", "output", "id", "acknowledged_safety_checks", "status"),
}
TEXTS: dict[str, tuple[str, ...]] = {
    "function_call": ("call_id", "name", "arguments"),
    "custom_tool_call": ("call_id", "name", "input"),
    "function_call_output": ("call_id",),
    "custom_tool_call_output": ("call_id",),
    **{kind: (call_id_of(kind),) for call in CLIENT_CALLS for kind in (call, f"{call}_output")},
}
PREFIXES = {"message": "msg", "function_call": "fc", "custom_tool_call": "ctc", "reasoning": "rs"}
PREFIXES |= {kind: item.prefix for kind, item in SERVICE_ITEMS.items()}
# What the service accepts too, and a script can't answer.
NOT_SUPPORTED = frozenset(
    "additional_tools agent_message compaction_trigger mcp_approval_response multi_agent_call multi_agent_call_output "
    "program program_output tool_search_call tool_search_output".split()
)
NEWER = ("configuration_update",)  # the error of the API does not list it
NOT_SUPPORTED_PARTS = ("input_file", "input_audio", "scoped_content")
INPUT_PARTS = ("input_text", "input_image", "input_file", "scoped_content", "input_audio")
OUTPUT_PARTS = ("output_text", "refusal")
PARTS = (
    *("input_text", "input_image", "input_audio", "output_text", "refusal", "input_file", "computer_screenshot"),
    *("summary_text", "encrypted_content"),
)
PHASES = ("commentary", "final_answer")


def input_error(given: Any) -> ApiError | None:
    """Return the API's error for an input, or None."""
    if given in ("", []):
        text = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."
        return refusals.bad_request(
            text, "a conversation has at least one message.", None, "missing_required_parameter"
        )
    if isinstance(given, str):
        return None
    if not isinstance(given, list):
        return refusals.invalid_type("input", "one of a string or array of input items", given)
    return next(_errors(given), None)


def item_error(item: Any, at: str) -> ApiError | None:
    """Return the API's error for a single item, or None."""
    return next(_item_errors(item, at), None)


def _errors(items: Sequence[Any]) -> Iterator[ApiError]:
    for index, item in enumerate(items):
        yield from _item_errors(item, f"input[{index}]")
    yield from _pairing_errors(items)


def _item_errors(item: Any, at: str) -> Iterator[ApiError]:
    if not isinstance(item, dict):
        yield refusals.invalid_type(
            at, "an input item", item, 'an item is a message: {"role": "user", "content": "…"}.'
        )
        return
    kind = item.get("type", "message")
    if isinstance(kind, str) and kind in (*NOT_SUPPORTED, *NEWER):
        yield refusals.not_supported(f"'{at}' ({kind})", f"it takes {', '.join(FIELDS)}.", at)
    if not isinstance(kind, str) or kind not in FIELDS:
        known = sorted({*FIELDS, *NOT_SUPPORTED, "item_reference"})
        yield refusals.invalid_value(
            at, kind if isinstance(kind, str) else "", known, "check the spelling of the item's type."
        )
        return
    for name in item:
        if name not in FIELDS[kind]:
            yield refusals.unknown_parameter(f"{at}.{name}", f"a {kind} has no such field; check the spelling.")
    yield from _id_errors(item, kind, f"{at}.id")
    if kind == "message":
        role = item.get("role")
        if not isinstance(role, str) or role not in ROLES:
            yield refusals.invalid_value(
                at, role if isinstance(role, str) else "", ROLES, "add the role of this message."
            )
        if item.get("phase") is not None and role != "assistant":
            yield refusals.unknown_parameter(f"{at}.phase", "only the assistant's messages have a phase.")
        if item.get("phase") not in (None, *PHASES):
            yield refusals.invalid_value(f"{at}.phase", item["phase"], PHASES, "send it as it came from the model.")
        yield from _content_errors(item.get("content"), OUTPUT_PARTS if role == "assistant" else INPUT_PARTS, at)
        return
    for name in TEXTS.get(kind, ()):
        if not isinstance(item.get(name), str):
            yield refusals.missing_parameter(f"{at}.{name}", f"a {kind} needs a text in {name}.")
    if kind in TEXTS:
        yield from call_id_errors(item[call_id_of(kind)], f"{at}.{call_id_of(kind)}")
    if (call := kind.removesuffix("_output")) in CLIENT_CALLS:
        for name in SERVICE_ITEMS[call].output if call != kind else ():
            if item.get(name) is None:
                yield refusals.missing_parameter(f"{at}.{name}", f"a {kind} needs it.")
    elif kind.endswith("call_output"):
        yield from _content_errors(item.get("output"), INPUT_PARTS, at, "output")
    if kind == "reasoning":
        yield from _summary_errors(item.get("summary"), f"{at}.summary")
    if kind in ("reasoning", "compaction"):
        yield from _encryption_errors(item, kind == "compaction", f"{at}.encrypted_content")
    if kind in SERVICE_ITEMS and not SERVICE_ITEMS[kind].by_id:
        for name, required in SERVICE_ITEMS[kind].fields.items():
            if required and item.get(name) is None:
                yield refusals.missing_parameter(f"{at}.{name}", f"send the {kind} as it came from the service.")


def _id_errors(item: Mapping[str, Any], kind: str, at: str) -> Iterator[ApiError]:
    given, prefix = item.get("id"), PREFIXES.get(kind)
    if given is None or prefix is None:
        return
    if not isinstance(given, str):
        yield refusals.invalid_type(at, "a string", given)
    elif not given.startswith(prefix):
        text = f"Invalid '{at}': '{given}'. Expected an ID that begins with '{prefix}'."
        yield refusals.bad_request(text, "keep the item's original id, or omit it.", at, "invalid_value")


def _summary_errors(summary: Any, at: str) -> Iterator[ApiError]:
    if summary is None:
        yield refusals.missing_parameter(at, "send the reasoning as it came from the model; its summary can be empty.")
    elif not isinstance(summary, list):
        yield refusals.invalid_type(at, "an array of objects", summary)
    else:
        for index, part in enumerate(summary):
            if not isinstance(part, dict):
                yield refusals.invalid_type(f"{at}[{index}]", "an object", part)
            elif part.get("type") != "summary_text":
                yield refusals.invalid_value(
                    f"{at}[{index}].type", part.get("type"), ("summary_text",), "it is a text."
                )
            else:
                yield from text_errors(part, "text", f"{at}[{index}]")


def _encryption_errors(item: Mapping[str, Any], required: bool, at: str) -> Iterator[ApiError]:
    content = item.get("encrypted_content")
    if content is None:
        if required:
            yield refusals.missing_parameter(at, "send the item as it came from the service.")
    elif not isinstance(content, str):
        yield refusals.invalid_type(at, "a string", content)
    elif not is_encrypted(content):
        of = f"for item {item['id']}" if item.get("id") else f"{content[:4]}...{content[-4:]}"
        text = f"The encrypted content {of} could not be verified. Reason: Encrypted content could not be decrypted or "
        hint = "send it unchanged, and only to the scripted model that it came from."
        yield refusals.bad_request(f"{text}parsed.", hint, None, "invalid_encrypted_content")


def _content_errors(content: Any, kinds: Sequence[str], at: str, name: str = "content") -> Iterator[ApiError]:
    if content is None:
        yield refusals.missing_parameter(f"{at}.{name}", "add the text of the message.")
    elif isinstance(content, list):
        for index, part in enumerate(content):
            yield from _part_errors(part, kinds, f"{at}.{name}[{index}]")
    elif not isinstance(content, str):
        yield refusals.invalid_type(f"{at}.{name}", "one of a string or array of objects", content)


def _part_errors(part: Any, kinds: Sequence[str], at: str) -> Iterator[ApiError]:
    kind = part.get("type") if isinstance(part, dict) else None
    hint = "use input_text for the user and output_text for the assistant."
    if kind not in PARTS and kind not in kinds:
        yield refusals.invalid_value(f"{at}.type", kind if isinstance(kind, str) else "", PARTS, hint)
    elif kind not in kinds:
        yield refusals.invalid_value(at, kind, kinds, hint)
    elif kind in NOT_SUPPORTED_PARTS:
        yield refusals.not_supported(f"'{at}' ({kind})", "send text.", at)
    elif kind == "input_image":
        yield from image_errors(part.get("image_url") or part.get("file_id"), part.get("detail"), at, "image_url")
    else:
        yield from text_errors(part, "refusal" if kind == "refusal" else "text", at)
    if kind in PART_FIELDS:
        yield from part_field_errors(part, at)


def _pairing_errors(items: Sequence[Mapping[str, Any]]) -> Iterator[ApiError]:
    waiting: dict[str, str] = {}  # the calls that have no output yet, and their kinds in the API's words
    called: set[str] = set()
    for item in items:
        kind = item.get("type", "message")
        call = kind.removesuffix("_output")
        if call not in CALLS:
            continue
        words, call_id = call.replace("_", " "), item[call_id_of(kind)]
        if kind == call:
            waiting[call_id] = words
            called.add(call_id)
        else:
            if call_id not in called:
                text = f"No tool call found for {words} output with call_id {call_id}."
                yield refusals.bad_request(text, f"put the {call} that the model made before its output.", "input")
            waiting.pop(call_id, None)
    for call_id, words in waiting.items():
        hint = "answer every call with its output, even when the tool failed."
        yield refusals.bad_request(f"No tool output found for {words} {call_id}.", hint, "input")
