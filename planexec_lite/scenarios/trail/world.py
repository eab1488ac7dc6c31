"""The world of the trail: log files, each of which names the next, until one names the cause."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from planexec_lite.scenarios.folder import FolderWorld
from planexec_lite.tools import Effects

GOAL = "Order A-1034 never arrived: begin with checkout.log, find out what stopped it, and write it down"
START = "checkout.log"

_TOOLS: dict[str, tuple[float, Effects]] = {"read_log": (2, "none"), "write_cause": (1, "idempotent")}
_SERVICES = (
    "payment", "fraud", "ledger", "stock", "packing", "label", "carrier", "customs", "depot", "courier", "mail", "archive",
)  # fmt: skip
_CAUSE = "the lease of the lock has run out"


class World(FolderWorld):
    """Logs of as many services as the order passed through.

    Args:
        length: how many logs have to be read, from 1 to 13.
        seed: in which order the services come.
    """

    TOOLS = _TOOLS
    DESTRUCTIVE = ()

    def __init__(self, length: int = 6, seed: int = 0) -> None:
        if not 1 <= length <= len(_SERVICES) + 1:
            raise ValueError(f"length={length}: from 1 to {len(_SERVICES) + 1} logs")
        super().__init__()
        others = [f"{name}.log" for name in Random(seed).sample(_SERVICES, len(_SERVICES))]
        names = [START, *others[: length - 1]]
        self.length, self.cause = length, f"{names[-1].removesuffix('.log')}: {_CAUSE}"
        for place, name in enumerate(names):
            service = name.removesuffix(".log")
            end = f"stopped here. Cause: {service}: {_CAUSE}."
            went = f"handed over. Go on in {names[place + 1]}." if place + 1 < length else end
            text = f"09:{10 + place} A-1033 handed over.\n09:{11 + place} A-1034 {went}\n"
            (self.folder / name).write_text(text, encoding="utf-8", newline="\n")

    @property
    def written(self) -> str:
        """The cause that was written down; empty while there is none."""
        path = self._report
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def solved(self) -> bool:
        """Whether the right cause was written down."""
        return self.cause in self.written

    def read_log(self, name: str) -> dict[str, Any]:
        """Read what a log says about order A-1034, and whether it stopped there.

        Args:
            name: such as checkout.log
        """
        logs = sorted(path.name for path in self.folder.glob("*.log"))
        if name not in logs:
            raise ValueError(f"there is no {name!r}; begin with {START} and read where it goes on")
        lines = (self.folder / name).read_text(encoding="utf-8").splitlines()
        line = next(line for line in lines if "A-1034" in line)
        return {"line": line, "stopped": "stopped here" in line}

    def write_cause(self, cause: str) -> dict[str, Any]:
        """Write down what stopped the order.

        Args:
            cause: the service and what was wrong
        """
        self._report.write_text(cause, encoding="utf-8", newline="\n")
        return {"written": cause}

    @property
    def _report(self) -> Path:
        return self.folder / "cause.txt"
