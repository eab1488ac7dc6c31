"""A streamed response: all events are numbered, and each item is opened, filled and closed before the next one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mock_llm.api import http
from mock_llm.types import Answer, ApiError, Choice, HttpResponse, Request

from .response import Item, begun, finished, function_call, message, part

Event = tuple[str, dict[str, Any]]


def http_response(request: Request, answer: Answer, request_id: str) -> HttpResponse:
    """Return an answer as an HTTP response, plain or streamed. The header `openai-processing-ms` reports its
    latency; no time passes.
    """
    if request.stream:
        return http.event_stream(events(request, answer), request_id, answer.latency)
    return http.json_response(200, finished(request, answer), request_id, answer.latency)


def events(request: Request, answer: Answer) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed response, in order."""
    for number, (name, fields) in enumerate(_events(request, answer)):
        yield http.server_sent_event({"type": name, "sequence_number": number} | fields, name)


def error_event(error: ApiError, after: int) -> bytes:
    """Return the stream event of an error that follows `after` other events."""
    fields = {"code": error.code, "message": error.message, "param": error.param}
    return http.server_sent_event({"type": "error", "sequence_number": after} | fields, "error")


def _events(request: Request, answer: Answer) -> Iterator[Event]:
    last = finished(request, answer)
    yield "response.created", {"response": begun(request)}
    yield "response.in_progress", {"response": begun(request)}
    for index, item in enumerate(last["output"]):
        if item["type"] == "message":
            yield from _message(request, answer.choices[0], item, {"output_index": index})
        else:
            yield from _call(request, answer.choices[0], item, {"output_index": index})
    yield f"response.{last['status']}", {"response": last}


def _message(request: Request, choice: Choice, item: Item, at: dict[str, Any]) -> Iterator[Event]:
    whole = part(choice)
    kind, key = ("refusal", "refusal") if whole["type"] == "refusal" else ("output_text", "text")
    extra: dict[str, Any] = {"logprobs": []} if key == "text" else {}
    yield "response.output_item.added", {"item": message(request, [], "in_progress"), **at}
    at_part = {"item_id": item["id"], "content_index": 0, **at}
    yield "response.content_part.added", {"part": whole | {key: ""}, **at_part}
    for piece in http.text_deltas(whole[key]):
        yield f"response.{kind}.delta", {"delta": piece, **extra, **at_part}
    yield f"response.{kind}.done", {key: whole[key], **extra, **at_part}
    yield "response.content_part.done", {"part": whole, **at_part}
    yield "response.output_item.done", {"item": item, **at}


def _call(request: Request, choice: Choice, item: Item, at: dict[str, Any]) -> Iterator[Event]:
    number = next(n for n, call in enumerate(choice.calls) if call.id == item["call_id"])
    opened = function_call(request, number, choice.calls[number], "", "in_progress")
    yield "response.output_item.added", {"item": opened, **at}
    for piece in http.text_deltas(item["arguments"]):
        yield "response.function_call_arguments.delta", {"delta": piece, "item_id": item["id"], **at}
    whole = {"arguments": item["arguments"], "item_id": item["id"], **at}
    yield "response.function_call_arguments.done", whole
    yield "response.output_item.done", {"item": item, **at}
