"""Reads the steps of a plan out of JSON text that is still being written: each as soon as its last brace is there."""

from __future__ import annotations

import json
from typing import Any

_LISTS = ("steps", "tasks", "plan")


class StepReader:
    """Takes a JSON text piece by piece and gives the steps that are complete.

    Reads the list under "steps", "tasks" or "plan" of an object, or a bare list. It looks at every character once. What
    is no plan gives no steps, and is not judged here: `Plan.parse` reads the whole text in the end.
    """

    def __init__(self) -> None:
        self.text = ""
        self._open: list[str] = []  # the brackets that are open
        self._key = ""  # the last text at the top of the object: the name of what comes next
        self._steps_at: int | None = None  # how many brackets are open inside the list of steps
        self._string_from: int | None = None
        self._escaped = False
        self._step_from = 0
        self._begun = self._no_plan = False

    def feed(self, piece: str) -> list[dict[str, Any]]:
        """Take in some more text and return the steps that it completes."""
        start = len(self.text)
        self.text += piece
        return [step for at in range(start, len(self.text)) if (step := self._look(at)) is not None]

    def _look(self, at: int) -> dict[str, Any] | None:
        char = self.text[at]
        if not self._open and not char.isspace():
            self._no_plan |= (
                self._begun or char not in "{["
            )  # text or a fence around the JSON: only the whole can be judged
            self._begun = True
        if self._no_plan:
            return None
        if self._string_from is not None:
            self._in_string(char, at)
        elif char == '"':
            self._string_from = at
        elif char in "{[":
            self._opens(char, at)
        elif char in "}]" and self._open:
            self._open.pop()
            depth = len(self._open)
            if char == "}" and depth == self._steps_at:
                return self._step(at)
            if self._steps_at is not None and depth < self._steps_at:
                self._steps_at = None
        return None

    def _in_string(self, char: str, at: int) -> None:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            if len(self._open) == 1 and self._string_from is not None:
                self._key = self.text[self._string_from + 1 : at]
            self._string_from = None

    def _opens(self, char: str, at: int) -> None:
        bare = not self._open
        named = self._open == ["{"] and self._key in _LISTS
        if char == "[" and (bare or named):
            self._steps_at = len(self._open) + 1
        elif char == "{" and len(self._open) == self._steps_at:
            self._step_from = at
        self._open.append(char)

    def _step(self, at: int) -> dict[str, Any] | None:
        try:
            step = json.loads(self.text[self._step_from : at + 1])
        except ValueError:
            return None
        return step if isinstance(step, dict) else None
