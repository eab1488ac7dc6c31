"""A table of requests that some models refuse and others accept, by model name, as of a date.

A model name without a row is a name that the script made up; such a model has no further restrictions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mock_llm.types import ApiError, bad_request

AS_OF: Final = "2026-11-22"
DATED: Final = r"(-\d{4}-\d{2}-\d{2})?"


@dataclass(frozen=True)
class Profile:
    """The restrictions of the models with certain names.

    Args:
        names: a regular expression for the whole name.
        reasons: it is a reasoning model: chat accepts `max_completion_tokens`, but not `max_tokens`.
        temperature: "any"; "one": only the default, 1; "one when it reasons": any value if the effort is "none" or
            missing.
        by_name: a chat refuses the parameter `temperature` itself, not its value.
    """

    names: str
    reasons: bool
    temperature: str = "any"
    by_name: bool = False


PROFILES: Final = (
    Profile(rf"o1-(mini|preview){DATED}", True, "one"),
    Profile(rf"o\d(-mini|-pro)?{DATED}", True, "one", by_name=True),
    Profile(rf"gpt-5(-mini|-nano|-pro|-codex)?{DATED}", True, "one"),
    Profile(rf"gpt-5\.\d+(-mini|-nano|-pro|-codex|-codex-mini|-codex-max)?{DATED}", True, "one when it reasons"),
    Profile(rf"(gpt-4o|gpt-4o-mini|gpt-4\.1|gpt-4\.1-mini|gpt-4\.1-nano|gpt-4-turbo|gpt-3\.5-turbo){DATED}", False),
)


def profile_of(model: str) -> Profile | None:
    """Return the row for a model's name, or None."""
    return next((profile for profile in PROFILES if re.fullmatch(profile.names, model)), None)


def model_error(body: Mapping[str, Any], responses: bool = False) -> ApiError | None:
    """Return the error of the model for an otherwise valid request, or None.

    Args:
        responses: the request is for the Responses API, not for a chat completion.
    """
    profile = profile_of(str(body["model"]))
    if profile is None:
        return None
    effort = (body.get("reasoning") or {}).get("effort") if responses else body.get("reasoning_effort")
    if effort is not None and not profile.reasons:
        return _unknown_effort(responses)
    if profile.reasons and body.get("max_tokens") is not None:
        text = "Unsupported parameter: 'max_tokens' is not supported with this model. "
        hint = "for reasoning models the limit includes reasoning tokens and has another name."
        return bad_request(f"{text}Use 'max_completion_tokens' instead.", hint, "max_tokens", "unsupported_parameter")
    free = profile.temperature == "any" or (profile.temperature != "one" and effort in (None, "none"))
    if free or body.get("temperature") in (None, 1):
        return None
    hint = "omit the temperature for a reasoning model."
    if responses or profile.by_name:
        text = "Unsupported parameter: 'temperature' is not supported with this model."
        return bad_request(text, hint, "temperature", None if responses else "unsupported_parameter")
    text = f"Unsupported value: 'temperature' does not support {body['temperature']} with this model. "
    return bad_request(f"{text}Only the default (1) value is supported.", hint, "temperature", "unsupported_value")


def _unknown_effort(responses: bool) -> ApiError:
    hint = "this is not a reasoning model: omit the effort."
    if responses:
        text = "Unsupported parameter: 'reasoning.effort' is not supported with this model."
        return bad_request(text, hint, "reasoning.effort", "unsupported_parameter")
    return bad_request("Unrecognized request argument supplied: reasoning_effort", hint)
