"""One connection to a server, on the event loop that async tools share: opened, used, and closed with its process.

The official client has to be entered and left by the same task, so each connection has a task.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pydantic import ValidationError

from planexec_lab.mcp.errors import ServerGoneError, ToolFailedError
from planexec_lab.mcp.listing import ListedTool
from planexec_lab.mcp.pipe import where_the_kit_is
from planexec_lab.mcp.results import in_its_words, words_of
from planexec_lab.mcp.strangers_words import bounded

if TYPE_CHECKING:
    from mcp_types import CallToolResult

MOST_TOOLS = 1_000
_MOST_PAGES = 100
_RESULT = {"content", "structuredContent", "isError", "resultType", "_meta"}  # the fields of a result in the protocol
STARTS_WITHIN = 60.0  # seconds that a server has to begin, and to list its tools

# no cell prints the log of the library; add a handler of your own to read it
logging.getLogger("mcp").addHandler(logging.NullHandler())


@dataclass(frozen=True)
class Address:
    """The address of a server: a command, for stdin and stdout, or a URL."""

    command: tuple[str, ...] = ()
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str | None = None

    def __str__(self) -> str:
        if self.url:
            return self.url
        program, *options = self.command
        return " ".join(["python" if program == sys.executable else Path(program).name, *options])


class Connection:
    """One connection, from its opening to its end."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.ended = threading.Event()  # the process, if any, is gone, and has been waited for
        self._over = asyncio.Event()
        self._silent = False
        self._rejected: list[ListedTool] = []
        self._errors: IO[bytes] | None = None  # what the process writes on stderr
        self._parting = ""
        self._loop = asyncio.get_running_loop()
        self._task: asyncio.Task[None]
        self.client: Any

    @classmethod
    async def opened(cls, address: Address, asked: Any) -> Connection:
        """Start the server, or reach it, and shake hands; `asked` answers its questions to a person, as the official client's
        ``elicitation_callback``. Raises `ServerGoneError` where that fails.
        """
        try:
            from mcp import MCPError  # noqa: F401 - which version 1 has not
        except ImportError as error:
            raise ImportError(f"this needs the extra mcp: pip install 'planexec-lab[mcp]' ({error})") from None
        self = cls(address)
        ready: asyncio.Future[Any] = self._loop.create_future()
        self._task = asyncio.create_task(self._keep(ready, asked))
        try:
            self.client = await asyncio.wait_for(asyncio.shield(ready), STARTS_WITHIN)
        except BaseException as error:
            self._task.cancel()
            await asyncio.wait([self._task])
            if ready.done() and not ready.cancelled():
                ready.exception()
            if isinstance(error, Exception):
                words = f"no answer within {STARTS_WITHIN:g} s" if isinstance(error, TimeoutError) else _first(error)
                raise ServerGoneError(f"{address} can't be reached: {words}{self._last_words()}") from None
            raise
        return self

    @property
    def gone(self) -> bool:
        """Whether the connection has ended."""
        return self._silent or self._task.done()

    async def list_tools(self) -> list[ListedTool]:
        """Return the server's current tool list, all pages. Raises `ServerGoneError` if it fails or never ends."""
        from mcp import MCPError

        listed: list[ListedTool] = []
        self._rejected, cursor = [], None
        for _ in range(_MOST_PAGES):
            try:
                page = await self.client.list_tools(cursor=cursor)
            except (MCPError, OSError, ValueError) as error:
                raise ServerGoneError(f"{self.address} does not list its tools: {_first(error)}") from None
            listed += map(_listed, page.tools)
            cursor = page.next_cursor
            if cursor is None and len(listed) <= MOST_TOOLS:
                return listed + self._rejected
            if len(listed) > MOST_TOOLS:
                break
        raise ServerGoneError(f"{self.address} lists more than {MOST_TOOLS} tools, or {_MOST_PAGES} pages of them")

    async def call(self, tool: ListedTool, arguments: Mapping[str, Any], timeout: float, hear: Any) -> CallToolResult:
        """Call a tool. Raises `ToolFailedError` if the server refuses the call; after another error the outcome is unknown."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT

        given: Any = {"read_timeout_seconds": timeout, "progress_callback": hear}
        try:
            answer: CallToolResult = await self.client.call_tool(tool.name, dict(arguments), **given)
        except MCPError as error:
            if error.code == REQUEST_TIMEOUT:
                words = f"{tool.name}: no answer within {timeout:g} s; the client asked the server to cancel it"
                raise TimeoutError(words) from None
            if error.code == CONNECTION_CLOSED:
                raise ServerGoneError(f"{tool.name}: {self.farewell()}, before it had answered") from None
            raise ToolFailedError(in_its_words(tool, error.message)) from None
        return answer

    def end(self) -> None:
        """Ask for its end, from any thread; `ended` says when that has come."""
        with contextlib.suppress(RuntimeError):  # the loop of a process that has ended
            self._loop.call_soon_threadsafe(self._over.set)

    async def close(self) -> None:
        """Close the connection, and wait until the process has ended."""
        self._over.set()
        await asyncio.wait([self._task])

    def farewell(self) -> str:
        """A short description of a server's death."""
        return f"{self.address} has ended or closed the connection{self._last_words()}"

    async def _keep(self, ready: asyncio.Future[Any], asked: Any) -> None:
        from mcp import Client, MCPError

        with tempfile.TemporaryFile("a+b") as self._errors:  # both write and read: the process always at its end
            try:
                # "legacy" begins with `initialize`, which each server knows: a careless one may take any other first
                # request, such as the probe of "auto", for a call of a tool. Newer servers need "auto" to ask questions.
                for mode in ("legacy", "auto") if asked is None else ("auto",):
                    try:
                        async with Client(
                            self._transport(),
                            cache=None,
                            elicitation_callback=asked,
                            read_timeout_seconds=STARTS_WITHIN,
                            mode=mode,
                        ) as client:
                            ready.set_result(client)
                            await self._over.wait()
                            break
                    except MCPError:
                        if ready.done() or mode == "auto":
                            raise
            except BaseException as error:
                if not ready.done():
                    ready.set_exception(error if isinstance(error, Exception) else ConnectionError("it was given up"))
            finally:
                self._silent = True
                self._parting = self._last_words()
        self.ended.set()

    @contextlib.asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        from mcp import StdioServerParameters
        from mcp.client.stdio import stdio_client
        from mcp.client.streamable_http import streamable_http_client

        opened: Any
        if self.address.url:
            opened = streamable_http_client(self.address.url)
        else:
            command, *args = self.address.command
            env = {**where_the_kit_is(self.address.command), **self.address.env}
            started = StdioServerParameters(
                command=command, args=args, env=env, cwd=self.address.cwd, encoding_error_handler="replace"
            )
            opened = stdio_client(started, errlog=self._errors)  # type: ignore[arg-type]
        async with opened as (reading, writing):
            yield self._watched(reading), writing

    def _watched(self, stream: Any) -> Any:
        """The stream of the server's messages. When it has ended, no call waits for an answer any more."""
        from anyio import BrokenResourceError, ClosedResourceError, EndOfStream
        from anyio.abc import ObjectReceiveStream

        connection = self

        class Watched(ObjectReceiveStream[Any]):
            last_context = property(lambda self: getattr(stream, "last_context", None))

            async def receive(self) -> Any:
                try:
                    return connection._sorted_out(await stream.receive())
                except (EndOfStream, ClosedResourceError, BrokenResourceError):
                    connection._silent = True
                    raise

            async def aclose(self) -> None:
                await stream.aclose()

            def close(self) -> None:
                stream.close()

        return Watched()

    def _sorted_out(self, received: Any) -> Any:
        """Keep what the client would refuse or drop: tools that the protocol does not allow are listed as rejected; such parts of
        a result become texts, and fields that it does not have are added to its ``_meta``.
        """
        answer = getattr(getattr(received, "message", None), "result", {})
        if isinstance(tools := answer.get("tools"), list):
            answer["tools"] = []
            for tool in tools:
                if isinstance(fault := self._read("tools/list", answer | {"tools": [tool]}), str):
                    name = tool.get("name") if isinstance(tool, dict) else tool
                    self._rejected.append(ListedTool(bounded(str(name), 128), rejected=fault))
                else:
                    answer["tools"].append(tool)
        elif isinstance(parts := answer.get("content"), list):
            beside = {name: value for name, value in answer.items() if name not in _RESULT}
            for place, part in enumerate(parts):
                read = self._read("tools/call", answer | {"content": [part]})
                if isinstance(read, str):
                    parts[place] = {"type": "text", "text": json.dumps(part, ensure_ascii=False)}
                    continue
                kept = {"type": "text", "text": part["text"]} if part["type"] == "text" else read["content"][0]
                if lost := _lost(part, kept):
                    beside[f"content[{place}]"] = lost
            if beside:
                answer["_meta"] = {**(answer.get("_meta") or {}), **beside}
        return received

    def _read(self, method: str, answer: Any) -> dict[str, Any] | str:
        """The answer with the fields of the protocol, or why the protocol does not allow its only part."""
        from mcp_types.methods import serialize_server_result

        try:
            return serialize_server_result(method, self.client.protocol_version, answer)
        except ValidationError as error:
            return words_of(error, 2)

    def _last_words(self) -> str:
        """The end of what the process wrote on stderr."""
        if self._errors is None or self._errors.closed:
            return self._parting
        with contextlib.suppress(OSError, ValueError):
            self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 2_000))
            written = self._errors.read().decode(errors="replace")
            if lines := [line for line in written.splitlines() if line.strip()]:
                return f"; its last words: {bounded(lines[-1], 200)}"
        return ""


