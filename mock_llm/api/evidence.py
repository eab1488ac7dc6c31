"""Where each verdict on a request was seen: the table `evidence.yaml`, and what a script may do without.

The table has a row for a verdict: the request, whether the real API refuses it, in which words, and who has seen that: the
published schema, a public issue thread, its date; or nobody. A script that says `unseen: accept` is not held to verdicts
that nobody has seen.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from mock_llm.types import ApiError

TABLE: Final = Path(__file__).with_name("evidence.yaml")
MOST_LEFT_OUT: Final = 100  # parts of one request


@dataclass(frozen=True)
class Verdict:
    """One row of the table.

    Args:
        api: "chat" or "responses".
        request: the request's JSON.
        verdict: what the real API does with it.
        error: of a refusal `says`, `param` and `code`: part of the message, and two fields of the error.
        seen: `in` ("schema", "issue" or "docs"), `where` and `on` (a date); empty when nobody has seen it.
    """

    api: Literal["chat", "responses"]
    request: Any
    verdict: Literal["refused", "accepted"]
    error: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)


@lru_cache(maxsize=1)
def verdicts() -> tuple[Verdict, ...]:
    """All rows of the table."""
    return tuple(Verdict(**row) for row in yaml.safe_load(TABLE.read_text(encoding="utf-8"))["verdicts"])


def is_seen(api: str, error: ApiError) -> bool:
    """Whether somebody has seen the real API refuse a request so. What the table does not have nobody has seen."""
    shape = _shape(error.message)
    return any(
        row.verdict == "refused"
        and row.seen
        and row.api == api
        and row.error["code"] == error.code
        and _place(row.error["param"]) == _place(error.param)
        and _shape(row.error["says"]) == shape
        for row in verdicts()
    )


def held_to_what_was_seen(
    api: str, body: Any, validate: Callable[[Any], ApiError | None]
) -> tuple[Any, ApiError | None]:
    """Validate a request, and leave out of it what is refused by a verdict that nobody has seen.

    Returns:
        The request without these parts, and the error that remains: one that was seen, one of a part that can't be left
        out, or one of what the scripted model does not support.
    """
    for _ in range(MOST_LEFT_OUT):
        error = validate(body)
        if error is None or error.type != "invalid_request_error" or error.param is None or is_seen(api, error):
            return body, error
        smaller = _without(body, error.param)
        if smaller is None:
            return body, error
        body = smaller
    return body, validate(body)


def _place(param: str | None) -> str | None:
    """The place of an error, without numbers and the keys of metadata."""
    return None if param is None else re.sub(r"\[\d+\]", "[]", re.sub(r"^metadata\..+", "metadata.…", param))


def _shape(message: str) -> str:
    """The API's sentence without what is the request's own: names, numbers, places, ids, types."""
    first = message.split("\n")[0]
    for own in (r"'[^']*'|\"[^\"]*\"", r"\([^)]*\)|\{[^}]*\}", r"-?\d+(\.\d+)?(e[-+]?\d+)?"):
        first = re.sub(own, "…", first)
    first = re.sub(r"\bgot (null|an? \w+)", "got …", first)
    return re.sub(r"(call_id|function call|messages:|supplied:) [^\s,]+(, [^\s,]+)*", r"\1 …", first)


def _without(body: Any, param: str) -> Any:
    """The request without the part that an error names, or None where there is no such part."""
    path = [int(index) if index else name for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", param)]
    copied = part = copy.deepcopy(body)
    try:
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return copied
