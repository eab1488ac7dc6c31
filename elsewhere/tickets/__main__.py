"""An executor that claims tickets: python -m elsewhere.tickets FILE NAME [TOOL ...]"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress

from elsewhere.tickets import TicketsError, claim_tickets


def main(arguments: Sequence[str] | None = None) -> int:
    """Claim tickets until Ctrl-C; return 0, 1 for an unusable file, or 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="python -m elsewhere.tickets", description="An executor that claims tickets.")
    parser.add_argument("file", metavar="FILE", help="the file of tickets; it is created if it is missing")
    parser.add_argument("name", metavar="NAME", help="the executor's name in the table")
    parser.add_argument("tools", metavar="TOOL", nargs="*", help="its role: the tools whose tickets it claims (all)")
    options = parser.parse_args(arguments)
    try:
        with suppress(KeyboardInterrupt):
            claim_tickets(options.file, options.name, options.tools, say=lambda line: print(line, flush=True))
    except TicketsError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
