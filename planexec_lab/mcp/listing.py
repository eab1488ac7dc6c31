"""A server's tool list, the kit's tools made from it, and the pin on both.

A *pin* is a hash of each tool's name, description, schemas and annotations. It is taken when a toolbox is made, and only the tools
reviewed then can be called later. A list that changes in between, announced or not, is a *rug pull*.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from planexec_lab.mcp.strangers_words import LONGEST_DESCRIPTION, fault_of_name, quoted
from planexec_lite.tools import Effects, Tool

_MOST_CHARACTERS = 50_000  # of each tool's listing
PARTS = ("description", "input_schema", "output_schema", "annotations", "title")


@dataclass(frozen=True)
class ListedTool:
    """A tool as its server describes it, word for word: nothing in it is checked, and none of it is true for sure."""

    name: str
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    title: str | None = None
    rejected: str | None = None
    """Why the protocol does not allow this listing; nothing but the name is known of such a tool."""

    @property
    def effects(self) -> Effects:
        """The effects of a call by the annotations' hints; without a hint they are unknown."""
        if self.annotations.get("readOnlyHint") is True:
            return "none"
        hints: dict[bool | None, Effects] = {True: "idempotent", False: "once"}
        return hints.get(self.annotations.get("idempotentHint"), "unknown")

    @property
    def destructive(self) -> bool | None:
        """Whether a call can delete or overwrite something, by the annotations' hints; None without a hint."""
        hint = self.annotations.get("destructiveHint")
        return False if self.annotations.get("readOnlyHint") is True else hint if isinstance(hint, bool) else None

    @property
    def wraps_its_result(self) -> bool:
        """Whether the result is an object only because it has to be one: its one part, ``result``, is what was returned."""
        schema = self.output_schema or {}
        return list(schema.get("properties", ())) == ["result"] and schema.get("required") == ["result"]

    def shown_description(self, server: str) -> str:
        """The description as a planner is shown it: quoted, cut, with whose words they are."""
        words = self.description or self.title or ""
        return (
            f"{server} says: {quoted(words, LONGEST_DESCRIPTION)}" if words else f"{server} does not say what it does"
        )

    def fault(self) -> str | None:
        """Return the reason why the tool can't be used regardless of its schema; None if it can."""
        size = len(json.dumps([self.description, self.input_schema, self.output_schema, self.annotations]))
        if size > _MOST_CHARACTERS:
            return f"its listing has {size} characters; {_MOST_CHARACTERS} are read at most"
        return self.rejected or fault_of_name(self.name)


@dataclass(frozen=True)
class Pin:
    """The hashes of what was listed: a tool's name -> a part of its listing -> that part's hash. Data: it can be stored."""

    tools: Mapping[str, Mapping[str, str]]

    @classmethod
    def of(cls, listed: Iterable[ListedTool]) -> Pin:
        """Take the pin of a listing."""
        return cls({tool.name: {part: _hash(getattr(tool, part)) for part in PARTS} for tool in listed})

    def of_tool(self, name: str) -> str:
        """The hash of a tool's listing."""
        return _hash([name, self.tools[name]])

    def changes(self, now: Pin) -> Iterator[str]:
        """Say what is not as it was, tool by tool; a tool that is new is no change of those that were pinned."""
        for name, parts in self.tools.items():
            if name not in now.tools:
                yield f"{name} is gone"
            elif others := [part.replace("_", " ") for part in PARTS if parts.get(part) != now.tools[name].get(part)]:
                yield f"{name} has another {' and another '.join(others)}"


def hints_of(tool: Tool) -> dict[str, bool]:
    """Return the annotations that hint at what is declared about `tool`; what is not declared is not hinted at."""
    hints = {"destructiveHint": tool.destructive}
    if tool.effects != "unknown":
        hints |= {"readOnlyHint": tool.effects == "none", "idempotentHint": tool.effects != "once"}
    return {name: hint for name, hint in hints.items() if hint is not None}


def _hash(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode(errors="surrogatepass")).hexdigest()[:16]


def left_out_of(listed: Sequence[ListedTool]) -> dict[str, str]:
    """Return the tools that can't be taken, by name, and why: bad names, names that differ in nothing but case, bulk."""
    of_a_name = Counter(tool.name.casefold() for tool in listed)
    twins = "the server lists two tools of this name, or of names that differ in nothing but case"
    faults = {tool.name: tool.fault() or (twins if of_a_name[tool.name.casefold()] > 1 else None) for tool in listed}
    return {name: fault for name, fault in faults.items() if fault is not None}
