"""What the parts of a board have in common."""

from __future__ import annotations

from collections import deque
from dataclasses import fields
from typing import Any, Self

from planexec_lite.board.ready_queue import ReadyQueue

_CHANGE = (dict, list, set, deque, ReadyQueue)  # a Counter is a dict; everything else on a board stays as it is


class Part:
    """A part of a board: a dataclass with slots."""

    __slots__ = ()

    def copy(self) -> Self:
        """Return a part of its own for somebody who is shown this one: what they write on it changes nothing here."""
        shown = type(self)()
        for one in fields(self):  # type: ignore[arg-type]
            value: Any = getattr(self, one.name)
            setattr(shown, one.name, value.copy() if isinstance(value, (*_CHANGE, Part)) else value)
        return shown
