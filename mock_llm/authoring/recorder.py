"""Records a real endpoint: a proxy that passes requests and responses on unchanged, and saves each answer as a scene.

    python -m mock_llm record --to http://127.0.0.1:11434/v1 --out lesson.yaml

Run the lesson once against the printed address; afterwards the script answers the same conversation. The client's key
is passed on and never written down.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from pathlib import Path
from time import perf_counter

from mock_llm.api import endpoint, error_response
from mock_llm.engine import Call
from mock_llm.types import ApiError, HttpRequest, HttpResponse

from .recording import NotRecorded, Recording

TIMEOUT = 600.0  # seconds
# Response headers that describe the connection and are not passed on.
CONNECTION = {
    "connection",
    "content-length",
    "content-encoding",
    "keep-alive",
    "set-cookie",
    "transfer-encoding",
}
# The beginnings of request headers that are passed on; without accept-encoding, so that bodies are not compressed.
PASSED_ON = ("authorization", "content-type", "user-agent", "openai-", "anthropic-", "x-api-key", "api-key")


class Recorder:
    """Answers like the server, with the answers of another endpoint, and saves them as a script.

    Args:
        base_url: the base URL of the endpoint, ending in /v1.
        messages_url: the base URL for Anthropic's API, if it is another one.
        out: the script file; scenes that it already contains stay.
        note: receives a line about each answer that can't be saved.

    Raises:
        ScriptError: `out` exists and is not a script.
    """

    def __init__(
        self, base_url: str, out: Path, note: Callable[[str], object] = print, messages_url: str | None = None
    ) -> None:
        self.base_url, self.recording, self._note = base_url.rstrip("/"), Recording(out), note
        self._messages_url = (messages_url or base_url).rstrip("/")

    def respond(self, http_request: HttpRequest) -> tuple[HttpResponse, Call | None]:
        """Pass a request on, save the answer as a scene, and return it with an entry for the log if it was saved."""
        began = perf_counter()
        response = self._forward(http_request)
        path = http_request.path.rstrip("/")
        asked = f"{http_request.method} {path}"
        if http_request.method != "POST" or response.status >= 300:
            return response, None
        asked_for = endpoint(path, http_request.headers)
        if asked_for is None:
            self._note(f"not recorded, {asked}: it is not a request to a model")
            return response, None
        try:
            body = json.loads(http_request.body)
            seconds = perf_counter() - began
            request, answer = self.recording.add(asked_for, body, response.body, seconds)
        except (NotRecorded, ValueError) as error:
            self._note(f"not recorded, {asked}: {error}")
            return response, None
        return response, Call(-1, body, answer, 0, request.digest(), request)

    def _forward(self, request: HttpRequest) -> HttpResponse:
        """Return the endpoint's response, with the headers that clients read."""
        base_url = self._messages_url if "anthropic-version" in request.headers else self.base_url
        url = base_url + request.path.removeprefix("/v1")
        headers = {name: text for name, text in request.headers.items() if name.startswith(PASSED_ON)}
        forwarded = urllib.request.Request(url, request.body or None, headers, method=request.method)
        try:
            with urllib.request.urlopen(forwarded, timeout=TIMEOUT) as response:
                return _response(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            return _response(error.code, error.headers, error.read())
        except (OSError, ValueError) as error:
            return error_response(ApiError(502, f"{url} did not answer: {error}", "server_error"))


def _response(status: int, headers: Message, body: bytes) -> HttpResponse:
    kept = {name.lower(): text for name, text in headers.items() if name.lower() not in CONNECTION}
    return HttpResponse(status, {"content-type": "application/json"} | kept, (body,))
