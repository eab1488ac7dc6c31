"""The queue: one table, and a lease with a fencing token for each claimed ticket.

An executor that claims a ticket gets a lease, and extends it while it works. If it dies or hangs, the lease ends, and another
executor claims the ticket with a higher fence. The late answer of the first executor does not count; it is kept with the ticket.
A step that is not repeatable is not claimed again: its report says that it was lost, and the run asks a person.

The death of an executor counts against its ticket, because nothing tells bad luck from a step that kills its executor. After four
deaths the attempt fails; the retries of the step or of the policy decide whether it gets another ticket.

No clocks are compared: each process counts, on its own clock, how long it has seen no heartbeat.
"""

from __future__ import annotations

import os
import pickle
import sqlite3
import time
from collections import namedtuple
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

from planexec_lite.capabilities.doubt import Doubt
from planexec_lite.capabilities.once_calls import OnceCalls, key_of
from planexec_lite.run import Run
from planexec_lite.run.events import StepLate
from planexec_lite.storage.sqlite_file import SQLiteFile
from planexec_lite.workers import Report

LEASE = 2.0  # seconds
_LOOK = 0.02  # seconds between two looks at the file
_CLAIMS = 4  # a ticket is claimed this often if its executors die again and again

SCHEMA = """CREATE TABLE tickets (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, tool TEXT, work BLOB, report BLOB,
    repeatable INT, state TEXT DEFAULT 'queued', holder TEXT DEFAULT '', fence INT DEFAULT 0, beats INT DEFAULT 0,
    failed INT DEFAULT 0);
    CREATE TABLE late (ticket INT, holder TEXT, fence INT, report BLOB);
    CREATE INDEX by_state ON tickets (state, id); CREATE INDEX by_key ON tickets (key);"""
LEASES = "SELECT '<' || id || ' ' || fence || ' ' || beats || '>' FROM tickets WHERE state = 'claimed'"
SILENT = "state = 'claimed' AND instr(:silent, '<' || id || ' ' || fence || ' ' || beats || '>')"
CLAIM = f"""UPDATE tickets SET state = 'claimed', holder = :holder, fence = fence + 1 WHERE id = (
    SELECT id FROM tickets WHERE (:tools = '' OR instr(:tools, ' ' || tool || ' ')) AND (state = 'queued'
    OR {SILENT} AND repeatable AND fence < :claims) ORDER BY id LIMIT 1) RETURNING id, fence, work"""
HEARTBEAT = "UPDATE tickets SET beats = beats + 1 WHERE id = :id AND fence = :fence AND state = 'claimed'"
FINISH = """UPDATE tickets SET state = 'done', report = :report, failed = :failed
    WHERE id = :id AND fence = :fence AND state = 'claimed'"""
LOSE = f"""UPDATE tickets SET state = 'done', report = :report, failed = 1
    WHERE {SILENT} AND NOT (repeatable AND fence < :claims)"""
KEEP_LATE = "INSERT INTO late VALUES (:id, :holder, :fence, :report)"
LATE = "SELECT late.report FROM late JOIN tickets ON id = ticket WHERE key = ? ORDER BY ticket DESC LIMIT 1"
ROWS = """SELECT id, tool, state, holder, fence, (SELECT coalesce(group_concat(holder || ', fence ' || fence, '; '), '')
    FROM late WHERE ticket = id) FROM tickets ORDER BY id"""
SUBMIT = "INSERT INTO tickets (key, tool, repeatable, work) VALUES (?, ?, ?, ?) RETURNING id"
CANCEL = "DELETE FROM tickets WHERE id = ? AND state = 'queued'"


class TicketsError(RuntimeError):
    """A file of tickets can't be read or written, or is not safe to read; the tickets in it are kept."""


FILE = SQLiteFile(
    "file of tickets",
    0x504C544B,
    SCHEMA,
    TicketsError,
    made="the first process that uses it creates it",
    then="start it again",
)
Row = namedtuple("Row", "id tool state holder fence late")  # a ticket; `late`: whose late answers it has


