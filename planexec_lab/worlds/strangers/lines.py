"""An MCP server by hand: a request is a line of JSON, and so is its answer. Nothing of the official package is needed.

It knows three requests, ``initialize``, ``tools/list`` and ``tools/call``, which is all that a server of tools has to know.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import IO, Any

_NO_JSON, _NO_REQUEST, _NO_SUCH_METHOD, _NO_SUCH_TOOL = -32700, -32600, -32601, -32602


class NoSuchToolError(LookupError):
    """A call names a tool that the server does not have."""


class ByHand(ABC):
    """A server; a subclass says what it lists, and answers calls."""

    name: str

    @abstractmethod
    def listed(self) -> Sequence[Mapping[str, Any]]:
        """The tools, as the protocol describes them."""

    @abstractmethod
    def called(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The result of a call in the protocol's form. Raises `NoSuchToolError`."""

    def answer(self, line: str) -> str | None:
        """Answer one line of a client; None to a notification, which has no answer."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as problem:
            return _refusal(_NO_JSON, f"the line is no JSON: {problem}")
        if not isinstance(request, dict):
            return _refusal(_NO_REQUEST, "a request is a JSON object")
        if "id" not in request:
            return None
        params = _object(request.get("params"))
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": request["id"]}
        match request.get("method"):
            case "initialize":
                reply["result"] = {
                    "protocolVersion": params.get("protocolVersion", ""),
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": self.name, "version": "1"},
                }
            case "tools/list":
                reply["result"] = {"tools": list(self.listed())}
            case "tools/call":
                try:
                    reply["result"] = self.called(params.get("name", ""), _object(params.get("arguments")))
                except NoSuchToolError as error:
                    reply["error"] = {"code": _NO_SUCH_TOOL, "message": str(error)}
            case method:
                reply["error"] = {"code": _NO_SUCH_METHOD, "message": f"there is no method {method!r}"}
        return json.dumps(reply)

    def serve(self, reading: IO[str], writing: IO[str]) -> None:
        """Answer each line until the client closes its end."""
        for line in reading:
            if (answer := self.answer(line)) is not None:
                print(answer, file=writing, flush=True)


def _refusal(code: int, words: str) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": words}})


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def text(words: str, *, failed: bool = False) -> dict[str, Any]:
    """A text result, or an error message."""
    return {"content": [{"type": "text", "text": words}], "isError": failed}
