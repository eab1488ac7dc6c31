"""The states of a step, and the base of a capability's part of the board."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import Any, Literal, Self

from pydantic import ConfigDict

State = Literal[
    "waiting",
    "running",
    "judging",
    "in doubt",
    "done",
    "failed",
    "skipped",
    "superseded",
    "undone",
]
SETTINGS = ConfigDict(strict=True, allow_inf_nan=False, defer_build=True, extra="forbid")
"""How dataclasses of settings check their values: by the types and bounds of their fields. Nothing is converted,
and an unknown name is an error.
"""


class Part:
    """The base of a capability's part of the board, and of its ready queue: named values with their defaults.

    Each part has its own copies of the containers among the defaults. A name that begins with "_" is a cache: it is no state,
    so it does not count when boards are compared.
    """

    def __init__(self) -> None:
        for name in type(self).__annotations__:
            setattr(self, name, copied_containers(getattr(self, name)))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _state(self) == _state(other)

    def copy(self) -> Self:
        """Return a copy that shares no container with this part. Events and other frozen values are shared."""
        other = type(self)()
        vars(other).update(copied_containers(vars(self)))
        return other


def _state(part: Part) -> dict[str, Any]:
    return {name: value for name, value in vars(part).items() if not name.startswith("_")}


_CONTAINERS = frozenset({dict, list, set, deque, Counter, defaultdict})


def copied_containers(value: Any) -> Any:
    """Return a copy of a container with all containers inside; other values are returned as they are."""
    if type(value) not in _CONTAINERS:
        return value
    copy = value.copy()
    by_place = copy if isinstance(copy, dict) else dict(enumerate(copy))
    if not _CONTAINERS.isdisjoint(
        map(type, by_place.values())
    ):  # most containers have no others inside
        for place, inner in by_place.items():
            copy[place] = copied_containers(inner)
    return copy
