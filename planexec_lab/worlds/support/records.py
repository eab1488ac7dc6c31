"""Log lines as records, and what can be concluded from them. Pure: lines in, findings out."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

_LINE = re.compile(r"(\S+Z) (INFO|WARN|ERROR) (.*?)(?: order=(A-\d+))?", re.ASCII)
_CHANGE = re.compile(r"settings (\S+): (\w+) (\S+) -> (\S+)")
SILENCE = timedelta(minutes=2)
"""A service writes at least once a minute; who is silent for longer has lost records."""


@dataclass(frozen=True, slots=True)
class Record:
    """One line of a service's log.

    Args:
        number: its line in what was collected, from 1.
        order: the order that it is about, or None.
    """

    service: str
    number: int
    at: datetime
    level: str
    words: str
    order: str | None
    line: str

    @property
    def time(self) -> str:
        """The time of day, such as 10:03:20."""
        return f"{self.at:%H:%M:%S}"

    @property
    def cited(self) -> str:
        """The line with its place, as evidence: service:line: text."""
        return f"{self.service}:{self.number}: {self.line}"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a setting that a service wrote down."""

    record: Record
    name: str
    setting: str
    old: str
    new: str


def read(service: str, lines: Iterable[str]) -> list[Record]:
    """Read log lines. Raises `ValueError` with an unreadable line."""
    records = []
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        try:
            at = datetime.fromisoformat(match[1]) if match else None
        except ValueError:
            at = None
        if match is None or at is None:
            raise ValueError(f"line {number} of the log of {service} is no log line: {line[:60]!r}")
        records.append(Record(service, number, at, match[2], match[3], match[4], line))
    return records


def gaps(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Return the pairs of neighbours between which a service was silent for too long."""
    return [(a, b) for a, b in pairwise(records) if b.at - a.at > SILENCE]


def lacking(records: Sequence[Record], at: datetime | None) -> str | None:
    """Say which records of a log are missing around a time, such as "09:59:25 to 10:10:00"; None: it is whole there.

    Without a time, any gap counts.
    """
    if not records:
        return "everything"
    if at is not None and at > records[-1].at + SILENCE:
        return f"everything after {records[-1].time}"
    if at is not None and at < records[0].at - SILENCE:
        return f"everything before {records[0].time}"
    return next((written(gap) for gap in gaps(records) if at is None or gap[0].at <= at <= gap[1].at), None)


def written(gap: tuple[Record, Record]) -> str:
    """A gap as text, such as 09:59:25 to 10:10:00."""
    return f"{gap[0].time} to {gap[1].time}"


def changes(records: Iterable[Record]) -> list[Change]:
    """Return the changes of settings among `records`."""
    matches = ((record, _CHANGE.fullmatch(record.words)) for record in records)
    return [Change(record, *match.groups()) for record, match in matches if match]


def behind(error: Record, records: Sequence[Record]) -> tuple[list[Record], Change | None]:
    """Return all records of the same error in a service's log, and the change of settings that came before the first.

    The latest change before the first such error is the suspect: until then the service worked without that error.
    """
    same = [record for record in records if (record.level, record.words) == ("ERROR", error.words)]
    earlier = [change for change in changes(records) if change.record.at < same[0].at]
    return same, earlier[-1] if earlier else None
