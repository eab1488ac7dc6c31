"""Frozen values that cost little: a dataclass with slots whose `__init__` fills the slots directly.

A frozen dataclass sets each of its fields through ``object.__setattr__``, and compiles half a dozen methods when it is
defined. A run makes two events a step, and an import defines three dozen classes, so both add up.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: type[T]) -> type[T]:
    """Make `kind` a frozen dataclass with slots; what it can do is the same, only it takes less time."""
    inherits = hasattr(kind, "__dataclass_params__")
    made: Any = dataclass(slots=True, init=False, repr=False, eq=False, frozen=inherits)(kind)
    for name, method in vars(_Frozen).items():
        if callable(method) and name not in vars(kind):
            setattr(made, name, method)
    made.__init__ = _init(made)
    made.__dataclass_params__.frozen = True  # a dataclass that inherits from it has to be frozen too
    return made  # type: ignore[no-any-return]


def _init(made: Any) -> Any:
    known: dict[str, Any] = {"NEW": _NEW}
    takes, lines = ["self"], []
    for one in fields(made):
        name = value = one.name
        known[f"set_{name}"] = getattr(made, name).__set__
        if one.default_factory is not MISSING:
            known[f"new_{name}"] = one.default_factory
            takes.append(f"{name}=NEW")
            value = f"new_{name}() if {name} is NEW else {name}"
        elif one.default is not MISSING:
            known[f"default_{name}"] = one.default
            takes.append(f"{name}=default_{name}")
        else:
            takes.append(name)
        lines.append(f"set_{name}(self, {value})")
    if hasattr(made, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def make({', '.join(known)}):\n  def __init__({', '.join(takes)}):\n    " + "\n    ".join(lines)
    here: dict[str, Any] = {}
    exec(text + "\n  return __init__", vars(sys.modules[made.__module__]), here)  # where its hints have a meaning
    init: Any = here["make"](**known)
    init.__annotations__ = {one.name: one.type for one in fields(made)} | {"return": None}
    init.__qualname__, init.__module__ = f"{made.__qualname__}.__init__", made.__module__
    return init


class _New:
    def __repr__(self) -> str:
        return "<factory>"


_NEW = _New()  # stands in a signature for a value that is made anew


class _Frozen:
    """What every frozen class can do, as `dataclass` would write it for each of them."""

    def __setattr__(self, name: str, value: Any) -> None:
        if _is_fixed(self, name):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if _is_fixed(self, name):
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    def __repr__(self) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={value!r}' for name, value in _fields(self))})"

    def __eq__(self, other: object) -> bool:
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        hashed = [one.name for one in fields(self) if one.hash is not False]  # type: ignore[arg-type]
        return hash(tuple([getattr(self, name) for name in hashed]))

    def __getstate__(self) -> list[tuple[str, Any]]:
        return [*_fields(self), *getattr(self, "__dict__", {}).items()]

    def __setstate__(self, state: Iterable[tuple[str, Any]]) -> None:
        for name, value in state:
            object.__setattr__(self, name, value)


def _fields(one: Any) -> Iterable[tuple[str, Any]]:
    return [(name, getattr(one, name)) for name in one.__match_args__]


def _values(one: Any) -> list[Any]:
    return [getattr(one, name) for name in one.__match_args__]


def _is_fixed(one: Any, name: str) -> bool:
    """Whether `name` is a field, or the class is no subclass that may have attributes of its own."""
    return name in one.__match_args__ or not hasattr(one, "__dict__")
