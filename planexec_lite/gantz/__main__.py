"""``python -m planexec_lite.gantz serve gantz.yaml``: a manifest as an MCP server; ``check`` says what is wrong with one."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from planexec_lite.gantz.manifest import ManifestError, read
from planexec_lite.gantz.toolbox import TIMEOUT, load
from planexec_lite.tools import Effects, ToolError


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line, and check or serve; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lite.gantz", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    checking = commands.add_parser("check", help="read a manifest, and list its tools or what is wrong with it")
    serving = commands.add_parser("serve", help="serve the tools of a manifest")
    for one in (checking, serving):
        one.add_argument("manifest", type=Path, metavar="MANIFEST", help="such as gantz.yaml")
    http = "over HTTP on 127.0.0.1; 0: a free port (default: stdin and stdout)"
    serving.add_argument("--http", type=int, metavar="PORT", help=http)
    does = "what a repeat of a tool does: none, idempotent or once (default: once); may be given several times"
    serving.add_argument("--effects", action="append", default=[], metavar="TOOL=EFFECTS", help=does)
    ask = "ask a person before this tool (default: before all but those with --effects TOOL=none)"
    serving.add_argument("--ask", action="append", metavar="TOOL", help=ask)
    serving.add_argument("--ask-nothing", action="store_true", help="ask nobody")
    env = "let the scripts see this variable of the environment; may be given several times"
    serving.add_argument("--env", action="append", default=[], metavar="NAME", help=env)
    serving.add_argument("--timeout", type=float, default=TIMEOUT, metavar="SECONDS", help="of a call (%(default)g)")
    given = parser.parse_args(arguments)
    try:
        return _check(given.manifest) if given.command == "check" else _serve(given)
    except (ManifestError, ToolError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _check(path: Path) -> int:
    for tool in load(path):
        print(f"{tool.signature}: {tool.description}")
    return 0


def _serve(given: Any) -> int:
    effects = {}
    for one in given.effects:
        name, _, told = one.partition("=")
        if told not in get_args(Effects):
            raise ManifestError(f"--effects {one}: write TOOL=EFFECTS, where EFFECTS is {', '.join(get_args(Effects))}")
        effects[name] = told
    if missing := [name for name in given.env if name not in os.environ]:
        raise ManifestError(f"--env {missing[0]}: the environment has no such variable")
    tools = load(
        given.manifest, effects=effects, env={name: os.environ[name] for name in given.env}, timeout=given.timeout
    )
    try:
        from planexec_lite.mcp.server import serve
    except ImportError as error:
        print(f"this needs the extra mcp: pip install 'planexec-lite[mcp]' ({error})", file=sys.stderr)
        return 2
    name = read(given.manifest).name or given.manifest.stem
    serve(tools, name, http=given.http, ask=() if given.ask_nothing else given.ask)
    return 0


if __name__ == "__main__":
    sys.exit(main())
