"""A tool of a manifest that is an HTTP request: the server is fixed, and each value is encoded for its place."""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from time import monotonic
from typing import Any, TypedDict
from urllib.parse import quote, urlsplit

from planexec_lab.gantz.running import seconds_left, shortened
from planexec_lab.gantz.script import PARAMETER
from planexec_lite.tools import ToolError

MOST = 5_000_000  # bytes of an answer that are read
_SERVER = re.compile(r"https?://[^/?#{}\s@\\]+(?=[/?#]|\Z)", re.IGNORECASE)

_OF_THE_CONNECTION = ("host", "content-length", "transfer-encoding", "connection")


class Answer(TypedDict):
    """The answer to a request: its status, and its body or the part that ``extract_json`` names."""

    status: int
    body: Any


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Returns each answer, and follows no redirect: the other server would get the headers, with their keys."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


def check(url: str, headers: Mapping[str, str], body: str) -> None:
    """Raise `ValueError` for a request whose server a value could choose, or whose body can't be encoded."""
    if not _SERVER.match(re.sub(r"^\$\{?\w+\}?", "https://server", url)):
        raise ValueError("url begins with http:// or https:// and a server without placeholders, or with ${NAME}")
    _ = urlsplit(re.sub(PARAMETER, "x", url)).port  # a ValueError for brackets and ports that can't be read
    for name, value in headers.items():
        if name.lower() in _OF_THE_CONNECTION and re.search(PARAMETER, value):
            raise ValueError(f"a value can't choose the header {name}; write it out")
    kind = " ".join(value.lower() for name, value in headers.items() if name.lower() == "content-type")
    try:
        if re.search(PARAMETER, body):
            filled = _filled(body, lambda before, _: "x" if _in_string(before) else "0")
            json.loads(filled if "json" in kind or not kind else "")
    except (ValueError, RecursionError):
        raise ValueError("a body with values is JSON, and so is its Content-Type") from None


def request(
    method: str, url: str, headers: Mapping[str, str], body: str, values: Mapping[str, Any], texts: Mapping[str, str]
) -> urllib.request.Request:
    """Return the request for these values, which `texts` has as text; a missing value is empty.

    Raises `ToolError` if a value can't be sent.
    """

    def in_url(before: str, name: str) -> str:
        text = texts.get(name, "")
        if "?" not in before and text in ("", ".", ".."):
            raise ToolError(f"parameter {name!r} is a part of the path, so it can't be empty, . or ..")
        return quote(text, safe="")

    def in_header(_: str, name: str) -> str:
        text = texts.get(name, "")
        if not text.isascii() or not text.isprintable():
            raise ToolError(f"parameter {name!r} is in a header, so it must be printable ASCII")
        return text

    def in_body(before: str, name: str) -> str:
        return json.dumps(texts.get(name, ""))[1:-1] if _in_string(before) else json.dumps(values.get(name))

    url = url.partition("#")[0]  # the rest is not sent
    sent = {"Content-Type": "application/json"} if body else {}
    sent |= {key.capitalize(): _filled(value, in_header) for key, value in headers.items()}
    return urllib.request.Request(_filled(url, in_url), _filled(body, in_body).encode() or None, sent, method=method)


def send(made: urllib.request.Request, timeout: float, extract: str) -> Answer:
    """Send the request, and return the answer.

    Raises `TimeoutError` when it took too long, `RuntimeError` for a redirect, an error status or an unreadable answer.
    """
    if sys.platform == "emscripten":
        raise RuntimeError("a browser tab can't open a connection; use Python on a computer")
    seconds, data, reason = seconds_left(timeout), b"", None
    until = monotonic() + seconds
    try:
        with urllib.request.build_opener(_AsItIs).open(made, timeout=max(seconds, 0.001)) as answer:
            while len(data) <= MOST and monotonic() < until and (part := answer.read1(65536)):
                data += part
        if answer.status >= 300 and monotonic() < until:
            raise RuntimeError(f"{made.host} answered {answer.status} {answer.reason}: {shortened(data[:MOST])}")
    except (OSError, ValueError, OverflowError, HTTPException) as error:
        reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError) or monotonic() >= until:
        raise TimeoutError(f"it took longer than {seconds:g} s, and was ended")
    if reason or len(data) > MOST:
        raise RuntimeError(f"{made.host} can't be read: {reason or f'it has more than {MOST:,} bytes'}")
    return Answer(status=answer.status, body=_extracted(data, extract) if extract else shortened(data))


def _extracted(data: bytes, path: str) -> Any:
    """Return the part of a JSON text that a path such as ``items[0].name`` names."""
    try:
        part: Any = json.loads(data)
        for key, index in re.findall(r"([^.\[\]]+)(?![^.\[]*\])|\[(\d+)\]", path):
            part = part[key] if key else part[int(index)]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise RuntimeError(f"the answer has no part {path!r}; it is: {shortened(data)}") from None
    return part


def _in_string(before: str) -> bool:
    """Whether a JSON text ends inside a string here."""
    return re.sub(r"\\.", "", before).count('"') % 2 == 1


def _filled(template: str, encoded: Callable[[str, str], str]) -> str:
    """Return the template with a text for each placeholder, given what is before it."""
    return re.sub(PARAMETER, lambda one: encoded(template[: one.start()], one[1]), template)
