"""The command line: `python -m mock_llm serve script.yaml`, `check script.yaml`, and `record --to URL --out script.yaml`."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from .check import check
from .llm import MockLLM
from .reading import read_scenes
from .recorder import Recorder
from .script import ScriptError
from .server import serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: what follows `python -m mock_llm`; by default what this process was started with.

    Returns:
        The exit status: 0 when all is well, 1 when a script has faults, 2 when it can't be read.
    """
    parser = argparse.ArgumentParser(
        prog="python -m mock_llm", description="A scripted model, as strict as the real one."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    served = commands.add_parser("serve", help="answer on HTTP until interrupted")
    served.add_argument("script", nargs="+", help="YAML files, taken together")
    served.add_argument(
        "--host", default="127.0.0.1", help="another address lets other machines in (default: %(default)s)"
    )
    served.add_argument("--port", type=int, default=0, help="default: a free one")
    checked = commands.add_parser("check", help="look for scenes that can't answer, or not alone")
    checked.add_argument("script", nargs="+", help="YAML files, taken together")
    recorded = commands.add_parser("record", help="pass requests on to an endpoint, and write its answers as a script")
    recorded.add_argument("--to", required=True, help="the endpoint's base URL, ending in /v1")
    recorded.add_argument("--out", type=Path, required=True, help="the YAML file to write; what it holds is kept")
    recorded.add_argument("--port", type=int, default=0, help="default: a free one")
    given = parser.parse_args(arguments)
    try:
        if given.command == "check":
            return _check(given.script)
        if given.command == "record":
            return _record(given.to, given.out, given.port)
        return _serve(given.script, given.host, given.port)
    except ScriptError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename or given.command}: {error.strerror or error}", file=sys.stderr)
        return 2


def _serve(scripts: Sequence[str], host: str, port: int) -> int:
    llm = MockLLM.load(*scripts)
    ended = _ended()
    with llm.serve(host, port) as base_url:
        print(f"{len(llm.scenes)} scenes at {base_url}", flush=True)
        ended.wait()
    print(f"{len(llm.calls)} calls answered", flush=True)
    return 0


def _record(base_url: str, out: Path, port: int) -> int:
    recorder = Recorder(base_url, out)
    ended = _ended()
    with serve(recorder.respond, port=port) as here:
        print(f"recording {base_url} at {here} into {out}", flush=True)
        ended.wait()
    return 0


def _ended() -> threading.Event:
    """Set when the process is asked to end."""
    ended = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: ended.set())
    return ended


def _check(scripts: Sequence[str]) -> int:
    scenes = read_scenes(scripts)
    found = check(scenes)
    for finding in found:
        print(finding)
    faults = sum(finding.sure for finding in found)
    print(f"{len(scenes)} scenes, {faults or 'no'} fault{'s' * (faults != 1)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
