"""MCP, the Model Context Protocol: tools from any server, and the kit's tools for any client.

`ToolServer` starts or reaches a server, and its tools are an ordinary `Toolbox` (`client`). A server's texts are untrusted: they
are quoted for the planner (`strangers_words`) and pinned by a hash, so that only reviewed tools are called (`listing`). `serve`
is the opposite direction (`server`), and ``python -m planexec_lab.mcp serve WORLD`` serves a world of the lessons.

`Pipe` is a server's two pipes, for speaking the protocol by hand.

The official package, ``mcp``, is an extra and is imported when a server is used. Without it, as on Colab, and in a browser tab,
which can't start processes, both run the kit's own servers in this process (`tab`).
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
