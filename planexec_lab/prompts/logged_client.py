"""An openai client that logs each request, also streamed, failed and truncated requests.

It is the genuine client with another transport, through which the requests of all methods pass unchanged. The log has no texts:
a prompt, an answer or an error can repeat a key, and what is not kept needs no cleaning.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from planexec_lab.prompts.request_log import Reply
from planexec_lite.model.answer import AnswerError, Reading, objects

LEFT = "the caller broke off"
UNPACKED = ("content-encoding", "content-length")  # headers of a body that was packed
Begin = Callable[[str], int]
End = Callable[[int, str, Reply], None]


def logged(client: Any, begin: Begin, end: End) -> Any:
    """Return a copy of an `openai.OpenAI` client whose requests are logged.

    Args:
        client: is not changed.
        begin: receives the model's name before a request is sent, and returns its number. Its error prevents the request.
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
        """The body of a response, read for the log when it is closed, however it ended."""

        def __init__(self, response: Any, finish: Callable[[Reply], None]) -> None:
            self.response, self.finish = response, finish
            self.parts: list[bytes] = []
            self.error = LEFT

        def __iter__(self) -> Iterator[bytes]:
            try:
                for part in self.response.iter_bytes():
                    self.parts.append(part)
                    yield part
                self.error = ""
            except Exception as problem:
                self.error = type(problem).__name__
                raise

        def close(self) -> None:
            self.response.close()
            streamed = "event-stream" in self.response.headers.get("content-type", "")
            self.finish(_read(self.response.status_code, streamed, self.parts, self.error))

    class Transport(http.BaseTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            model = _model_of(request.read())
            number = begin(model)

            def finish(reply: Reply) -> None:
                try:
                    end(number, model, reply)
                except Exception as problem:
                    warnings.warn(f"request {number} was answered, and that is not in the log: {problem}", stacklevel=2)

            try:
                response = inner.send(request, stream=True)
            except BaseException as error:
                finish(Reply("failed", error=type(error).__name__))
                raise
            headers = [(name, value) for name, value in response.headers.multi_items() if name not in UNPACKED]
            body, kept = Body(response, finish), response.extensions
            return http.Response(response.status_code, headers=headers, stream=body, extensions=kept)

    return Transport()


def _model_of(body: bytes) -> str:
    try:
        return str(json.loads(body)["model"])
    except (ValueError, LookupError, TypeError, RecursionError):  # a file, or nothing
        return ""


def _read(status: int, streamed: bool, body: list[bytes], error: str) -> Reply:
    """Return what came of a request: `body` is what has come, and `error` is what ended it early."""
    if not 200 <= status < 300:
        return Reply("failed", error=f"HTTP {status}")
    reading = Reading()
    try:
        for sent in objects(body):
            if sent:
                reading.add(sent)
    except AnswerError as problem:
        error = error or type(problem).__name__
    if reading.finish_reason:  # the client stops reading at the end mark of a stream
        reply = Reply("cut off" if reading.finish_reason == "length" else "answered")
    elif error == LEFT or (streamed and not error):
        reply = Reply("cut off", error=error)
    else:
        reply = Reply("failed" if error else "answered", error=error)
    reply.input_tokens, reply.output_tokens = (tokens or 0 for tokens in reading.tokens)
    return reply
