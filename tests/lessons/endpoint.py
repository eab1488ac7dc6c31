"""A real endpoint on loopback: it answers every request with something valid, and differently from the scripted model.

It takes no temperature, as some models do not, and refuses a request that carries one in the words of the real API.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NO_TEMPERATURE = {
    "message": "Unsupported value: 'temperature' does not support 0 with this model.",
    "type": "invalid_request_error",
    "param": "temperature",
    "code": "unsupported_value",
}
USAGE = {"prompt_tokens": 11, "completion_tokens": 22, "total_tokens": 33}


def sample(schema: dict[str, Any], name: str = "") -> Any:
    """Something that fits the schema: the last alternative, the last word of a list of words, a fixed text or number."""
    if "enum" in schema:
        return schema["enum"][-1]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], name)
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][-1]
    if kind == "object":
        return {key: sample(part, key) for key, part in schema["properties"].items()}
    if kind == "array":
        return [sample(schema["items"])] if name not in ("depends_on", "rollback") else []
    return {"string": "elsewhere", "integer": 7, "number": 7.5, "boolean": True, "null": None}[kind]


def plan(schema: dict[str, Any]) -> dict[str, Any]:
    """A valid plan that the scripted model would not write: one call of each of the last three tools."""
    variants = schema["properties"]["steps"]["items"]["anyOf"][-3:]
    steps = [sample(variant) | {"id": f"other-{place}"} for place, variant in enumerate(variants)]
    return sample(schema) | {"steps": steps, "complete": True}


def answer(request: dict[str, Any]) -> str:
    form = request.get("response_format", {})
    if form.get("type") == "json_schema":
        schema = form["json_schema"]["schema"]
        return json.dumps(plan(schema) if "steps" in schema.get("properties", {}) else sample(schema))
    if form.get("type") == "json_object":
        return json.dumps({"goal": "something else", "steps": [{"id": 1, "action": "look_around", "params": {}}]})
    return "I would rather talk about the weather."


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)  # type: ignore[attr-defined]
        if "temperature" in request:
            self.send(400, {"error": NO_TEMPERATURE})
            return
        if request.get("stream"):
            self.send_chunks(request)
            return
        message = {"role": "assistant", "content": answer(request), "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": request["model"]}
        self.send(200, body | {"choices": [choice], "usage": USAGE})

    def send_chunks(self, request: dict[str, Any]) -> None:
        """The same answer in pieces, as server-sent events; without any word about time."""
        frame = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}
        text = answer(request)
        deltas = [
            {"role": "assistant", "content": ""},
            *({"content": text[n : n + 9]} for n in range(0, len(text), 9)),
            {},
        ]
        choices: list[Any] = [
            [{"index": 0, "delta": delta, "finish_reason": None if delta else "stop"}] for delta in deltas
        ]
        chunks = [frame | {"choices": choice} for choice in choices] + [frame | {"choices": [], "usage": USAGE}]
        body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        self.send_bytes(200, "text/event-stream", body.encode())

    def send(self, status: int, body: dict[str, Any]) -> None:
        self.send_bytes(status, "application/json", json.dumps(body).encode())

    def send_bytes(self, status: int, kind: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Give the endpoint's base URL and the list of requests that it gets."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.requests = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.requests  # type: ignore[attr-defined]
    finally:
        server.shutdown()
        server.server_close()