class Ticket(Future[Any]):
    """The future of a ticket. It can be cancelled until an executor claims the ticket."""

    def __init__(self, id: int, withdraw: Callable[[int], bool]) -> None:
        super().__init__()
        self.id, self.withdraw = id, withdraw

    def cancel(self) -> bool:
        """Remove the ticket from the queue. Return whether it was still there."""
        return self.withdraw(self.id) and super().cancel()


class Tickets(Executor):
    """An executor that writes calls into `file`, where executors in other processes claim them.

    The file outlives this process; only its owner can read it. A call whose key is in `keys` is not queued again; its future
    gets the report of the ticket that has this key.

    Raises `TicketsError` for a file that is foreign or damaged, or that others can read or write.
    """

    def __init__(self, file: str | Path) -> None:
        self._file, self._lock, self._stopped = _private(file), Lock(), Event()
        self._open: dict[int, list[Ticket]] = {}
        with FILE.writing(self._file):
            pass  # creates the file, or raises the error here and not in the thread
        Thread(target=self._listen, name="tickets", daemon=True).start()

    @property
    def keys(self) -> set[str]:
        """The idempotency keys of calls that wait, run, or are done without an error."""
        with FILE.reading(self._file) as db:
            return {key for (key,) in db.execute("SELECT key FROM tickets WHERE NOT failed")}

    @property
    def rows(self) -> list[Row]:
        """All tickets, in the order in which they were submitted."""
        with FILE.reading(self._file) as db:
            return [Row(*row) for row in db.execute(ROWS)]

    def with_late_answers(self, run: Run) -> Run:
        """Return a copy of the run; if a step in doubt has a late answer, it has it as an event `StepLate`.

        The answer does not count: it is evidence for the person who decides whether the step was done.
        """
        run = run.again()
        doubt = run.board[Doubt]
        for id in [id for id in doubt.doubted if id not in doubt.late]:
            key = key_of(run, run.board[OnceCalls].latest[id])()
            with FILE.reading(self._file) as db:
                answers = [pickle.loads(report) for (report,) in db.execute(LATE, (key,))]
            for answer in answers:
                run.record(StepLate(run.board.now, id, answer.value, answer.error, answer.took, answer.calls))
        return run

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue the call ``fn(work)`` of a `Submission`, or find the ticket of its key."""
        work = args[0]
        key, tool = work.key or uuid4().hex, getattr(work.args[1] if len(work.args) > 1 else None, "tool", None) or ""
        with self._lock:
            if self._stopped.is_set():
                raise RuntimeError("no ticket is submitted after a shutdown, or after its file was broken")
            with FILE.writing(self._file) as db:
                known = db.execute("SELECT id FROM tickets WHERE key = ? AND NOT failed", (key,)).fetchall()
                if not known:
                    known = db.execute(SUBMIT, (key, tool, work.repeatable, pickle.dumps((fn, args)))).fetchall()
            ticket = Ticket(known[0][0], self._withdraw)
            self._open.setdefault(ticket.id, []).append(ticket)
        return ticket

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop listening: open futures are lost. Their tickets stay in the file."""
        self._stopped.set()

    def _withdraw(self, id: int) -> bool:
        with FILE.writing(self._file) as db:
            return db.execute(CANCEL, (id,)).rowcount == 1

    def _listen(self) -> None:
        lost = pickle.dumps(Report(error=f"RuntimeError: its executor is silent, or {_CLAIMS} were", lost=True))
        try:
            leases = _Leases()
            while not self._stopped.wait(_LOOK):
                with FILE.writing(self._file) as db:
                    db.execute(LOSE, {"report": lost, "silent": leases.silent(db), "claims": _CLAIMS})
                    states = {
                        id: db.execute("SELECT state, report FROM tickets WHERE id = ?", (id,)).fetchone()
                        for id in list(self._open)
                    }
                for id, row in states.items():
                    state, report = row or ("gone", lost)
                    if state != "queued":
                        self._inform(id, None if report is None else pickle.loads(report), gone=row is None)
            raise RuntimeError("the queue was shut down; the ticket is still in its file")
        except Exception as problem:  # the reader has stopped, so no future waits for it
            with self._lock:
                self._stopped.set()
            for id in list(self._open):
                self._inform(id, Report(error=f"{type(problem).__name__}: {problem}", lost=True))

    def _inform(self, id: int, report: Report | None, gone: bool = False) -> None:
        """Tell the futures of a ticket that it was claimed, or give them its report. A missing queued ticket was cancelled."""
        with self._lock:
            waiting = self._open[id] if report is None else self._open.pop(id)
        for ticket in waiting:
            if gone and Future.cancel(ticket):
                continue
            if (ticket.running() or ticket.set_running_or_notify_cancel()) and report is not None:
                ticket.set_result(report)


