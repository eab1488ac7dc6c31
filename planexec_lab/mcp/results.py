"""A server's answer as a step's result: data of bounded size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from planexec_lab.mcp.errors import ToolFailedError
from planexec_lab.mcp.listing import ListedTool
from planexec_lab.mcp.strangers_words import bounded
from planexec_lite.tools import text_of

if TYPE_CHECKING:
    from mcp_types import CallToolResult

LONGEST_RESULT = 1_000_000
"""Characters of a result, written as JSON; a longer one fails the step."""

_LONGEST_ERROR = 500


def result_of(answer: CallToolResult, tool: ListedTool) -> Any:
    """Return what a tool returned: its structured content as it is, or its text, or the list of its content's parts.

    Text, images and links beside structured content are added to it as ``content``, unless they only repeat it.

    Raises `ToolFailedError`, with the server's words, where the server says that the tool failed, and where the result is
    longer than can be carried.
    """
    data = answer.structured_content
    if tool.wraps_its_result and not answer.is_error and list(data or ()) == ["result"]:
        data = data["result"]
    parts = [
        part.text if part.type == "text" else part.model_dump(mode="json", by_alias=True, exclude_none=True)
        for part in answer.content
    ]
    if answer.structured_content is not None:
        parts = [part for part in parts if not _repeats(part, data)]
    if answer.is_error:
        reasons = parts if data is None else [*parts, data]
        words = " ".join(one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in reasons)
        raise ToolFailedError(in_its_words(tool, words))
    result = data
    if answer.structured_content is None:
        result = parts[0] if len(parts) == 1 else parts or None
    elif parts:
        named = isinstance(data, dict) and "content" not in data
        result = {**(data if named else {"structuredContent": data}), "content": parts}
    size = len(json.dumps(result, ensure_ascii=False))
    if size > LONGEST_RESULT:
        raise ToolFailedError(f"{tool.name}: its result has {size} characters; {LONGEST_RESULT} are taken at most")
    return result


def in_its_words(tool: ListedTool, words: str) -> str:
    """A server's error message, bounded, after the tool's name."""
    shown = bounded(words, _LONGEST_ERROR) or "it failed, and does not say why"
    return shown if shown.startswith(f"{tool.name}: ") else f"{tool.name}: {shown}"


def words_of(error: Exception, skipped: int = 0) -> str:
    """The words of the official client's error, in a sentence; the first parts of a place in a message are `skipped`."""
    if not isinstance(error, ValidationError):
        return str(error).partition("\n\n")[0]
    fault = error.errors()[0]
    place = ".".join(map(str, fault["loc"][skipped:])) or "this"
    return f"the protocol does not allow {place}: {fault['msg']}"


def _repeats(part: Any, data: Any) -> bool:
    """Whether a text is empty, or says what `data` says, or one of its entries: servers repeat them for old clients."""
    if not isinstance(part, str):
        return False
    try:
        read = json.loads(part)
    except ValueError:
        read = part
    entries = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    texts = {text_of(read), text_of(part)}
    return not part.strip() or any(text_of(one) in texts for one in [data, {"result": data}, *entries])
