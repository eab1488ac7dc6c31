"""Frozen classes: dataclasses with slots that can't be changed. Events, questions and reports are such classes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Return the class as a frozen dataclass with slots.

    All such classes share one ``__eq__``: to compile one for each class takes a thirtieth of the import.
    """
    cls.__eq__ = _equal  # type: ignore[method-assign]
    # dataclasses calls a hash unsafe if they don't write __eq__ too
    return dataclass(frozen=True, slots=True, eq=False, unsafe_hash=True)(cls)


def _equal(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _values(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self) if one.compare]
