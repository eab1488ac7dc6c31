"""Cut the network for this Python process: only this machine can be reached.

Python imports a module of this name by itself when it starts, so a folder on PYTHONPATH cuts the network for a process
and for every Python process that it starts: pytest, each Jupyter kernel, each worker. An audit hook can't be taken back
and sees the C level too. Each attempt is also written into the file that NETWORK_CUT_LOG names, so that an attempt
whose error is swallowed is still found.
"""

import ipaddress
import os
import sys
from typing import Any

HERE = {"", "localhost", "::1", os.uname().nodename if hasattr(os, "uname") else "localhost"}
CONNECTS = {"socket.connect", "socket.sendto", "socket.sendmsg"}
LOOKS_UP = {"socket.getaddrinfo", "socket.gethostbyname"}


class NetworkIsCut(OSError):
    """The code tried to reach another machine."""


def is_here(host: object) -> bool:
    """Whether a host name or address means this machine."""
    if isinstance(host, (bytes, bytearray)):
        host = host.decode("utf-8", "replace")
    if host is None or host in HERE:
        return True
    try:
        address = ipaddress.ip_address(str(host).split("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def refuse(event: str, arguments: tuple[Any, ...]) -> None:
    """The audit hook: raise when an event would reach another machine."""
    if event in CONNECTS:
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) and address and isinstance(address[0], str) else None
    elif event in LOOKS_UP:
        host = arguments[0]
    else:
        return
    if not is_here(host):
        log = os.environ.get("NETWORK_CUT_LOG")
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(f"{event} {host}\n")
        raise NetworkIsCut(f"the network is cut: {event} to {host}")


sys.addaudithook(refuse)
for name in ("rfc3987_syntax", "isoduration"):  # see tests/quick_start
    sys.modules.setdefault(name, None)  # type: ignore[arg-type]
