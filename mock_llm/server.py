"""The scripted model on loopback HTTP, for any client in any language.

A plain HTTP/1.1 server of the standard library: a thread a connection, connections kept alive. It is for lessons
and tests; it has no passwords, and listens on 127.0.0.1 only unless it is told otherwise.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any

from .connection import Connection
from .transport import Handle


@contextlib.contextmanager
def serve(handle: Handle, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve while the block runs.

    Args:
        handle: from request to response; called from many threads.
        host: the address to listen on; another one than 127.0.0.1 lets other machines in.
        port: 0 takes a free one.

    Yields:
        The base URL for clients: "http://127.0.0.1:43210/v1".
    """
    server = Server(handle, host, port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.base_url
    finally:
        server.shutdown()
        server.close_connections()
        server.server_close()
        thread.join()


class Server(ThreadingHTTPServer):
    """Listens, and remembers its open connections, so that it can end at once."""

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
        """Where clients find it."""
        host, port = self.server_address[:2]
        name = host.decode() if isinstance(host, bytes) else str(host)
        return f"http://{f'[{name}]' if ':' in name else name}:{port}/v1"

    def server_bind(self) -> None:
        """Bind without asking the network for the host's name, as the standard library would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def process_request(self, request: Any, client_address: Any) -> None:
        """Remember the connection, and give it a thread."""
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forget the connection and close it."""
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no news."""

    def close_connections(self) -> None:
        """End all connections, those that wait for a next request and those that are held."""
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
