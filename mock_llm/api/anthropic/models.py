"""A table of the requests that some models refuse and others accept, by model name, as of a date.

A model name without a row is a name that the script made up; such a model has no further restrictions. The rows follow
the pages "What's new" and "migration guide" of each model at platform.claude.com/docs/en/models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mock_llm.types import ApiError

from .body import EFFORTS
from .fields import invalid

AS_OF = "2026-11-27"
DATED = r"(-\d{8})?"
BUDGETED = ("enabled", "disabled")
OPTIONAL = ("adaptive", "disabled")
BOTH = ("adaptive", *BUDGETED)
DEFAULTS: Mapping[str, float | None] = {"temperature": 1, "top_p": 0.99, "top_k": None}
FORCED = ("any", "tool")
CONTROL = '"thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
BETWEEN = 'Use "thinking.type.between_tools" for the lowest thinking setting, or '
LONG = "Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"


@dataclass(frozen=True, kw_only=True)
class Model:
    """The restrictions of the models with certain names.

    Args:
        names: a regular expression for the whole name.
        thinking: the types of `thinking` that it accepts.
        thinks: it thinks if the request does not say whether.
        shows: its thoughts are in the answer if the request does not say whether.
        efforts: the levels of `output_config.effort`; none: it refuses the parameter.
        prefills: it continues a final message of the assistant.
        samples: it takes any temperature, top_p and top_k.
        forced: it accepts a `tool_choice` that requires a call.
        system: it accepts messages of role "system" after a message of the user.
        longest: the most output tokens; None if no source states them.
    """

    names: str
    thinking: tuple[str, ...] = ("adaptive",)
    thinks: bool = True
    shows: bool = False
    efforts: tuple[str, ...] = EFFORTS
    prefills: bool = False
    samples: bool = False
    forced: bool = False
    system: bool = True
    longest: int | None = 128_000


OLD = Model(
    names=rf"claude-(sonnet|haiku)-4-5{DATED}",
    thinking=BUDGETED,
    thinks=False,
    shows=True,
    efforts=(),
    prefills=True,
    samples=True,
    forced=True,
    system=False,
    longest=64_000,
)
MODELS = (
    OLD,
    replace(OLD, names=rf"claude-opus-4-5{DATED}", efforts=EFFORTS[:3]),
    replace(
        OLD,
        names="claude-(opus|sonnet)-4-6",
        thinking=BOTH,
        efforts=(*EFFORTS[:3], "max"),
        prefills=False,
        longest=None,
    ),
    Model(names="claude-mythos-preview", thinking=BOTH, system=False, longest=None),
    Model(names="claude-opus-4-7", thinking=OPTIONAL, thinks=False, forced=True, system=False),
    Model(names="claude-opus-4-8", thinking=OPTIONAL, thinks=False, forced=True),
    Model(names="claude-sonnet-5", thinking=OPTIONAL, forced=True, system=False),
    Model(names="claude-opus-5|claude-haiku-5-5", thinking=OPTIONAL, forced=True),
    Model(names="claude-sonnet-5-5", thinking=("adaptive", "between_tools")),
    Model(names=r"claude-(fable|mythos)-5(-[12])?|claude-opus-5-5"),
)
ANY = (*BOTH, "between_tools")
UNKNOWN = replace(OLD, names="", thinking=ANY, thinks=True, efforts=EFFORTS, system=True, longest=None)


def model_of(name: str) -> Model:
    """Return the row for a model's name, or the row without restrictions."""
    return next((model for model in MODELS if re.fullmatch(model.names, name)), UNKNOWN)


def shows_thinking(body: Mapping[str, Any]) -> bool | None:
    """Return whether the answer shows the model's thoughts, or only their signature; None if the model does not think."""
    model, thinking = model_of(body["model"]), body.get("thinking") or {}
    kind = thinking.get("type") or ("adaptive" if model.thinks else "disabled")
    if kind == "disabled":
        return None
    return (
        thinking.get("display") or ("summarized" if model.shows or kind == "between_tools" else "omitted")
    ) == "summarized"


def model_errors(body: Mapping[str, Any]) -> Iterator[ApiError]:
    """Yield the errors that depend on the model, for a request with a valid shape."""
    name = body["model"]
    model, thinking = model_of(name), body.get("thinking") or {}
    kind, limit = thinking.get("type"), body.get("max_tokens")
    if model.longest and limit and limit > model.longest:
        text = f"max_tokens: {limit} > {model.longest}, which is the maximum allowed number of output tokens for {name}"
        yield invalid(text)
    if kind and kind not in model.thinking:
        yield _thinking_error(kind, model)
    if kind == "enabled" and limit is not None and thinking["budget_tokens"] >= limit:
        yield invalid(
            f"`max_tokens` must be greater than `thinking.budget_tokens`. {LONG}#max-tokens-and-context-window-size"
        )
    yield from _effort_errors((body.get("output_config") or {}).get("effort"), model)
    yield from _sampling_errors(body, kind, model)
    if (body.get("tool_choice") or {}).get("type") in FORCED:
        if not model.forced:
            yield invalid('tool_choice: type "tool" and "any" are not supported for this model.')
        elif kind == "enabled":
            yield invalid("Thinking may not be enabled when tool_choice forces tool use.")
    if body["messages"] and body["messages"][-1]["role"] == "assistant" and not model.prefills:
        text = "This model does not support assistant message prefill. The conversation must end with a user message."
        yield invalid(text)


def _thinking_error(kind: str, model: Model) -> ApiError:
    if kind == "adaptive":
        return invalid("adaptive thinking is not supported on this model")
    instead = f" {BETWEEN if 'between_tools' in model.thinking and kind == 'disabled' else 'Use '}{CONTROL}"
    return invalid(
        f'"thinking.type.{kind}" is not supported for this model.{"" if kind == "between_tools" else instead}'
    )


def _effort_errors(effort: str | None, model: Model) -> Iterator[ApiError]:
    if effort is None:
        return
    if not model.efforts:
        yield invalid("This model does not support the effort parameter.")
    elif effort not in model.efforts:
        levels = ", ".join(sorted(model.efforts))
        yield invalid(f"This model does not support effort level '{effort}'. Supported levels: {levels}.")


def _sampling_errors(body: Mapping[str, Any], kind: str | None, model: Model) -> Iterator[ApiError]:
    given = {name: body[name] for name in DEFAULTS if body.get(name) is not None}
    if not model.samples:
        for name, value in given.items():
            if value != DEFAULTS[name]:
                yield invalid(f"`{name}` is deprecated for this model.")
    if {"temperature", "top_p"} <= given.keys() and model is not UNKNOWN:
        yield invalid("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
    if kind in ("enabled", "adaptive") and given.get("temperature", 1) != 1:
        text = "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode."
        yield invalid(f"{text} {LONG}#important-considerations-when-using-extended-thinking")
