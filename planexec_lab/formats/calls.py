"""A call of a tool as text, ``search('Oslo', limit=3)``: literals in Python's notation, never evaluated.

Argument names that Python can't write are in ``**{'Exchange Rate': 7}``; a tool name with spaces is in quotes,
``'Scan Page'('card.jpg')``. Arguments without names are those of `steps.by_position`.
"""

from __future__ import annotations

import ast
import keyword
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from planexec_lab.formats.dollars import UNREADABLE, expression
from planexec_lab.formats.shapes import plain
from planexec_lab.formats.steps import by_position, positional

_CALL = re.compile(r"""(?P<tool>[\w.-]+|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\((?P<arguments>.*)\)""", re.DOTALL)
_BARE = re.compile(r"[\w.-]+")


def looks_like_one(text: str) -> bool:
    """Is `text` a name and, without a space between, brackets up to its end?"""
    return _CALL.fullmatch(text.strip()) is not None


def read(text: str) -> tuple[str, dict[str, Any]]:
    """Return the tool and its arguments; raise `ValueError` that says why `text` can't be read."""
    match = _CALL.fullmatch(text.strip())
    if match is None:
        raise ValueError("it is no call of a tool")
    try:
        tool = match["tool"] if match["tool"][0] not in "'\"" else ast.literal_eval(match["tool"])
        return str(tool), _arguments(expression(f"call({match['arguments']}\n)"))
    except UNREADABLE as error:
        message = str(getattr(error, "msg", error))
        raise ValueError("it holds a name or a formula" if message.startswith("malformed node") else message) from None


def _arguments(call: ast.expr) -> dict[str, Any]:
    """Return the arguments of a parsed call by name. Raises one of `dollars.UNREADABLE`."""
    if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
        raise ValueError("it is no call of a tool")
    for inner in ast.walk(call):
        names = [ast.literal_eval(key) for key in inner.keys if key is not None] if isinstance(inner, ast.Dict) else []
        in_json = {name for one in names for name in plain({one: None})}
        if min(len(set(names)), len(in_json)) < len(names):  # 1 is "1" in JSON, and True in Python
            raise ValueError("a name is given twice in an object")
    params = by_position(map(ast.literal_eval, call.args))
    for one in call.keywords:
        value = ast.literal_eval(one.value)
        if one.arg is None and not isinstance(value, dict):
            raise ValueError("** is no argument")
        named = {one.arg: value} if one.arg is not None else value
        if twice := params.keys() & named.keys():
            raise ValueError(f"the argument {min(map(str, twice))!r} is given twice")
        params |= named
    return dict(plain(params))


def written(tool: str, params: Mapping[str, Any]) -> str:
    """Return the call as text. Raises one of `dollars.UNREADABLE` for a value that Python can't write."""
    name = tool if _BARE.fullmatch(tool) else repr(tool)
    if values := positional(params):
        return f"{name}({', '.join(map(repr, values))})"
    parts = [f"{key}={value!r}" for key, value in params.items() if _is_keyword(key)]
    others = {key: value for key, value in params.items() if not _is_keyword(key)}
    return f"{name}({', '.join([*parts, f'**{others!r}'] if others else parts)})"


def _is_keyword(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and unicodedata.normalize("NFKC", name) == name