class _Leases:
    """The leases that this process has seen: since when, on its own clock, each claimed ticket has had no new heartbeat."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def silent(self, db: sqlite3.Connection) -> str:
        """Return the leases that are over, as the statements take them."""
        now = time.monotonic()
        self._since = {lease: self._since.get(lease, now) for (lease,) in db.execute(LEASES)}
        return "".join(lease for lease, since in self._since.items() if now - since > LEASE)


def _private(file: str | Path) -> Path:
    """Return the file's path. Raises `TicketsError` if others can read or write the file: executors unpickle its tickets."""
    path = Path(file).absolute()
    if os.name == "posix" and path.exists() and path.stat().st_mode & 0o077:
        raise TicketsError(
            f"other users can read {path.name}, or write calls into it that your executors would make; choose a new name, or, "
            f"if you know its contents: chmod 600 {path.name}"
        )
    return path


def claim_tickets(
    file: str | Path, name: str, tools: Sequence[str] = (), stop: Event | None = None, say: Callable[[str], Any] = print
) -> None:
    """Claim tickets from `file` and carry them out, one at a time, until `stop` is set.

    Args:
        name: the executor's name in the table.
        tools: its role: the tools whose tickets it claims; (): all.
        say: reports each answer, and whether it counts.
    """
    stop, role = stop or Event(), f" {' '.join(tools)} " if tools else ""
    path, leases = _private(file), _Leases()
    while not stop.is_set():
        with FILE.writing(path) as db:
            claim = {"holder": name, "tools": role, "silent": leases.silent(db), "claims": _CLAIMS}
            claimed = db.execute(CLAIM, claim).fetchall()  # all of them: an open cursor keeps the lock
        if not claimed:
            stop.wait(_LOOK)
            continue
        ((id, fence, work),) = claimed
        say(f"{name} claims ticket {id}, fence {fence}")
        over = Event()
        beats = Thread(target=_beat, args=(path, over, id, fence), daemon=True)
        beats.start()
        report = _report_of(work)
        over.set()
        beats.join()
        failed = report.error is not None or report.waits is not None
        answer = {"id": id, "fence": fence, "report": pickle.dumps(report), "failed": failed, "holder": name}
        with FILE.writing(path) as db:
            counts = db.execute(FINISH, answer).rowcount == 1
            if not counts:
                db.execute(KEEP_LATE, answer)
        say(f"{name} answers ticket {id}, fence {fence}{'' if counts else ': too late, kept as a note'}")


def _beat(path: Path, over: Event, id: int, fence: int) -> None:
    while not over.wait(LEASE / 4):
        with FILE.writing(path) as db:
            db.execute(HEARTBEAT, {"id": id, "fence": fence})


def _report_of(work: bytes) -> Report:
    try:
        fn, args = pickle.loads(work)
    except Exception as problem:  # this process can't import what the step needs
        return Report(error=f"{type(problem).__name__}: {problem}")
    return fn(*args)  # type: ignore[no-any-return]
