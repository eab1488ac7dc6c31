"""A streamed response: all events are numbered, and each item is opened, filled and closed before the next one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mock_llm.api import http
from mock_llm.types import SERVICE_ITEMS, Answer, ApiError, HttpResponse, Request, ServiceItem

from .response import Item, failed, finished, in_progress

Event = tuple[str, dict[str, Any]]
CALLS = {
    "function_call": ServiceItem("fc", {}, stages=("[arguments]",)),
    "custom_tool_call": ServiceItem("ctc", {}, stages=("[input]",)),
}


def http_response(request: Request, answer: Answer, request_id: str) -> HttpResponse:
    """Return an answer as an HTTP response, plain or streamed. The header `openai-processing-ms` reports its
    latency; no time passes.
    """
    if request.stream:
        return http.event_stream(events(request, answer), request_id, answer.latency)
    return http.json_response(200, finished(request, answer), request_id, answer.latency)


def events(request: Request, answer: Answer) -> Iterator[bytes]:
    """Yield the server-sent events of a streamed response, in order. Each delta is padded by its `obfuscation`, unless
    the client declined that.
    """
    obfuscated = (request.sent.get("stream_options") or {}).get("include_obfuscation") is not False
    for number, (name, fields) in enumerate(_events(request, answer)):
        if obfuscated and "delta" in fields:
            fields["obfuscation"] = http.padding(len(fields["delta"]), number, request.unique_id)
        yield _event(name, number, fields)


def error_events(request: Request, error: ApiError, after: int) -> tuple[bytes, ...]:
    """Return the stream events of an error that follows `after` other events, as recorded: the error, and the failed
    response.
    """
    fields = {"type": error.type, "code": error.code or error.type, "message": error.message, "param": error.param}
    last = {"response": failed(request, error)}
    return _event("error", after, {"error": fields}), _event("response.failed", after + 1, last)


def _event(name: str, number: int, fields: dict[str, Any]) -> bytes:
    return http.server_sent_event({"type": name, "sequence_number": number} | fields, name)


def _events(request: Request, answer: Answer) -> Iterator[Event]:
    last = finished(request, answer)
    yield "response.created", {"response": in_progress(request)}
    yield "response.in_progress", {"response": in_progress(request)}
    for index, item in enumerate(last["output"]):
        opened, filling = _filled(item, {"output_index": index})
        yield "response.output_item.added", {"item": opened, "output_index": index}
        yield from filling
        yield "response.output_item.done", {"item": item, "output_index": index}
    yield f"response.{last['status']}", {"response": last}


def _filled(item: Item, at: dict[str, Any]) -> tuple[Item, Iterator[Event]]:
    """Return the item when it is opened, and the events that fill it."""
    kind, at_item = item["type"], {"item_id": item["id"], **at}
    if kind == "message":
        return item | {"content": [], "status": "in_progress"}, _message(item["content"][0], at_item)
    if kind == "reasoning":
        return item | {"summary": []}, _summary(item["summary"], at_item)
    service = CALLS.get(kind) or SERVICE_ITEMS[kind]
    opened = {name: value for name, value in item.items() if name not in service.absent} | dict(service.opened)
    for path in (stage.strip("[]").split(".") for stage in service.stages if stage.startswith("[")):
        opened = _emptied(opened, path)
    return opened | ({"status": "in_progress"} if service.status else {}), _stages(item, service.stages, at)


def _message(whole: Item, at: dict[str, Any]) -> Iterator[Event]:
    kind, key = ("refusal", "refusal") if whole["type"] == "refusal" else ("output_text", "text")
    extra: dict[str, Any] = {"logprobs": []} if key == "text" else {}
    at_part = {"content_index": 0, **at}
    yield "response.content_part.added", {"part": whole | {key: ""}, **at_part}
    yield from _deltas(kind, key, whole[key], at_part, extra)
    yield "response.content_part.done", {"part": whole, **at_part}


def _summary(parts: list[Item], at: dict[str, Any]) -> Iterator[Event]:
    for index, part in enumerate(parts):
        at_part = {"summary_index": index, **at}
        yield "response.reasoning_summary_part.added", {"part": part | {"text": ""}, **at_part}
        yield from _deltas("reasoning_summary_text", "text", part["text"], at_part)
        yield "response.reasoning_summary_part.done", {"part": part, **at_part}


def _emptied(item: Item, path: list[str]) -> Item:
    """Return an item without the text at this path, which deltas fill."""
    name, *inside = path
    if not isinstance(item.get(name), str if not inside else dict):
        return item
    return item | {name: _emptied(item[name], inside) if inside else ""}


def _stages(item: Item, stages: tuple[str, ...], at: dict[str, Any]) -> Iterator[Event]:
    kind, at_item = item["type"], {"item_id": item["id"], **at}
    for stage in stages:
        if not stage.startswith("["):
            yield f"response.{kind}.{stage}", dict(at_item)
            continue
        path = stage.strip("[]").split(".")
        value: Any = item
        for name in path:
            value = value.get(name)
        if isinstance(value, list):  # the commands of a shell, which recordings number and give no id
            for number, command in enumerate(value):
                at_command = {"command_index": number, **at}
                yield f"response.{kind}_command.added", {"command": "", **at_command}
                yield from _deltas(f"{kind}_command", "command", command, at_command)
        elif value is not None:
            yield from _deltas("_".join([kind, *path]), path[-1], value, at_item)


def _deltas(
    event: str, field: str, text: str, at: dict[str, Any], extra: dict[str, Any] | None = None
) -> Iterator[Event]:
    """Yield a text piece by piece, and then as a whole."""
    more = {**(extra or {}), **at}
    for piece in http.text_deltas(text):
        yield f"response.{event}.delta", {"delta": piece, **more}
    yield f"response.{event}.done", {field: text, **more}
