"""The outcome of a request, even if incomplete: the answer's text, its end, its usage and its error."""

from __future__ import annotations

import json

from planexec_lab.prompts.request_log import Reply
from planexec_lite.model.answer import AnswerError, Reading, objects

LEFT = "the caller broke off"


def read(status: int, kind: str, body: bytes, text: str, error: str) -> Reply:
    """Return what a response of the chat completions says, whole or streamed.

    Args:
        status: of HTTP.
        kind: its content type.
        body: as far as it came.
        text: the body, decoded.
        error: what ended it early; "" where nothing did.
    """
    reading, reported, unreadable = Reading(), "", False
    try:
        for sent in objects([body]):
            reported = reported or _reported(sent)
            if sent and not reported:
                reading.add(sent)
    except AnswerError:
        unreadable = True
    reply = Reply(answer=_answer(reading), finish_reason=reading.finish_reason or "")
    reply.input_tokens, reply.output_tokens = (tokens or 0 for tokens in reading.tokens)
    if not 200 <= status < 300:
        reply.status, reply.error = "failed", f"HTTP {status}: {reported or text}"
    elif reported:
        reply.status, reply.error = "failed", reported
    elif error and not reading.finish_reason:
        reply.status, reply.error = "cut off" if error == LEFT else "failed", error
    elif unreadable:
        reply.status, reply.error = "failed", f"the body is no answer: {text}"
    elif reading.finish_reason == "length" or ("event-stream" in kind and not reading.finish_reason):
        reply.status = "cut off"
    return reply


def _reported(sent: dict[str, object]) -> str:
    """An endpoint's error message in full length, because keys are removed before it is cut."""
    error = sent.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    return words if isinstance(words, str) else json.dumps(error) if error else ""


def _answer(reading: Reading) -> str:
    """The text or the refusal; the calls as JSON where there is neither."""
    text = reading.text or reading.refusal
    try:
        calls = () if text else reading.answer().tool_calls
    except AnswerError:
        calls = ()
    named = [{"name": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps(named, ensure_ascii=False) if named else text