def _listed(tool: Any) -> ListedTool:
    hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}
    return ListedTool(tool.name, tool.description or "", tool.input_schema, tool.output_schema, hints, tool.title)


def _lost(sent: Any, kept: Any) -> Any:
    """What `sent` says and `kept` does not; None if that is nothing."""
    if not (isinstance(sent, dict) and isinstance(kept, dict)):
        return None if sent == kept else sent
    lost = {name: _lost(value, kept.get(name)) for name, value in sent.items()}
    return {name: value for name, value in lost.items() if value is not None} or None


def _first(error: BaseException) -> str:
    """The words of an error, or of the first one of several."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return bounded(str(error), 300) or type(error).__name__


def address_of(server: str | Sequence[str], env: Mapping[str, str] | None, cwd: str | Path | None) -> Address:
    """Read what a caller wrote: a URL, or a command in parts. Raises `ValueError` for anything else."""
    if isinstance(server, str):
        if not server.startswith(("http://", "https://")):
            raise ValueError(
                f"{bounded(server, 80)!r} is no URL; a command is a list of its parts, such as ['python', '-m', …]"
            )
        return Address(url=server)
    command = tuple(map(str, server))
    if not command:
        raise ValueError("a command has at least one part, the program")
    return Address(command, env=dict(env or {}), cwd=None if cwd is None else str(cwd))
