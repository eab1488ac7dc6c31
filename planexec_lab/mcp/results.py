"""A server's answer as a step's result: data of bounded size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from planexec_lab.mcp.errors import ToolFailedError
from planexec_lab.mcp.listing import ListedTool
from planexec_lab.mcp.strangers_words import bounded

if TYPE_CHECKING:
    from mcp_types import CallToolResult

LONGEST_RESULT = 1_000_000
"""Characters of a result, written as JSON; a longer one fails the step."""

_LONGEST_ERROR = 500


def result_of(answer: CallToolResult, tool: ListedTool) -> Any:
    """Return what a tool returned: its structured content; or else its text, or the list of its content's parts.

    Raises `ToolFailedError`, with the server's words, where the server says that the tool failed, and where the result is
    longer than can be carried.
    """
    if answer.is_error:
        words = " ".join(part.text for part in answer.content if part.type == "text")
        raise ToolFailedError(in_its_words(tool, words))
    result = _data(answer, tool)
    size = len(json.dumps(result, ensure_ascii=False))
    if size > LONGEST_RESULT:
        raise ToolFailedError(f"{tool.name}: its result has {size} characters; {LONGEST_RESULT} are taken at most")
    return result


def in_its_words(tool: ListedTool, words: str) -> str:
    """A server's error message, bounded, after the tool's name."""
    shown = bounded(words, _LONGEST_ERROR) or "it failed, and does not say why"
    return shown if shown.startswith(f"{tool.name}: ") else f"{tool.name}: {shown}"


def _data(answer: CallToolResult, tool: ListedTool) -> Any:
    structured = answer.structured_content
    if structured is not None:
        return structured["result"] if tool.wraps_its_result and list(structured) == ["result"] else structured
    parts = [
        part.text if part.type == "text" else part.model_dump(mode="json", by_alias=True, exclude_none=True)
        for part in answer.content
    ]
    return parts[0] if len(parts) == 1 else parts or None
