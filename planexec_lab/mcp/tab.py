"""Servers in a browser tab, which can't start processes: the kit's servers run in this process, other servers can't.

`ToolServer` and `Pipe` have the interface of the classes that start a process, and tests compare them. In a tab, and without the
extra ``mcp``, ``planexec_lab.mcp`` exports them instead.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from planexec_lab.mcp import client
from planexec_lab.mcp.connection import Address
from planexec_lab.mcp.errors import ServerGoneError, ToolFailedError
from planexec_lab.mcp.listing import ListedTool
from planexec_lab.mcp.pipe import Pipe as PipeOfAProcess
from planexec_lab.mcp.results import in_its_words
from planexec_lab.mcp.served_tools import NO, NO_PERSON, ServedTools
from planexec_lab.mcp.strangers_words import bounded
from planexec_lab.mcp.worlds import tools_of
from planexec_lab.worlds.strangers import ByHand, NoSuchToolError, ServerEnded, Weather

_OWN = (["-m", "planexec_lab.mcp"], ["-m", "planexec_lab.worlds.strangers"])


def program(command: Sequence[str], ask: Callable[[str], str] = lambda question: NO_PERSON) -> ByHand:
    """Return the server that a command would start; `ask` is that of `ServedTools`.

    Raises for other servers: `RuntimeError` in a browser tab; elsewhere `ImportError`, because there the extra ``mcp`` can be
    installed.
    """
    match list(command)[1:]:
        case ["-m", "planexec_lab.mcp", "serve", world]:
            return ServedTools(world, tools_of(world), ask)
        case ["-m", "planexec_lab.worlds.strangers", *day]:
            return Weather(*map(int, day))
    if sys.platform == "emscripten":
        raise RuntimeError("in a browser tab no process can be started; the kit's own servers run there, and no others")
    raise ImportError(
        "this needs the extra mcp: pip install 'planexec-lab[mcp]'; without it the kit's own servers run in this process, "
        "and no others"
    )


class Pipe:
    """A server of the kit, told lines and saying lines, in this process; another's, where processes can be started, in its own."""

    def __new__(cls, command: Sequence[str]) -> Any:
        if sys.platform != "emscripten" and list(command)[1:3] not in _OWN:
            return PipeOfAProcess(command)
        return super().__new__(cls)

    def __init__(self, command: Sequence[str]) -> None:
        self._server = program(command)
        self._lines: deque[str] = deque()

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def write(self, line: str) -> None:
        """Tell it a line."""
        if (answer := self._server.answer(line)) is not None:
            self._lines.append(answer)

    def read(self) -> str:
        """The next line of its output. Raises `EOFError` at the end."""
        if not self._lines:
            raise EOFError("the program has said all that it was asked")
        return self._lines.popleft()

    def close(self) -> None:
        """Nothing to clean up."""
        self._lines.clear()


class _Here:
    """A connection to a server in this process."""

    def __init__(self, server: ByHand, address: Address) -> None:
        self.server, self.address = server, address
        self.gone = False

    async def list_tools(self) -> list[ListedTool]:
        return [
            ListedTool(one["name"], one["description"], one["inputSchema"], one.get("outputSchema"), one["annotations"])
            for one in json.loads(json.dumps(self.server.listed()))
        ]

    async def call(self, tool: ListedTool, arguments: Mapping[str, Any], *_: Any) -> Any:
        try:
            result = json.loads(json.dumps(self.server.called(tool.name, arguments)))
        except ServerEnded as end:
            self.gone = True
            words = f"{self.address} has ended or closed the connection; its last words: {end}"
            raise ServerGoneError(f"{tool.name}: {words}, before it had answered") from None
        except NoSuchToolError as error:
            raise ToolFailedError(in_its_words(tool, str(error))) from None
        parts = [SimpleNamespace(type="text", text=part["text"]) for part in result["content"]]
        data = result.get("structuredContent")
        return SimpleNamespace(is_error=result["isError"], content=parts, structured_content=data, meta=None)

    async def close(self) -> None:
        """Nothing to clean up."""


class ToolServer(client.ToolServer):
    """The toolbox of a kit server in this process, with the arguments of the outer class."""

    def close(self) -> None:
        """Forget it. It is begun again if it is needed again."""
        self._connection = None

    async def _alone(self, work: Callable[[], Awaitable[Any]]) -> Any:
        return await work()

    async def _opened(self) -> Any:
        return _Here(program(self.address.command, self._ask), self.address)

    def _ask(self, question: str) -> str:
        if self.answer is None:
            return NO_PERSON
        return "" if self.answer(f"{self.name} asks: {bounded(question, 500)}") else NO

    def _wait(self, work: Any) -> Any:
        try:
            work.send(None)
        except StopIteration as end:
            return end.value
        raise RuntimeError("it waits, and a browser tab can't wait")
