"""Tickets on DBOS (extra `dbos`): each step is a workflow in a queue, and executors in other processes take it.

DBOS has a fence: an answer counts only from the execution that owns the workflow. But it does not notice a dead executor.
Here each executor touches a file regularly. If it stops, the waiting process puts its workflows back into the queue. DBOS might
still run a workflow that was cancelled in the queue, so a ticket is never cancelled here: a queued step runs and counts.

``python -m planexec_lab.tickets.on_dbos FILE NAME`` runs an executor. FILE is a SQLite file, or the address of a Postgres database;
in that case, the files of the heartbeats are in the working directory.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

from dbos import DBOS, DBOSClient

from planexec_lite.workers import Report

LEASE, _LOOK, QUEUE, VERSION = 2.0, 0.05, "steps", "1"


def address(file: str) -> str:
    """Return the address of the database."""
    return file if "://" in file else f"sqlite:///{file}"


def pulse(file: str, name: str) -> Path:
    """Return the file that an executor touches while it lives."""
    return Path(f"{'pulse' if '://' in file else file}-{name}")


def claim_tickets(file: str, name: str) -> None:
    """Take steps from the queue and carry them out, one at a time, until this process ends."""
    how: Any = {"name": "planexec", "system_database_url": address(file), "executor_id": name}
    DBOS(config=how | {"application_version": VERSION, "run_admin_server": False, "log_level": "ERROR"})

    @DBOS.step(name="begin")  # type: ignore[untyped-decorator, unused-ignore]
    def begin(execution: str) -> str:
        return execution  # it is written down: a later execution reads the name of the first one

    @DBOS.workflow(name="step", max_recovery_attempts=4)  # type: ignore[untyped-decorator, unused-ignore]
    def step(work: bytes, repeatable: bool) -> bytes:
        execution = uuid4().hex
        if begin(execution) != execution and not repeatable:
            return pickle.dumps(Report(error="RuntimeError: the executor that began it is silent", lost=True))
        fn, args = pickle.loads(work)
        return pickle.dumps(fn(*args))

    DBOS.launch()
    DBOS.register_queue(QUEUE, worker_concurrency=1, polling_interval_sec=_LOOK)
    while True:
        pulse(file, name).touch()
        time.sleep(LEASE / 4)


class Tickets(Executor):
    """An executor that writes calls into a DBOS queue; see `queue.Tickets`."""

    def __init__(self, file: str) -> None:
        self.file, self._client = file, DBOSClient(system_database_url=address(file))
        self._open: dict[str, Future[Any]] = {}
        self._stopped = Event()
        Thread(target=self._listen, name="tickets", daemon=True).start()

    @property
    def keys(self) -> set[str]:
        """The idempotency keys of calls that wait, run, or are done without an error."""
        known = self._client.list_workflows(load_input=False)
        return {one.workflow_id.rpartition("-")[0] for one in known if not _has_failed(one)}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue the call ``fn(work)`` of a `Submission`, or find the workflow of its key."""
        work = args[0]
        key = work.key or uuid4().hex
        before = self._client.list_workflows(workflow_id_prefix=f"{key}-", load_input=False)
        id = f"{key}-{sum(map(_has_failed, before))}"  # after a failed attempt comes a new workflow
        ticket: Future[Any] = Future()
        ticket.set_running_or_notify_cancel()
        self._open[id] = ticket
        how: Any = {"workflow_name": "step", "queue_name": QUEUE, "workflow_id": id, "app_version": VERSION}
        self._client.enqueue(how, pickle.dumps((fn, args)), work.repeatable)
        return ticket

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Stop listening. The workflows stay in the database."""
        self._stopped.set()

    def _listen(self) -> None:
        while not self._stopped.wait(_LOOK):
            waiting = list(self._open)
            for one in self._client.list_workflows(workflow_ids=waiting, load_input=False) if waiting else ():
                if one.status == "PENDING" and self._is_silent(one.executor_id):
                    self._client.resume_workflow(one.workflow_id, queue_name=QUEUE)
                elif one.status == "SUCCESS":
                    self._open.pop(one.workflow_id).set_result(pickle.loads(one.output))
                elif one.status not in ("PENDING", "ENQUEUED", "DELAYED"):
                    report = Report(error=f"RuntimeError: {one.status}: {one.error}", lost=True)
                    self._open.pop(one.workflow_id).set_result(report)

    def _is_silent(self, name: str) -> bool:
        file = pulse(self.file, name)
        return not file.exists() or time.time() - file.stat().st_mtime > LEASE


def _has_failed(one: Any) -> bool:
    if one.status != "SUCCESS":
        return one.status not in ("PENDING", "ENQUEUED", "DELAYED")
    report = pickle.loads(one.output)
    return report.error is not None or report.waits is not None


if __name__ == "__main__":
    claim_tickets(*sys.argv[1:])
