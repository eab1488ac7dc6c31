"""A toolbox as an MCP server, for any client: over stdin and stdout.

A tool is listed with its schema, and with annotations derived from its declared effects. A result is sent as structured content,
an error as an error result with the message of a step's failure. A destructive tool asks first: the client's user answers
(*elicitation*). A client that can't ask is refused, because there is no approval.
"""

from __future__ import annotations

import itertools
import json
import secrets
import signal
import sys
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.from_thread
import anyio.to_thread

from planexec_lab.mcp.served_tools import NO, NO_PERSON, ServedTools
from planexec_lab.worlds.strangers import NoSuchToolError
from planexec_lite.meter import Meter
from planexec_lite.tools import Toolbox

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.server import Server, ServerRequestContext

_MOST_QUESTIONS = 1_000  # that wait for an answer
_YES_OR_NO: dict[str, Any] = {"type": "object", "properties": {}}


def served(tools: Toolbox, name: str) -> Server[Any]:
    """Return a server of the official package with these tools and this name.

    Calls run one after another, on threads. A call that has begun runs to its end, even after a cancellation.
    """
    from mcp.server import Server

    desk = _Desk(tools, name)
    return Server(name, version="1", on_list_tools=desk.list_tools, on_call_tool=desk.call_tool)


def serve(tools: Toolbox, name: str) -> None:
    """Serve these tools over stdin and stdout, until the client closes its end, or Ctrl-C.

    In a terminal it says on stderr what it waits for.
    """
    if sys.stdin.isatty():
        told = f"{name}: waiting for the messages of an MCP client on stdin, one JSON object a line; Ctrl-C ends the server"
        print(told, file=sys.stderr)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the thread that reads stdin would wait for one more line
    anyio.run(_over_stdio, served(tools, name))


async def _over_stdio(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


class _Desk:
    """Answers the requests of a server's clients."""

    def __init__(self, tools: Toolbox, name: str) -> None:
        self.tools, self.name = tools, name
        self._questions: dict[str, str] = {}  # asked and not yet answered: a secret -> the call that it is about
        self._one_at_a_time = anyio.CapacityLimiter(1)

    async def list_tools(self, context: ServerRequestContext[Any], params: Any) -> types.ListToolsResult:
        from mcp_types import ListToolsResult

        listed = ServedTools(self.name, self.tools, str).listed()
        return ListToolsResult.model_validate({"tools": listed})

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        from mcp import MCPError
        from mcp_types import INVALID_PARAMS, CallToolResult

        world = ServedTools(self.name, self.tools, partial(self._ask, context, params))
        try:
            call = partial(_metered, context, world, params.name, params.arguments or {})
            return CallToolResult.model_validate(await anyio.to_thread.run_sync(call, limiter=self._one_at_a_time))
        except NoSuchToolError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from None
        except _QuestionError as asked:
            return asked.result

    def _ask(self, context: ServerRequestContext[Any], params: types.CallToolRequestParams, question: str) -> str:
        """Ask the client's person, on a thread. In the newer protocol the question is an answer, and the call comes again."""
        from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        call = json.dumps([params.name, params.arguments or {}], sort_keys=True)
        able = context.session.client_capabilities
        if able is None or able.elicitation is None:
            return NO_PERSON
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            ask = partial(context.session.elicit_form, question, _YES_OR_NO, related_request_id=context.request_id)
            return "" if anyio.from_thread.run(ask).action == "accept" else NO
        if not params.input_responses:
            while len(self._questions) >= _MOST_QUESTIONS:  # the oldest is never answered
                del self._questions[next(iter(self._questions))]
            secret = secrets.token_hex(16)
            self._questions[secret] = call
            asked = ElicitRequest(params=ElicitRequestFormParams(message=question, requested_schema=_YES_OR_NO))
            raise _QuestionError(InputRequiredResult(input_requests={"may_it": asked}, request_state=secret))
        if self._questions.pop(params.request_state or "", None) != call:
            return "what was answered is not the question about this call; call again to be asked"
        reply = params.input_responses.get("may_it")
        return "" if getattr(reply, "action", None) == "accept" else NO


class _QuestionError(Exception):
    """A question to the client's person, which is sent as the result of the call."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        self.result = result


def _metered(context: ServerRequestContext[Any], world: ServedTools, name: str, arguments: Mapping[str, Any]) -> Any:
    """Call the tool, and tell the client what happens inside, where it asked to be told."""
    count = itertools.count(1)

    def hear(event: Any) -> bool:
        step = getattr(event, "step", None)
        what = getattr(event, "text", "") or f"{type(event).__name__}{f' {step}' if isinstance(step, str) else ''}"
        report = partial(context.session.report_progress, next(count), message=f"{name}: {what}")
        anyio.from_thread.run(report)
        return True

    with Meter(hear=hear):
        return world.called(name, arguments)
