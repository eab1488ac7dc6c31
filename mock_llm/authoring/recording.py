"""A script that grows by the answers of a real endpoint: each request and its answer becomes a scene.

A scene gets few conditions, for people who read the script. If these do not distinguish it from another recorded
request, it gets more, so that each recorded request is answered by its own scene.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mock_llm.api import Endpoint
from mock_llm.engine import best_matches, match, offered, snippet
from mock_llm.script import Scene, ScriptError, as_yaml, read_scenes, read_yaml
from mock_llm.types import Answer, ApiError, Choice, Request, ToolCall, input_items

from .answers import UnreadableAnswer, output_items, read_answer


class NotRecorded(Exception):
    """An answer can't become a scene: the reason."""


class Recording:
    """A script file that can be extended; safe to use from any thread.

    Args:
        out: the script file; scenes that it already contains stay. It is written when the first scene is added.

    Raises:
        ScriptError: `out` exists and is not a script.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.added = 0
        self._script: dict[str, Any] = {"scenes": []}
        self._scenes: tuple[Scene, ...] = ()
        self._recorded: dict[str, tuple[Request, str]] = {}  # by digest: the request and the name of its scene
        self._choices: dict[str, list[Any]] = {}  # of the first answer, by digest
        self._conversations: dict[str, list[Any]] = {}  # items of the Responses API, by the response's id
        self._lock = threading.Lock()
        if out.exists():
            self._scenes = read_scenes(out)
            self._script = read_yaml(out.read_text(encoding="utf-8"))[0]

    def add(self, endpoint: Endpoint, body: Any, response: bytes, seconds: float = 0.0) -> tuple[Request, Answer]:
        """Add the answer to a request as a scene, and write the file. A repeated request keeps its first answer.

        Args:
            endpoint: the endpoint of the request.
            body: the request's JSON.
            response: the body of the successful response, plain or streamed.
            seconds: the latency of the answer.

        Returns:
            The request and the answer in the engine's form; the answer names its scene.

        Raises:
            NotRecorded: the script can't contain this answer, or has another one to the same request.
        """
        with self._lock:
            full = endpoint.adopt(self._with_earlier_items(body) if endpoint.stores else body)
            if isinstance(invalid := endpoint.validate(full), ApiError):
                raise NotRecorded(f"mock_llm refuses this request: {invalid}")
            request = endpoint.read(full)
            try:
                answer = read_answer(endpoint.name, response, seconds)
                if endpoint.stores:
                    name, items = output_items(response)
                    self._conversations[name] = [*input_items(full), *items]
            except UnreadableAnswer as error:
                raise NotRecorded(str(error)) from None
            digest, choices = request.digest(), [*map(_choice, answer.choices)]
            if digest not in self._recorded:
                self._recorded[digest] = request, self._add_scene(request, answer)
                self._choices[digest] = choices
            name = self._recorded[digest][1]
            if self._choices[digest] != choices:
                raise NotRecorded(f"scene {name!r} has another answer to the same request, and a scene gives one")
            return request, replace(answer, scene=name)

    def _with_earlier_items(self, body: Any) -> Any:
        """Return a request of the Responses API with the items of the response that it continues."""
        if isinstance(body, dict) and body.get("conversation") is not None:
            raise NotRecorded("it is part of a conversation that only the endpoint knows")
        previous = body.get("previous_response_id") if isinstance(body, dict) else None
        if previous is None:
            return body
        if previous not in self._conversations:
            raise NotRecorded(f"it continues the response {previous!r}, which was not recorded")
        rest = {name: value for name, value in body.items() if name != "previous_response_id"}
        return rest | {"input": [*self._conversations[previous], *input_items(body)]}

    def _add_scene(self, request: Request, answer: Answer) -> str:
        name = f"{len(self._script['scenes']) + 1}: {snippet(request.last.text) or 'recorded'}"
        reply = reply_of(answer)
        for when in conditions(request):
            form = {"name": name, "when": when, "reply": reply}
            try:
                scenes = read_scenes([*self._scenes, form])
            except ScriptError as error:
                raise NotRecorded(str(error)) from None
            if all(_answering(scenes, *recorded) for recorded in [*self._recorded.values(), (request, name)]):
                self._scenes = scenes
                self._script["scenes"].append(form)
                self.added += 1
                self.out.parent.mkdir(parents=True, exist_ok=True)
                self.out.write_text(as_yaml(self._script), encoding="utf-8")
                return name
        raise NotRecorded("no conditions distinguish it from the other scenes")


def _answering(scenes: Sequence[Scene], request: Request, name: str) -> bool:
    """Return whether the scene with this name answers the request."""
    best = best_matches([match(scene, request) for scene in scenes])
    return [candidate.scene.name for candidate in best] == [name]


def conditions(request: Request) -> Iterator[dict[str, Any]]:
    """Yield conditions, in YAML form, that hold for this request, from few to many."""
    first = next((message.text for message in request.conversation if message.role == "user"), "")
    last = request.last.text
    few = {
        "says": [first] if first and first != last else None,
        "last": [last] if last else None,
        "turn": request.turn,
        **offered(request),
    }
    texts = list(dict.fromkeys(message.text for message in request.conversation if message.text))
    instructions = [message.text for message in request.messages if message not in request.conversation]
    for more in ({}, {"system": [snippet(request.system)]}, {"system": instructions}, {"says": texts}):
        few |= more
        yield {name: value for name, value in few.items() if value and value != [""]}


def reply_of(answer: Answer) -> dict[str, Any]:
    """Return the reply of a scene, in YAML form, that gives this answer."""
    # A script states the usage of a single choice; the endpoint reports the total.
    usage = {"input": answer.input_tokens, "output": answer.output_tokens // len(answer.choices)}
    usage |= {"cached": answer.cached_tokens} if answer.cached_tokens else {}
    usage |= {"reasoning": answer.reasoning_tokens // len(answer.choices)} if answer.reasoning_tokens else {}
    choices = [_choice(choice) for choice in answer.choices]
    reply: dict[str, Any] = {"latency": answer.latency} if answer.latency else {}
    reply |= {"usage": usage} if any(usage.values()) else {}
    return reply | (choices[0] if len(choices) == 1 else {"choices": choices})


def _choice(choice: Choice) -> dict[str, Any]:
    reply: dict[str, Any] = {} if choice.reasoning is None else {"reasoning": choice.reasoning}
    if choice.items:
        reply["items"] = [dict(item) for item in choice.items]
    if choice.finish_reason in ("length", "content_filter"):
        reply["finish_reason"] = choice.finish_reason
    if choice.refusal is not None:
        return reply | {"refusal": choice.refusal}
    if choice.calls:
        reply["calls"] = [{"tool": call.name, "arguments": _arguments(call)} for call in choice.calls]
    if choice.text or not (choice.calls or choice.items):
        reply["text"] = choice.text or ""
    return reply


def _arguments(call: ToolCall) -> Any:
    if call.custom:
        return call.arguments
    try:
        value = json.loads(call.arguments, object_pairs_hook=_each_once)
    except ValueError:
        return call.arguments
    return value if isinstance(value, dict) else call.arguments


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs as an object; raise ValueError for a name that occurs twice, of which a script would lose one."""
    named = dict(pairs)
    if len(named) < len(pairs):
        raise ValueError("a name occurs twice")
    return named
