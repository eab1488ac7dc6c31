"""The thin layer over the openai client: ask a model for a text, or for JSON that fits a schema, and charge for it.

The client is the genuine one, pointed at a scripted model or at a real endpoint. openai itself is imported by whoever
makes the client; here only its errors are read. What is asked and what is answered is bounded (`bounds`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from planexec_lite.meter import ModelCall, charge
from planexec_lite.model.bounds import Bounds, Role, fitted

Message = dict[str, Any]
UNBOUNDED = Bounds()
DEFAULT_MODELS: dict[str, str] = {"planner": "gpt-4o", "executor": "gpt-4o-mini", "evaluator": "gpt-4o"}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool: the call's id, the tool's name, and its arguments as JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model said: its `text`, or its `refusal`; why it stopped ("stop", "length", …); the tools it calls."""

    text: str
    refusal: str | None
    finish_reason: str
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def message(self) -> Message:
        """The answer as the conversation's next message, to which the tools' results are the reply."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.tool_calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


def model_for(role: Role) -> str:
    """The name of the model for a role: ``PLANEXEC_PLANNER_MODEL`` and so on in the environment, else the default."""
    return os.environ.get(f"PLANEXEC_{role.upper()}_MODEL") or DEFAULT_MODELS[role]


def ask(
    client: Any,
    model: str,
    messages: Sequence[Message],
    schema: dict[str, Any] | None = None,
    bounds: Bounds = UNBOUNDED,
) -> Answer:
    """Ask `model` at temperature 0, and charge its tokens and seconds to the job that is running.

    Args:
        client: an `openai.OpenAI` client.
        messages: the conversation, each with a role and a content.
        schema: a closed JSON schema that the answer must fit (strict structured output); None: any text.
        bounds: how long the answer and the conversation may be; an answer at its limit ends with "length".

    Seconds are those that the endpoint reports in ``openai-processing-ms``, else those measured. An endpoint that does
    not take a temperature, or calls the limit ``max_completion_tokens``, is asked so. Raises what the client raises.
    """
    return _charged(client, _options(model, messages, schema, bounds))


def ask_streaming(
    client: Any,
    model: str,
    messages: Sequence[Message],
    schema: dict[str, Any] | None = None,
    bounds: Bounds = UNBOUNDED,
) -> Iterator[str | Answer]:
    """Ask as `ask` does, and yield the answer's text piece by piece as it comes; last of all the whole `Answer`.

    Time is charged piece by piece: as the endpoint reports it (``timings`` in a chunk, as llama.cpp's server does), else
    as it is measured. An answer that ends early has the finish reason "length": nobody says that it is whole.
    """
    options = {**_options(model, messages, schema, bounds), "stream": True, "stream_options": {"include_usage": True}}
    began, charged = perf_counter(), 0.0
    text, refusal, finish_reason, usage = "", None, "length", None
    for chunk in _create(client, options).parse():
        timings = getattr(chunk, "timings", None)
        seconds = timings["predicted_ms"] / 1000 if timings else perf_counter() - began
        charge(max(0.0, seconds - charged))
        charged = max(charged, seconds)
        usage = chunk.usage or usage
        for choice in chunk.choices[:1]:
            finish_reason = choice.finish_reason or finish_reason
            refusal = (refusal or "") + choice.delta.refusal if choice.delta.refusal else refusal
            if choice.delta.content:
                text += choice.delta.content
                yield choice.delta.content
    tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    charge(0.0, ModelCall(model, tokens[0], tokens[1], charged))
    yield Answer(text, refusal, finish_reason)


def _options(model: str, messages: Sequence[Message], schema: dict[str, Any] | None, bounds: Bounds) -> dict[str, Any]:
    sent = list(messages) if bounds.max_prompt is None else fitted(messages, bounds.max_prompt)
    options: dict[str, Any] = {"model": model, "messages": sent, "temperature": 0}
    if bounds.max_tokens is not None:
        options["max_tokens"] = bounds.max_tokens
    if schema is not None:
        shape = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
        options["response_format"] = shape
    return options


def converse(
    client: Any,
    model: str,
    messages: Sequence[Message],
    tools: Sequence[dict[str, Any]],
    bounds: Bounds = UNBOUNDED,
) -> Answer:
    """Ask `model` as `ask` does, and offer it `tools`, each a function's schema (`schemas.function_schema`)."""
    options = _options(model, messages, None, bounds)
    return _charged(client, {**options, "tools": list(tools)} if tools else options)


def _charged(client: Any, options: dict[str, Any]) -> Answer:
    began = perf_counter()
    raw = _create(client, options)
    completion = raw.parse()
    reported = raw.headers.get("openai-processing-ms")
    seconds = float(reported) / 1000 if reported else perf_counter() - began
    usage, choice = completion.usage, completion.choices[0]
    tokens = (usage.prompt_tokens, usage.completion_tokens) if usage else (0, 0)
    charge(seconds, ModelCall(options["model"], tokens[0], tokens[1], seconds))
    message = choice.message
    calls = tuple(ToolCall(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ())
    return Answer(message.content or "", message.refusal, choice.finish_reason, calls)


_REASONS = re.compile(r"(.*/)?(o[1-9]|gpt-5)")  # models that think before they answer
_ELSE: dict[str, str | None] = {"temperature": None, "max_tokens": "max_completion_tokens"}


def _create(client: Any, options: dict[str, Any]) -> Any:
    """Send the request; where the model is known, or the endpoint supports a parameter under another name only, in its way."""
    if _REASONS.match(options["model"]):
        options = _without(options, *_ELSE)
    while True:
        try:
            return client.chat.completions.with_raw_response.create(**options)
        except Exception as error:
            unsupported = _unsupported(error, options)
            if not unsupported:
                raise
            options = _without(options, *unsupported)


def _unsupported(error: Exception, options: dict[str, Any]) -> list[str]:
    """Which of our parameters the endpoint does not take, by its own words."""
    if getattr(error, "status_code", None) != 400:
        return []
    param = getattr(error, "param", None)
    return [name for name in _ELSE if name in options and (param == name or (not param and f"'{name}'" in str(error)))]


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    changed = {name: value for name, value in options.items() if name not in names}
    return changed | {other: options[name] for name in names if name in options and (other := _ELSE[name])}
