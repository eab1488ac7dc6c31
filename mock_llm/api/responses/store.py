"""The store of the Responses API: earlier responses by id, so that a client need not send them again.

Ids are computed from the content, so their meaning never depends on the order of arrival. A response that was not given
before is refused, as by the real API.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mock_llm.types import Answer, ApiError, Request, bad_request

from .response import finished

Item = Mapping[str, Any]
KEPT = 5000  # responses, and as many items; then the oldest is dropped


class ResponseStore:
    """The responses that later requests can refer to; safe to use from any thread."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._conversations: dict[str, tuple[Item, ...]] = {}
        self._responses: dict[str, Item] = {}
        self._lock = threading.Lock()

    def save(self, request: Request, answer: Answer) -> None:
        """Store a response, unless the client set `store: false` or did not receive it completely."""
        if request.sent.get("store") is False or answer.fault:
            return
        response = finished(request, answer)
        given = request.sent["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        with self._lock:
            self._items |= {item["id"]: item for item in response["output"]}
            self._conversations[response["id"]] = (*items, *response["output"])
            self._responses[response["id"]] = response
            for kept in (self._items, self._conversations, self._responses):
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
        return replace(bad_request(text, hint), status=404)

    def resolve(self, body: Any) -> Any:
        """Return a request with its references resolved: earlier responses before its input, and items for item
        references.

        Returns:
            The request, unchanged if it has no references; or the `ApiError` for an unknown one.
        """
        if not isinstance(body, dict) or not isinstance(body.get("input"), str | list):
            return body
        given = body["input"]
        items: list[Any] = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        referring = [
            n for n, item in enumerate(items) if isinstance(item, dict) and item.get("type") == "item_reference"
        ]
        previous = body.get("previous_response_id")
        if not referring and previous is None:
            return body
        with self._lock:
            for n in referring:
                item = self._items.get(str(items[n].get("id")))
                if item is None:
                    text = f"Item with id '{items[n].get('id')}' not found."
                    return bad_request(text, "refer to an item of an answer of this scripted model.", "input")
                items[n] = item
            if previous is not None and str(previous) not in self._conversations:
                text = f"Previous response with id '{previous}' not found."
                hint = "use the id of a response of this scripted model, or send the whole conversation."
                return bad_request(text, hint, "previous_response_id", "previous_response_not_found")
            before = () if previous is None else self._conversations[str(previous)]
        return {**body, "input": [*before, *items]}
