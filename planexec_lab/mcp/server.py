"""A toolbox as an MCP server, for any client: over stdin and stdout.

A tool is listed with its schema, and with annotations derived from its declared effects. A result is sent as structured content,
an error as an error result with the message of a step's failure. A destructive tool asks first: the client's user answers
(*elicitation*). A client that can't ask is refused, because there is no approval.
"""

from __future__ import annotations

import itertools
import json
import secrets
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, get_type_hints

import anyio
import anyio.from_thread
import anyio.to_thread
from pydantic import TypeAdapter
from pydantic_core import to_jsonable_python

from planexec_lab.mcp.listing import hints_of
from planexec_lite.meter import Meter
from planexec_lite.tools import Tool, Toolbox, ToolError, shown, suggest, without_titles

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
    """Serve these tools over stdin and stdout, until the client closes its end."""
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

        return ListToolsResult(tools=[_listed(tool) for tool in self.tools])

    async def call_tool(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        from mcp import MCPError
        from mcp_types import INVALID_PARAMS, InputRequiredResult

        if params.name not in self.tools:
            near = suggest(params.name, self.tools.names)
            raise MCPError(INVALID_PARAMS, f"there is no tool {shown(params.name)}{near}")
        tool = self.tools[params.name]
        try:
            arguments = tool.arguments(params.arguments or {})
        except ToolError as error:
            return _error(str(error))
        if tool.destructive:
            verdict = await self._ask(context, params, tool)
            if isinstance(verdict, InputRequiredResult):
                return verdict
            if verdict is not None:
                return _error(f"{tool.name}: {verdict}")
        try:
            call = partial(_metered, context, tool, arguments)
            return _result(await anyio.to_thread.run_sync(call, limiter=self._one_at_a_time), tool)
        except Exception as error:  # any error of a tool is an answer; the server continues
            return _error(f"{type(error).__name__}: {error}")

    async def _ask(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams, tool: Tool
    ) -> types.InputRequiredResult | str | None:
        """Ask the client's person; None is a yes. In the newer protocol the question is an answer, and the call comes again."""
        from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        call = json.dumps([tool.name, params.arguments or {}], sort_keys=True)
        able = context.session.client_capabilities
        if able is None or able.elicitation is None:
            return "it might delete or overwrite something, so a person has to say yes first, and this client can't ask one"
        question = f"{self.name}: may {tool.name} be called with {shown(params.arguments or {})}? It might delete or overwrite."
        if context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            answer = await context.session.elicit_form(question, _YES_OR_NO, related_request_id=context.request_id)
            return None if answer.action == "accept" else _NO
        if not params.input_responses:
            while len(self._questions) >= _MOST_QUESTIONS:  # the oldest is never answered
                del self._questions[next(iter(self._questions))]
            secret = secrets.token_hex(16)
            self._questions[secret] = call
            asked = ElicitRequest(params=ElicitRequestFormParams(message=question, requested_schema=_YES_OR_NO))
            return InputRequiredResult(input_requests={"may_it": asked}, request_state=secret)
        if self._questions.pop(params.request_state or "", None) != call:
            return "what was answered is not the question about this call; call again to be asked"
        reply = params.input_responses.get("may_it")
        return None if getattr(reply, "action", None) == "accept" else _NO


_NO = "a person was asked, and did not say yes"


def _metered(context: ServerRequestContext[Any], tool: Tool, arguments: Mapping[str, Any]) -> Any:
    """Call the tool, and tell the client what happens inside, where it asked to be told."""
    count = itertools.count(1)

    def hear(event: Any) -> bool:
        step = getattr(event, "step", None)
        what = getattr(event, "text", "") or f"{type(event).__name__}{f' {step}' if isinstance(step, str) else ''}"
        report = partial(context.session.report_progress, next(count), message=f"{tool.name}: {what}")
        anyio.from_thread.run(report)
        return True

    with Meter(hear=hear):
        return tool.call(arguments)


def _listed(tool: Tool) -> types.Tool:
    import mcp_types as types

    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.schema,
        output_schema=_output_schema(tool)[0],
        annotations=types.ToolAnnotations.model_validate(hints_of(tool)),
    )


def _output_schema(tool: Tool) -> tuple[dict[str, Any] | None, bool]:
    """The schema of the tool's return value, from its type hint, and whether the value is sent as the field ``result``.

    A schema must be that of an object, so a value whose type hint allows anything else is wrapped in one.
    """
    if tool.json_text:  # what the text holds is not known
        return None, False
    try:
        hint = get_type_hints(tool.function)["return"]
        schema: dict[str, Any] = without_titles(TypeAdapter(hint).json_schema(mode="serialization"))
    except Exception:  # no hint, or no useful hint: no schema
        return None, False
    if schema.get("type") == "object":
        return schema, False
    definitions = {key: schema.pop(key) for key in ("$defs",) if key in schema}
    return {"type": "object", "properties": {"result": schema}, "required": ["result"], **definitions}, True


def _result(value: Any, tool: Tool) -> types.CallToolResult:
    from mcp_types import CallToolResult, TextContent

    data = to_jsonable_python(value)
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, allow_nan=False)
    wrapped = _output_schema(tool)[1]
    structured = {"result": data} if wrapped else data if isinstance(data, dict) else None
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=structured)


def _error(words: str) -> types.CallToolResult:
    from mcp_types import CallToolResult, TextContent

    return CallToolResult(content=[TextContent(type="text", text=words)], is_error=True)
