"""The shape of a request to the Messages API, field by field, as the types of the anthropic package have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mock_llm.types import ApiError

from .fields import (
    Check,
    an_object,
    anything,
    flag,
    items,
    no_thread,
    nullable,
    number,
    one_of,
    record,
    tagged,
    text,
    text_or,
    unsupported,
)

TYPE = {"type": anything}
CACHE = {"cache_control": nullable(tagged({"ephemeral": record(TYPE, {"ttl": one_of("5m", "1h")})}))}
TEXT = record({**TYPE, "text": text()}, {**CACHE, "citations": unsupported})
TEXTS = text_or(items(record({"type": one_of("text"), "text": text()}, {**CACHE, "citations": unsupported})))
MEDIA = one_of("image/jpeg", "image/png", "image/gif", "image/webp")
SOURCES = {
    "base64": record({**TYPE, "media_type": MEDIA, "data": text()}, {}),
    "url": record({**TYPE, "url": text()}, {}),
    "file": record({**TYPE, "file_id": text()}, {}),
}
IMAGE = record({**TYPE, "source": tagged(SOURCES)}, {**CACHE, "transformations": unsupported})
NOT_SCRIPTED = (  # blocks that the real API accepts, but that no script can ask for or give out
    "document search_result container_upload server_tool_use web_search_tool_result web_fetch_tool_result "
    "code_execution_tool_result bash_code_execution_tool_result text_editor_code_execution_tool_result "
    "tool_search_tool_result "
    "advisor_tool_result compaction fallback mcp_tool_listing mcp_tool_result mcp_tool_use tool_addition tool_removal"
).split()
OTHERS = dict.fromkeys(NOT_SCRIPTED, unsupported)
SHOWN = tagged({"text": TEXT, "image": IMAGE, **dict.fromkeys(("document", "search_result"), unsupported)})
BLOCK = tagged(
    {
        "text": TEXT,
        "image": IMAGE,
        "tool_use": record(
            {**TYPE, "id": text("[a-zA-Z0-9_-]+"), "name": text("[a-zA-Z0-9_-]{1,200}"), "input": an_object},
            {**CACHE, "caller": anything, "toolset_name": unsupported},
        ),
        "tool_result": record(
            {**TYPE, "tool_use_id": text("[a-zA-Z0-9_-]+")},
            {**CACHE, "content": text_or(items(SHOWN)), "is_error": nullable(flag), "toolset_name": unsupported},
        ),
        "thinking": record({**TYPE, "thinking": text(), "signature": text()}, {}),
        "redacted_thinking": record({**TYPE, "data": text()}, {}),
        **OTHERS,
    }
)
ROLES = ("user", "assistant", "system")
MESSAGE = record({"role": one_of(*ROLES), "content": text_or(items(BLOCK))}, {})
TOOL = record(
    {"name": text("[a-zA-Z0-9_-]{1,128}"), "input_schema": an_object},
    {
        **TYPE,
        **CACHE,
        "description": text(),
        "strict": nullable(flag),
        "input_examples": items(an_object),
        "eager_input_streaming": nullable(flag),
        "allowed_callers": anything,
        "defer_loading": unsupported,
    },
)
SERVER_TOOLS = (
    "bash_20250124 code_execution_20250522 code_execution_20250825 code_execution_20260120 code_execution_20260521 "
    "browser_toolset_20260801 memory_20250818 computer_toolset_20260801 text_editor_20250124 text_editor_20250429 "
    "text_editor_20250728 web_search_20250305 web_fetch_20250910 web_search_20260209 web_fetch_20260209 "
    "web_fetch_20260309 web_search_20260318 web_fetch_20260318 tool_search_tool_bm25 tool_search_tool_bm25_20251119 "
    "tool_search_tool_regex tool_search_tool_regex_20251119 "
    # of a beta
    "advisor_20260301 bash_20241022 computer_20241022 computer_20250124 computer_20251124 mcp_toolset "
    "text_editor_20241022"
).split()
TOOLS = items(tagged({"custom": TOOL, **dict.fromkeys(SERVER_TOOLS, unsupported)}, "custom"))

ONE_CALL = {"disable_parallel_tool_use": flag}
CHOICE = tagged(
    {
        "auto": record(TYPE, ONE_CALL),
        "any": record(TYPE, ONE_CALL),
        "tool": record({**TYPE, "name": text()}, ONE_CALL),
        "none": record(TYPE, {}),
    }
)
DISPLAY = {"display": nullable(one_of("summarized", "omitted"))}
THINKING = tagged(
    {
        "enabled": record({**TYPE, "budget_tokens": number(1024, whole=True)}, DISPLAY),
        "adaptive": record(TYPE, DISPLAY),
        "between_tools": record(TYPE, {}),
        "disabled": record(TYPE, {}),
    }
)
EFFORTS = ("low", "medium", "high", "xhigh", "max")
FORMAT = nullable(tagged({"json_schema": record({**TYPE, "schema": an_object}, {})}))
OUTPUT = record({}, {"effort": nullable(one_of(*EFFORTS)), "format": FORMAT})
COUNTED: Mapping[str, Check] = {  # what a count of tokens takes
    "system": TEXTS,
    "tools": TOOLS,
    "tool_choice": CHOICE,
    "thinking": THINKING,
    "output_config": OUTPUT,
    **CACHE,
}
SAMPLING: Mapping[str, Check] = {"temperature": number(0, 1), "top_p": number(0, 1), "top_k": number(0)}
OPTIONAL: Mapping[str, Check] = {
    **COUNTED,
    "metadata": record({}, {"user_id": nullable(text(most=512))}),
    "stop_sequences": items(text()),
    "stream": flag,
    "service_tier": one_of("auto", "standard_only"),
    "inference_geo": nullable(text()),
    "speed": nullable(one_of("standard", "fast")),
    "container": unsupported,
    "diagnostics": unsupported,
}
BETA = dict.fromkeys(
    "billing_policy compaction context_management fallback_credit_token fallbacks mcp_servers output_format "
    "user_profile_id workspace_id".split(),
    unsupported,
) | {"thread": no_thread}
OLDER = "2023-06-01"  # the version that still has temperature, top_p and top_k
VERSIONS = ("2026-10-21", OLDER)


def body_error(body: Any, headers: Mapping[str, str], counted: bool) -> ApiError | None:
    """Return the error of the first field that does not have the shape of the API, or None.

    Args:
        headers: `anthropic-version` and `anthropic-beta` decide on some fields.
        counted: the request is for a count of its tokens.
    """
    required: dict[str, Check] = {"model": text(least=1), "messages": items(MESSAGE)}
    optional = COUNTED if counted else OPTIONAL
    if not counted:
        required["max_tokens"] = number(0, whole=True)
        if headers["anthropic-version"] == OLDER:
            optional = {**optional, **SAMPLING}
    if "anthropic-beta" in headers:
        optional = {**optional, **BETA}
    return record(required, optional)(body, "")
