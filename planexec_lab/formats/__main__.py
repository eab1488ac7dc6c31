"""The command line: ``python -m planexec_lab.formats convert FILE --to mermaid`` writes a plan in another format."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mock_llm import command
from planexec_lab.formats import names, read, write, written
from planexec_lite.plan import PlanError

_ADVICE = {  # by the code of a problem; the hints of these problems are for callers in Python
    "unknown_format": "say what the file is with --from NAME",
    "left_out": "nothing was written; --allow-loss leaves out what has no place, and --to native keeps everything",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status: 0, 1 if the plan can't be read or would lose something, 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lab.formats", description="Plans in published formats.")
    commands = parser.add_subparsers(dest="command", required=True)
    convert = commands.add_parser("convert", help="write a plan in another format")
    convert.add_argument("file", help="the plan; - reads standard input")
    convert.add_argument("--to", required=True, choices=written, help="the format to write")
    convert.add_argument(
        "--from", dest="source", choices=names, help="the format of the file; by default it is detected"
    )
    convert.add_argument(
        "--allow-loss", action="store_true", help="leave out what the plan or the format has no place for, and list it"
    )
    options = parser.parse_args(arguments)
    try:
        source = sys.stdin.buffer.read() if options.file == "-" else Path(options.file).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        print(f"{options.file!r} can't be read: {why}. Name a file, or - for standard input.", file=sys.stderr)
        return 2
    try:
        plan = read(source, options.source)
        try:
            text = write(plan, options.to)
        except PlanError as loss:
            if not options.allow_loss:
                raise
            text = write(plan, options.to, allow_loss=True)
            _tell(loss)
    except PlanError as error:
        _tell(error)
        codes = {problem.code for problem in error.problems}
        for code in _ADVICE.keys() & codes:
            print(_ADVICE[code], file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text.rstrip("\n").encode() + b"\n")
    return 0


def _tell(error: PlanError) -> None:
    for problem in error.problems:
        print(replace(problem, hint="") if problem.code in _ADVICE else problem, file=sys.stderr)


if __name__ == "__main__":
    command.run(main)
