"""Validation of the parts of a conversation that both endpoints share: call ids, texts and images."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mock_llm.api import refusals
from mock_llm.types import ApiError

LONGEST_CALL_ID = 64
BREAKPOINT = "prompt_cache_breakpoint"
PART_FIELDS = {
    "text": ("type", "text", BREAKPOINT),
    "input_text": ("type", "text", BREAKPOINT),
    "input_image": ("type", "image_url", "file_id", "detail", BREAKPOINT),
    "output_text": ("type", "text", "annotations", "logprobs"),
    "refusal": ("type", "refusal"),
}
DETAILS = ("auto", "low", "high", "original")


def call_id_errors(call_id: str, at: str) -> Iterator[ApiError]:
    """Yield the error of a call id that is too long."""
    if error := refusals.too_long(at, call_id, LONGEST_CALL_ID, "use the id from the model's call."):
        yield error


def text_errors(part: Mapping[str, Any], field: str, at: str) -> Iterator[ApiError]:
    """Yield the error of a message part without text."""
    if not isinstance(part.get(field), str):
        yield refusals.missing_parameter(f"{at}.{field}", f"a part of type {part['type']} needs a text in {field}.")


def part_field_errors(part: Mapping[str, Any], at: str) -> Iterator[ApiError]:
    """Yield the error of a message part with a field that the API doesn't know."""
    for name in part:
        if name not in PART_FIELDS[part["type"]]:
            yield refusals.unknown_parameter(f"{at}.{name}", "a part has no such field; check the spelling.")


def image_errors(url: Any, detail: Any, at: str, name: str) -> Iterator[ApiError]:
    """Yield the errors of an image.

    Args:
        url: its URL.
        detail: the resolution at which the model reads it; None lets the model choose.
        at: the object that contains both.
        name: the name of the URL's field.
    """
    if url is None:
        yield refusals.missing_parameter(f"{at}.{name}", "add the image's URL, or send it as a data URL.")
    elif not isinstance(url, str):
        yield refusals.invalid_type(f"{at}.{name}", "a string", url)
    if detail is not None and detail not in DETAILS:
        yield refusals.invalid_value(f"{at}.detail", detail, DETAILS, "choose one of these.")
