"""What each of OpenAI's models refuses: reads the table `models.yaml`, in which each column is explained.

A model name without a row is a name that the script made up; no rule of this file applies to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf
from pathlib import Path
from typing import Any

import yaml

from mock_llm.api import refusals
from mock_llm.types import ApiError

TABLE = Path(__file__).with_name("models.yaml")
DATE = r"(-\d{4}-\d{2}-\d{2})?"
# A reasoning model refuses these parameters of a chat, and while it reasons the sampling parameters, except at these defaults.
REFUSED_WITH_REASONING = ("max_tokens", "logit_bias", "prediction")
UNKNOWN_WITH_REASONING = ("audio", "modalities", "web_search_options")
SAMPLING: Mapping[str, Any] = {
    "temperature": 1,
    "top_p": 1,
    "presence_penalty": 0,
    "frequency_penalty": 0,
    "logprobs": False,
}
RETENTION = "This model is compatible only with 24h extended prompt caching"
OMIT = "omit it for this model."
Located = tuple[str, ApiError]  # the column of the table that gives an error, and the error


@dataclass(frozen=True)
class Profile:
    """A row of the table; the file explains the columns."""

    names: Sequence[str]
    only: str = ""
    efforts: Sequence[str] = ()
    effort: str = "medium"
    tools: str = ""
    refuses: Sequence[str] = ()
    verbosity: Sequence[str] = ("medium",)
    all_turns: bool = False
    pro: bool = False
    most: Mapping[str, int] = field(default_factory=dict)
    output: float = inf
    json_schema: bool = True
    metadata: bool = False
    retention: str = ""
    unproven: Sequence[str] = ()

    def reasons(self, effort: Any) -> bool:
        """Return whether the model reasons when a request states this effort, or None."""
        return bool(self.efforts) and (effort or self.effort) != "none"


@lru_cache(maxsize=1)
def profiles() -> tuple[Profile, ...]:
    """Return all rows of the table."""
    return tuple(Profile(**row) for row in yaml.safe_load(TABLE.read_text(encoding="utf-8"))["models"])


@lru_cache(maxsize=256)
def profile_of(model: str) -> Profile | None:
    """Return the row for a model's name, or None."""
    if model.startswith("ft:"):
        model = model.split(":")[1]
    return next((row for row in profiles() if any(re.fullmatch(name + DATE, model) for name in row.names)), None)


def model_error(endpoint: str, body: Mapping[str, Any], unproven: bool = True) -> ApiError | None:
    """Return the error of the model for an otherwise valid request, or None.

    Args:
        endpoint: "chat" or "responses".
        unproven: whether rules without public evidence apply.
    """
    profile = profile_of(str(body["model"]))
    if profile is None:
        return None
    skipped = () if unproven else profile.unproven
    errors = _chat_errors(profile, body) if endpoint == "chat" else _response_errors(profile, body)
    return next((error for column, error in errors if column not in skipped), None)


def _chat_errors(profile: Profile, body: Mapping[str, Any]) -> Iterator[Located]:
    if profile.only not in ("", "chat"):
        text = "This is not a chat model and thus not supported in the v1/chat/completions endpoint. "
        text += "Did you mean to use v1/completions?"
        hint = "use another model, or the Responses API."
        yield "only", refusals.bad_request(text, hint, "model", status=404)
    effort = body.get("reasoning_effort")
    reasons = profile.reasons(effort)
    for name in UNKNOWN_WITH_REASONING if profile.efforts else ():
        if body.get(name) is not None:
            yield name, refusals.unknown_parameter(name, OMIT)
    for name in (*profile.refuses, *(REFUSED_WITH_REASONING if profile.efforts else ())):
        if body.get(name) is not None and body[name] != SAMPLING.get(name):
            yield name, _refused(name, bool(profile.efforts))
    for name, most in profile.most.items():
        if (body.get(name) or 0) > most:
            yield "most", refusals.number_above(name, body[name], most, "integer")
    if effort is not None and not profile.efforts:
        yield "efforts", refusals.bad_request("Unrecognized request argument supplied: reasoning_effort", OMIT)
    efforts = [effort for effort in profile.efforts if effort != "max"]
    yield from _value_errors("efforts", "reasoning_effort", effort, efforts)
    yield from _value_errors("verbosity", "verbosity", body.get("verbosity"), profile.verbosity)
    for name, default in SAMPLING.items() if reasons else ():
        if body.get(name) not in (None, default):
            yield "sampling", _sampling_error(profile, name, body[name])
    if reasons and profile.tools and any(tool["type"] == "function" for tool in body.get("tools") or ()):
        text = f"Function tools with reasoning_effort are not supported for {body['model']} in /v1/chat/completions. "
        text += {
            "none": "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
            "responses": "Please use /v1/responses instead.",
        }[profile.tools]
        yield (
            "tools",
            refusals.bad_request(text, f"the effort is {effort or profile.effort!r} here.", "reasoning_effort"),
        )
    for name in ("max_tokens", "max_completion_tokens"):
        if (body.get(name) or 0) > profile.output:
            text = f"max_tokens is too large: {body[name]}. This model supports at most {profile.output} completion "
            text += f"tokens, whereas you provided {body[name]}."
            yield "output", refusals.bad_request(text, "choose a smaller limit.", name, "invalid_value")
    if not profile.json_schema and (body.get("response_format") or {}).get("type") == "json_schema":
        text = (
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model. Learn more "
        )
        text += "about supported models at the Structured Outputs guide: "
        text += "https://platform.openai.com/docs/guides/structured-outputs"
        yield "json_schema", refusals.bad_request(text, "use a newer model.", "response_format")
    if _cached_otherwise(profile, body):
        yield "retention", refusals.bad_request(RETENTION, OMIT, "prompt_cache_retention")
    if body.get("metadata") is not None and not body.get("store") and not profile.metadata:
        text = "The 'metadata' parameter is only allowed when 'store' is enabled."
        yield "metadata", refusals.bad_request(text, "add store=True, or omit it.", "metadata")


