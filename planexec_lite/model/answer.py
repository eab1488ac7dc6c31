"""Reads what a model endpoint sends, whole or as a stream, and returns an `Answer`.

Many endpoints follow OpenAI's format loosely: `usage` or `choices` is missing or null, the model's thoughts precede
its answer, or an error has status 200. No other file reads an endpoint's JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from planexec_lite.frozen import frozen
from planexec_lite.model.prompt_text import shortened
from planexec_lite.plan import Problem
from planexec_lite.plan.data import named_once
from planexec_lite.tools.references import as_text
from planexec_lite.tools.signature import Data

Message = Data
_QUOTED = 300  # characters of the endpoint's words in an error
_THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")  # beside the content
_THOUGHT_PARTS = ("thinking", "redacted_thinking", "reasoning")  # of the content
_FILTERED = """
    content_filter content_filtered safety image_safety recitation prohibited_content blocklist blacklist spii sensitive
    guardrail_intervened
    """.split()
_CALLS = "tool_calls tool_call tooluse tool_use function_call function_calls".split()
_BROKEN = "error abort aborted cancelled timeout insufficient_system_resource malformed_function_call".split()
_LIMITS = """
    length max_tokens max_output_tokens max_completion_tokens model_length token_limit context_length
    model_context_window_exceeded
    """.split()
_EARLY = (*_FILTERED, *_LIMITS, *_BROKEN)
_ENDS = """
    stop stopped stop_sequence stop_token stop_str eos eos_token eosfound </s> <|im_end|> end end_turn end_of_turn
    end_of_text endoftext complete completed done finish finished normal success ok null
    """.split()
_PREFIX = re.compile(r"^finish_?reason[._]")
_ENDS += "", *_CALLS  # any other reason is that of an answer that ended early


class AnswerError(RuntimeError):
    """The endpoint sent no answer. The message quotes what it sent instead, and suggests a fix."""


class ReportedError(AnswerError):
    """The endpoint sent an error object, with a status that reports success."""


@frozen
class ToolCall:
    """A tool call that a model requests: the call's id, the tool's name, and its arguments as JSON text."""

    id: str
    name: str
    arguments: str


@frozen
class Answer:
    """A model's answer: its `text`, or its `refusal`; the reason why it ended ("stop", "length", …); its tool calls.

    `cut_off` says why the answer is not complete; "" if it is. `thoughts`: the endpoint sent thoughts, too.
    """

    text: str
    refusal: str | None
    finish_reason: str
    tool_calls: tuple[ToolCall, ...] = ()
    cut_off: str = ""
    thoughts: bool = False

    @property
    def message(self) -> Message:
        """The answer as a message of the conversation; the tools' results follow it."""
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in self.tool_calls
        ]
        return {"role": "assistant", "content": self.text or None, "tool_calls": calls}

    @property
    def problem(self) -> Problem | None:
        """Why the answer is not the text that was asked for, without tools; None if it is."""
        if self.refusal:
            return Problem("refused", None, f"the model refused: {self.refusal}")
        if self.cut_off:
            return Problem(
                "cut_off",
                None,
                f"the answer was cut off; {self.cut_off}",
                "write fewer or shorter steps",
            )
        if self.tool_calls:
            message = f"the answer is a tool call ({self.tool_calls[0].name}), not text"
            return Problem("tool_call", None, message, "write the answer as text")
        if not self.text.strip():
            instead = "; the model sent only its thoughts" if self.thoughts else ""
            return Problem(
                "no_text",
                None,
                f"the answer is empty{instead}",
                "write the answer after the thoughts",
            )
        return None


