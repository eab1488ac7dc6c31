"""Rules without public evidence, and the way in which a script can ignore them.

The tests have the evidence for each rule: a request, and the source that shows how the real API reacts. The rules
without a source are listed here; the rules of `models.yaml` name theirs in the column `unproven`. A script with
`unseen: accept` is not held to any of them.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from mock_llm.types import ApiError

LIST = Path(__file__).with_name("unproven.txt")
MOST_LEFT_OUT = 100  # parts of a request


@lru_cache(maxsize=1)
def unproven() -> frozenset[str]:
    """Return the signatures of all refusals without public evidence."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def signature(api: str, error: ApiError) -> str:
    """Return what identifies a kind of refusal: the endpoint, the place, and the message without the request's values.
    An error of a schema counts as the same in all places.
    """
    first = error.message.split("\n")[0]
    for own in (r"(?<!\w)'[^']*'|\"[^\"]*\"", r"\([^)]*\)|\{[^}]*\}", r"-?\d+(\.\d+)?(e[-+]?\d+)?"):
        first = re.sub(own, "…", first)
    first = re.sub(r"\bgot (null|an? \w+)", "got …", first)
    first = re.sub(r"(call_id|function call|messages:|supplied:) [^\s,]+(, [^\s,]+)*", r"\1 …", first)
    if schema := re.match(r"Invalid schema for (function|response_format) …: ", first):
        return f"schema: {first[schema.end() :]}"
    place = re.sub(r"\[\d+\]", "[]", re.sub(r"^metadata\..+", "metadata.…", error.param or ""))
    if error.code == "unknown_parameter":
        place = re.sub(r"[^.]+$", "…", place)
    return f"{api} {place}: {first}"


def validate_leniently(
    api: str, body: Any, validate: Callable[[Any, bool], ApiError | None]
) -> tuple[Any, ApiError | None]:
    """Validate a request without the rules that have no public evidence: remove the parts that only they refuse.

    Returns:
        The request without these parts, and the remaining error, if any.
    """
    for _ in range(MOST_LEFT_OUT):
        error = validate(body, False)
        if error is None or error.param is None or signature(api, error) not in unproven():
            return body, error
        smaller = _without(body, error.param)
        if smaller is None:
            return body, error
        body = smaller
    return body, validate(body, False)


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