def _response_errors(profile: Profile, body: Mapping[str, Any]) -> Iterator[Located]:
    model = str(body["model"])
    if profile.only not in ("", "responses"):
        text = f"The requested model '{model}' is not supported with the Responses API."
        yield "only", refusals.bad_request(text, "use another model, or chat completions.", "model", "model_not_found")
    reasoning = body.get("reasoning") or {}
    asked = [option for option, value in reasoning.items() if value is not None]
    if asked and not profile.efforts:
        yield "efforts", _refused(f"reasoning.{asked[0]}", True)
    contexts = ["auto", "current_turn", *(["all_turns"] if profile.all_turns else ())]
    modes = ["standard", *(["pro"] if profile.pro else ())]
    for column, option, values in (
        ("efforts", "effort", profile.efforts),
        ("all_turns", "context", contexts),
        ("pro", "mode", modes),
    ):
        yield from _value_errors(column, f"reasoning.{option}", reasoning.get(option), values, model)
    yield from _value_errors(
        "verbosity", "text.verbosity", (body.get("text") or {}).get("verbosity"), profile.verbosity, model
    )
    include = body.get("include") or ()
    if profile.reasons(reasoning.get("effort")):
        for name in SAMPLING:
            # Unlike in a chat, a reasoning model refuses even the default top_p.
            if body.get(name) is not None and (body[name] != SAMPLING[name] or name == "top_p"):
                yield "sampling", replace(_refused(name, True), code=None)
        for name, wanted in (
            ("include", "message.output_text.logprobs" in include),
            ("top_logprobs", body.get("top_logprobs")),
        ):
            if wanted:
                text = "logprobs are not supported with reasoning models."
                yield "sampling", refusals.bad_request(text, OMIT, name, "unsupported_parameter")
    if _cached_otherwise(profile, body):
        yield "retention", refusals.bad_request(RETENTION, OMIT, "prompt_cache_retention", "invalid_parameter")
    if not profile.efforts and "reasoning.encrypted_content" in include:
        yield "efforts", refusals.bad_request("Encrypted content is not supported with this model.", OMIT, "include")


def _cached_otherwise(profile: Profile, body: Mapping[str, Any]) -> bool:
    return bool(profile.retention) and body.get("prompt_cache_retention") not in (None, profile.retention)


def _refused(name: str, reasoning: bool) -> ApiError:
    """Return the error of a parameter that the model refuses."""
    if not reasoning:  # the search models
        return refusals.bad_request(f"Model incompatible request argument supplied: {name}", OMIT)
    text = f"Unsupported parameter: '{name}' is not supported with this model."
    if name == "max_tokens":
        text += " Use 'max_completion_tokens' instead."
    return refusals.bad_request(text, OMIT, name, "unsupported_parameter")


def _sampling_error(profile: Profile, name: str, value: Any) -> ApiError:
    """Return a chat's error of a sampling parameter; models before GPT-5 refuse `temperature` by its name."""
    if name != "temperature" or "parallel_tool_calls" in profile.refuses:
        return _refused(name, True)
    text = f"Unsupported value: 'temperature' does not support {value} with this model. "
    return refusals.bad_request(f"{text}Only the default (1) value is supported.", OMIT, name, "unsupported_value")


def _value_errors(column: str, name: str, value: Any, supported: Sequence[str], model: str = "") -> Iterator[Located]:
    """Yield the error of a value that the model does not support, in the words of a chat or, with a model, of a
    response.
    """
    if value is None or value in supported or not supported:
        return
    text = (
        f"{value!r} is not supported with the '{model}' model"
        if model
        else f"'{name}' does not support {value!r} with this model"
    )
    text = f"Unsupported value: {text}. Supported values are: {refusals.listed(supported)}."
    yield column, refusals.bad_request(text, "choose one of these.", name, "unsupported_value")
