"""A program for an environment with fastmcp: its client calls a world's server, and prints what it saw as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client  # type: ignore[import-not-found]  # of its own environment
from fastmcp.client.transports import StdioTransport  # type: ignore[import-not-found]


async def main() -> None:
    asked: list[str] = []

    async def answer(message: str, kind: Any, params: Any, context: Any) -> dict[str, Any]:
        asked.append(message)
        return {}

    transport = StdioTransport(command=sys.argv[1], args=sys.argv[2:])
    async with Client(transport, elicitation_handler=answer) as client:
        names = [tool.name for tool in await client.list_tools()]
        built = await client.call_tool("build_docker", {"tag": "v2.3.1"})
        deployed = await client.call_tool("deploy_staging", {"tag": "v2.3.1"})
        failed = await client.call_tool("build_docker", {"tag": "v9"}, raise_on_error=False)
    seen = {
        "names": names,
        "built": built.structured_content,
        "deployed": deployed.structured_content,
        "failed": [failed.is_error, failed.content[0].text],
        "asked": asked,
    }
    print(json.dumps(seen))


asyncio.run(main())
