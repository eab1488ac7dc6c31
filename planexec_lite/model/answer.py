"""Reads what a model endpoint sends, whole or as a stream, and makes an `Answer` of it.

Endpoints of many makes follow OpenAI's format loosely: `usage` or `choices` may be missing or null, the model's thoughts may
come before its answer, and an error may come under status 200. No other file looks into an answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from planexec_lite.model.bounds import shortened

Message = dict[str, Any]
_QUOTED = 300  # characters of an endpoint's words in an error


class AnswerError(RuntimeError):
    """The endpoint sent no answer. The message suggests a fix; `reported` is the text of the error that the endpoint sent."""

    def __init__(self, message: str, reported: str = "") -> None:
        super().__init__(message)
        self.reported = reported


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that a model asks for: the call's id, the tool's name, and its arguments as JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer: its `text`, or its `refusal`; why it stopped ("stop", "length", …); the tools it calls."""

    text: str
    refusal: str | None
    finish_reason: str
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def message(self) -> Message:
        """The answer as the conversation's next message, to which the tools' results are the reply."""
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in self.tool_calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}


@dataclass
class Reading:
    """An answer that is being read: `add` takes each object that the endpoint sends.

    `tokens` are those read and written, None where the endpoint does not report a count.
    """

    text: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    tokens: tuple[int | None, int | None] = (None, None)
    whole: bool = False
    _calls: dict[int, dict[str, str]] = field(default_factory=dict)
    _chosen: bool = False

    @property
    def characters(self) -> int:
        """How long the answer is so far, with the arguments of tool calls."""
        return len(self.text) + len(self.refusal) + sum(len(call["arguments"]) for call in self._calls.values())

    def add(self, sent: dict[str, Any]) -> str:
        """Take in a whole answer or a chunk, and return the text that it adds. Raises `AnswerError` for an error object."""
        choices = sent.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        if error := _error_in(sent) or choice.get("error"):
            raise AnswerError(
                f"the endpoint sent an error instead of an answer: {words_of(error)}; "
                "check the model's name and the endpoint's log",
                words_of(error),
            )
        if isinstance(sent.get("usage"), dict):
            usage = sent["usage"]
            self.tokens = (_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
        if not choice:
            return ""
        self.whole = "delta" not in choice
        message = choice.get("delta") or choice.get("message")
        self._chosen |= isinstance(message, dict) or not self.whole
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = choice["finish_reason"].lower()
        return self._hear(message) if isinstance(message, dict) else ""

    def _hear(self, message: dict[str, Any]) -> str:
        text = _content(message.get("content"))
        self.text += text
        self.refusal += _content(message.get("refusal"))
        calls = message.get("tool_calls")
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            function = call.get("function") if isinstance(call, dict) else None
            if not isinstance(function, dict):
                continue
            place = call["index"] if isinstance(call.get("index"), int) else place
            known = self._calls.setdefault(place, {"id": "", "name": "", "arguments": ""})
            known["id"] = known["id"] or _content(call.get("id"))
            known["name"] = known["name"] or _content(function.get("name"))
            arguments = function.get("arguments")
            known["arguments"] += json.dumps(arguments) if isinstance(arguments, dict) else _content(arguments)
        return text

    def cut_off(self, most: int) -> None:
        """End the answer after `most` characters, as one that reached its limit."""
        self.text, self.finish_reason = self.text[:most], "length"

    def answer(self, *, calls: bool) -> Answer:
        """Return the answer; `calls` says whether it may be tool calls. Raises `AnswerError` where there is none."""
        if not self._chosen:
            raise AnswerError(
                "the endpoint's answer has no choices, or no message in them; check the model's name, or ask another endpoint"
            )
        reason = self.finish_reason or ("stop" if self.whole else "length")  # a stream without a reason ended early
        reason = "length" if reason in ("max_tokens", "model_length") else reason
        if reason == "content_filter":
            raise AnswerError(
                "the endpoint's content filter stopped the answer (finish_reason content_filter); "
                "change the words of the goal, or ask another model"
            )
        called = tuple(
            ToolCall(call["id"] or f"call_{place}", call["name"], call["arguments"])
            for place, call in sorted(self._calls.items())
        )
        text = spoken(self.text)
        if called and not (calls or text):
            raise AnswerError(
                f"the model called the tool {called[0].name!r} instead of answering in text; ask a model that answers in JSON"
            )
        return Answer(text, self.refusal or None, reason, called)


def objects(parts: Iterable[bytes], content_type: str) -> Iterator[dict[str, Any]]:
    """Yield each JSON object of a body that comes in `parts`: the chunks of an event stream, or the one that is the whole body.

    An empty object stands for a part that completes nothing, so that the caller can look at the clock. Raises `AnswerError`
    for a body that is no JSON.
    """
    body, lines = bytearray(), _EventLines()
    stream = "event-stream" in content_type
    for part in parts:
        if not body and not stream:
            stream = part.lstrip().startswith((b"data:", b"event:"))
        if not stream:
            body += part
            yield {}
            continue
        for data in lines.feed(part):
            if data == b"[DONE]":
                return
            yield _object(data, "a stream")
        yield {}
    if not stream:
        yield _object(bytes(body), content_type or "no content type")
    elif not lines.events:
        yield _object(b"\n".join(lines.others), "a stream")


class _EventLines:
    """Splits an event stream into the data of its events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

    def __init__(self) -> None:
        self.events = 0
        self.others: list[bytes] = []  # lines that belong to no event stream
        self._line = bytearray()
        self._data: list[bytes] = []

    def feed(self, part: bytes) -> Iterator[bytes]:
        """Yield the data of each event that `part` completes."""
        self._line += part
        if b"\n" not in part and b"\r" not in part:
            return
        *lines, rest = re.split(rb"\r\n|\n|\r(?!\Z)", bytes(self._line))
        self._line = bytearray(rest)
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].strip())
            elif line and not line.startswith((b":", b"event:", b"id:", b"retry:")):
                self.others.append(line)
            elif not line and self._data:
                self.events += 1
                yield b"\n".join(self._data)
                self._data.clear()


def _object(body: bytes, kind: str) -> dict[str, Any]:
    text = body.decode("utf-8", "replace").strip()
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        raise AnswerError(
            f"the endpoint's answer ({kind}) is no JSON object: {words_of(text) or 'it is empty'}; "
            "check the client's base_url, which usually ends in /v1"
        )
    return sent


def _error_in(sent: dict[str, Any]) -> Any:
    if sent.get("error"):
        return sent["error"]
    return None if "choices" in sent else sent.get("detail") or sent.get("message")


def words_of(words: Any) -> str:
    """What an endpoint says, in short: a text, the message of an error object, or the object."""
    if words is None:
        return ""
    if isinstance(words, dict) and isinstance(words.get("message"), str):
        words = words["message"]
    return shortened(words if isinstance(words, str) else json.dumps(words, ensure_ascii=False), _QUOTED)


def _count(tokens: Any) -> int | None:
    return tokens if type(tokens) is int and 0 <= tokens < 2**53 else None


def _content(content: Any) -> str:
    """A text; or the texts of its parts, where a content is a list of them."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str))
    return content if isinstance(content, str) else ""


# How models mark the thoughts before their answer: DeepSeek and Qwen, Mistral, Kimi, gpt-oss.
_OPENINGS = (
    "<think>",
    "<thinking>",
    "<thought>",
    "<reasoning>",
    "[think]",
    "◁think▷",
    "<|channel|>analysis<|message|>",
)
_CLOSING = r"(?:</(?:think|thinking|thought|reasoning)>|\[/think\]|◁/think▷|<\|channel\|>final<\|message\|>)"
_LONGEST_MARK = 30
_OPENING = "|".join(map(re.escape, _OPENINGS))
_THOUGHTS = re.compile(rf"\A\s*(?:{_OPENING}).*?(?:{_CLOSING}\s*|\Z)", re.S | re.I)
_CLOSED_ONLY = re.compile(rf"\A.*?{_CLOSING}[^\S\n]*(?=\n|[{{\[]|\Z)\s*", re.S | re.I)
_END_MARK = re.compile(r"(?:<[|｜][\w▁]{1,30}[|｜]>|</s>|<eos>|<end_of_turn>)\Z")


def spoken(text: str) -> str:
    """Return an answer without the thoughts before it and the end marks behind it, such as ``<think>`` and ``<|im_end|>``."""
    while match := _THOUGHTS.match(text):
        text = text[match.end() :]
    if (match := _CLOSED_ONLY.match(text)) and not _is_json(text):
        text = text[match.end() :]
    while match := _END_MARK.search(text.rstrip()):
        text = text[: match.start()].rstrip()
    return text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


class ThoughtFilter:
    """Takes an answer piece by piece and gives its text without the thoughts at its beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._speaks = False

    def feed(self, piece: str) -> str:
        """Return what may be handed on now."""
        if self._speaks:
            return piece
        self._held += piece
        while True:
            begun = self._held.lstrip().lower()
            if any(mark.startswith(begun) for mark in _OPENINGS):  # a mark may follow, or nothing came yet
                return ""
            if not begun.startswith(_OPENINGS):
                self._speaks = True
                return self._held
            if not re.search(_CLOSING, self._held[-len(piece) - _LONGEST_MARK :], re.I):
                return ""
            self._held = _THOUGHTS.sub("", self._held, count=1)
