"""What the Responses API stores: earlier responses by id, so that a client need not send them again.

Ids follow from the content, so what an id stands for never depends on the order of arrival: either the response was
given before and is found, or it was not and is refused, as by the real API.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from mock_llm.exchange import Answer, Request
from mock_llm.refusals import refuse

from .wire import finished

Item = Mapping[str, Any]


class Memory:
    """Responses that were given and may be referred to; safe to use from any thread."""

    def __init__(self) -> None:
        self._items: dict[str, Item] = {}
        self._conversations: dict[str, tuple[Item, ...]] = {}
        self._lock = threading.Lock()

    def keep(self, request: Request, answer: Answer) -> None:
        """Remember a response, unless the client said `store: false` or never got it whole."""
        if request.sent.get("store") is False or answer.fault:
            return
        said = finished(request, answer)
        given = request.sent["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        with self._lock:
            self._items |= {item["id"]: item for item in said["output"]}
            self._conversations[said["id"]] = (*items, *said["output"])

    def recall(self, body: Any) -> Any:
        """A request with what it refers to put in: earlier responses before its input, items for references.

        Returns:
            The request (unchanged where it refers to nothing), or the `ApiError` for what is not found.
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
                found = self._items.get(str(items[n].get("id")))
                if found is None:
                    text = f"Item with id '{items[n].get('id')}' not found."
                    return refuse(text, "refer to an item that this scripted model has said.", "input")
                items[n] = found
            if previous is not None and str(previous) not in self._conversations:
                text = f"Previous response with id '{previous}' not found."
                hint = "use the id of a response that this scripted model has given, or send the whole conversation."
                return refuse(text, hint, "previous_response_id", "previous_response_not_found")
            before = () if previous is None else self._conversations[str(previous)]
        return {**body, "input": [*before, *items]}
