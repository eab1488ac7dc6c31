"""Limits: how many steps at once may use the same thing, such as an oven, a licence or a service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planexec_lite.tools import Toolbox, suggest


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `slots` steps at once call one of `tools`, because they share what `name` says.

    The name "" among the tools stands for the steps without a tool.
    """

    name: str
    tools: tuple[str, ...]
    slots: int


def limits_of(tools: Toolbox, counts: Mapping[str, int]) -> tuple[Limit, ...]:
    """Return the limits that `counts` sets, from what tools use (or a tool's own name) to how many there are of it.

    Raises `ValueError` for a name that no tool has or uses, and for a count below 1.
    """
    users: dict[str, list[str]] = {}
    for tool in tools:
        for name in (tool.name, *tool.uses):
            users.setdefault(name, []).append(tool.name)
    for name, slots in counts.items():
        if name not in users:
            known = ", ".join(users) or "nothing"
            raise ValueError(f"limits: no tool is called or uses {name!r}{suggest(name, users)}; there is: {known}")
        if slots < 1:
            raise ValueError(f"limits: {name}={slots}: there must be at least one, or no limit")
    return tuple(Limit(name, tuple(users[name]), slots) for name, slots in counts.items())
