"""Tickets on DBOS, as in `elsewhere.tickets`: each step is a workflow in the queue of its tool; executors elsewhere take it.

DBOS has a fence: an answer counts only from the execution that owns the workflow. A late answer is not kept. DBOS does not notice a
dead executor. So each executor touches a file regularly; if it stops, the waiting process puts its workflows back into the queue.

Two traps of DBOS 3.4: it might still run a workflow that was cancelled in the queue, so a ticket can't be cancelled here: a queued
step runs, and its answer counts. If another program cancels it, the call is lost, and an at-most-once step is in doubt.

``python -m elsewhere.dbos_tickets FILE NAME [TOOL ...]`` runs an executor for these tools, or for all, with a thread for each tool.
FILE is a SQLite file, or the address of a Postgres database; in that case, the heartbeats are files in the working directory.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any
from uuid import uuid4

from dbos import DBOS, DBOSClient

from planexec_lite.workers import Report

LEASE, _LOOK, QUEUE, VERSION = 2.0, 0.05, "steps", "1"
WAITING = ("PENDING", "ENQUEUED", "DELAYED")


def address(file: str) -> str:
    """Return the address of the database."""
    return file if "://" in file else f"sqlite:///{file}"


def pulse(file: str, name: str) -> Path:
    """Return the file that an executor touches while it lives."""
    return Path(f"{'pulse' if '://' in file else file}-{name}")


def claim_tickets(file: str, name: str, *tools: str) -> None:
    """Take steps from the queues of these tools (none: of all) and carry them out, until this process ends."""
    how: Any = {"name": "planexec", "system_database_url": address(file), "executor_id": name}
    DBOS(config=how | {"application_version": VERSION, "run_admin_server": False, "log_level": "ERROR"})

    @DBOS.step(name="begin")
    def begin(execution: str) -> str:
        return execution  # it is written down: a later execution reads the name of the first one

    @DBOS.workflow(name="step", max_recovery_attempts=4)
    def step(work: bytes, repeatable: bool) -> bytes:
        execution = uuid4().hex
        if begin(execution) != execution and not repeatable:
            return pickle.dumps(Report(error="RuntimeError: the executor that began it is silent", lost=True))
        fn, args = pickle.loads(work)
        return pickle.dumps(fn(*args))

    if tools:
        DBOS.listen_queues(tools)
    DBOS.launch()
    while True:
        pulse(file, name).touch()
        time.sleep(LEASE / 4)


class Tickets(Executor):
    """An executor that writes calls into DBOS queues; see `elsewhere.tickets.Tickets`."""

    def __init__(self, file: str) -> None:
        self.file, self._client = file, DBOSClient(system_database_url=address(file))
        self._open: dict[str, Future[Any]] = {}
        self._queues: set[str] = set()
        self._stopped, self._lock = Event(), Lock()
        Thread(target=self._listen, name="tickets", daemon=True).start()

    @property
    def keys(self) -> set[str]:
        """The idempotency keys of calls that wait, run, or are done without an error."""
        known = self._client.list_workflows(load_input=False)
        return {one.workflow_id.rpartition("-")[0] for one in known if not _has_failed(one)}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue the call ``fn(work)`` of a `Submission`, or find the workflow of its key."""
        work = args[0]
        key, tool = work.key or uuid4().hex, getattr(work.args[1] if len(work.args) > 1 else None, "tool", None)
        queue = tool or QUEUE
        if queue not in self._queues:
            self._client.register_queue(queue, worker_concurrency=1, polling_interval_sec=_LOOK)
            self._queues.add(queue)
        before = self._client.list_workflows(workflow_id_prefix=f"{key}-", load_input=False)
        id = f"{key}-{sum(map(_has_failed, before))}"  # after a failed attempt comes a new workflow
        how: Any = {"workflow_name": "step", "queue_name": queue, "workflow_id": id, "app_version": VERSION}
        ticket: Future[Any] = Future()
        ticket.set_running_or_notify_cancel()
        with self._lock:
            if self._stopped.is_set():
                raise RuntimeError("no ticket is submitted after a shutdown, or after its database was lost")
            self._client.enqueue(how, pickle.dumps((fn, args)), work.repeatable)
            self._open[id] = ticket
        return ticket

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop listening: open futures are lost. The workflows stay in the database."""
        self._stopped.set()

    def _listen(self) -> None:
        why = "the queue was shut down; the ticket is still in its database"
        try:
            while not self._stopped.wait(_LOOK):
                self._look()
        except Exception as problem:
            why = f"{type(problem).__name__}: {problem}"
        with self._lock:
            self._stopped.set()
        for ticket in self._open.values():
            ticket.set_result(Report(error=f"RuntimeError: {why}", lost=True))

    def _look(self) -> None:
        with self._lock:
            waiting = list(self._open)
        for one in self._client.list_workflows(workflow_ids=waiting, load_input=False) if waiting else ():
            id = one.workflow_id
            if one.status == "PENDING" and self._is_silent(one.executor_id):
                self._client.resume_workflow(id, queue_name=one.queue_name or QUEUE)
            elif one.status == "SUCCESS":
                self._open.pop(id).set_result(pickle.loads(one.output))
            elif one.status not in WAITING:
                self._open.pop(id).set_result(Report(error=f"RuntimeError: {one.status}: {one.error}", lost=True))

    def _is_silent(self, name: str) -> bool:
        file = pulse(self.file, name)
        return not file.exists() or time.time() - file.stat().st_mtime > LEASE


def _has_failed(one: Any) -> bool:
    if one.status != "SUCCESS":
        return one.status not in WAITING
    report = pickle.loads(one.output)
    return report.error is not None or report.waits is not None


if __name__ == "__main__":
    claim_tickets(*sys.argv[1:])
