"""What can happen inside a step that a model carries out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Thought:
    """Inside a step: what the executor's model said to itself."""

    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """Inside a step: the executor's model called a tool."""

    tool: str
    params: Any


@dataclass(frozen=True, slots=True)
class Observation:
    """Inside a step: what the tool gave back to the executor's model, as text; `error` says that it failed."""

    text: str
    error: bool = False


Inner = Thought | Action | Observation
