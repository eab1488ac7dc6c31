"""Servers in a browser tab, which can't start processes: the kit's servers run in this process, other servers can't.

`ToolServer` and `Pipe` have the interface of the classes that start a process, and tests compare them. In a tab, and without the
extra ``mcp``, ``planexec_lab.mcp`` exports them instead.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from planexec_lab.mcp import client
from planexec_lab.mcp.errors import ServerGoneError, ToolFailedError
from planexec_lab.mcp.listing import ListedTool, hints_of
from planexec_lab.mcp.pipe import Pipe as PipeOfAProcess
from planexec_lab.mcp.results import in_its_words, result_of
from planexec_lab.mcp.strangers_words import bounded
from planexec_lab.mcp.worlds import tools_of
from planexec_lab.worlds.strangers import ByHand, NoSuchToolError, ServerEnded, Weather, text
from planexec_lite.tools import Toolbox, ToolError, shown, suggest

_OWN = (["-m", "planexec_lab.mcp"], ["-m", "planexec_lab.worlds.strangers"])


class WorldByHand(ByHand):
    """A world of the kit as a server, like `planexec_lab.mcp.server` without the official package.

    Args:
        ask: receives the question before a destructive call; None: there is no person to ask.
    """

    def __init__(self, name: str, tools: Toolbox, ask: client.Asked | None = None) -> None:
        self.name, self.tools, self.ask = name, tools, ask

    def listed(self) -> Sequence[Mapping[str, Any]]:
        """The world's tools."""
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": tool.schema,
                "annotations": hints_of(tool),
            }
            for tool in self.tools
        ]

    def called(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Carry out a call, after a person was asked where it may destroy something."""
        if name not in self.tools:
            raise NoSuchToolError(f"there is no tool {shown(name)}{suggest(name, self.tools.names)}")
        tool = self.tools[name]
        try:
            tool.arguments(arguments)
        except ToolError as error:
            return text(str(error), failed=True)
        if tool.destructive and (no := self._no(tool.name, arguments)):
            return text(f"{tool.name}: {no}", failed=True)
        try:
            value = tool.call(arguments)
        except Exception as error:  # any error of a tool is an answer; the server continues
            return text(f"{type(error).__name__}: {error}", failed=True)
        if isinstance(value, str):
            return text(value)
        return {**text(json.dumps(value, ensure_ascii=False)), "structuredContent": value}

    def _no(self, name: str, arguments: Mapping[str, Any]) -> str:
        if self.ask is None:
            return "it might delete or overwrite something, so a person has to say yes first, and this client can't ask one"
        question = f"{self.name}: may {name} be called with {shown(dict(arguments))}? It might delete or overwrite."
        return "" if self.ask(question) else "a person was asked, and did not say yes"


def program(command: Sequence[str], ask: client.Asked | None = None) -> ByHand:
    """Return the server that a command would start.

    Raises for other servers: `RuntimeError` in a browser tab; elsewhere `ImportError`, because there the extra ``mcp`` can be
    installed.
    """
    match list(command)[1:]:
        case ["-m", "planexec_lab.mcp", "serve", world]:
            return WorldByHand(world, tools_of(world), ask)
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

    def __init__(self, server: ByHand) -> None:
        self.server = server
        self.gone = False

    async def list_tools(self) -> list[ListedTool]:
        return [
            ListedTool(one["name"], one["description"], one["inputSchema"], None, one["annotations"])
            for one in json.loads(json.dumps(self.server.listed()))
        ]


class ToolServer(client.ToolServer):
    """The toolbox of a kit server in this process, with the arguments of the outer class."""

    _here: _Here | None = None

    @property
    def listed(self) -> tuple[ListedTool, ...]:
        """The tools as it listed them when it was first asked."""
        if self._pin is None or not self._listed:
            self._now()
        return self._listed

    def close(self) -> None:
        """Forget it. It is begun again if it is needed again."""
        self._here = None

    def call(self, tool: ListedTool, arguments: Mapping[str, Any]) -> Any:
        """Return what comes of calling `tool`."""
        here = self._now()
        try:
            result = json.loads(json.dumps(here.server.called(tool.name, arguments)))
        except ServerEnded as end:
            here.gone = True
            self._doubt(tool)
            words = f"{self.address} has ended or closed the connection; its last words: {end}"
            raise ServerGoneError(f"{tool.name}: {words}, before it had answered") from None
        except NoSuchToolError as error:
            raise ToolFailedError(in_its_words(tool, str(error))) from None
        parts = [SimpleNamespace(type="text", text=part["text"]) for part in result["content"]]
        answer: Any = SimpleNamespace(
            is_error=result["isError"], content=parts, structured_content=result.get("structuredContent")
        )
        return result_of(answer, tool)

    def _now(self) -> _Here:
        """The connection, opened at its first use, after a check of its tool list."""
        if self._here is None or self._here.gone:
            self._here = _Here(program(self.address.command, self._asked()))
            self.starts += 1
        here: Any = self._here
        _finished(self._look(here))
        return self._here

    def _asked(self) -> client.Asked | None:
        person = self.answer
        return None if person is None else lambda words: person(f"{self.name} asks: {bounded(words, 500)}")


def _finished(work: Coroutine[Any, Any, Any]) -> None:
    """Carry out a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration:
        return
    raise RuntimeError("it waits, and a browser tab can't wait")
