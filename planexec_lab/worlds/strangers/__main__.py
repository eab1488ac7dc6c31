"""``python -m planexec_lab.worlds.strangers [DAY]``: the stranger's server on stdin and stdout."""

import os
import sys

from planexec_lab.worlds.strangers.weather import ServerEnded, Weather


def main() -> None:
    """Serve until the client closes its end, or the process ends in the middle of a call."""
    server = Weather(int(sys.argv[1]) if sys.argv[1:] else 1)
    try:
        server.serve(sys.stdin, sys.stdout)
    except ServerEnded as end:
        print(end, file=sys.stderr, flush=True)
        os._exit(3)


if __name__ == "__main__":
    main()
