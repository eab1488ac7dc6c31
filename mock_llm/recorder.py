"""Record a real endpoint into a script: a proxy that passes requests on and writes each answer as a scene.

    python -m mock_llm record --to http://127.0.0.1:11434/v1 --out lesson.yaml

Run the lesson once against the address that it prints; afterwards the script answers the same conversation. The
client's key is passed on and never written.
"""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from pathlib import Path
from time import perf_counter
from typing import Any

import yaml

from .exchange import Answer, ApiError, Choice, Request, ToolCall
from .explain import snippet
from .lines import read_yaml
from .reading import read_scenes
from .refusals import refuse
from .routes import ENDPOINTS
from .script import ScriptError
from .wire import HttpRequest, HttpResponse, refused

PATIENCE = 600.0  # seconds


class Recorder:
    """Answers like the server does, with what another endpoint says, and keeps a script of it.

    Args:
        base_url: the endpoint's, ending in /v1.
        out: the script; what is there already is kept.

    Raises:
        ScriptError: `out` is there and is no script.
    """

    def __init__(self, base_url: str, out: Path) -> None:
        self.base_url, self.out = base_url.rstrip("/"), out
        self._scenes: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        if out.exists():
            read_scenes(out)
            self._scenes = list(read_yaml(out.read_text(encoding="utf-8"))[0]["scenes"])

    def respond(self, http: HttpRequest) -> HttpResponse:
        """Pass one request on, write the answer down, and give it to the client."""
        endpoint = ENDPOINTS.get(http.path.rstrip("/")) if http.method == "POST" else None
        if endpoint is None:
            return refused(
                refuse(f"Invalid URL ({http.method} {http.path})", f"it records POST {', '.join(ENDPOINTS)}.")
            )
        try:
            body = json.loads(http.body)
        except ValueError as error:
            return refused(refuse(f"We could not parse the JSON body of your request: {error}.", "send a JSON object."))
        if problem := endpoint.police(body):
            return refused(problem)
        request = endpoint.read(body)
        began = perf_counter()
        said = self._ask(request, http.headers.get("authorization", ""))
        if isinstance(said, ApiError):
            return refused(said)
        answer = heard(said, perf_counter() - began)
        self._write(scene(request, answer))
        return endpoint.answered(request, answer, f"req_{request.digest()}")

    def _ask(self, request: Request, key: str) -> dict[str, Any] | ApiError:
        """What the endpoint says; always a plain chat completion, whatever the client asked for."""
        body = {name: value for name, value in request.body.items() if not name.startswith("stream")}
        headers = {"content-type": "application/json", "authorization": key}
        url = f"{self.base_url}/chat/completions"
        asked = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
        try:
            with urllib.request.urlopen(asked, timeout=PATIENCE) as said:
                return dict(json.loads(said.read()))
        except urllib.error.HTTPError as error:
            return ApiError(error.code, f"{url} refused: {error.read().decode(errors='replace')[:500]}")
        except (OSError, ValueError) as error:
            return ApiError(502, f"{url} gave no answer: {error}", "server_error")

    def _write(self, made: dict[str, Any]) -> None:
        with self._lock:
            if any(other["when"] == made["when"] for other in self._scenes if "when" in other):
                return  # the same was asked before: its first answer stays
            made["name"] = f"{len(self._scenes) + 1}: {made['name']}"
            try:
                read_scenes([made])
            except ScriptError as error:
                print(f"not recorded, {made['name']!r}: {error}")
                return
            self._scenes.append(made)
            text = yaml.safe_dump({"scenes": self._scenes}, sort_keys=False, allow_unicode=True, width=100)
            self.out.write_text(text, encoding="utf-8")


def heard(said: dict[str, Any], seconds: float) -> Answer:
    """A chat completion of another endpoint as the answer that this package speaks of."""
    choices = []
    for choice in said["choices"]:
        message = choice["message"]
        calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
        made = tuple(ToolCall(mark, function["name"], function["arguments"]) for mark, function in calls)
        reason = choice.get("finish_reason") or "stop"
        choices.append(Choice(message.get("content"), message.get("refusal"), made, reason))
    usage = said.get("usage") or {}
    tokens = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    return Answer("recorded", tuple(choices), *tokens, round(seconds, 2))


def scene(request: Request, answer: Answer) -> dict[str, Any]:
    """A scene, as in YAML, that gives this answer to this request: told by its role, its turn and its words."""
    first = next((message.text for message in request.conversation if message.role == "user"), "")
    last = request.last.text
    when: dict[str, Any] = {"role": request.role, "says": [first] if first and first != last else None}
    when |= {"last": [last] if last else None, "turn": request.turn, "tools": list(request.tools) or None}
    when["format"] = None if request.format == "text" else request.format
    chosen = answer.choices[0]
    reply: dict[str, Any] = {"latency": answer.latency}
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
