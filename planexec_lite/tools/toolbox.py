"""A toolbox: the tools of a run, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from planexec_lite.tools.declared import Effects
from planexec_lite.tools.schema import ToolError, suggest
from planexec_lite.tools.tool import Tool


class Toolbox:
    """The tools of a run, by name. Takes functions (with or without `@tool`) and `Tool` objects.

    ``toolbox["search"]`` gives a `Tool`, ``"search" in toolbox`` asks for one, and a loop yields them in order.

    Args:
        tools: the functions and tools.
        copied: returns the same tools on a copy of the world as it stands now, so that a plan can be tried without
            touching the world; None: the world can't be copied.
    """

    def __init__(
        self, tools: Iterable[Tool | Callable[..., Any]] = (), *, copied: Callable[[], Toolbox] | None = None
    ) -> None:
        self.copied = copied
        self._tools: dict[str, Tool] = {}
        for item in tools:
            one = item if isinstance(item, Tool) else getattr(item, "tool", None) or Tool(item)
            if one.name in self._tools:
                raise ToolError(f"two tools are called {one.name!r}; give one of them another name")
            self._tools[one.name] = one

    def __getitem__(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            near = suggest(name, self._tools)
            raise ToolError(f"there is no tool {name!r}{near}; there are: {', '.join(self._tools)}") from None

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    def __repr__(self) -> str:
        return f"Toolbox({', '.join(self._tools)})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools, in order."""
        return tuple(self._tools)

    @property
    def effects(self) -> dict[str, Effects]:
        """What the tools do to the world, by name, where they do anything."""
        return {one.name: one.effects for one in self._tools.values() if one.effects != "none"}

    @property
    def pins(self) -> dict[str, str]:
        """The hash of each tool by name; see `Tool.digest`."""
        return {one.name: one.digest for one in self._tools.values()}

    def only(self, *names: str) -> Toolbox:
        """Return a toolbox with just these tools: what a step may do, and no more."""
        copied = self.copied
        return Toolbox((self[name] for name in names), copied=copied and (lambda: copied().only(*names)))

    def describe(self) -> str:
        """The list of tools for a prompt, a line each: signature and description."""
        return "\n".join(f"- {one.signature}: {one.description}" for one in self._tools.values())
