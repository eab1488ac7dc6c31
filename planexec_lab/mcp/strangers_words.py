"""A server's descriptions before a planner reads them: untrusted text, which is data and not instructions.

A description is in the planner's prompt, next to the rules. So invisible characters are removed, long text is cut, and the rest
is quoted with the server's name. This does not make a model immune to a sentence that gives it orders: the plan is still checked,
and the reviewer decides what it can do without a person.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from planexec_lab.json_schema import plain

LONGEST_DESCRIPTION = 300
"""Characters of a tool's description that a planner is shown; of a parameter's, half of them."""

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}")
_PARAMETER = re.compile(r"[\w$@\[][\w.$@\[\]:/~*-]{0,63}")
_LONGEST_VALUE = 100
_BOUNDS = "format minimum maximum minLength maxLength minItems maxItems".split()
_HIDDEN = (
    "Cc",
    "Cf",
    "Co",
    "Cs",
    "Cn",
    "Zl",
    "Zp",
)  # control and format characters, private, unpaired and unassigned ones
# sequences that colour, move or name a terminal
_TERMINAL = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\\\)?)")
_MARKS = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def visible(text: str) -> str:
    """Return `text` on one line without invisible characters: controls, joiners, changes of direction, tags."""
    spaced = _MARKS.sub("", " ".join(_TERMINAL.sub("", text).split()))
    return " ".join("".join(c for c in spaced if unicodedata.category(c) not in _HIDDEN).split())


def bounded(text: str, most: int) -> str:
    """Return `text` made `visible`, cut to `most` characters, which is marked."""
    shown = visible(text[: 20 * most])
    return shown if len(shown) <= most else f"{shown[: most - 1].rstrip()}…"


def quoted(text: str, most: int) -> str:
    """Return `text` as a quotation that it can't end by itself."""
    return f"“{bounded(text, most).translate(_QUOTES)}”"


_QUOTES = str.maketrans({"“": "'", "”": "'", "„": "'", "‟": "'", '"': "'", "<": "‹", ">": "›"})


def fault_of_name(name: Any) -> str | None:
    """Return the fault of a tool's name; None if it can be used."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return "its name is not 1 to 128 letters, digits, and _ . / - of ASCII"
    return None


def shown_schema(schema: Any) -> Any:
    """Return a tool's JSON schema in the plain form, safe to show to a planner: descriptions are quoted and cut.

    Raises `ValueError` for a schema that can't be read, and for a parameter name or an enum value that is a sentence or has
    hidden characters, because cutting or cleaning would change it.
    """
    return _shown(plain(schema))


def words_of_field(field: Any) -> str:
    """Return what the schema of a form's field says to a person, quoted: title, description, choices' names, bounds; or ""."""
    if not isinstance(field, Mapping):
        return ""
    values = field.get("items", field)  # a list of choices has them inside
    listed = values.get("oneOf") or values.get("anyOf") or ()
    named = [(one.get("const"), one["title"]) for one in listed if "title" in one]
    named += zip(values.get("enum", ()), values.get("enumNames", ()), strict=False)
    bounds = [f"{keyword} {field[keyword]}" for keyword in _BOUNDS if keyword in field]
    choices = ", ".join(f"{value} is {name}" for value, name in named)
    parts = [field.get("title"), field.get("description"), choices, *bounds]
    words = "; ".join(str(part) for part in parts if part)
    return quoted(words, LONGEST_DESCRIPTION) if words else ""


def _shown(schema: Any) -> Any:
    if isinstance(schema, list):
        return [*map(_shown, schema)]
    if not isinstance(schema, Mapping):
        return schema
    shown: dict[str, Any] = {}
    for keyword, part in schema.items():
        if keyword in ("enum", "default"):
            _refuse_prose(part if isinstance(part, list) else [part])
            shown[keyword] = part
        elif keyword == "properties":
            _refuse_names(part)
            shown[keyword] = {name: _shown(inner) for name, inner in part.items()}
        elif keyword == "description":
            shown[keyword] = quoted(str(part), LONGEST_DESCRIPTION // 2)
        elif keyword != "title":
            shown[keyword] = _shown(part)
    return shown


def _refuse_names(names: Iterable[str]) -> None:
    """Raise `ValueError` for a name without the letters of any script, digits, emoji, and marks that do not look like the end of
    a quotation.
    """
    for name in names:
        plain_name = "".join("_" if unicodedata.category(c) == "So" else c for c in _without_emoji_marks(name))
        if not _PARAMETER.fullmatch(plain_name) or visible(plain_name) != plain_name:
            words = f"a parameter is called {bounded(name, 40)!r}: other characters than in names, or too many"
            raise ValueError(words)


def _refuse_prose(values: Iterable[Any]) -> None:
    """Raise `ValueError` for a text that is as long as a sentence, or has hidden characters."""
    for value in values:
        shown = _without_emoji_marks(str(value))
        if isinstance(value, str) and (len(value) > _LONGEST_VALUE or visible(shown) != " ".join(shown.split())):
            words = f"a value, {bounded(value, 40)!r}, is longer than {_LONGEST_VALUE} characters or has hidden ones"
            raise ValueError(words)


def _without_emoji_marks(text: str) -> str:
    """Return `text` without the selector that makes a symbol colourful, which is seen: the warning sign has one."""
    return _EMOJI_MARK.sub(lambda mark: mark[1] if unicodedata.category(mark[1]) == "So" else mark[0], text)


_EMOJI_MARK = re.compile("(.)\ufe0f")
