"""Clusters (lesson 14): executors that send calls to other processes, and make one again when its worker dies.

    execute(plan, executor, workers=ClusterPool(client.get_executor()))

Few of them say truly which calls have begun: they call none running, and let you cancel one that is; if a worker dies,
some make the calls again that it had begun. So each call needs a permit, which either a worker takes or the run
withdraws. The permit answers: has the call begun, can it be cancelled, did another worker begin it?
"""

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock, Thread
from typing import Any

from planexec_lite.workers import Pool, Report, Task, WorkerSession, carried_by, described, measure
from planexec_lite.workers.session import check_slots

SUBMISSIONS = 4
"""How often a call is submitted, if the executor loses it again and again."""


@dataclass(frozen=True, slots=True)
class Submission:
    """A call as an executor receives it, with what an executor that keeps its calls must know about it.

    Args:
        executors: the executors that wait for the call, by their id.
        key: the idempotency key, which is the same in every attempt; None: the call has none.
        repeatable: a repeat does no harm.
    """

    call: Callable[..., Any]
    args: tuple[Any, ...]
    executors: frozenset[int] = frozenset()
    key: str | None = None
    repeatable: bool = False


def carry_out(work: Submission) -> Report:
    """Measure a call on a worker of an executor, and tell it which executors wait for it."""
    token = carried_by.set(work.executors)
    try:
        return measure(work.call, work.args)
    finally:
        carried_by.reset(token)


@dataclass(frozen=True, slots=True)
class ClusterPool:
    """Workers on any `concurrent.futures.Executor`, such as that of a cluster. It is not shut down.

    If the executor loses a worker, calls that have not begun, or that can be repeated, are submitted again, four times at
    most. Another call that has begun is in doubt: the run pauses until a person has said whether it was done.

    Args:
        executor: where the steps run.
        slots: how many are submitted at once; None: all that are ready.
        limits: how many steps can use a resource at once, such as ``{"oven": 1}``.
        permits: a folder that this process and the workers share, if they are on several machines; None: a temporary
            one.

    Raises `TypeError` for anything but an executor.
    """

    executor: Executor
    slots: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)
    permits: str | Path | None = None

    def __post_init__(self) -> None:
        given: object = self.executor
        if not isinstance(given, Executor):
            raise TypeError(f"ClusterPool takes a concurrent.futures.Executor, not {given!r}")

    @contextmanager
    def open(self, now: float = 0.0) -> Iterator[WorkerSession]:
        """Give a session on the executor. Calls from one of the executor's own threads are made there, not submitted."""
        lets_begin_once = hasattr(self.executor, "keys")
        permitted = nullcontext(self.executor) if lets_begin_once else _Permitted(self.executor, self.permits)
        with permitted as executor, _AnyPool(executor, self.slots).open(now) as session:
            yield session

    def holds(self, key: str) -> bool:
        """Return whether the executor outlives this process and has the call of this idempotency key, or its result."""
        return key in getattr(self.executor, "keys", ())


class _AnyPool(Pool):
    """A pool of any executor that begins each call once."""

    def __post_init__(self) -> None:
        check_slots(self.slots)

    def submit(self, task: Task, hear: Callable[[Any], bool]) -> Future[Report]:
        """Give a `Submission` to the executor."""
        key = None if task.key is None else task.key()
        waiting = carried_by.get() | {id(self.executor)}
        return self.executor.submit(carry_out, Submission(task.call, task.args, waiting, key, task.repeatable))


@dataclass(frozen=True, slots=True)
class Permit:
    """The permit to begin a call: a folder at `path`, which only one process can make; a file there, if it is withdrawn."""

    path: str

    @property
    def is_taken(self) -> bool:
        """Whether a worker has begun the call."""
        return os.path.isdir(self.path)

    def take(self) -> bool:
        """Begin the call. Return False if it has begun before, or was withdrawn.

        Raises `FileNotFoundError` if the folder of the permits does not exist.
        """
        try:
            os.mkdir(self.path)
        except FileExistsError:
            return False
        return True

    def withdraw(self) -> bool:
        """Forbid the call. Return False if a worker has begun it, or might still begin it."""
        try:
            open(self.path, "x").close()
        except FileExistsError:
            return not self.is_taken
        except OSError:  # no file can be made now
            return False
        return True


@dataclass(frozen=True, slots=True)
class PermittedCall:
    """A call with its permit. Dask compares calls by their token, and makes equal ones only once."""

    work: Submission
    permit: Permit

    def __dask_tokenize__(self) -> str:
        return self.permit.path


