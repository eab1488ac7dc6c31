"""Frozen classes: dataclasses with slots that can't be changed. Events, questions and reports are such classes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Return the class as a frozen dataclass with slots.

    All such classes share the methods below. Python would compile its own for each class, which takes a tenth of the import.
    """
    for name, method in _SHARED.items():
        if name not in vars(cls):
            setattr(cls, name, method)
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)


def _values(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _equal(self: Any, other: object) -> bool:
    return type(self) is type(other) and _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(tuple(_values(self)))


def _shown(self: Any) -> str:
    parts = (f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
    return f"{type(self).__qualname__}({', '.join(parts)})"


_SHARED = {"__eq__": _equal, "__hash__": _hash, "__repr__": _shown}
