"""``python -m planexec_lab.mcp serve WORLD``: a world of the kit as an MCP server over stdin and stdout, for any client."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from mock_llm import command
from planexec_lab.mcp.worlds import WORLDS, tools_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and serve; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lab.mcp", description=__doc__)
    serving = parser.add_subparsers(required=True).add_parser("serve", help="serve the tools of a world")
    serving.add_argument("world", choices=WORLDS, metavar="WORLD", help=", ".join(WORLDS))
    given = parser.parse_args(arguments)
    try:
        from planexec_lab.mcp.server import serve

        serve(tools_of(given.world), given.world)
    except ImportError as error:
        print(f"this needs the extra mcp: pip install 'planexec-lab[mcp]' ({error})", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    command.run(main)
