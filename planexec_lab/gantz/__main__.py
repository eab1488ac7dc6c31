"""``python -m planexec_lab.gantz serve gantz.yaml``: the tools of a manifest as an MCP server, over stdin and stdout."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from mock_llm import command
from planexec_lab.gantz.manifest import read
from planexec_lab.gantz.script import ManifestError
from planexec_lab.gantz.toolbox import load
from planexec_lite.tools import Effects


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and serve; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lab.gantz", description=__doc__)
    serving = parser.add_subparsers(required=True).add_parser("serve", help="serve the tools of a manifest")
    serving.add_argument("manifest", type=Path, metavar="MANIFEST", help="such as gantz.yaml")
    does = "what a repeat of a tool does: none, idempotent, unknown or once (default: unknown); a tool with effects asks a person"
    serving.add_argument("--effects", action="append", default=[], metavar="TOOL=EFFECTS", help=does)
    env = "let the scripts see this variable of the environment; can be given several times"
    serving.add_argument("--env", action="append", default=[], metavar="NAME", help=env)
    given = parser.parse_args(arguments)
    effects = {name: does for name, _, does in (one.partition("=") for one in given.effects)}
    try:
        if wrong := [name for name, does in effects.items() if does not in get_args(Effects)]:
            known = ", ".join(get_args(Effects))
            raise ManifestError(f"--effects {wrong[0]}: write TOOL=EFFECTS, where EFFECTS is {known}")
        if missing := [name for name in given.env if name not in os.environ]:
            raise ManifestError(f"--env {missing[0]}: the environment has no such variable")
        tools = load(given.manifest, effects=effects, env={name: os.environ[name] for name in given.env})
        from planexec_lab.mcp.server import serve

        serve(tools, read(given.manifest).name or given.manifest.stem)
    except ImportError as error:
        print(f"this needs the extra mcp: pip install 'planexec-lab[mcp]' ({error})", file=sys.stderr)
        return 2
    except ManifestError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    command.run(main)