def carry_out_permitted(call: PermittedCall) -> Report:
    """Carry out a call on a worker, unless its permit was withdrawn, or it has begun before and can't be repeated."""
    permit = call.permit
    try:
        begins = permit.take() or (call.work.repeatable and permit.is_taken)
    except FileNotFoundError:
        folder = os.path.dirname(permit.path)
        why = "its run has ended, or this machine needs a folder that all share: ClusterPool(..., permits=folder)"
        return Report(error=f"RuntimeError: not called: there is no {folder}; {why}")
    if not begins:
        return Report(error="RuntimeError: another worker began it and was lost", lost=True)
    return carry_out(call.work)


class _Call(Future[Report]):
    """The future of a call through all its submissions. Its permit says whether it is running."""

    def __init__(self, work: Submission) -> None:
        super().__init__()
        self.work = work
        self.permit = Permit("")
        self.future: Future[Any] | None = None  # of the latest submission
        self.submissions = 0
        self.lock = Lock()  # a call is not cancelled while it is submitted again

    def running(self) -> bool:
        """Whether a worker has begun the call."""
        return self.permit.is_taken and not self.done()

    def cancel(self) -> bool:
        """Withdraw the permit. Return False if a worker has begun the call, or might still begin it."""
        with self.lock:
            if not self.permit.withdraw():
                return False
            if self.future is not None:
                with suppress(Exception):  # a scheduler might not answer
                    self.future.cancel()
            return super().cancel()

    def report(self, report: Report) -> None:
        """Set the result, unless the call was cancelled."""
        with suppress(InvalidStateError):
            self.set_result(report)


class _Permitted(Executor):
    """The executor of one run on a cluster: each call begins once, and is submitted again if that is safe."""

    def __init__(self, executor: Executor, permits: str | Path | None) -> None:
        self.executor = executor
        self.permits = permits
        self.folder: str | None = None
        self.numbers = count()
        self.lock = Lock()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all permits of the run. The executor itself goes on."""
        if self.folder is not None:
            # renamed first: no permit can be taken while the folder is being removed
            with suppress(OSError):
                rmtree(Path(self.folder).rename(f"{self.folder}-over"), ignore_errors=True)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a call, and return its future."""
        call = _Call(args[0])
        self._submit(call)
        return call

    def _submit(self, call: _Call) -> None:
        """Submit a call. If the executor refuses it, it has failed, and is in doubt if it might begin all the same."""
        with call.lock:
            if call.cancelled():
                return
            call.submissions += 1
            call.permit = Permit(f"{self._folder()}/{next(self.numbers)}")
            try:
                future = call.future = self._accepted(call)
            except Exception as problem:
                begun = not call.permit.withdraw()
                call.report(Report(error=described(problem), lost=begun and not call.work.repeatable))
                return
        future.add_done_callback(partial(self._ended, call, call.permit))

    def _accepted(self, call: _Call) -> Future[Any]:
        waiting = call.work.executors
        work = PermittedCall(replace(call.work, executors=waiting | {id(self.executor)}), call.permit)
        if id(self.executor) in waiting:  # one of its threads waits for this call, perhaps its only one
            made: Future[Any] = Future()
            made.set_result(carry_out_permitted(work))
            return made
        return self.executor.submit(carry_out_permitted, work)

    def _folder(self) -> str:
        with self.lock:
            if self.folder is None:
                self.folder = mkdtemp(prefix="planexec-", dir=self.permits)
            return self.folder

    def _ended(self, call: _Call, permit: Permit, future: Future[Any]) -> None:
        report = _report_of(future)
        if report.lost:
            begun = not permit.withdraw()
            report.lost = begun and not call.work.repeatable
            if not report.lost and call.submissions < SUBMISSIONS:
                # on another thread: an executor can hold its own lock while it reports
                Thread(target=self._submit, args=(call,), daemon=True).start()
                return
        call.report(report)


def _report_of(future: Future[Any]) -> Report:
    """Return the report of a call; one that is lost, if the executor gives none."""
    if future.cancelled():
        return Report(error="CancelledError: the executor cancelled it", lost=True)
    if (problem := future.exception()) is not None:
        return Report(error=described(problem), lost=True)
    result = future.result()
    if isinstance(result, Report):
        return result
    kind = type(result).__name__
    return Report(error=f"TypeError: the executor returned {kind}, not the call's report", lost=True)
