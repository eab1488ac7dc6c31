"""Records a real endpoint as a script: a proxy that forwards requests and writes each answer as a scene.

    python -m mock_llm record --to http://127.0.0.1:11434/v1 --out lesson.yaml

Run the lesson once against the printed address; afterwards the script answers the same conversation. The proxy forwards
the client's key and never writes it down.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from time import perf_counter
from typing import Any

from mock_llm.api import ENDPOINTS, error_response
from mock_llm.engine import snippet
from mock_llm.script import ScriptError, as_yaml, read_scenes, read_yaml
from mock_llm.types import Answer, ApiError, Choice, HttpRequest, HttpResponse, Request, ToolCall, bad_request

TIMEOUT = 600.0  # seconds


class Recorder:
    """Answers like the server, with the answers of another endpoint, and saves them as a script.

    Args:
        base_url: the base URL of the endpoint, ending in /v1.
        out: the script file; scenes that it already contains stay.

    Raises:
        ScriptError: `out` exists and is not a script.
    """

    def __init__(self, base_url: str, out: Path) -> None:
        self.base_url, self.out = base_url.rstrip("/"), out
        self._script: dict[str, Any] = {"scenes": []}
        self._lock = threading.Lock()
        if out.exists():
            read_scenes(out)
            self._script = read_yaml(out.read_text(encoding="utf-8"))[0]

    def respond(self, http_request: HttpRequest) -> HttpResponse:
        """Forward a request, save the answer as a scene, and return it to the client."""
        endpoint = ENDPOINTS.get(http_request.path.rstrip("/")) if http_request.method == "POST" else None
        if endpoint is None:
            return error_response(
                bad_request(
                    f"Invalid URL ({http_request.method} {http_request.path})",
                    f"it records POST {', '.join(ENDPOINTS)}.",
                )
            )
        try:
            body = json.loads(http_request.body)
        except ValueError as error:
            return error_response(
                bad_request(f"We could not parse the JSON body of your request: {error}.", "send a JSON object.")
            )
        if invalid := endpoint.validate(body):
            return error_response(invalid)
        request = endpoint.read(body)
        began = perf_counter()
        completion = self._ask(request, http_request.headers.get("authorization", ""))
        if isinstance(completion, ApiError):
            return error_response(completion)
        answer = answer_of(completion, perf_counter() - began)
        self._write(scene_of(request, answer))
        return endpoint.http_response(request, answer, f"req_{request.digest()}")

    def _ask(self, request: Request, key: str) -> dict[str, Any] | ApiError:
        """Return the endpoint's answer to a plain chat completion, even if the client asked for another format."""
        body = {name: value for name, value in request.body.items() if not name.startswith("stream")}
        headers = {"content-type": "application/json", "authorization": key}
        url = f"{self.base_url}/chat/completions"
        forwarded = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(forwarded, timeout=TIMEOUT) as response:
                return dict(json.loads(response.read()))
        except urllib.error.HTTPError as error:
            return ApiError(error.code, f"{url} refused: {error.read().decode(errors='replace')[:500]}")
        except (OSError, ValueError) as error:
            return ApiError(502, f"{url} did not answer: {error}", "server_error")

    def _write(self, scene: dict[str, Any]) -> None:
        with self._lock:
            scenes: list[dict[str, Any]] = self._script["scenes"]
            if any(other["when"] == scene["when"] for other in scenes if "when" in other):
                return  # keep the first answer to a repeated request
            scene["name"] = f"{len(scenes) + 1}: {scene['name']}"
            try:
                read_scenes([scene])
            except ScriptError as error:
                print(f"not recorded, {scene['name']!r}: {error}")
                return
            scenes.append(scene)
            self.out.write_text(as_yaml(self._script), encoding="utf-8")


def answer_of(completion: dict[str, Any], seconds: float) -> Answer:
    """Convert another endpoint's chat completion into an `Answer`."""
    choices = []
    for choice in completion["choices"]:
        message = choice["message"]
        calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
        tool_calls = tuple(ToolCall(call_id, function["name"], function["arguments"]) for call_id, function in calls)
        reason = choice.get("finish_reason") or "stop"
        choices.append(Choice(message.get("content"), message.get("refusal"), tool_calls, reason))
    usage = completion.get("usage") or {}
    tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    return Answer("recorded", tuple(choices), *tokens, round(seconds, 2))


def scene_of(request: Request, answer: Answer) -> dict[str, Any]:
    """Return a scene, in YAML form, that gives this answer to this request. Its conditions are the role, the turn
    and the words.
    """
    first = next((message.text for message in request.conversation if message.role == "user"), "")
    last = request.last.text
    when: dict[str, Any] = {"role": request.role, "says": [first] if first and first != last else None}
    when |= {"last": [last] if last else None, "turn": request.turn, "tools": list(request.tools) or None}
    when["format"] = None if request.format == "text" else request.format
    chosen = answer.choices[0]
    reply: dict[str, Any] = {"latency": answer.latency}
    # A script states the usage of a single choice; the endpoint reports the total.
    reply["usage"] = {"input": answer.input_tokens, "output": answer.output_tokens // len(answer.choices)}
    reply |= _words(chosen) if len(answer.choices) == 1 else {"choices": [_words(choice) for choice in answer.choices]}
    return {
        "name": snippet(last) or "recorded",
        "when": {name: value for name, value in when.items() if value is not None},
        "reply": reply,
    }


def _words(choice: Choice) -> dict[str, Any]:
    words: dict[str, Any] = {"finish_reason": choice.finish_reason} if choice.finish_reason == "length" else {}
    if choice.refusal is not None:
        return words | {"refusal": choice.refusal}
    if choice.calls:
        words["calls"] = [{"tool": call.name, "arguments": _arguments(call)} for call in choice.calls]
    if choice.text or not choice.calls:
        words["text"] = choice.text or ""
    return words


def _arguments(call: ToolCall) -> Any:
    try:
        value = json.loads(call.arguments)
    except ValueError:
        return call.arguments
    return value if isinstance(value, dict) else call.arguments
