"""Frozen classes: dataclasses with slots that can't be changed. Events, questions and reports are such classes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Return the class as a frozen dataclass with slots.

    All such classes share the two methods below: to compile some for each class takes a twentieth of the import.
    """
    for name, method in (("__eq__", _equal), ("__hash__", _hash)):
        setattr(cls, name, method)
    return dataclass(frozen=True, slots=True, eq=False)(cls)


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, one.name) for one in fields(self) if one.compare)


def _equal(self: Any, other: object) -> bool:
    return type(self) is type(other) and _values(self) == _values(other)


def _hash(self: Any) -> int:
    return hash(_values(self))
