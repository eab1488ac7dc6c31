"""What goes into the engine and what comes out of it: frozen values, no behaviour but reading.

A `Request` is one conversation as a client sent it. The engine answers it with an `Answer` (the model
speaks) or an `ApiError` (the server refuses).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from .faults import Fault

ROLE_LINE = re.compile(r"^Role:[ \t]*(\S.*?)\s*$", re.MULTILINE)
INSTRUCTING = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: who speaks ("user", "assistant", "tool", …) and the plain text."""

    role: str
    text: str


@dataclass(frozen=True)
class Request:
    """One request that the police let through, in the form of a chat completion.

    Reply functions of Python scenes get this value, and read whatever they need from it.

    Args:
        body: the JSON object of a request for a chat completion.
        sent: what the client sent, where that was something else: a request for a response.
    """

    body: Mapping[str, Any]
    sent: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """All messages in order, instructions included."""
        return tuple(Message(str(m["role"]), _plain_text(m)) for m in self.body["messages"])

    @cached_property
    def system(self) -> str:
        """The instructions: the text of all system and developer messages."""
        return "\n".join(message.text for message in self.messages if message.role in INSTRUCTING)

    @cached_property
    def conversation(self) -> tuple[Message, ...]:
        """What was said under these instructions: user, assistant and tool messages, in order."""
        return tuple(message for message in self.messages if message.role not in INSTRUCTING)

    @property
    def last(self) -> Message:
        """The newest message of the conversation (an empty one where only instructions were sent)."""
        return self.conversation[-1] if self.conversation else Message("user", "")

    @cached_property
    def role(self) -> str | None:
        """Who asks: the instructions hold a line "Role: planner". None without such a line."""
        line = ROLE_LINE.search(self.system)
        return line.group(1) if line else None

    @property
    def model(self) -> str:
        """The model's name, which the answer repeats."""
        return str(self.body["model"])

    @property
    def format(self) -> str:
        """The answer's format asked for: "text", "json_object" or "json_schema"."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @property
    def schema(self) -> Any:
        """The JSON schema that the answer must fit, or None."""
        return ((self.body.get("response_format") or {}).get("json_schema") or {}).get("schema")

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools offered, in order."""
        return tuple(tool["function"]["name"] for tool in self.body.get("tools") or ())

    def tool_schema(self, name: str) -> Any:
        """The JSON schema of an offered tool's arguments; any object when it has none."""
        offered = (tool["function"] for tool in self.body.get("tools") or ())
        return next((tool.get("parameters") or {} for tool in offered if tool["name"] == name), {})

    @property
    def tool_choice(self) -> str:
        """Which tools may be called: "auto", "none", "required", or the name of the tool that must be called."""
        choice = self.body.get("tool_choice") or "auto"
        return str(choice if isinstance(choice, str) else choice["function"]["name"])

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of the tools that the model has called in this conversation."""
        calls = (call for message in self.body["messages"] for call in message.get("tool_calls") or ())
        return frozenset(call["function"]["name"] for call in calls)

    @property
    def turn(self) -> int:
        """Which turn of the model in this conversation the answer is: 1 when it has not spoken yet."""
        return 1 + sum(message.role == "assistant" for message in self.messages)

    @property
    def choices(self) -> int:
        """How many answers are wanted (`n`)."""
        return int(self.body.get("n") or 1)

    @property
    def stream(self) -> bool:
        """Whether the answer is wanted as a stream."""
        return bool(self.body.get("stream"))

    @property
    def limit(self) -> int | None:
        """The longest answer wanted, in tokens, or None."""
        limit = self.body.get("max_completion_tokens") or self.body.get("max_tokens")
        return int(limit) if limit else None

    @property
    def stops(self) -> tuple[str, ...]:
        """The texts at which the answer must stop."""
        stop = self.body.get("stop") or ()
        return (stop,) if isinstance(stop, str) else tuple(stop)

    def find(self, pattern: str) -> str | None:
        """The newest text of the conversation that a regular expression matches.

        Args:
            pattern: a regular expression; with a group, the group is what is returned.
        """
        for message in reversed(self.conversation):
            if match := re.search(pattern, message.text):
                return str(match.group(1 if match.re.groups else 0) or "")
        return None

    def digest(self, *salt: object) -> str:
        """A fingerprint of the content: the same request has the same one, streamed or not, on every machine."""
        canonical = json.dumps([self._canonical, *salt], separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:24]

    @cached_property
    def _canonical(self) -> str:
        content = {name: value for name, value in self.body.items() if not name.startswith("stream")}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


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


@dataclass(frozen=True, slots=True)
class ApiError:
    """A refusal by the server: the HTTP status and the four fields of OpenAI's error body."""

    status: int
    message: str
    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None


def _plain_text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or message.get("refusal") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text") or part.get("refusal") or "" for part in content)
    calls = [call["function"] for call in message.get("tool_calls") or ()]
    return "\n".join([content] * bool(content) + [f"{call['name']}({call['arguments']})" for call in calls])
