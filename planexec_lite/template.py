"""Texts with fields: ``{name}`` is the place that a value is put into, once.

A field is a name in braces and nothing else, so a text can't reach into what it is given, as ``str.format`` could. A value is
data: what stands in it is never searched for fields. To write the literal text, double the braces: ``{{name}}`` stands for
``{name}``. All other braces mean themselves, so a text may hold JSON.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

_LITERAL_OR_FIELD = re.compile(r"\{(?P<literal>\{[^\W\d]\w*\})\}|\{(?P<field>[^\W\d]\w*)\}")


def fields(text: str) -> tuple[str, ...]:
    """Return the names of the fields of a text, each once, in the order in which they come."""
    return tuple(dict.fromkeys(match["field"] for match in _LITERAL_OR_FIELD.finditer(text) if match["field"]))


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return the text with each field replaced by its value, in one pass. Raises `ValueError` for a field without one."""
    check(text, values, "the text", every=False)
    return _LITERAL_OR_FIELD.sub(lambda match: match["literal"] or values[match["field"]], text)


def check(text: str, wanted: Collection[str], what: str, *, every: bool = True) -> str:
    """Return the text, where its fields are the wanted ones.

    Args:
        text: with fields.
        wanted: their names.
        what: how the text is called in errors, such as "instructions".
        every: each of them has to be there, once at least.

    Raises `ValueError`, which names the first field that is unknown or missing, with its line and the mend.
    """
    if not isinstance(text, str):
        raise ValueError(f"{what}: a text is wanted, not a {type(text).__name__}")
    known = ", ".join(f"{{{name}}}" for name in wanted) or "none"
    there = fields(text)
    for name in there:
        if name not in wanted:
            line = next(
                text.count("\n", 0, match.start()) + 1
                for match in _LITERAL_OR_FIELD.finditer(text)
                if match["field"] == name
            )
            mend = f"for the literal text, double the braces: {{{{{name}}}}}"
            raise ValueError(f"{what}, line {line}: there is no field {{{name}}}; its fields are {known}; {mend}")
    for name in wanted if every else ():
        if name not in there:
            raise ValueError(f"{what}: the field {{{name}}} is missing; its fields are {known}, each at least once")
    return text
