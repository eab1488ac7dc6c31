"""A program that is killed in the middle of a payment: ``python -m tests.browser.paying FOLDER``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from planexec_lite import Journal, Plan, PlannerExecutor, RulePlanner, Toolbox, ToolExecutor, tool


def agent(folder: str) -> PlannerExecutor:
    """Who orders a part, pays for it, and sends the receipt; the money is a line in a file."""
    paid, sent = Path(folder) / "paid.txt", Path(folder) / "sent.txt"

    @tool(effects="none")
    def order(part: str) -> str:
        return f"order of a {part}"

    @tool(effects="once")
    def pay(euros: int) -> dict[str, object]:
        """Pay; the first time, the power fails right after the money has gone."""
        first = not paid.exists()
        with paid.open("a") as file:
            file.write(f"{euros}\n")
        if first:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"receipt": "R-1"}

    @tool(effects="idempotent")
    def send(receipt: str) -> str:
        sent.write_text(receipt)
        return f"{receipt} sent"

    steps = [
        {"id": "1", "tool": "order", "params": {"part": "pump"}, "depends_on": []},
        {"id": "2", "tool": "pay", "params": {"euros": 80}, "depends_on": ["1"]},
        {"id": "3", "tool": "send", "params": {"receipt": "{step_2_result.receipt}"}, "depends_on": ["2"]},
    ]
    planner = RulePlanner(lambda goal: Plan.parse({"goal": goal, "steps": steps}))
    return PlannerExecutor(
        planner, ToolExecutor(Toolbox([order, pay, send])), journal=Journal(Path(folder) / "runs.db")
    )


if __name__ == "__main__":
    agent(sys.argv[1]).run("Buy a pump")
