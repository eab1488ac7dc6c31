"""The scripted model over loopback HTTP, for clients in any language.

A plain HTTP/1.1 server from the standard library, with a thread for each connection and persistent connections. It is
for lessons and tests. It has no passwords, and by default it listens on 127.0.0.1 only.
"""

from __future__ import annotations

import contextlib
import math
import re
import select
import socket
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from mock_llm.api import error_response
from mock_llm.types import ApiError, HttpRequest, HttpResponse

from .in_process import Handle
from .proxies import without_proxy

LARGEST_BODY = 16 * 2**20  # bytes
IDLE = 60.0  # seconds after which a silent connection is closed
METHODS = "GET, POST, DELETE, OPTIONS"
LOOPBACK_PAGE = re.compile(r"https?://(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?")
LONGEST_WAIT = 2.0  # maximum seconds that a never-ending answer keeps its client waiting


@contextlib.contextmanager
def serve(handle: Handle, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve inside the block. Clients and child processes that start inside it use no proxy for this host.

    Args:
        handle: a function from request to response, called from many threads.
        host: the address to listen on; any address other than 127.0.0.1 gives other machines access.
        port: 0 selects a free port.

    Yields:
        The base URL for clients: "http://127.0.0.1:43210/v1".

    Raises:
        RuntimeError: in a browser tab, where there are no sockets.
    """
    if sys.platform == "emscripten":
        raise RuntimeError("a browser tab has no sockets; use client() or async_client()")
    server = Server(handle, host, port)
    address = urlsplit(server.base_url).hostname or host
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        with without_proxy(address):
            yield server.base_url
    finally:
        server.shutdown()
        server.close_connections()
        server.server_close()
        thread.join()


class Server(ThreadingHTTPServer):
    """An HTTP server that tracks its open connections, so that it can close them at once."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, handle: Handle, host: str, port: int) -> None:
        self.handle = handle
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), Connection)

    @property
    def base_url(self) -> str:
        """The base URL for clients."""
        host, port = self.server_address[:2]
        name = host.decode() if isinstance(host, bytes) else str(host)
        return f"http://{f'[{name}]' if ':' in name else name}:{port}/v1"

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return LOOPBACK_PAGE.fullmatch(self.base_url.removesuffix("/v1")) is not None

    def server_bind(self) -> None:
        """Bind without looking up the host's name in the network, as the standard library would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Track the connection, and start its thread."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Stop tracking the connection, and close it."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error of the server itself; ignore clients that disconnect."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def close_connections(self) -> None:
        """Close all connections, idle ones and held ones."""
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


class UnreadableRequest(Exception):
    """A request can't be read: the HTTP status and the reason."""


