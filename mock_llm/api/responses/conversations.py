"""The Conversations API: conversations that the service keeps, and that responses read and extend.

Items have the form in which the service lists them: each with an id, and messages with a list of parts.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs

from mock_llm.api import refusals
from mock_llm.api.http import CREATED
from mock_llm.api.parameters import errors, integer, metadata_error, one_of
from mock_llm.types import ApiError

from .input import PREFIXES, item_error

Item = dict[str, Any]
PATH = re.compile(r"/v1/conversations(?:/([^/]+)(/items(?:/([^/]+))?)?)?")
NUMBER = re.compile("-?[0-9]{1,9}")
MOST_ITEMS = 20  # in a request
SPOKEN = ("message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output")


class Conversations:
    """The conversations of a script; safe to use from any thread."""

    def __init__(self) -> None:
        self._conversations: dict[str, Item] = {}
        self._items: dict[str, list[Item]] = {}
        self._numbers = itertools.count(1)  # of conversations and their items
        self._lock = threading.Lock()

    def respond(self, method: str, path: str, query: str, body: Any) -> Item | ApiError | None:
        """Return the answer to a request, an error, or None if the API has no such address.

        Args:
            query: what follows `?` in the address.
            body: the request's JSON.
        """
        address = PATH.fullmatch(path)
        if address is None:
            return None
        name, in_items, item = address.groups("")
        if method == "POST" and (error := _body_error(body, bool(in_items))):
            return error
        with self._lock:
            if name and name not in self._conversations:
                return _not_found("Conversation", name)
            match method, name, in_items, item:
                case "POST", "", _, _:
                    return self._create(body)
                case "POST", _, "", _:
                    self._conversations[name] |= {"metadata": body.get("metadata") or {}}
                    return self._conversations[name]
                case "GET", _, "", _ if name:
                    return self._conversations[name]
                case "DELETE", _, "", _ if name:
                    del self._conversations[name], self._items[name]
                    return {"id": name, "object": "conversation.deleted", "deleted": True}
                case "POST", _, _, "":
                    return _listed(self._add(name, body["items"]), False)
                case "GET", _, "/items", "":
                    return _page(self._items[name], query)
                case "GET" | "DELETE", _, _, _ if item:
                    return self._one(name, item, method == "DELETE")
        return None

    def items(self, name: str) -> tuple[Item, ...] | ApiError:
        """Return the items of a conversation, or the API's error for an unknown one."""
        with self._lock:
            return tuple(self._items[name]) if name in self._items else _not_found("Conversation", name)

    def has(self, item: str) -> bool:
        """Return whether an item is part of a conversation."""
        with self._lock:
            return any(kept["id"] == item for items in self._items.values() for kept in items)

    def extend(self, name: str, items: Iterable[Mapping[str, Any]]) -> None:
        """Add the items of a response that the conversation does not have yet, unless it was deleted."""
        with self._lock:
            known = {item["id"] for item in self._items.get(name, ())}
            if name in self._items:
                self._add(name, [item for item in items if item.get("id") not in known])

    def _create(self, body: Mapping[str, Any]) -> Item:
        name = f"conv_{next(self._numbers):024x}"
        made = {"id": name, "object": "conversation", "created_at": CREATED, "metadata": body.get("metadata") or {}}
        self._conversations[name], self._items[name] = made, []
        self._add(name, body.get("items") or [])
        return made

    def _add(self, name: str, items: Iterable[Mapping[str, Any]]) -> list[Item]:
        added = []
        for item in items:
            added.append(_stored(item, f"{next(self._numbers):024x}"))
            self._items[name].append(added[-1])
        return added

    def _one(self, name: str, wanted: str, delete: bool) -> Item | ApiError:
        found = next((item for item in self._items[name] if item["id"] == wanted), None)
        if found is None:
            return _not_found("Item", wanted)
        if not delete:
            return found
        self._items[name].remove(found)
        return self._conversations[name]


def _not_found(what: str, name: str) -> ApiError:
    hint = "use an id of this scripted model; POST /v1/conversations creates a conversation."
    return refusals.bad_request(f"{what} with id '{name}' not found.", hint, status=404)


def _body_error(body: Any, adds: bool) -> ApiError | None:
    if not isinstance(body, dict):
        return refusals.not_an_object()
    checks = {"items": _items_error} | ({} if adds else {"metadata": metadata_error})
    if unknown := next((name for name in body if name not in checks), None):
        return refusals.unknown_parameter(unknown, f"the API takes {', '.join(checks)} here.")
    if adds and body.get("items") is None:
        return refusals.missing_parameter("items", "send the items to add.")
    return next(errors(body, checks), None)


def _items_error(at: str, items: Any) -> ApiError | None:
    if not isinstance(items, list):
        return refusals.invalid_type(at, "an array of input items", items)
    if error := refusals.too_long(at, items, MOST_ITEMS, "add the items in several requests."):
        return error
    return next(filter(None, (_item_error(item, f"{at}[{n}]") for n, item in enumerate(items))), None)


def _item_error(item: Any, at: str) -> ApiError | None:
    error = item_error(item, at)
    if error is None and item.get("type") == "reasoning" and not (item.get("id") or item.get("encrypted_content")):
        error = refusals.missing_parameter(f"{at}.id", "send reasoning with its id or its encrypted_content.")
    return error


def _stored(given: Mapping[str, Any], ending: str) -> Item:
    kind = given.get("type") or "message"
    prefix = PREFIXES.get(kind) or "".join(word[0] for word in kind.split("_"))
    item = {"id": f"{prefix}_{ending}", "type": kind} | ({"status": "completed"} if kind in SPOKEN else {})
    item |= {name: value for name, value in given.items() if value is not None}
    if kind == "message" and isinstance(item["content"], str):
        text: Item = {"type": "input_text", "text": item["content"]}
        if item["role"] == "assistant":
            text |= {"type": "output_text", "annotations": [], "logprobs": []}
        item["content"] = [text]
    return item


def _page(items: Sequence[Item], query: str) -> Item | ApiError:
    asked = {name: values[-1] for name, values in parse_qs(query).items()}
    limit: Any = asked.get("limit", "20")
    limit = int(limit) if NUMBER.fullmatch(limit) else limit
    checks = {"limit": integer(1, 100), "order": one_of("asc", "desc")}
    if error := next(errors({**asked, "limit": limit}, checks), None):
        return error
    ordered = list(items) if asked.get("order") == "asc" else list(reversed(items))
    ids = [item["id"] for item in ordered]
    start = ids.index(asked["after"]) + 1 if asked.get("after") in ids else 0
    return _listed(ordered[start : start + limit], len(ordered) > start + limit)


def _listed(items: list[Item], more: bool) -> Item:
    ends = {"first_id": items[0]["id"] if items else None, "last_id": items[-1]["id"] if items else None}
    return {"object": "list", "data": items, **ends, "has_more": more}
