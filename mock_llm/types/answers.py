"""What comes out of the engine when the model answers: frozen values, the same for every endpoint."""

from __future__ import annotations

from dataclasses import dataclass

from .faults import Fault


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written. In a script either may be None: it is then estimated (characters / 4)."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model calls: the id that its result must name, the tool, the arguments as JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Choice:
    """What the model says in one of its `n` answers: text and tool calls, or a refusal in its own words."""

    text: str | None
    refusal: str | None
    calls: tuple[ToolCall, ...]
    finish_reason: str

    @property
    def words(self) -> str:
        """All of it on a few lines, for tables."""
        spoken = [self.text or self.refusal or ""] * bool(self.text or self.refusal)
        return "\n".join(spoken + [f"{call.name}({call.arguments})" for call in self.calls])


@dataclass(frozen=True, slots=True)
class Answer:
    """What the scripted model says, and what goes wrong on the way.

    Args:
        scene: the name of the scene that spoke.
        choices: what it says, `n` times.
        latency: seconds the model took, as scripted; reported, never slept.
        fault: what happens to the answer on its way to the client, or None.
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
