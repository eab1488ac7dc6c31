"""MCP, the Model Context Protocol: tools from any server, and the kit's tools for any client.

`ToolServer` starts a server, or reaches one, and its tools are a `Toolbox` like any other (`client`). What a server says is
somebody else's word: it is quoted where a planner reads it (`strangers_words`), and pinned by its hash, so that what was
looked at and approved is what is called (`listing`). `serve` is the other way round (`server`), and
``python -m planexec_lab.mcp serve WORLD`` does it for a world of the lessons.

`Pipe` is a server's two pipes and nothing more, for who wants to speak the protocol by hand.

The official package, ``mcp``, is an extra, and is imported when a server is used. Where it is missing, as on Colab, and in a
browser tab, where no process can be started, both run the kit's own servers in this process (`tab`).
"""

import sys
from importlib.util import find_spec

from planexec_lab.mcp.client import ToolServer
from planexec_lab.mcp.errors import ServerGoneError, ToolFailedError, ToolsChangedError
from planexec_lab.mcp.listing import ListedTool, Pin
from planexec_lab.mcp.pipe import Pipe

if sys.platform == "emscripten" or find_spec("mcp_types") is None:  # which came with version 2
    from planexec_lab.mcp.tab import Pipe, ToolServer  # type: ignore[assignment]

__all__ = [
    "ListedTool",
    "Pin",
    "Pipe",
    "ServerGoneError",
    "ToolFailedError",
    "ToolServer",
    "ToolsChangedError",
    "serve",
]


def __getattr__(name: str) -> object:
    """`serve` loads what only a server needs."""
    if name == "serve":
        from planexec_lab.mcp.server import serve

        return serve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
