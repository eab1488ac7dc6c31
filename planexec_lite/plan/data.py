"""Immutable data: JSON values in lists and dicts that can't be changed.

Planners, reviewers, tools and views all receive the approved plan and the recorded results. If one of them could sort a
list in place, the plan or the past would change for all. These lists and dicts read like plain ones and are equal to
them. To change one, make a copy.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, from_json, to_jsonable_python

from planexec_lite.tools import ToolError, shown
from planexec_lite.tools.signature import Data


def fixed(value: Any) -> Any:
    """Return `value` as data that can't be changed, at any depth; fixed data is returned unchanged."""
    if type(value) in _UNCHANGING:
        return value
    made: Any
    if isinstance(value, dict):
        made = dict.__new__(FixedDict)
        dict.update(made, {key: fixed(part) for key, part in value.items()})
        return made
    if isinstance(value, (list, tuple)):
        made = list.__new__(FixedList)
        list.extend(made, [p if type(p) in _UNCHANGING else fixed(p) for p in value])
        return made
    return value


def copied(value: Any) -> Any:
    """Return a copy of `value`, at any depth, in plain lists and objects that can be changed."""
    return to_jsonable_python(value)


def as_words(text: Any, what: str) -> str:
    """Return `text` if it is a string that can be saved. Otherwise raise `ValueError`, which names it as `what`."""
    if type(text) is not str:
        raise ValueError(f"{what} is a string, not a {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} can't be saved: {error}") from None
    return text


def _forbid(self: object, *_args: object, **_named: object) -> NoReturn:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(f"plans and results do not change; make a copy, {kind}(…), and change that")


class _Fixed:
    """The common part of both classes. Only `fixed` fills them; even ``__init__`` raises."""

    __slots__ = ()
    # operators
    __init__ = __setitem__ = __delitem__ = _forbid
    __ior__ = __iadd__ = __imul__ = _forbid
    # methods of dicts, of lists, and of both
    popitem = setdefault = update = _forbid
    append = extend = insert = _forbid
    remove = reverse = sort = _forbid
    clear = pop = _forbid

    def __reduce__(self) -> tuple[Any, ...]:
        return fixed, (copied(self),)

    def __deepcopy__(self, memo: Any) -> Any:
        return self


class FixedDict(_Fixed, dict[str, Any]):
    """An object that can't be changed."""

    __slots__ = ()


class FixedList(_Fixed, list[Any]):
    """A list that can't be changed."""

    __slots__ = ()


_UNCHANGING = frozenset({str, int, float, bool, type(None), FixedDict, FixedList})
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any, config={"defer_build": True})


def as_data(value: Any, step: str, tool: str | None) -> Any:
    """Return the result of a step as immutable JSON data; `step` is its id, for the error.

    Models and dataclasses become objects, tuples lists, sets sorted lists. Raises `ToolError` for a value that JSON
    can't represent.
    """
    if (type(value) is int and abs(value) < 2**63) or (type(value) is str and value.isascii()):
        return value  # most results are JSON as they are
    try:
        data = to_jsonable_python(_ordered(_ANYTHING.dump_python(value)))
        # a string can contain characters that can't be saved
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode()
        return fixed(data)
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        cause = str(error).splitlines()[0]
        caller = "" if tool is None else f": {tool}"
        kind = type(value).__name__
        raise ToolError(
            f"step {step}{caller} returned a value of type {kind}, which JSON can't hold ({cause}); return data"
        ) from None


def _ordered(value: Any) -> Any:
    """Sort the sets at any depth, because their order changes from process to process."""
    if isinstance(value, set | frozenset):
        parts = [_ordered(part) for part in value]
        try:
            return sorted(parts)
        except TypeError:
            return sorted(parts, key=repr)
    if isinstance(value, Mapping):
        has_other_keys = any(type(key) is not str for key in value)
        if has_other_keys and len(to_jsonable_python(dict.fromkeys(value))) < len(value):
            raise ValueError("two of its keys are the same in JSON")
        return {key: _ordered(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_ordered(part) for part in value]
    return value


def read_json(text: str) -> Any:
    """Return the data of a JSON text. Raises `ValueError` for anything else, and for a name that occurs twice in one object."""
    data = from_json(text, allow_inf_nan=False)
    json.loads(text, object_pairs_hook=named_once)
    return data


def named_once(pairs: list[tuple[str, Any]]) -> Data:
    """Return the pairs of a JSON object; raise `ValueError` for a name that occurs twice: its value is ambiguous.

    It is an `object_pairs_hook` of `json.loads`.
    """
    data = dict(pairs)
    if len(data) < len(pairs):
        ((name, _count),) = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"{name!r} occurs twice in one object: {shown(data)}")
    return data
