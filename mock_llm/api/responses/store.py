"""The store of the Responses API: earlier responses by id, so that a client need not send them again.

Ids are computed from the content and from the number of identical requests before. A response that was not given before
is refused, as by the real API; so is a stored item without the reasoning that it followed, and reasoning without the item
that followed it.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from mock_llm.api import refusals
from mock_llm.types import Answer, ApiError, Request, input_items

from .conversations import Conversations
from .conversion import conversation_of
from .response import finished

Item = Mapping[str, Any]
KEPT = 5000  # responses, and as many items; then the oldest is dropped


class ResponseStore:
    """The responses that later requests can refer to; safe to use from any thread."""

    def __init__(self) -> None:
        self.conversations = Conversations()
        self._items: dict[str, Item] = {}
        self._before: dict[str, Item] = {}  # id of an item -> the reasoning directly before it
        self._after: dict[str, str] = {}  # id of reasoning -> id of the item directly after it
        self._conversations: dict[str, tuple[Item, ...]] = {}
        self._responses: dict[str, Item] = {}
        self._lock = threading.Lock()

    def save(self, request: Request, answer: Answer) -> None:
        """Store a response, unless the client set `store: false` without a conversation or did not receive it
        completely.
        """
        conversation = conversation_of(request.sent)
        if answer.fault or (request.sent.get("store") is False and conversation is None):
            return
        response = finished(request, answer)
        items = input_items(request.sent)
        if conversation is not None:
            self.conversations.extend(conversation, [*items, *response["output"]])
        with self._lock:
            self._items |= {item["id"]: item for item in response["output"]}
            self._conversations[response["id"]] = (*items, *response["output"])
            self._responses[response["id"]] = response
            for item, following in itertools.pairwise(response["output"]):
                if item["type"] == "reasoning":
                    self._before[following["id"]] = item
                    self._after[item["id"]] = following["id"]
            for kept in (self._items, self._before, self._after, self._conversations, self._responses):
                while len(kept) > KEPT:
                    kept.pop(next(iter(kept)))

    def retrieve(self, name: str) -> Item | ApiError:
        """Return a stored response, or the API's error for an unknown id."""
        with self._lock:
            response = self._responses.get(name)
        if response is not None:
            return response
        text = f"Response with id '{name}' not found."
        hint = "use the id of a response of this scripted model that was not requested with store: false."
        return refusals.bad_request(text, hint, status=404)

    def pairing_error(self, body: Mapping[str, Any]) -> ApiError | None:
        """Return the API's error for a valid request whose items are not together with their reasoning, or None."""
        items = body["input"] if isinstance(body["input"], list) else []
        ids = [str(item["id"]) if item.get("id") is not None else None for item in items]
        with self._lock:
            for index, (item, name) in enumerate(zip(items, ids, strict=True)):
                kind, error = item.get("type") or "message", None
                # In a conversation, the item after it can have a new id.
                paired = kind == "reasoning" and not self.conversations.has(str(name))
                if paired and name not in self._items:
                    if item.get("encrypted_content") is None:
                        error = _not_found(str(name), body.get("store") is not False)
                elif paired and ids[index + 1 : index + 2] != [self._after.get(str(name))]:
                    text = f"Item '{name}' of type 'reasoning' was provided without its required following item."
                    hint = "send the item that came after it, unchanged and with its id; or omit the reasoning."
                    error = refusals.bad_request(text, hint, "input")
                elif name in self._before and (index == 0 or ids[index - 1] != self._before[name]["id"]):
                    text = f"Item '{name}' of type '{kind}' was provided without its required 'reasoning' item: "
                    hint = "send the reasoning directly before it, or send the item without its id."
                    error = refusals.bad_request(f"{text}'{self._before[name]['id']}'.", hint, "input")
                if error is not None:
                    return error
        return None

    def resolve(self, body: Any) -> Any:
        """Return a request with its references resolved: its conversation or earlier responses before its input, and
        items for item references.

        Returns:
            The request, unchanged if it has no references; or the `ApiError` for an unknown one.
        """
        if not isinstance(body, dict) or not isinstance(body.get("input"), str | list):
            return body
        previous, conversation = body.get("previous_response_id"), conversation_of(body)
        if not isinstance(previous, str | None):
            return body
        items = input_items(body)
        referring = [
            n for n, item in enumerate(items) if isinstance(item, dict) and item.get("type") == "item_reference"
        ]
        before: Sequence[Item] = ()
        if conversation is not None:
            if previous is not None:
                text = "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or "
                hint = "a conversation already has the earlier responses."
                return refusals.bad_request(f"{text}'conversation'.", hint, None, "mutually_exclusive_parameters")
            kept = self.conversations.items(conversation)
            if isinstance(kept, ApiError):
                return kept
            before = kept
        if not referring and previous is None and not before:
            return body
        with self._lock:
            for n in referring:
                item = self._items.get(str(items[n].get("id")))
                if item is None:
                    return _not_found(str(items[n].get("id")), body.get("store") is not False)
                items[n] = item
            if previous is not None and previous not in self._conversations:
                text = f"Previous response with id '{previous}' not found."
                hint = "use the id of a response of this scripted model, or send the whole conversation."
                return refusals.bad_request(text, hint, "previous_response_id", "previous_response_not_found")
            if previous is not None:
                before = self._conversations[previous]
        return {**body, "input": [*before, *items]}


def _not_found(name: str, stores: bool) -> ApiError:
    text = f"Item with id '{name}' not found."
    if not stores:
        text += " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove "
        text += "this item from your input."
    hint = "send an item of a stored answer of this scripted model, or reasoning with its encrypted_content."
    return refusals.bad_request(text, hint, "input", status=404)
