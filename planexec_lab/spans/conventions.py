"""Spans in other conventions, described by OpenTelemetry's names for GenAI.

OpenInference (Arize; used with smolagents, LangGraph, LlamaIndex and others), OpenLLMetry (Traceloop), Vercel's AI SDK, MLflow,
LangSmith, Langfuse, Google's ADK, pydantic-ai before version 5, and contents in span events (Strands). Each is a line in a table:
the attribute that says what a span is, and the names under which it has what the conventions name otherwise. An attribute that is
there under its own name is not changed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from planexec_lab.spans import names
from planexec_lab.spans.contents import failed, joined, parsed, result, text_of
from planexec_lab.spans.span import Span, Value

_KINDS = (  # the attributes that say the kind of a span
    "openinference.span.kind",
    "traceloop.span.kind",
    "llm.request.type",
    "mlflow.spantype",
    names.OF_LANGSMITH,
    "ai.operationid",
    "langfuse.observation.type",
)
_GENERATES = ("generatetext.dogenerate", "streamtext.dostream", "generateobject.dogenerate", "streamobject.dostream")
_MEANINGS = {  # what the values of these attributes mean, in small letters
    **dict.fromkeys(
        ("llm", "chat", "completion", "chat_model", "generation", *(f"ai.{name}" for name in _GENERATES)), names.CHAT
    ),
    **dict.fromkeys(("tool", "ai.toolcall"), names.EXECUTE_TOOL),
    **dict.fromkeys(("agent", "ai.generatetext", "ai.streamtext"), names.INVOKE_AGENT),
    **dict.fromkeys(("embedding", "ai.embed.doembed", "ai.embedmany.doembed"), names.EMBEDDINGS),
    **dict.fromkeys(("retriever", "reranker"), names.RETRIEVAL),
}

_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    names.TOOL: ("tool.name", "ai.toolCall.name"),
    names.ARGUMENTS: (
        "tool_arguments", "gcp.vertex.agent.tool_call_args", "ai.toolCall.args", "ai.toolCall.input", "traceloop.entity.input",
        "mlflow.spanInputs", "langfuse.observation.input",
    ),
    names.RESULT: (
        "tool_response", "gcp.vertex.agent.tool_response", "ai.toolCall.result", "ai.toolCall.output", "traceloop.entity.output",
        "mlflow.spanOutputs", "anthropic.tool_result.content", "langfuse.observation.output",
    ),
    names.MODEL: ("llm.model_name", "embedding.model_name", "ai.model.id", "langfuse.observation.model.name"),
    names.TOKENS_IN: ("llm.token_count.prompt", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens"),
    names.TOKENS_OUT: ("llm.token_count.completion", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens"),
    names.INPUT: ("ai.prompt.messages", "ai.prompt", "gcp.vertex.agent.llm_request", "langfuse.observation.input"),
    names.OUTPUT: ("ai.response.text", "gcp.vertex.agent.llm_response", "final_result", "langfuse.observation.output"),
}  # fmt: skip
_TOKENS_AS_JSON = {  # the attributes that are an object, and its keys for the tokens in and out
    "mlflow.chat.tokenUsage": ("input_tokens", "output_tokens"),
    "langfuse.observation.usage_details": ("input", "output"),
    "gen_ai.usage": ("input_tokens", "output_tokens"),
    "llm.token_count": ("prompt", "completion"),
}
_ENTITY = "traceloop.entity.name"  # the name of a tool, an agent or a task
_LEVEL, _REASON = "langfuse.observation.level", "langfuse.observation.status_message"
_MESSAGE = re.compile(
    r"(?:llm\.(?P<way>input|output)_messages|gen_ai\.(?P<part>prompt|completion))\.(?P<place>[0-9]{1,4})\.(?:message\.)?"
    r"(?P<name>role|content(?=\Z|s\.0\.message_content\.text\Z))(?:s\..*)?"
)
_DETAILS = "gen_ai.client.inference.operation.details"  # an event with the messages as attributes


def by_genai(span: Span) -> Span:
    """Return `span` with the attributes of its own convention also under the names of the GenAI conventions.

    A tool's result can say that the call failed, and have the words of an error of which the span only names the type.
    """
    given = dict(span.attributes)
    for event in span.events:
        given = {**event.attributes, **given} if event.name == _DETAILS else given
    more: dict[str, Value] = {}
    for ours, theirs in _OTHER_NAMES.items():
        value = next((given[name] for name in theirs if name in given), None)
        more |= {} if value is None else {ours: value}
    for attribute, keys in _TOKENS_AS_JSON.items():
        usage = parsed(given.get(attribute))
        counted = zip((names.TOKENS_IN, names.TOKENS_OUT), keys, strict=True)
        more |= {ours: usage[key] for ours, key in counted if isinstance(usage, dict) and key in usage}
    operation = str(given.get(names.OPERATION) or _operation(given, more))
    more |= {names.OPERATION: operation} if operation else {}
    if operation == names.EXECUTE_TOOL and _ENTITY in given:
        more.setdefault(names.TOOL, given[_ENTITY])
    whole = replace(span, attributes={**_contents_of_events(span, operation), **_messages(given), **more, **given})
    if span.error is None and given.get(_LEVEL) == "ERROR":
        return replace(whole, error=str(given.get(_REASON, "")))
    if operation != names.EXECUTE_TOOL or not (failed(whole) or span.error in ("", given.get(names.ERROR, ""))):
        return whole
    return replace(whole, error=text_of(result(whole)) or span.error or "")


def _operation(given: Mapping[str, Value], more: Mapping[str, Value]) -> str:
    """Return the span's kind by its convention; "" if it has no kind, or one that is not a model, tool or agent."""
    for name, value in given.items():
        kind = _MEANINGS.get(str(value).strip('"').lower(), "") if name.lower() in _KINDS else ""
        # LlamaIndex says of the preparation of a request, too, that it is an LLM
        if kind and (kind != names.CHAT or not name.startswith("openinference") or _is_answered(given)):
            return kind
    return names.EXECUTE_TOOL if names.TOOL in {**given, **more} else ""


