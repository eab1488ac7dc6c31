"""Executors like clusters: they lose workers, repeat calls, remember results, and report little."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

Call = Callable[[], Any]


class LostWorker(Exception):
    """The engine gives up a call, because its worker died."""


class Cluster(Executor):
    """Runs each call on a new thread; its futures are never running and can always be cancelled.

    Args:
        lose: the calls, by their number, whose worker dies: "before" it begins, or "after" it has made the call.
        repeat: whether such a call is made again on another worker, as Dask does, instead of failing.
        hold: the calls that stay in a queue.
        remember: equal arguments get the first result, as Dask's ``pure=True`` does.
    """

    def __init__(
        self,
        lose: dict[int, str] | None = None,
        *,
        repeat: bool = False,
        hold: tuple[int, ...] = (),
        remember: bool = True,
    ) -> None:
        self.lose, self.repeat, self.hold, self.remember = dict(lose or {}), repeat, hold, remember
        self.submitted = 0
        self.results: dict[Any, Future[Any]] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        number, self.submitted = self.submitted, self.submitted + 1
        same = getattr(args[0], "__dask_tokenize__", lambda: args)()
        if self.remember and same in self.results:
            return self.results[same]
        future = self.results[same] = Future()
        if number not in self.hold:
            threading.Thread(target=self._run, args=(number, future, lambda: fn(*args, **kwargs)), daemon=True).start()
        return future

    def _run(self, number: int, future: Future[Any], call: Call) -> None:
        dies = self.lose.get(number)
        if dies == "after":
            call()
        if dies is not None and not self.repeat:
            end(future, LostWorker("the worker died"))
            return
        end(future, call())


def end(future: Future[Any], outcome: Any) -> None:
    """Give the future its outcome, unless it was cancelled."""
    time.sleep(0.001)
    if future.set_running_or_notify_cancel():
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)