@dataclass
class Reading:
    """An answer while it is read: `add` takes each object that the endpoint sends.

    `tokens` are the tokens read and written; None for a count that the endpoint does not report. `max_tokens` is the bound that
    the request sets.
    """

    max_tokens: int = 0
    text: str = ""
    refusal: str = ""
    finish_reason: str = ""
    tokens: tuple[int | None, int | None] = (None, None)
    thoughts: int = 0  # their characters
    _by_index: dict[int, list[dict[str, str]]] = field(
        default_factory=dict
    )  # the calls, as they came
    _unread: str = ""  # a part that no one would read
    _sent: Data = field(default_factory=dict)
    _has_message: bool = False

    def add(self, sent: Data) -> str:
        """Add a whole answer or one chunk, and return the text that it adds; "" in an answer that begins with thoughts.

        Raises `AnswerError` for an error object, and for an object with an unknown shape.
        """
        self._sent = sent
        if error := sent.get("error"):
            raise ReportedError(
                f"the endpoint sent an error: {quoted(error)}; check the model's name and the endpoint"
            )
        try:
            return self._add(sent)
        except (AttributeError, KeyError, TypeError) as error:
            message = f"the endpoint's answer does not have the shape of a chat completion ({error}): {quoted(sent)}"
            raise AnswerError(f"{message}; check the client's base_url") from None

    def _add(self, sent: Data) -> str:
        if isinstance(usage := sent.get("usage"), dict):
            self.tokens = (
                _count(usage.get("prompt_tokens")),
                _count(usage.get("completion_tokens")),
            )
        choice, *others = sent.get("choices") or [{}]
        if others or choice.get("index"):
            self._unread = "more than one choice"
            return ""
        message = choice.get("delta") or choice.get("message") or {}
        self._has_message |= bool(message)
        for part in ("error", "audio", "images"):
            if beside := choice.get(part) or message.get(part):
                self._unread = f"{part} ({quoted(beside)})"
        whole = "stop" if "message" in choice else ""  # a stream without a reason ended early
        if self.finish_reason not in _EARLY:  # some endpoints send "stop" after it
            reason = choice.get("finish_reason") or self.finish_reason or whole
            self.finish_reason = _PREFIX.sub("", str(reason).lower().replace("-", "_"))
        self.refusal += message.get("refusal") or ""
        self.thoughts += sum(len(str(message.get(name) or "")) for name in _THOUGHT_FIELDS)
        self._add_calls(message)
        text = self._text_of(message.get("content"))
        self.text += text
        return "" if _MAY_BE_THOUGHTS.match(self.text) else text

    def _text_of(self, content: str | list[Data] | None) -> str:
        """Return the text of a content, which some endpoints send in parts, with thoughts among them."""
        if not isinstance(content, list):
            return content or ""
        text = ""
        for part in content:
            kind = part.get("type", "text")
            if kind in _THOUGHT_PARTS:
                self.thoughts += len(str(part))
            elif kind in ("text", "output_text"):
                text += part["text"]
            else:
                self._unread = f"a part of the kind {kind!r}"
        return text

    def _add_calls(self, message: Data) -> None:
        calls = [*(message.get("tool_calls") or ())]
        older = message.get("function_call")
        # some endpoints send a call in both
        if older and older not in [call.get("function") for call in calls]:
            calls.append({"function": older})
        begun: set[int] = set()  # in one object, two calls with the same index are two calls
        for place, call in enumerate(calls):
            if not isinstance(function := call.get("function"), dict):
                self._unread = f"a call that is not a function call ({quoted(call)})"
                continue
            index = call.get("index")
            if type(index) is not int:
                index = place
            same_index = self._by_index.setdefault(index, [])
            if not same_index or index in begun or _begins_another(call, same_index[-1]):
                same_index.append({"id": "", "name": "", "arguments": ""})
            begun.add(index)
            known = same_index[-1]
            known["id"] = known["id"] or call.get("id") or ""
            known["name"] = known["name"] or function.get("name") or ""
            # some endpoints send the arguments as an object
            known["arguments"] += as_text(function.get("arguments") or "")

    @property
    def _calls(self) -> list[dict[str, str]]:
        """The calls, in the order of their indexes."""
        return [call for index in sorted(self._by_index) for call in self._by_index[index]]

    @property
    def characters(self) -> int:
        """The characters of the text, the thoughts and the calls so far."""
        calls = sum(len(call["arguments"]) for call in self._calls)
        return len(self.text) + self.thoughts + calls

    def answer(self) -> Answer:
        """Return the answer. Raises `AnswerError` if no message was sent, or a part of it would be lost."""
        if self._unread:
            raise AnswerError(
                f"the endpoint sent {self._unread}; ask for one choice, with text and function calls only"
            )
        if not self._has_message:
            raise AnswerError(
                f"the endpoint sent no answer: {quoted(self._sent)}; check the model's name and the endpoint"
            )
        if self.finish_reason in _FILTERED:
            raise AnswerError(
                "the endpoint's content filter stopped the answer; change the goal, or ask another model"
            )
        reason = "length" if self.finish_reason in _LIMITS else self.finish_reason
        text = spoken(self.text)
        calls = self._tool_calls()
        return Answer(
            text,
            self.refusal or None,
            reason,
            calls,
            self._cut_off(reason, calls),
            self.thoughts > 0 or text != self.text,
        )

    def _cut_off(self, reason: str, calls: tuple[ToolCall, ...]) -> str:
        if reason == "length":
            return f"it may have {self.max_tokens:,} tokens (max_tokens)"
        if not reason:
            return "its stream ended without a finish_reason"
        if reason in _CALLS and not calls:
            return f"the endpoint gives the reason {reason!r} and sent no call"
        return f"the endpoint gives the reason {reason!r}" if reason not in _ENDS else ""

    def _tool_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls by their index. Each has an id of its own, because the results are found by it."""
        calls: dict[str, ToolCall] = {}
        for place, call in enumerate(self._calls):
            name = call["id"]
            if not name or name in calls:
                name = f"{name or 'call'}_{place}"
            calls[name] = ToolCall(**{**call, "id": name})
        return tuple(calls.values())


def _begins_another(call: Data, known: dict[str, str]) -> bool:
    """Whether a piece begins another call than `known`, at the same index: some endpoints number all calls 0."""
    function = call["function"]
    for part, known_part in ((call.get("id"), known["id"]), (function.get("name"), known["name"])):
        if part and known_part and part != known_part:
            return True
    is_whole = known["arguments"].rstrip().endswith("}")
    return is_whole and bool(function.get("name") and function.get("arguments"))


_LINE_OF_A_STREAM = re.compile(rb"\s*(data|event|id|retry)?:")


def objects(
    parts: Iterable[bytes],
    most: int | None = None,
) -> Iterator[Data]:
    """Yield each JSON object of a body that arrives in `parts`: the data of each event of a stream, or the whole body.

    A part that completes no object yields an empty one. Raises `AnswerError` for a body that is not JSON, or is longer than `most`
    bytes.
    """
    received, count, stream = b"", 0, False
    for part in parts:
        received += part
        count += len(part)
        if most is not None and count > most:
            raise AnswerError(
                "the endpoint's answer is far longer than max_tokens allows; the rest was not read"
            )
        stream |= _LINE_OF_A_STREAM.match(received) is not None
        if stream:
            *lines, received = received.split(b"\n")
            for data in [line[5:].strip() for line in lines if line.startswith(b"data:")]:
                if data == b"[DONE]":
                    return
                yield _object(data)
        yield {}
    if not stream:
        yield _object(received)


def _object(body: bytes) -> Data:
    text = body.decode("utf-8", "replace").strip()
    why = ""
    try:
        sent = json.loads(text, object_pairs_hook=named_once)
        if isinstance(sent, dict):
            return sent
    except (ValueError, RecursionError) as error:
        why = f" ({error})"
    raise AnswerError(
        f"the endpoint's answer is not a JSON object{why}: {quoted(text) or 'it is empty'}; check the client's base_url, "
        "which usually ends in /v1"
    )


def quoted(sent: Any) -> str:
    """The endpoint's words for an error message: the message of an error object, or the JSON text, shortened."""
    words = sent.get("message", sent) if isinstance(sent, dict) else sent
    return shortened(as_text(words), _QUOTED)


def _count(tokens: Any) -> int | None:
    return tokens if type(tokens) is int and 0 <= tokens < 2**53 else None


_MAY_BE_THOUGHTS = re.compile(r"\s*<")
_THOUGHTS = re.compile(
    r"\A\s*[<[◁](?P<tag>(?i:(?:\w+:)?think(?:ing)?|thoughts?|reasoning))[>\]▷].*?(?:[<[◁]/(?P=tag)[>\]▷]\s*|\Z)"
    r"|\A\s*<\|.*<\|channel\|>final<\|message\|>|\A(?!\s*[{\[`]).*?</think>[ \t]*(?=[\n{\[]|\Z)\s*",
    re.S,
)
_END_MARK = re.compile(r"<\|\w{1,30}\|>\s*\Z")


def spoken(text: str) -> str:
    """Return an answer without the thoughts before it, such as ``<think>…</think>``, and its end mark, such as ``<|im_end|>``."""
    return _END_MARK.sub("", _THOUGHTS.sub("", text, count=1))
