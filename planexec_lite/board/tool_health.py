"""Tool health: how often in a row the calls of each tool have failed, and when the last one did. A circuit breaker looks here."""

from __future__ import annotations

from dataclasses import dataclass, field

from planexec_lite.board.part import Part


@dataclass(slots=True, repr=False)
class ToolHealth(Part):
    """By the name of the tool; one whose last call gave a result is not there.

    A call that was given up failed. One whose error is final says nothing about the tool: it would fail at any time.
    """

    failures: dict[str, int] = field(default_factory=dict)
    last_failure: dict[str, float] = field(default_factory=dict)  # in seconds since the run began

    def fail(self, tool: str | None, at: float) -> None:
        """A step that calls the tool failed."""
        if tool is not None:
            self.failures[tool] = self.failures.get(tool, 0) + 1
            self.last_failure[tool] = at

    def recover(self, tool: str | None) -> None:
        """A step that calls the tool gave a result."""
        if tool in self.failures:
            del self.failures[tool], self.last_failure[tool]
