"""One client's connection to the server: HTTP requests in, responses out, one write each, no Nagle delay."""

from __future__ import annotations

import contextlib
import math
import select
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Final

from . import wire
from .refusals import refuse
from .wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from .server import Server

LARGEST_BODY: Final = 16 * 2**20  # bytes
IDLE: Final = 60.0  # seconds after which a silent connection is closed
HOLD: Final = 30.0  # seconds that an answer that never comes keeps its client, at most


class Refused(Exception):
    """A request that can't be read: the HTTP status and why."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


def too_large() -> Refused:
    """The refusal of a body that is too large."""
    return Refused(413, f"The request is larger than {LARGEST_BODY} bytes")


class Connection(BaseHTTPRequestHandler):
    """One client's connection: request after request until it leaves."""

    protocol_version = "HTTP/1.1"
    server_version = "mock_llm"
    sys_version = ""
    timeout = IDLE
    wbufsize = -1  # a response leaves in one write
    disable_nagle_algorithm = True
    server: Server

    def answer(self) -> None:
        """Read one request, answer it, and keep the connection unless it can't be kept."""
        try:
            body = self._body()
        except Refused as refused:
            self.send_error(refused.status, str(refused))
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        said = self.server.handle(HttpRequest(self.command, self.path.split("?")[0], headers, body))
        if said.late > self._patience(headers):
            self._hold()
        elif said.ending == "refused":
            self.close_connection = True
        else:
            self._send(said)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer  # noqa: N815

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What is no HTTP gets an error in the API's shape, and the connection ends."""
        if not hasattr(self, "request_version") or self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.1"
        self.close_connection = True
        error = refuse(message or "Bad request", "this could not be read as an HTTP request.")
        self._send(wire.refused(error), status=code)

    def log_message(self, *_: Any) -> None:
        """Say nothing: `llm.calls` remembers."""

    def _body(self) -> bytes:
        """The request's body."""
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return self._chunked()
        given = self.headers.get("content-length", "0").strip()
        if not (given.isascii() and given.isdigit()):
            raise Refused(400, f"Invalid Content-Length: {given!r}")
        if len(given) > 12 or int(given) > LARGEST_BODY:
            raise too_large()
        body = self.rfile.read(int(given))
        if len(body) < int(given):
            raise Refused(400, "The body ended early")
        return body

    def _chunked(self) -> bytes:
        body = b""
        while True:
            size = self.rfile.readline(1024).split(b";")[0].strip()
            try:
                length = int(size, 16)
            except ValueError:
                raise Refused(400, "Invalid chunk size") from None
            if not 0 <= length <= LARGEST_BODY - len(body):
                raise too_large()
            if not length:
                while self.rfile.readline(1024).strip():
                    pass
                return body
            body += self.rfile.read(length)
            self.rfile.readline(1024)

    def _send(self, said: HttpResponse, status: int | None = None) -> None:
        chunked = "event-stream" in said.headers["content-type"] and self.request_version == "HTTP/1.1"
        lost = said.ending == "dropped"
        self.close_connection |= lost
        self.send_response(status or said.status)
        for name, value in said.headers.items():
            self.send_header(name, value)
        if chunked:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(len(said.body) + lost))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            for piece in said.pieces:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            if chunked and not lost:
                self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _patience(self, headers: dict[str, str]) -> float:
        """How long the client says that it waits, in seconds."""
        try:
            return float(headers.get("x-stainless-read-timeout", ""))
        except ValueError:
            return math.nextafter(math.inf, 0)

    def _hold(self) -> None:
        """Never answer: wait until the client has had enough, or the server ends."""
        self.close_connection = True
        with contextlib.suppress(OSError, ValueError):
            self.connection.settimeout(HOLD)
            select.select([self.connection], [], [], HOLD)
