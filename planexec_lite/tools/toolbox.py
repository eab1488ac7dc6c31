"""A toolbox: the tools of a run by name, and limits on the steps that use them at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from planexec_lite.frozen import frozen
from planexec_lite.tools.signature import Function, ToolError, suggest
from planexec_lite.tools.tool import Effects, Tool


class Toolbox:
    """The tools of a run, by name. Takes functions (with or without `@tool`) and `Tool` objects.

    ``toolbox["search"]`` returns a `Tool`, ``"search" in toolbox`` checks for it, and iteration yields the tools in
    order.

    Args:
        tools: the functions and tools.
    """

    def __init__(self, tools: Iterable[Tool | Function] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for item in tools:
            one = item if isinstance(item, Tool) else getattr(item, "tool", None) or Tool(item)
            if one.name in self._tools:
                raise ToolError(
                    f"two tools are called {one.name!r}; give one of them another name"
                )
            self._tools[one.name] = one

    def __getitem__(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            near = suggest(name, self._tools)
            raise ToolError(
                f"there is no tool {name!r}{near}; there are: {', '.join(self._tools)}"
            ) from None

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
        """The effects of the tools by name, without the tools that have none."""
        return {tool.name: tool.effects for tool in self if tool.effects != "none"}

    @property
    def pins(self) -> dict[str, str]:
        """The hash of each tool by name; see `Tool.digest`."""
        return {one.name: one.digest for one in self}

    def only(self, *names: str) -> Toolbox:
        """Return a toolbox with these tools only, such as the tools that a step is allowed to call."""
        return Toolbox(self[name] for name in names)

    def describe(self) -> str:
        """The list of tools for a prompt: a line with signature and description for each tool."""
        return "\n".join(f"- {one.signature}: {one.description}" for one in self)


@frozen
class Limit:
    """At most `slots` steps at once call one of `tools`, because these tools share the resource `name`.

    The name "" among the tools means the steps without a tool.
    """

    name: str
    tools: tuple[str, ...]
    slots: int


def limits_of(tools: Toolbox, counts: Mapping[str, int]) -> tuple[Limit, ...]:
    """Return the limits that `counts` sets, a dict from a resource (or a tool's name) to its number of slots.

    Raises `ValueError` for a name that no tool has or uses, and for a count below 1.
    """
    users: dict[str, list[str]] = {}
    for tool in tools:
        for name in (tool.name, *tool.uses):
            users.setdefault(name, []).append(tool.name)
    for name, slots in counts.items():
        if name not in users:
            known = ", ".join(users) or "nothing"
            raise ValueError(
                f"limits: no tool is called or uses {name!r}{suggest(name, users)}; there is: {known}"
            )
        if slots < 1:
            raise ValueError(f"limits: {name}={slots}: there must be at least one, or no limit")
    return tuple(Limit(name, tuple(users[name]), slots) for name, slots in counts.items())
