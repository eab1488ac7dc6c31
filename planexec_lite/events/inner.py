"""What can happen inside a step that a model carries out."""

from __future__ import annotations

from typing import Any

from planexec_lite.frozen import frozen


@frozen
class Thought:
    """Inside a step: what the executor's model said to itself."""

    text: str


@frozen
class Action:
    """Inside a step: the executor's model called a tool."""

    tool: str
    params: Any


@frozen
class Observation:
    """Inside a step: what the tool gave back to the executor's model, as text; `error` says that it failed."""

    text: str
    error: bool = False


Inner = Thought | Action | Observation
