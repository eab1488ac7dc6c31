"""``python -m planexec_lite.mcp serve WORLD``: a world of the kit as an MCP server, for any client."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from planexec_lite.mcp.worlds import WORLDS, tools_of
from planexec_lite.tools import ToolError


def _port(text: str) -> int:
    if not (text.isdecimal() and int(text) < 65_536):
        raise argparse.ArgumentTypeError(f"{text!r} is no port: a number from 0 to 65535")
    return int(text)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and serve; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lite.mcp", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    serving = commands.add_parser("serve", help="serve the tools of a world")
    serving.add_argument("world", choices=WORLDS, metavar="WORLD", help=", ".join(WORLDS))
    http = "over HTTP on 127.0.0.1; 0: a free port (default: stdin and stdout)"
    serving.add_argument("--http", type=_port, metavar="PORT", help=http)
    ask = "ask a person before this tool (default: before those that may destroy)"
    serving.add_argument("--ask", action="append", metavar="TOOL", help=ask)
    serving.add_argument("--ask-nothing", action="store_true", help="ask nobody")
    pace = "real seconds that a declared second takes (default 0)"
    serving.add_argument("--pace", type=float, default=0.0, metavar="SECONDS", help=pace)
    given = parser.parse_args(arguments)
    asking = () if given.ask_nothing else given.ask
    try:
        import mcp  # noqa: F401

        from planexec_lite.mcp.server import serve

        serve(tools_of(given.world), given.world, http=given.http, ask=asking, pace=given.pace)
    except ImportError as error:
        print(f"this needs the extra mcp: pip install 'planexec-lite[mcp]' ({error})", file=sys.stderr)
        return 2
    except ToolError as error:
        print(f"--ask: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"--http {given.http}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
