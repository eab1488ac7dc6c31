"""What goes into the engine and what comes out of it: frozen values, no behaviour but reading.

A `Request` is one conversation as a client sent it. The engine answers it with an `Answer` (the model
speaks) or an `ApiError` (the server refuses).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

ROLE_LINE = re.compile(r"^Role:[ \t]*(\S.*?)\s*$", re.MULTILINE)
INSTRUCTING = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation: who speaks ("user", "assistant", "tool", …) and the plain text."""

    role: str
    text: str


@dataclass(frozen=True)
class Request:
    """One request for a chat completion that the police let through.

    Reply functions of Python scenes get this value, and read whatever they need from it.

    Args:
        body: the JSON object that the client sent, as it is.
    """

    body: Mapping[str, Any]

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
        """A fingerprint of the content: the same request has the same one, on every machine."""
        canonical = json.dumps([self.body, *salt], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:24]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens read and written. In a script either may be None: it is then estimated (characters / 4)."""

    input: int | None = None
    output: int | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What the scripted model says: text, or a refusal in its own words; never both.

    Args:
        scene: the name of the scene that spoke.
        latency: seconds the model took, as scripted; reported, never slept.
    """

    scene: str
    text: str | None
    refusal: str | None
    finish_reason: str
    input_tokens: int
    output_tokens: int
    latency: float


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
