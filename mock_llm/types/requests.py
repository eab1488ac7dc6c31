"""The engine's input: a conversation as a client sent it. Frozen values with no behavior except reading.

The engine answers a `Request` with an `Answer` (`answers.py`) or an `ApiError` (`errors.py`).
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

INSTRUCTING = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a conversation: its role ("user", "assistant", "tool", …) and plain text."""

    role: str
    text: str


@dataclass(frozen=True)
class Request:
    """A valid request, in the form of a chat completion.

    Reply functions of Python scenes receive this value.

    Args:
        body: the JSON object of a chat completion request.
        sent: the client's original request, if it was for the Responses API.
        occurrence: the number of identical requests before this one.
    """

    body: Mapping[str, Any]
    sent: Mapping[str, Any] = field(default_factory=dict, repr=False)
    occurrence: int = 0

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
        """The user, assistant and tool messages, in order."""
        return tuple(message for message in self.messages if message.role not in INSTRUCTING)

    @cached_property
    def images(self) -> tuple[str, ...]:
        """The images of the conversation, in order, each as 64 hexadecimal digits of SHA-256.

        For an embedded image (a data URL) the bytes are hashed, for any other its URL or file id.
        """
        contents = (message.get("content") for message in self.body["messages"])
        parts = (part for content in contents if isinstance(content, list) for part in content)
        return tuple(image_hash(part["image_url"]["url"]) for part in parts if part.get("type") == "image_url")

    @property
    def last(self) -> Message:
        """The newest message of the conversation; an empty one if there are only instructions."""
        return self.conversation[-1] if self.conversation else Message("user", "")

    @property
    def model(self) -> str:
        """The model's name, which the answer repeats."""
        return str(self.body["model"])

    @property
    def format(self) -> str:
        """The requested response format: "text", "json_object" or "json_schema"."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @property
    def schema(self) -> Any:
        """The JSON schema that the answer must fit, or None."""
        return ((self.body.get("response_format") or {}).get("json_schema") or {}).get("schema")

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the offered tools, in order."""
        return tuple(tool[tool["type"]]["name"] for tool in self.body.get("tools") or ())

    @property
    def custom_tools(self) -> tuple[str, ...]:
        """The names of the offered custom tools, which take plain text."""
        offered = self.body.get("tools") or ()
        return tuple(tool["custom"]["name"] for tool in offered if tool["type"] == "custom")

    def tool_schema(self, name: str) -> Any:
        """Return the JSON schema of an offered tool's arguments; by default any object."""
        offered = (tool["function"] for tool in self.body.get("tools") or () if tool["type"] == "function")
        return next((tool.get("parameters") or {} for tool in offered if tool["name"] == name), {})

    @property
    def tool_choice(self) -> str:
        """The tool choice: "auto", "none", "required", or the name of the required tool."""
        choice = self.body.get("tool_choice") or "auto"
        if isinstance(choice, str):
            return choice
        chosen = choice[choice.get("type") or "function"]
        return str(chosen.get("mode") or chosen["name"])

    @property
    def allowed_tools(self) -> tuple[str, ...]:
        """The names of the tools that the model can call: the offered ones, unless the tool choice limits them."""
        choice = self.body.get("tool_choice")
        if not isinstance(choice, dict) or choice.get("type") != "allowed_tools":
            return self.tools
        return tuple(tool[tool["type"]]["name"] for tool in choice["allowed_tools"]["tools"])

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of the tools that the model has called in this conversation."""
        calls = (call for message in self.body["messages"] for call in message.get("tool_calls") or ())
        return frozenset(called(call)[0] for call in calls)

    @property
    def turn(self) -> int:
        """The number of the model's turn in this conversation, from 1."""
        return 1 + sum(message.role == "assistant" for message in self.messages)

    @property
    def choices(self) -> int:
        """The number of requested answers (`n`)."""
        return int(self.body.get("n") or 1)

    @property
    def stream(self) -> bool:
        """Whether the answer is streamed."""
        return bool(self.body.get("stream"))

    @property
    def limit(self) -> int | None:
        """The maximum length of the answer in tokens, or None."""
        limit = self.body.get("max_completion_tokens") or self.body.get("max_tokens")
        return int(limit) if limit else None

    @property
    def stops(self) -> tuple[str, ...]:
        """The stop sequences."""
        stop = self.body.get("stop") or ()
        return (stop,) if isinstance(stop, str) else tuple(stop)

    def find(self, pattern: str) -> str | None:
        """Return the newest text of the conversation that a regular expression matches.

        Args:
            pattern: a regular expression; if it has a group, the group's text is returned.
        """
        for message in reversed(self.conversation):
            if match := re.search(pattern, message.text):
                return str(match.group(1 if match.re.groups else 0) or "")
        return None

    @cached_property
    def unique_id(self) -> str:
        """The part that the ids of this request's answer share: another one for each identical request."""
        return self.digest(self.occurrence) if self.occurrence else self.digest()

    def digest(self, *salt: object) -> str:
        """Return a fingerprint of the content: the same for the same request on every machine, streamed or not."""
        canonical = json.dumps([self._canonical, *salt], separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()[:24]

    @cached_property
    def _canonical(self) -> str:
        content = {name: value for name, value in self.body.items() if not name.startswith("stream")}
        canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()


def image_hash(url: str) -> str:
    """Return the hash of an image: of its bytes if the URL contains them, otherwise of the URL."""
    head, comma, data = url.partition(",")
    if head.startswith("data:") and head.endswith(";base64") and comma:
        with contextlib.suppress(ValueError):
            return hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()
    return hashlib.sha256(url.encode(errors="surrogatepass")).hexdigest()


def _plain_text(message: Mapping[str, Any]) -> str:
    # Calls are part of the text, so that `says` and `find` can match a tool's arguments.
    content = message.get("content") or message.get("refusal") or ""
    if not isinstance(content, str):
        content = "".join(part.get("text") or part.get("refusal") or "" for part in content)
    calls = map(called, message.get("tool_calls") or ())
    return "\n".join([content] * bool(content) + [f"{name}({arguments})" for name, arguments in calls])


def called(call: Mapping[str, Any]) -> tuple[str, str]:
    """Return the name of the called tool and its arguments; for a custom tool, its input."""
    tool = call[call["type"]]
    return str(tool["name"]), str(tool["arguments"] if call["type"] == "function" else tool["input"])
