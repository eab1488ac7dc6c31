"""The command line, `mock-llm` or `python -m mock_llm`: `serve SCRIPT`, `check SCRIPT`, `record --to URL --out SCRIPT`,
`import CASSETTE --out SCRIPT`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from . import command
from .authoring import check, import_cassettes
from .llm import MockLLM
from .script import ScriptError, read_scenes
from .serve import serve
from .types import HttpRequest, HttpResponse

POLL_INTERVAL = 0.2  # seconds between two checks of the script's files


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the arguments after `mock-llm` or `python -m mock_llm`; by default those of this process.

    Returns:
        The exit status: 0 for success, 1 if a script has problems, 2 if it can't be read.
    """
    by_name = Path(sys.argv[0]).stem == "mock-llm"
    parser = argparse.ArgumentParser(
        prog="mock-llm" if by_name else "python -m mock_llm", description="A scripted model, as strict as the real one."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    served = commands.add_parser("serve", help="answer on HTTP until interrupted")
    served.add_argument("script", nargs="+", help="YAML files, taken together")
    served.add_argument(
        "--host", default="127.0.0.1", help="any other address gives other machines access (default: %(default)s)"
    )
    served.add_argument("--port", type=int, default=0, help="default: a free one")
    checked = commands.add_parser("check", help="find scenes that can never answer or that are ambiguous")
    checked.add_argument("script", nargs="+", help="YAML files, taken together")
    recorded = commands.add_parser("record", help="forward requests to an endpoint, and save its answers as a script")
    recorded.add_argument("--to", required=True, help="the endpoint's base URL, ending in /v1")
    recorded.add_argument("--out", type=Path, required=True, help="the YAML file to write; existing scenes stay")
    recorded.add_argument("--port", type=int, default=0, help="default: a free one")
    imported = commands.add_parser("import", help="make a script from cassettes of vcrpy or pytest-recording")
    imported.add_argument("cassette", nargs="+", type=Path, help="YAML files with requests to OpenAI's API")
    imported.add_argument("--out", type=Path, required=True, help="the YAML file to write; existing scenes stay")
    given = parser.parse_args(arguments)
    try:
        if given.command == "check":
            return _check(given.script)
        if given.command == "record":
            return _record(given.to, given.out, given.port)
        if given.command == "import":
            return _import(given.cassette, given.out)
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
    answered = 0
    counting = threading.Lock()

    def respond(request: HttpRequest) -> HttpResponse:
        nonlocal answered
        response = llm.respond(request)
        with counting:
            answered += request.method == "POST"
            if response.status >= 400:
                print(refusal(request, response), flush=True)
        return response

    with serve(respond, host, port) as base_url:
        print(f"{len(llm.scenes)} scenes at {base_url}", flush=True)
        seen = _changed(scripts)
        while not ended.wait(POLL_INTERVAL):
            if (now := _changed(scripts)) != seen:
                seen = now
                _reload(llm, scripts)
    print(f"{answered} calls answered", flush=True)
    return 0


def refusal(request: HttpRequest, response: HttpResponse) -> str:
    """Describe a refused request for the terminal: the request, the status and the error message."""
    words = json.loads(response.body)["error"]["message"].replace("\n", "\n    ")
    if hint := response.headers.get("x-mock-llm-hint"):
        words += f"\n    [mock_llm] {hint}"
    return f"{request.method} {request.path}: {response.status}\n    {words}"


def _changed(scripts: Sequence[str]) -> list[int]:
    """Return the modification time of each file; 0 if a file is missing, for example while an editor replaces it."""
    times = []
    for script in scripts:
        try:
            times.append(os.stat(script).st_mtime_ns)
        except OSError:
            times.append(0)
    return times


def _reload(llm: MockLLM, scripts: Sequence[str]) -> None:
    try:
        llm.read_again(*scripts)
    except (ScriptError, OSError) as error:
        print(f"the changed script is invalid; the previous one stays in use:\n{error}", flush=True)
    else:
        print(f"{len(llm.scenes)} scenes read again", flush=True)


def _record(base_url: str, out: Path, port: int) -> int:
    llm = MockLLM()
    llm.record(base_url, out, lambda note: print(note, flush=True))
    ended = _ended()
    with llm.serve(port=port) as here:
        print(f"recording {base_url} at {here} into {out}", flush=True)
        ended.wait()
    return 0


def _import(cassettes: Sequence[Path], out: Path) -> int:
    added, notes = import_cassettes(cassettes, out)
    for note in notes:
        print(note)
    print(f"{added} new scenes in {out}" if added else "no new scenes")
    return 0 if added else 1


def _ended() -> threading.Event:
    """Return an event that is set when the process is asked to end."""
    ended = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: ended.set())
    return ended


def _check(scripts: Sequence[str]) -> int:
    scenes = read_scenes(scripts)
    findings = check(scenes)
    for finding in findings:
        print(finding)
    problems = sum(finding.sure for finding in findings)
    print(f"{len(scenes)} scene{'s' * (len(scenes) != 1)}, {problems or 'no'} problem{'s' * (problems != 1)}")
    return 1 if problems else 0


def begin() -> NoReturn:
    """Run the command and end the process."""
    command.run(main)


if __name__ == "__main__":
    begin()
