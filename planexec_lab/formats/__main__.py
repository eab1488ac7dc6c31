"""The command line: ``python -m planexec_lab.formats convert FILE --to mermaid`` writes a plan in another format."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from planexec_lab.formats import names, read, write


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit status: 0, or 1 when the plan can't be read or would lose something."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lab.formats", description="Plans in published formats.")
    commands = parser.add_subparsers(dest="command", required=True)
    convert = commands.add_parser("convert", help="write a plan in another format")
    convert.add_argument("file", help="the plan; - reads standard input")
    convert.add_argument("--to", required=True, choices=names, help="the format to write")
    convert.add_argument(
        "--from", dest="source", choices=names, help="the format of the file; by default it is detected"
    )
    convert.add_argument(
        "--leave-out", default="", metavar="FIELDS", help="the fields that can be left out, by name: gate,undo"
    )
    options = parser.parse_args(arguments)
    try:
        text = sys.stdin.buffer.read() if options.file == "-" else Path(options.file).read_bytes()
        leave_out = [name.strip() for name in options.leave_out.split(",") if name.strip()]
        written = write(read(text, options.source), options.to, leave_out)
        sys.stdout.buffer.write(written.rstrip("\n").encode() + b"\n")
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
