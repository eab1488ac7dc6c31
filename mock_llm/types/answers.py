"""The engine's answers: frozen values, the same for every endpoint."""

from __future__ import annotations

from dataclasses import dataclass

from .faults import Fault


@dataclass(frozen=True, slots=True)
class Usage:
    """Input and output tokens. In a script either can be None; it is then estimated as characters / 4."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model: the id that its result must name, the tool, and the arguments as JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the model's `n` answers: text and tool calls, or the text of a refusal. `stopped_by` is the stop sequence
    that ended it, or None.
    """

    text: str | None
    refusal: str | None
    calls: tuple[ToolCall, ...]
    finish_reason: str
    stopped_by: str | None = None

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

    @property
    def text(self) -> str | None:
        """The text of the first choice."""
        return self.choices[0].text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls of the first choice."""
        return self.choices[0].calls
