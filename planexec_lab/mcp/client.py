"""A server's tools as a toolbox: any MCP server, over stdin and stdout or over HTTP.

    with ToolServer(["python", "-m", "planexec_lab.mcp", "serve", "kitchen"]) as kitchen:
        run = execute(plan, ToolExecutor(kitchen.toolbox))

A server that has died is restarted before the next call, never during a call. A call that was interrupted fails its step, and
the policy decides about a retry.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import os
import weakref
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from planexec_lab.json_schema import tool_from_schema
from planexec_lab.mcp.connection import Address, Connection, address_of
from planexec_lab.mcp.errors import ServerGoneError, ToolFailedError, ToolsChangedError
from planexec_lab.mcp.listing import ListedTool, Pin, left_out_of
from planexec_lab.mcp.results import in_its_words, result_of, words_of
from planexec_lab.mcp.strangers_words import bounded, fault_of_name, shown_schema, words_of_field
from planexec_lite.meter import emit, made_once
from planexec_lite.model.schemas import closed_parameters
from planexec_lite.run.events import Observation
from planexec_lite.tools import Effects, Tool, Toolbox, ToolError, awaited, kind_of

MOST_QUESTIONS = 3
"""Questions of a server that a person answers per call."""
MOST_PROGRESS = 100
"""Reports of progress that are kept of one call."""
ENDS_WITHIN = 20.0  # seconds; the official client takes seven, at most, to end one that does not end by itself

_OF_A_PROCESS = ("starts", "_toolbox", "_connection", "_person", "_turn", "_home")
Asked = Callable[[str], "bool | Mapping[str, Any]"]
T = TypeVar("T")
_open: weakref.WeakSet[Connection] = weakref.WeakSet()


class ToolServer:
    """An MCP server and the toolbox of its tools.

    Args:
        server: a command as a list, started here and reached over its stdin and stdout; or the URL of a server that speaks
            streamable HTTP.
        name: its name in messages; by default the program or the host.
        env, cwd: environment variables of the command in addition to PATH, HOME and the like; its working directory.
        prefix: added to the names of its tools, for servers with equal tool names.
        timeout: seconds of the real clock for a call. A step's timeout counts too. After either one the server receives a
            cancellation.
        pin: an earlier `pin`; a server with other tools is refused.
        effects: effects by tool name; they override the server's hints.
        latency: simulated seconds by tool name; by default 0.
        trusted: whether to believe this server's hints about effects. A server can hint that a payment only reads.
            The effects of a tool without hints, or of an untrusted server, are "unknown".
        answer: receives a question of the server for a person, with the fields of its form and their defaults. It returns the
            fields as a dict; or True, which sends the defaults; or False. It gets one question at a time, and at most
            `MOST_QUESTIONS` per call; further ones are declined with a reason, like answers that do not fit. None: the
            server learns that it can't ask.
        json_text: read a text result that is a JSON object or list as data; see `Tool`.

    It is started on first use, and ends with the ``with`` block, with `close`, or with this process. A copy in another process
    starts a separate server under the same pin.
    """

    starts = 0
    _toolbox: Toolbox | None = None
    _connection: Connection | None = None
    _person: _Person | None = None
    _turn: asyncio.Lock | None = None
    _home: tuple[int, Any] = (0, None)  # the process and the loop of the connection

    def __init__(
        self,
        server: str | Sequence[str],
        *,
        name: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        prefix: str = "",
        timeout: float = 60.0,
        pin: Pin | None = None,
        effects: Mapping[str, Effects] | None = None,
        latency: Mapping[str, float] | None = None,
        trusted: bool = False,
        answer: Asked | None = None,
        json_text: bool = False,
    ) -> None:
        self.address = address_of(server, env, cwd)
        self.name = name or _short_name(self.address)
        self.prefix, self.timeout, self.trusted, self.answer = prefix, timeout, trusted, answer
        self.json_text = json_text
        self.effects, self.latency = dict(effects or {}), dict(latency or {})
        self._listed: tuple[ListedTool, ...] = ()
        self._pin = pin
        self._left_out: dict[str, str] = {}
        if prefix and fault_of_name(prefix):
            raise ValueError(f"prefix={prefix!r}: letters, digits, and _ . / - of ASCII")

    def __enter__(self) -> ToolServer:
        self.toolbox  # noqa: B018 - a server that can't be reached says so here
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ToolServer({self.address})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _OF_A_PROCESS}

    @property
    def toolbox(self) -> Toolbox:
        """The tools that it listed when it was first asked, pinned as they were then.

        Raises `ServerGoneError` where it can't be reached, and `ToolsChangedError` where it lists something else than was
        pinned. Tools that can't be taken are left out; `left_out` says why.
        """
        if self._toolbox is None:
            self.listed  # noqa: B018 - it is asked first
            self._toolbox, self._left_out = self._taken()
        return self._toolbox

    @property
    def listed(self) -> tuple[ListedTool, ...]:
        """The tools as it listed them when it was first asked, word for word: nothing to be handed to a planner."""
        if self._pin is None or not self._listed:
            self._wait(self._alone(self._living))
        return self._listed

    @property
    def pin(self) -> Pin:
        """The hashes of what it listed when it was first asked: each tool's name, description, schemas and annotations."""
        self.listed  # noqa: B018 - it is taken with the listing
        assert self._pin is not None
        return self._pin

    @property
    def left_out(self) -> dict[str, str]:
        """The listed tools that are not in the toolbox, by name, and why: names, schemas and words that can't be taken."""
        self.toolbox  # noqa: B018 - it is found out with the toolbox
        return self._left_out

    def _taken(self) -> tuple[Toolbox, dict[str, str]]:
        left_out = left_out_of(self._listed)
        tools = []
        for one in self._listed:
            if one.name not in left_out:
                try:
                    tool = self._tool(one)
                    closed_parameters(tool)  # a tool that can't be described would break the planner of all of them
                    tools.append(tool)
                except Exception as error:  # a schema of a stranger may break any reader
                    left_out[one.name] = str(error) or "its schema is too deep"
        return Toolbox(tools), left_out

    def close(self) -> None:
        """End it, and wait for the end of its process. It is started again if it is needed again.

        Raises `TimeoutError` where that does not end.
        """
        connection, self._connection = self._connection, None
        if connection is not None and self._home[0] == os.getpid():
            connection.end()
            if not connection.ended.wait(ENDS_WITHIN):
                raise TimeoutError(f"{self.name} has not ended within {ENDS_WITHIN:g} s; end its process by hand")

    def call(self, tool: ListedTool, /, **arguments: Any) -> Any:
        """Call `tool`, and return its result. A copy in another process starts a separate server."""
        return self._wait(self._call(tool, arguments))

    def _wait(self, work: Awaitable[Any]) -> Any:
        return awaited(work, loop="servers")

    def _tool(self, one: ListedTool) -> Tool:
        return tool_from_schema(
            partial(self.call, one),
            shown_schema(one.input_schema),
            name=f"{self.prefix}{one.name}",
            description=one.shown_description(self.name),
            checked_elsewhere=True,
            latency=self.latency.get(one.name, 0.0),
            effects=self._effects(one),
            not_done=(ToolsChangedError,),
            destructive=one.destructive if self.trusted else None,
            json_text=self.json_text,
            pin="" if self._pin is None else self._pin.of_tool(one.name),
        )

    def _effects(self, one: ListedTool) -> Effects:
        return self.effects.get(one.name, one.effects if self.trusted else "unknown")

    async def _call(self, tool: ListedTool, arguments: Mapping[str, Any]) -> Any:
        connection = await self._alone(self._as_pinned)
        progress, person = _Progress(), self._person
        try:
            with person.call() if person else nullcontext():
                answer = await connection.call(tool, arguments, self.timeout, progress.hear)
        except ToolFailedError:
            raise
        except Exception as error:  # the outcome of the call is unknown
            if not isinstance(error, ServerGoneError | TimeoutError):
                # HTTP that breaks off; an answer that is not what its schema says
                error = ToolFailedError(in_its_words(tool, words_of(error)))
            if self._effects(tool) in ("once", "unknown"):
                made_once()
                error.no_retry = True  # type: ignore[union-attr]  # the server gets no idempotency key
            raise error from None
        finally:
            progress.over = True
        if answer.meta:
            emit(Observation(f"beside the result: {bounded(json.dumps(answer.meta, ensure_ascii=False), 500)}"))
        return result_of(answer, tool)

    async def _alone(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do `work` while no other call does its own: one start of a server is enough."""
        home = os.getpid(), asyncio.get_running_loop()
        if self._home != home:  # this is a copy in another process, or the loop of the connection did not answer
            self._home, self._connection, self._turn = home, None, None
        self._turn = self._turn or asyncio.Lock()
        async with self._turn:
            return await work()

    async def _living(self) -> Connection:
        """The connection; a new one at the first use and after the server has died."""
        if self._connection is not None and not self._connection.gone:
            return self._connection
        if self._connection is not None:
            await self._connection.close()
        connection = await self._opened()
        try:
            await self._look(connection)
        except BaseException:
            await connection.close()
            raise
        self._connection = connection
        self.starts += 1
        return connection

    async def _opened(self) -> Connection:
        """A new connection, which ends with this server at the latest."""
        person = self._person = _Person(self.answer, self.name) if self.answer else None
        connection = await Connection.opened(self.address, person.reply if person else None)
        _open.add(connection)
        weakref.finalize(self, connection.end).atexit = False
        return connection

    async def _as_pinned(self) -> Connection:
        """The connection, after the server has listed what was pinned once more."""
        connection = await self._living()
        try:
            await self._look(connection)
        except ServerGoneError:  # it has died or lost the session; there was no request yet, so a restart is safe
            await connection.close()
            connection = await self._living()
        return connection

    async def _look(self, connection: Connection) -> None:
        listed = await connection.list_tools()
        now = Pin.of(listed)
        if self._pin is not None and (changes := [*self._pin.changes(now)]):
            raise ToolsChangedError(
                f"server {self.name!r} has changed its tools since they were pinned: {'; '.join(changes)}. No tool was called; "
                "if you accept the new listing, create a new ToolServer"
            )
        if not self._listed:
            self._listed = tuple(one for one in listed if self._pin is None or one.name in self._pin.tools)
        self._pin = self._pin or now


class _Person:
    """Passes a connection's questions to a person; it keeps no reference to the server."""

    def __init__(self, answer: Asked, server: str) -> None:
        self._answer, self._server = answer, server
        self._one_at_a_time = asyncio.Lock()
        self._calls = self._left = 0

    @contextmanager
    def call(self) -> Iterator[None]:
        """While a call runs, the server has `MOST_QUESTIONS` more; calls that run side by side share theirs."""
        self._calls += 1
        self._left += MOST_QUESTIONS
        try:
            yield
        finally:
            self._calls -= 1
            self._left = min(self._left, MOST_QUESTIONS * self._calls)

    async def reply(self, context: Any, params: Any) -> Any:
        """Answer a question of the server, as the official client asks for it."""
        from mcp_types import ElicitResult

        given = await self._ask(params)
        if isinstance(given, str):
            return ElicitResult.model_validate({"action": "decline", "_meta": {"reason": given}})
        return ElicitResult(action="accept", content=given)

    async def _ask(self, params: Any) -> dict[str, Any] | str:
        """Ask the person; return the fields of the form, or the reason of a no."""
        if getattr(params, "mode", "form") != "form":
            return "this client opens no web page"
        question = f"{self._server} asks: {bounded(params.message, 500)}"
        try:
            form = tool_from_schema(dict, shown_schema(params.requested_schema), name="form", checked_elsewhere=True)
        except ValueError as error:
            return f"its form can't be shown to a person: {error}"
        fields, defaults = form.schema["properties"], form.with_defaults({})
        decisions = {*form.required, *(name for name in fields if kind_of(fields[name]) == "boolean")}
        unanswered = ", ".join(name for name in fields if name in decisions and not defaults.get(name))
        if fields:
            given = params.requested_schema.get("properties", {})
            words = [f"{name}: {quote}" for name in fields if (quote := words_of_field(given.get(name)))]
            yes = f"a yes does not answer {unanswered}" if unanswered else "a yes sends the defaults"
            question = f"{question} {'; '.join([form.signature, *words, yes])}"
        async with self._one_at_a_time:
            if not self._left:
                return f"a person answers at most {MOST_QUESTIONS} questions of a call"
            self._left -= 1
            chosen = await asyncio.get_running_loop().run_in_executor(None, self._answer, question)
        if not isinstance(chosen, Mapping):
            if not chosen:
                return "a person was asked, and did not say yes"
            if unanswered:
                return f"a person said yes, and did not answer {unanswered}"
            chosen = defaults
        try:
            return form.arguments(chosen)
        except ToolError as error:
            return f"a person's answer does not fit the {error}"


class _Progress:
    """Hears the reports of one call, and puts them into the step that made it: they come on another task."""

    def __init__(self) -> None:
        self.over = False
        self._heard = 0
        self._context = copy_context()

    async def hear(self, progress: float, total: float | None, message: str | None) -> None:
        self._heard += 1
        if self.over or self._heard > MOST_PROGRESS:
            return
        of = "" if total is None else f" of {total:g}"
        words = f": {bounded(message, 200)}" if message else ""
        self._context.run(emit, Observation(f"{progress:g}{of}{words}"))


def _short_name(address: Address) -> str:
    return address.url.split("/")[2] if address.url else Path(address.command[0]).name


@atexit.register
def _end_all() -> None:
    connections = [*_open]
    for connection in connections:
        connection.end()
    for connection in connections:
        connection.ended.wait(8)
