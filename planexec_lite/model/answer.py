"""Reads what a model endpoint sends, whole or as a stream, and returns an `Answer`.

Many endpoints follow OpenAI's format loosely: `usage` or `choices` is missing or null, the model's thoughts precede
its answer, or an error has status 200. No other file reads an endpoint's JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from planexec_lite.model.prompt_text import shortened

Message = dict[str, Any]
_CHARACTERS_PER_TOKEN = 4  # an estimate, about right for English
_QUOTED = 300  # characters of the endpoint's words in an error


class AnswerError(RuntimeError):
    """The endpoint sent no answer. The message quotes what it sent instead, and suggests a fix."""


class ReportedError(AnswerError):
    """The endpoint sent an error object, with a status that reports success."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model requests: the call's id, the tool's name, and its arguments as JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer: its `text`, or its `refusal`; the reason why it ended ("stop", "length", …); its tool calls."""

    text: str
    refusal: str | None
    finish_reason: str
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def message(self) -> Message:
        """The answer as a message of the conversation; the tools' results follow it."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.tool_calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


@dataclass
class Reading:
    """An answer while it is read: `add` takes each object that the endpoint sends.

    `tokens` are the tokens read and written, as the endpoint reports them; None for a count that is missing, or that is no whole
    number from zero. An endpoint that reports often reports sums, so the largest count is the right one.
    """

    text: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    tokens: tuple[int | None, int | None] = (None, None)
    _calls: dict[int, dict[str, str]] = field(default_factory=dict)
    _sent: dict[str, Any] = field(default_factory=dict)
    _has_message: bool = False

    def add(self, sent: dict[str, Any]) -> str:
        """Add a whole answer or one chunk, and return the text that it adds; "" in an answer that begins with thoughts.

        Raises `AnswerError` for an error object, and for an object with an unknown shape.
        """
        self._sent = sent
        if error := sent.get("error"):
            raise ReportedError(f"the endpoint sent an error: {quoted(error)}; check the model's name and the endpoint")
        try:
            return self._add(sent)
        except (AttributeError, KeyError, TypeError) as error:
            message = f"the endpoint's answer does not have the shape of a chat completion ({error}): {quoted(sent)}"
            raise AnswerError(f"{message}; check the client's base_url") from None

    def _add(self, sent: dict[str, Any]) -> str:
        if isinstance(usage := sent.get("usage"), dict):
            read, written = self.tokens
            self.tokens = _most(read, usage.get("prompt_tokens")), _most(written, usage.get("completion_tokens"))
        choice = (sent.get("choices") or [{}])[0]
        message = choice.get("delta") or choice.get("message") or {}
        self._has_message = self._has_message or bool(message)
        whole = "stop" if "message" in choice else None  # a stream without a reason ended early
        self.finish_reason = choice.get("finish_reason") or self.finish_reason or whole
        self.refusal += message.get("refusal") or ""
        for place, call in enumerate(message.get("tool_calls") or ()):
            function, index = call["function"], call.get("index")
            place = index if type(index) is int else place
            known = self._calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
            known["id"] = known["id"] or call.get("id") or ""
            known["name"] = known["name"] or function.get("name") or ""
            known["arguments"] += function.get("arguments") or ""
        text: str = message.get("content") or ""
        self.text += text
        return "" if _MAY_BE_THOUGHTS.match(self.text) else text

    def counted(self, characters: int) -> tuple[int, int]:
        """Return `tokens`, with an estimate for an unknown count. `characters` is the length of the request."""
        read, written = self.tokens
        calls = sum(len(call["name"]) + len(call["arguments"]) for call in self._calls.values())
        return (
            _estimate(characters) if read is None else read,
            _estimate(len(self.text) + len(self.refusal) + calls) if written is None else written,
        )

    def cut_off(self, most: int) -> bool:
        """Shorten an answer to `most` characters, with the reason "length"; return whether it was longer."""
        too_long = len(self.text) > most
        if too_long:
            self.text, self.finish_reason = self.text[:most], "length"
        return too_long

    def answer(self) -> Answer:
        """Return the answer. Raises `AnswerError` if no message was sent."""
        if not self._has_message:
            raise AnswerError(
                f"the endpoint sent no answer: {quoted(self._sent)}; check the model's name and the endpoint"
            )
        calls = (
            ToolCall(call["id"] or f"call_{place}", call["name"], call["arguments"])
            for place, call in sorted(self._calls.items())
        )
        reason = str(self.finish_reason or "length").lower()
        if reason == "content_filter":
            raise AnswerError("the endpoint's content filter stopped the answer; change the goal, or ask another model")
        reason = "length" if reason in ("max_tokens", "model_length") else reason
        return Answer(spoken(self.text), self.refusal or None, reason, tuple(calls))


_LINE_OF_A_STREAM = re.compile(rb"\s*(data|event|id|retry)?:")


def objects(parts: Iterable[bytes], most: int | None = None) -> Iterator[dict[str, Any]]:
    """Yield each JSON object of a body that arrives in `parts`: the data of each event of a stream, or the whole body.

    A part that completes no object yields an empty one. Raises `AnswerError` for a body that is not JSON, or is longer than `most`
    bytes.
    """
    received, count, stream = b"", 0, False
    for part in parts:
        received += part
        count += len(part)
        if most is not None and count > most:
            raise AnswerError("the endpoint's answer is far longer than max_tokens allows; the rest was not read")
        stream = stream or _LINE_OF_A_STREAM.match(received) is not None
        if stream:
            *lines, received = received.split(b"\n")
            for data in [line[5:].strip() for line in lines if line.startswith(b"data:")]:
                if data == b"[DONE]":
                    return
                yield _object(data)
        yield {}
    if not stream:
        yield _object(received)


def _object(body: bytes) -> dict[str, Any]:
    text = body.decode("utf-8", "replace").strip()
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        raise AnswerError(
            f"the endpoint's answer is not a JSON object: {quoted(text) or 'it is empty'}; "
            "check the client's base_url, which usually ends in /v1"
        )
    return sent


def quoted(sent: Any) -> str:
    """The endpoint's words for an error message: the message of an error object, or the JSON text, shortened."""
    words = sent.get("message", sent) if isinstance(sent, dict) else sent
    return shortened(words if isinstance(words, str) else json.dumps(words, ensure_ascii=False), _QUOTED)


def _most(known: int | None, reported: Any) -> int | None:
    if type(reported) is not int or not 0 <= reported < 2**53:
        return known
    return max(reported, known or 0)


def _estimate(characters: int) -> int:
    return ceil(characters / _CHARACTERS_PER_TOKEN)


_MAY_BE_THOUGHTS = re.compile(r"\s*<")
_THOUGHTS = re.compile(r"\A\s*<think>.*?(?:</think>\s*|\Z)|\A(?!\s*[{\[`]).*?</think>[ \t]*(?=[\n{\[]|\Z)\s*", re.S)
_END_MARK = re.compile(r"<\|\w{1,30}\|>\s*\Z")


def spoken(text: str) -> str:
    """Return an answer without the thoughts before it, such as ``<think>…</think>``, and an end mark, such as ``<|im_end|>``."""
    return _END_MARK.sub("", _THOUGHTS.sub("", text, count=1))