class Connection(BaseHTTPRequestHandler):
    """A client's connection: answers requests until the client closes it."""

    protocol_version = "HTTP/1.1"
    server_version = "mock_llm"
    sys_version = ""
    timeout = IDLE
    wbufsize = -1  # send a response in a single write
    disable_nagle_algorithm = True
    server: Server

    def answer(self) -> None:
        """Read and answer a request, and keep the connection open if possible."""
        try:
            body = self._body()
            self._check_headers()  # after the body: a client that still sends would not see the answer
        except UnreadableRequest as error:
            self.send_error(*error.args)
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        if self.command == "OPTIONS":
            self._send(HttpResponse(204, {"allow": METHODS, "content-type": "text/plain"}, ()))
            return
        path, _, query = self.path.partition("?")
        response = self.server.handle(HttpRequest(self.command, path, headers, body, query))
        if response.delay > self._read_timeout(headers):
            self._hold()
        elif response.ending == "refused":
            self.close_connection = True
        else:
            self._send(response)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = answer  # noqa: N815

    def handle_expect_100(self) -> bool:
        """Tell a client at once to send its large body, if it asks first."""
        go_on = super().handle_expect_100()
        self.wfile.flush()  # the standard library would keep it in the buffer until the answer
        return go_on

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer input that is not HTTP with an error in the API's form, and close the connection."""
        if not hasattr(self, "request_version") or self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.1"
        self.close_connection = True
        error = ApiError(400, message or "Bad request", hint="this could not be read as an HTTP request.")
        self._send(error_response(error), status=code)

    def log_message(self, *_: Any) -> None:
        """Print nothing, because `llm.calls` is the log."""

    def _check_headers(self) -> None:
        """Raise UnreadableRequest for what RFC 9112 or the real API refuses, and for a page that only pretends to be on this
        machine (DNS rebinding).
        """
        host = self.headers.get("host")
        if host is None and self.request_version == "HTTP/1.1":
            raise UnreadableRequest(400, "The header Host is missing")
        if host is not None and self.server.is_local and not LOOPBACK_PAGE.fullmatch(f"http://{host.lower()}"):
            raise UnreadableRequest(421, f"This server does not answer for the host {host}")
        media = self.headers.get_content_type() if "content-type" in self.headers else "none"
        if self.command == "POST" and media not in ("application/json", "multipart/form-data"):
            raise UnreadableRequest(415, f"The Content-Type must be application/json, not {media}")

    def _body(self) -> bytes:
        """Return the request's body. Raises UnreadableRequest if it is unclear where it ends."""
        single = ("host", "content-length", "transfer-encoding", "content-type")
        twice = [name for name in single if len(self.headers.get_all(name, [])) > 1]
        if self.headers.defects or twice:
            raise UnreadableRequest(400, f"The header {twice[0]} is there twice" if twice else "A header can't be read")
        length = self.headers.get("content-length", "0").strip()
        if coding := self.headers.get("transfer-encoding"):
            if coding.strip().lower() != "chunked" or "content-length" in self.headers:
                raise UnreadableRequest(400, f"Invalid Transfer-Encoding: {coding}, or a Content-Length beside it")
            return self._chunked()
        if not re.fullmatch("[0-9]+", length):
            raise UnreadableRequest(400, f"Invalid Content-Length: {length!r}")
        return self._read(length, 10)

    def _chunked(self) -> bytes:
        body = bytearray()
        while True:
            size = self.rfile.readline(1024).split(b";")[0].strip().decode("latin-1")
            if not re.fullmatch("[0-9a-fA-F]+", size):
                raise UnreadableRequest(400, "Invalid chunk size")
            chunk = self._read(size, 16, len(body))
            body += chunk
            line = self.rfile.readline(1024)
            while not chunk and line.strip():  # trailers
                line = self.rfile.readline(1024)
            if not chunk:
                return bytes(body)

    def _read(self, size: str, base: int, before: int = 0) -> bytes:
        """Read as many bytes as `size` says, in the given base, after so many others."""
        length = int(size[-12:], base) if not size[:-12].strip("0") else math.inf
        if length > LARGEST_BODY - before:
            raise UnreadableRequest(413, f"The request is larger than {LARGEST_BODY} bytes")
        body = self.rfile.read(int(length))
        if len(body) < length:
            raise UnreadableRequest(400, "The body ended early")
        return body

    def _send(self, response: HttpResponse, status: int | None = None) -> None:
        chunked = "event-stream" in response.headers["content-type"] and self.request_version == "HTTP/1.1"
        lost = response.ending == "dropped"
        self.close_connection |= lost
        self.send_response(status or response.status)
        for name, value in (response.headers | self._cors_headers()).items():
            self.send_header(name, value)
        if chunked:
            self.send_header("transfer-encoding", "chunked")
        else:
            # A dropped connection announces one byte more than it sends, so that the client notices.
            self.send_header("content-length", str(len(response.body) + lost))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            for chunk in response.chunks:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk) if chunked else chunk)
            if chunked and not lost:
                self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _cors_headers(self) -> dict[str, str]:
        """Return the headers that let a web page on this machine read the answer; none for other pages."""
        sent = getattr(self, "headers", {})  # input that is not HTTP has no headers
        origin = sent.get("origin") or ""
        if not LOOPBACK_PAGE.fullmatch(origin):
            return {}
        headers = {"access-control-allow-origin": origin, "vary": "origin", "access-control-expose-headers": "*"}
        if self.command == "OPTIONS":
            headers |= {
                "access-control-allow-methods": METHODS,
                "access-control-allow-headers": sent.get("access-control-request-headers") or "*",
                "access-control-max-age": "600",
            }
        return headers

    def _read_timeout(self, headers: dict[str, str]) -> float:
        """Return the client's stated timeout in seconds."""
        try:
            return float(headers.get("x-stainless-read-timeout", ""))
        except ValueError:
            return math.nextafter(math.inf, 0)

    def _hold(self) -> None:
        """Never answer: wait until the client disconnects, the server stops, or `LONGEST_WAIT` has passed."""
        self.close_connection = True
        with contextlib.suppress(OSError, ValueError):
            self.connection.settimeout(LONGEST_WAIT)
            select.select([self.connection], [], [], LONGEST_WAIT)
