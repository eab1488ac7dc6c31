"""The world of the trail: log files, each of which names the next, until one names the cause."""

from pathlib import Path
from typing import Any, ClassVar

from planexec_lab.worlds.folder import FolderWorld, Tools

GOAL = "Order A-1034 never arrived: begin with checkout.log, find out what stopped it, and write it down"
START = "checkout.log"

_SERVICES = ("checkout", "carrier", "archive", "payment", "packing", "customs")
_CAUSE = "the lease of the lock has run out"


class World(FolderWorld):
    """Logs of the services that the order passed through; the last one says why it stopped."""

    TOOLS: ClassVar[Tools] = {"read_log": (2, "none"), "write_cause": (1, "idempotent")}
    DESTRUCTIVE = ()

    def __init__(self) -> None:
        super().__init__()
        self.cause = f"{_SERVICES[-1]}: {_CAUSE}"
        for place, service in enumerate(_SERVICES):
            last = service == _SERVICES[-1]
            went = (
                f"stopped here. Cause: {self.cause}." if last else f"handed over. Go on in {_SERVICES[place + 1]}.log."
            )
            text = f"09:{10 + place} A-1033 handed over.\n09:{11 + place} A-1034 {went}\n"
            (self.folder / f"{service}.log").write_text(text, encoding="utf-8", newline="\n")

    @property
    def written(self) -> str:
        """The cause that was written down; empty before that."""
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
