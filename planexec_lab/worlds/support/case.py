"""The case: what was collected so far, kept as files, and what it says about an order."""

from pathlib import Path
from typing import Any

from planexec_lab.worlds.support.records import Record, gaps, lacking, read, written
from planexec_lab.worlds.support.services import SERVICES, Service


class Case:
    """The collected parts of the logs, one folder a service, under `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def add(self, service: Service, name: str, text: str) -> None:
        """Keep a part of a log. Raises `ValueError` when it holds a line that is no log line."""
        read(service, text.splitlines())
        part = self.folder / service / name
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8", newline="\n")

    def records(self, service: Service) -> list[Record]:
        """Return what was collected of a service, in order of time. Raises `ValueError` when nothing was."""
        parts = sorted((self.folder / service).glob("*.log"))
        if not parts:
            raise ValueError(f"nothing was collected of {service}; call collect_logs(service='{service}') first")
        return read(service, "".join(part.read_text(encoding="utf-8") for part in parts).splitlines())

    def covered(self, service: Service) -> dict[str, Any]:
        """Say what was collected of a service: how many lines, from when to when, and which times are missing."""
        records = self.records(service)
        if not records:
            return {"service": service, "lines": 0, "from": None, "to": None, "gaps": ["everything"]}
        return {
            "service": service,
            "lines": len(records),
            "from": records[0].time,
            "to": records[-1].time,
            "gaps": [written(gap) for gap in gaps(records)],
        }

    def follow(self, order: str) -> dict[str, Any]:
        """Follow an order from service to service, to the first that failed it, or whose records are missing.

        Raises `ValueError` if a log was not collected or no log has the order.
        """
        logs = {service: self.records(service) for service in SERVICES}
        path: dict[str, str] = {}
        last: Record | None = None
        for service in SERVICES:
            own = [record for record in logs[service] if record.order == order]
            if not own:
                missing = lacking(logs[service], last.at if last else None)
                path[service] = "no record"
                if missing is None and last is None:
                    raise ValueError(f"no service knows the order {order!r}; {_known(logs)}")
                return {"order": order, **_stopped(order, service, last, missing), "path": path}
            failed = next((record for record in own if record.level == "ERROR"), None)
            last = failed or own[-1]
            path[service] = f"{last.time} {last.words}"
            if failed:
                finding = f"{order} fails at {service}, {failed.time}: {failed.words}"
                return {"order": order, "complete": True, "failing": service, "finding": finding, "path": path}
        finding = f"{order} passed every service"
        return {"order": order, "complete": True, "failing": None, "finding": finding, "path": path}


def _stopped(order: str, service: str, last: Record | None, missing: str | None) -> dict[str, Any]:
    """The reason why a service has no record of an order: the record is missing, or the order never arrived there."""
    if missing:
        finding = f"records are missing: the log of {service} lacks {missing}, when {order} was due there"
        return {"complete": False, "failing": None, "finding": finding}
    before = last.service if last else ""
    return {"complete": True, "failing": before, "finding": f"{order} is lost between {before} and {service}"}


def _known(logs: dict[Service, list[Record]]) -> str:
    orders = sorted({record.order for record in logs["checkout"] if record.order})
    return f"checkout wrote down {orders[0]} to {orders[-1]}" if orders else "checkout wrote down none"
