"""The world of the support case: a folder with real logs, settings and an archive, and the tools that read them."""

import difflib
import gzip
import zlib
from typing import Any, ClassVar

from typing_extensions import TypedDict

from planexec_lab.worlds.folder import FolderWorld, Tools
from planexec_lab.worlds.support import services
from planexec_lab.worlds.support.case import Case
from planexec_lab.worlds.support.records import Change, behind
from planexec_lab.worlds.support.services import SERVICES, Service

_MOST = 40


class Cause(TypedDict):
    """Why an order failed: where, with which error, since which change of settings, and the log lines that prove it."""

    order: str
    service: Service
    error: str
    change: str | None
    orders: list[str]
    evidence: list[str]
    finding: str


class World(FolderWorld):
    """Four services and their logs of one hour, in a temporary folder that is removed with the object.

    Args:
        gap: the service whose log from 10:00 to 10:10 was rotated into the archive; None: all logs are whole.
    """

    TOOLS: ClassVar[Tools] = {
        "collect_logs": (10, "idempotent"),
        "fetch_archive": (60, "idempotent"),
        "search_logs": (2, "none"),
        "inspect_branch": (15, "none"),
        "root_cause": (20, "none"),
        "draft_fix": (10, "idempotent"),
    }
    DESTRUCTIVE = ()

    def __init__(self, gap: Service | None = "payment") -> None:
        super().__init__()
        for name in ("logs", "archive", "settings", "case", "drafts"):
            (self.folder / name).mkdir()
        for service in SERVICES:
            self._write(f"settings/{service}.ini", services.settings(service))
            lines = services.log(service)
            if service != gap:
                self._write(f"logs/{service}-0930.log", _text(line for _, line in lines))
                continue
            begin, end = services.GAP
            self._write(f"logs/{service}-0930.log", _text(line for at, line in lines if at < begin))
            self._write(f"logs/{service}-1010.log", _text(line for at, line in lines if at >= end))
            middle = _text(line for at, line in lines if begin <= at < end)
            (self.folder / "archive" / f"{service}-1000.log.gz").write_bytes(gzip.compress(middle.encode(), mtime=0))

    @property
    def case(self) -> Case:
        """The logs collected so far."""
        return Case(self.folder / "case")

    @property
    def drafts(self) -> dict[str, str]:
        """The drafted fixes: file name -> text."""
        return {path.name: path.read_text(encoding="utf-8") for path in sorted((self.folder / "drafts").iterdir())}

    def collect_logs(self, service: Service) -> dict[str, Any]:
        """Collect the log of a service: how many lines, from when to when, and which times are missing.

        Args:
            service: whose log
        """
        parts = sorted((self.folder / "logs").glob(f"{service}-*.log"))
        if not parts:
            raise ValueError(f"there is no log of {service}; fetch_archive may have one")
        for part in parts:
            self.case.add(service, part.name, part.read_text(encoding="utf-8", errors="replace"))
        return self.case.covered(service)

    def fetch_archive(self, service: Service) -> dict[str, Any]:
        """Collect the parts of a service's log that were rotated into the archive.

        Args:
            service: whose log
        """
        archive = sorted((self.folder / "archive").glob("*.log.gz"))
        parts = [part for part in archive if part.name.startswith(f"{service}-")]
        if not parts:
            held = ", ".join(sorted({part.name.partition("-")[0] for part in archive})) or "nothing"
            raise ValueError(f"the archive has no log of {service}; it has: {held}")
        for part in parts:
            try:
                text = gzip.decompress(part.read_bytes()).decode(errors="replace")
            except (OSError, EOFError, zlib.error):
                raise ValueError(f"{part.name} in the archive is damaged; ask for another copy") from None
            self.case.add(service, part.name.removesuffix(".gz"), text)
        return {"parts": [part.name for part in parts], **self.case.covered(service)}

    def search_logs(self, text: str) -> list[str]:
        """Find a text in what was collected: service:line: the line. At most 40 matches are returned.

        Args:
            text: such as A-1034 or ERROR
        """
        if not text.strip():
            raise ValueError("an empty text is found everywhere; name what to look for, such as A-1034")
        collected = [service for service in SERVICES if (self.folder / "case" / service).exists()]
        if not collected:
            raise ValueError("nothing was collected yet; call collect_logs first")
        records = (record for service in collected for record in self.case.records(service))
        return [record.cited for record in records if text in record.line][:_MOST]

    def inspect_branch(self, order: str) -> dict[str, Any]:
        """Follow an order through the services to the one that failed it, or say which records are missing.

        Args:
            order: such as A-1034
        """
        return self.case.follow(order)

    def root_cause(self, order: str) -> Cause:
        """Find out why an order failed: the error, since which change of settings, and which orders it hit.

        Args:
            order: such as A-1034
        """
        trail = self.case.follow(order)
        if not trail["complete"]:
            raise ValueError(f"{trail['finding']}; fetch_archive may have them")
        service: Service | None = trail["failing"]
        if service is None:
            raise ValueError(f"{trail['finding']}, so there is no cause to look for")
        records = self.case.records(service)
        own = [record for record in records if record.order == order]
        error = next((record for record in own if record.level == "ERROR"), None)
        same, change = behind(error, records) if error else ([], None)
        orders = list(dict.fromkeys(record.order for record in same if record.order)) or [order]
        evidence = [*([change.record] if change else []), *same[:1], *own[: own.index(error) + 1 if error else None]]
        return {
            "order": order,
            "service": service,
            "error": error.words if error else trail["finding"],
            "change": f"{change.name}: {change.setting} {change.old} -> {change.new}" if change else None,
            "orders": orders,
            "evidence": [record.cited for record in dict.fromkeys(evidence)],
            "finding": f"{trail['finding']}; {_since(change, orders)}",
        }

    def draft_fix(self, cause: Cause) -> dict[str, Any]:
        """Write a draft for the people who will mend it: the cause, the log lines that prove it, and a patch.

        Args:
            cause: the result of root_cause
        """
        if cause != self.root_cause(cause["order"]):
            raise ValueError("this is not what the collected logs say; give the result of root_cause as it is")
        patch, why_none = self._patch(cause)
        name = f"{cause['order']}.txt"
        parts = [cause["finding"], "Log lines:", *(f"  {line}" for line in cause["evidence"])]
        parts += ["Patch:", *patch] if patch else [f"Patch: none; {why_none}"]
        parts += [f"Orders hit: {', '.join(cause['orders'])}"]
        self._write(f"drafts/{name}", _text(parts))
        return {"file": f"drafts/{name}", "patch": patch, "cites": cause["evidence"], "orders": cause["orders"]}

    def _patch(self, cause: Cause) -> tuple[list[str], str]:
        """The lines of a patch that reverts the change, or the reason why there is none."""
        if cause["change"] is None:
            return [], "no change of settings explains the error"
        _, setting, old, _, new = cause["change"].split()
        name = f"settings/{cause['service']}.ini"
        before = (self.folder / name).read_text(encoding="utf-8").splitlines()
        after = [f"{setting} = {old}" if line == f"{setting} = {new}" else line for line in before]
        patch = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="", n=1))
        return patch, f"{name} does not say {setting} = {new}"

    def _write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8", newline="\n")


def _text(lines: Any) -> str:
    return "".join(f"{line}\n" for line in lines)


def _since(change: Change | None, orders: list[str]) -> str:
    hit = f"{len(orders)} order{'s were' if len(orders) > 1 else ' was'} hit"
    if change is None:
        return f"no change of settings came before it; {hit}"
    return f"since {change.name} at {change.record.time} ({change.setting} {change.old} -> {change.new}); {hit}"
