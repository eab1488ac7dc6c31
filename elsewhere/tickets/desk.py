"""The bookkeeping of lesson 14: tools that other processes can import. Their ledger is a file with a line for each booking."""

import time
from pathlib import Path
from typing import Any

from planexec_lite.plan import Plan
from planexec_lite.tools import Toolbox, tool


@tool(effects="none")
def read_bill(bill: str, seconds: float = 0.0) -> int:
    """Return the euros that a bill asks for: one for each letter of its name."""
    time.sleep(seconds)
    return len(bill)


@tool(effects="once")
def book(bill: str, euros: int, ledger: str, seconds: float = 0.0) -> str:
    """Book a bill in the ledger, and wait for the bank's answer."""
    with Path(ledger).open("a", encoding="utf-8") as file:
        file.write(f"{bill} {euros}\n")
    time.sleep(seconds)
    return f"{bill}: {euros} euros booked"


TOOLS = Toolbox([read_bill, book])


def plan_for(bills: list[str], ledger: Path | str, seconds: float = 0.0) -> Plan:
    """Return a plan that reads each bill and books it; each call takes this number of seconds."""
    steps: list[dict[str, Any]] = []
    for bill in bills:
        read, euros = f"read-{bill}", f"{{step_read-{bill}_result}}"
        booking = {"bill": bill, "euros": euros, "ledger": str(ledger), "seconds": seconds}
        steps.append({"id": read, "tool": "read_bill", "params": {"bill": bill, "seconds": seconds}})
        steps.append({"id": f"book-{bill}", "tool": "book", "params": booking, "depends_on": [read]})
    return Plan.parse(steps)
