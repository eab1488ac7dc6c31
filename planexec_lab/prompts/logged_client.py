"""An openai client that logs each request, also streamed, failed and truncated requests.

It is the genuine client with another transport, through which the requests of all methods pass unchanged. Contents are logged and
keys are not: `secrets` removes them.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

from planexec_lab.prompts import answer_reading, secrets
from planexec_lab.prompts.request_log import Reply

_MILLISECONDS = re.compile(r"[0-9]{1,12}(\.[0-9]*)?")
Begin = Callable[[str, str, str], int]
End = Callable[[int, str, Reply], None]


def logged(client: Any, begin: Begin, end: End) -> Any:
    """Return a copy of an `openai.OpenAI` client whose requests are logged.

    Args:
        client: is not changed.
        begin: receives (path, model, body) before a request is sent, and returns its number. Its error prevents the request.
        end: receives (number, model, reply). Its error becomes a warning, because the answer is there and paid for.

    Raises `TypeError` for anything but a synchronous client.
    """
    inner: Any = getattr(client, "_client", None)  # the client does not say otherwise what it sends by
    kind = next((one for one in type(inner).__mro__ if one.__name__ == "Client" and _library(one)), None)
    if kind is None or not hasattr(client, "with_options"):
        raise TypeError(
            f"a genuine openai.OpenAI client is wanted, not a {type(client).__name__}; an async one can't be logged"
        )
    http = sys.modules[_library(kind)]
    outer = kind(
        transport=_transport(http, inner, begin, end),
        headers=inner.headers,
        cookies=inner.cookies,
        timeout=inner.timeout,
        trust_env=False,
    )
    return client.with_options(http_client=outer)


def _library(kind: type) -> str:
    top = kind.__module__.partition(".")[0]
    return top if top in ("httpx", "httpx2") else ""


def _transport(http: Any, inner: Any, begin: Begin, end: End) -> Any:
    class Body(http.SyncByteStream):  # type: ignore[misc]
        """The body of a response, written down when it has ended, however it ends."""

        def __init__(self, response: Any, record: _Record) -> None:
            self.response, self.record = response, record

        def __iter__(self) -> Iterator[bytes]:
            try:
                for part in self.response.stream:
                    self.record.parts.append(part)
                    yield part
            except GeneratorExit:
                self.record.ends(self.response, answer_reading.LEFT)
                raise
            except BaseException as error:
                self.record.ends(self.response, f"{type(error).__name__}: {error}")
                raise
            self.record.ends(self.response)

        def close(self) -> None:
            self.response.close()
            self.record.ends(self.response, answer_reading.LEFT)

    class Transport(http.BaseTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            record = _Record(http, request, begin, end)
            try:
                response = inner.send(request, stream=True)
            except BaseException as error:
                record.fails(f"{type(error).__name__}: {error}")
                raise
            stream, kept = Body(response, record), response.extensions
            return http.Response(response.status_code, headers=response.headers, stream=stream, extensions=kept)

    return Transport()


class _Record:
    """One request in flight."""

    def __init__(self, http: Any, request: Any, begin: Begin, end: End) -> None:
        self.http, self.end, self.parts, self.began, self.over = http, end, list[bytes](), perf_counter(), False
        self.request = request
        try:
            asked = json.loads(request.read())
            asked = asked if isinstance(asked, dict) else {}  # a file, or nothing: its contents are not kept
            self.model = _text(str(asked.get("model", "")))
            self.secrets = secrets.of_request(request) | secrets.of_body(asked)
            body = json.dumps(secrets.without(asked, self.secrets, self.model), ensure_ascii=False)
        except (ValueError, RecursionError):
            self.model, self.secrets, body = "", secrets.of_request(request), "{}"
        self.number = begin(secrets.route(request.url.path), self._clean(self.model), _text(body))

    def ends(self, response: Any, error: str = "") -> None:
        """Write down what has come."""
        if self.over:
            return
        headers = response.headers
        self.secrets |= secrets.of_headers(headers)
        try:
            whole = self._unpacked(headers)
            kind = headers.get("content-type", "")
            reply = answer_reading.read(response.status_code, kind, whole.content, whole.text, error)
        except Exception as problem:  # the caller gets the endpoint's answer unchanged
            reply = Reply("failed", error=f"the body can't be read: {type(problem).__name__}: {problem}")
        reported = headers.get("openai-processing-ms", "")
        self._tell(reply, float(reported) / 1000 if _MILLISECONDS.fullmatch(reported) else None)

    def fails(self, error: str) -> None:
        """Write down that nothing has come."""
        if not self.over:
            self._tell(Reply("failed", error=error), None)

    def _unpacked(self, headers: Any) -> Any:
        """The received content, decompressed."""
        named = {name: headers[name] for name in ("content-type", "content-encoding") if name in headers}
        return self.http.Response(200, headers=named, content=b"".join(self.parts))

    def _tell(self, reply: Reply, reported: float | None) -> None:
        self.over = True
        # the client might have added secrets, such as `auth`
        self.secrets |= secrets.of_request(self.request)
        reply.seconds = perf_counter() - self.began if reported is None else reported
        reply.answer, reply.error = self._clean(reply.answer), self._clean(reply.error)[:500]
        reply.finish_reason = self._clean(reply.finish_reason)
        try:
            self.end(self.number, self.model, reply)
        except Exception as problem:
            warnings.warn(f"request {self.number} was answered, and that is not in the log: {problem}", stacklevel=2)

    def _clean(self, text: str) -> str:
        return _text(secrets.without(text, self.secrets, self.model))


def _text(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
