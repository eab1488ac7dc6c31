"""Data that stays as it is: what JSON can hold, in lists and objects that nobody can change.

The plan that was approved and the results in the log are seen by many: planners, reviewers, tools, pictures. A list that
one of them could sort would be another plan, or another past, for all of them. They read as plain lists and objects do,
and are equal to them; who wants to change one makes a copy, and has it alone.
"""

from __future__ import annotations

from typing import Any, NoReturn

_ALONE = frozenset({str, int, float, bool, type(None)})


def fixed(value: Any) -> Any:
    """Return `value` as data that can't be changed, at any depth; what is fixed already is returned as it is."""
    if isinstance(value, dict):
        if type(value) is FixedDict:
            return value
        made: Any = dict.__new__(FixedDict)
        dict.update(made, {key: part if type(part) is str else fixed(part) for key, part in value.items()})
        return made
    if isinstance(value, (list, tuple)):
        if type(value) is FixedList:
            return value
        made = list.__new__(FixedList)
        list.extend(made, [part if type(part) is str else fixed(part) for part in value])
        return made
    return value


def copied(value: Any) -> Any:
    """Return a copy of `value`, at any depth, in plain lists and objects that may be changed."""
    if type(value) in _ALONE:
        return value
    if isinstance(value, dict):
        return {key: copied(part) for key, part in value.items()}
    return [copied(part) for part in value] if isinstance(value, (list, tuple)) else value


def as_words(text: Any, what: str) -> str:
    """Return `text`, if it is one and can be written down. Raises `ValueError`, with `what` it was to be, if not."""
    if type(text) is not str:
        raise ValueError(f"{what} is a text, not a {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{what} can't be written down: {error}") from None
    return text


def _forbid(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    kind = "dict" if isinstance(self, dict) else "list"
    raise TypeError(f"plans and results do not change; make a copy, {kind}(…), and change that")


class _Fixed:
    """What the two have in common. They are filled by `fixed` alone: not even ``__init__`` may be called again."""

    __slots__ = ()
    __init__ = __setitem__ = __delitem__ = __ior__ = __iadd__ = __imul__ = _forbid
    clear = pop = popitem = setdefault = update = append = extend = insert = remove = reverse = sort = _forbid

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
