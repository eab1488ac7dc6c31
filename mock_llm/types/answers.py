"""The engine's answers: frozen values, the same for every endpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .faults import Fault


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a call. In a script each can be None: input, output and reasoning are then estimated as characters / 4,
    and nothing is cached.

    Args:
        input: input tokens, cached ones included.
        output: output tokens, reasoning included.
        cached: input tokens that the service read from its cache.
        reasoning: output tokens that the model spent on reasoning.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model: the id that its result must name, the tool, and the arguments as JSON text; for a
    custom tool, its input as plain text.
    """

    id: str
    name: str
    arguments: str
    custom: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the model's `n` answers: text and tool calls, or the text of a refusal.

    Args:
        reasoning: the summary of the model's reasoning; None if the model did not reason.
        items: what the service itself adds to a response: calls of its own tools, a compaction.
    """

    text: str | None
    refusal: str | None
    calls: tuple[ToolCall, ...]
    finish_reason: str
    reasoning: str | None = None
    items: tuple[Mapping[str, Any], ...] = ()

    @property
    def words(self) -> str:
        """The whole choice on a few lines, for tables."""
        spoken = [self.text or self.refusal or ""] * bool(self.text or self.refusal)
        return "\n".join(spoken + [f"{call.name}({call.arguments})" for call in self.calls])


@dataclass(frozen=True, slots=True)
class Answer:
    """The scripted model's answer, and the fault on its way to the client.

    Args:
        scene: the name of the scene that answered.
        choices: its `n` choices.
        latency: the scripted seconds of work; reported, but never slept.
        fault: the fault on the way to the client, or None.
    """

    scene: str
    choices: tuple[Choice, ...]
    input_tokens: int
    output_tokens: int
    latency: float
    fault: Fault | None = None
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def text(self) -> str | None:
        """The text of the first choice."""
        return self.choices[0].text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the first choice."""
        return self.choices[0].calls