def _is_answered(given: Mapping[str, Value]) -> bool:
    return any(name.startswith(("llm.output_messages.", "llm.token_count.")) for name in given) or not any(
        name.startswith("output.") for name in given
    )


def _messages(given: Mapping[str, Value]) -> dict[str, str]:
    """The messages that are spread over numbered attributes, as JSON."""
    messages: dict[str, dict[int, dict[str, Any]]] = {}
    for name, value in given.items():
        if match := _MESSAGE.fullmatch(name):
            ours = names.INPUT if "input" in (match["way"] or "") or match["part"] == "prompt" else names.OUTPUT
            messages.setdefault(ours, {}).setdefault(int(match["place"]), {})[match["name"]] = value
    return {ours: json.dumps([numbered[place] for place in sorted(numbered)]) for ours, numbered in messages.items()}


def _contents_of_events(span: Span, operation: str) -> dict[str, str]:
    """Return the contents of events such as ``gen_ai.user.message`` and ``gen_ai.choice``."""
    asked: list[dict[str, Any]] = []
    contents: dict[str, str] = {}
    for event in span.events:
        role = re.fullmatch(r"gen_ai\.(user|system|assistant|tool)\.message", event.name)
        if event.name == "gen_ai.choice":
            words = event.attributes.get("message", event.attributes.get("content"))
            contents[names.RESULT if operation == names.EXECUTE_TOOL else names.OUTPUT] = _words(words)
        elif role and operation == names.EXECUTE_TOOL:
            contents[names.ARGUMENTS] = str(event.attributes.get("content", ""))
        elif role:
            asked.append({"role": role[1], "content": _words(event.attributes.get("content"))})
    return contents | ({names.INPUT: json.dumps(asked)} if asked else {})


def _words(value: object) -> str:
    """The text of a message; of a list of parts ``[{"text": "cold"}]``, that of the parts."""
    text = joined(parsed(value))
    return text if isinstance(text, str) else str(value)
