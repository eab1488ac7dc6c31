"""The evidence for each validation verdict: the table `evidence.yaml`, and the way in which a script can ignore
unproven verdicts.

Each row of the table has a request, whether the real API refuses it and with which message, and the source: the
published schema or a public issue thread, with a date; or no source. With `unseen: accept`, a script is not held to
verdicts without a source.
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
MOST_LEFT_OUT: Final = 100  # parts of a request


@dataclass(frozen=True)
class Verdict:
    """A row of the table.

    Args:
        api: "chat" or "responses".
        request: the request's JSON.
        verdict: the reaction of the real API.
        error: for a refusal, `says` (a part of the message), `param` and `code`.
        seen: the source: `in` ("schema", "issue" or "docs"), `where` and `on` (a date); empty without a source.
    """

    api: Literal["chat", "responses"]
    request: Any
    verdict: Literal["refused", "accepted"]
    error: Mapping[str, Any] = field(default_factory=dict)
    seen: Mapping[str, str] = field(default_factory=dict)


@lru_cache(maxsize=1)
def verdicts() -> tuple[Verdict, ...]:
    """Return all rows of the table."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the one in C is ten times faster
    return tuple(Verdict(**row) for row in yaml.load(TABLE.read_text(encoding="utf-8"), loader)["verdicts"])


def is_seen(api: str, error: ApiError) -> bool:
    """Return whether a source shows that the real API refuses such a request. Errors that are not in the table have
    no source.
    """
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
    """Validate a request, and remove the parts that only verdicts without a source refuse.

    Returns:
        The request without these parts, and the remaining error, if any: one with a source, one whose part can't be
            removed, or one for a feature that the scripted model does not support.
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
    """Return the path of an error without indices and metadata keys."""
    return None if param is None else re.sub(r"\[\d+\]", "[]", re.sub(r"^metadata\..+", "metadata.…", param))


def _shape(message: str) -> str:
    """Return the API's error message without the values of the request: names, numbers, paths, ids and types."""
    first = message.split("\n")[0]
    for own in (r"'[^']*'|\"[^\"]*\"", r"\([^)]*\)|\{[^}]*\}", r"-?\d+(\.\d+)?(e[-+]?\d+)?"):
        first = re.sub(own, "…", first)
    first = re.sub(r"\bgot (null|an? \w+)", "got …", first)
    return re.sub(r"(call_id|function call|messages:|supplied:) [^\s,]+(, [^\s,]+)*", r"\1 …", first)


def _without(body: Any, param: str) -> Any:
    """Return the request without the part that an error names; None if there is no such part."""
    path = [int(index) if index else name for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", param)]
    copied = part = copy.deepcopy(body)
    try:
        for key in path[:-1]:
            part = part[key]
        del part[path[-1]]
    except (KeyError, IndexError, TypeError):
        return None
    return copied
