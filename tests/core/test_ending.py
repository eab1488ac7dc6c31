"""How the tests wait: a run that comes to no end is noticed by what it does, and the words name the step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import Inline, Plan, Policy, Pool, Tool, Toolbox, ToolExecutor, execute
from planexec_lite.workers import Workers, real_time
from tests.core.ending import LOOK, Standstill, to_its_end
from tests.core.shapes import step
from tests.guards import books

pytestmark = pytest.mark.slow


class Shelf(ThreadPoolExecutor):
    """Does what fails, and puts the rest on a shelf."""

    def submit(self, fn: Any, /, *args: Any, **named: Any) -> Any:
        return super().submit(fn, *args, **named) if args[0].args[1].id == "bad" else Future()


SOON = 8  # looks, a tenth of a second apart


class Held:
    """A tool that waits until the test is over."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def work(self, fails: bool = False) -> str:
        """Wait, or fail at once."""
        if fails:
            raise RuntimeError("no good")
        assert self.over.wait(60)
        return "worked"

    def circles(self) -> str:
        """Work without an end."""
        while not self.over.is_set():
            pass
        return "worked"


@pytest.fixture
def held() -> Iterator[Held]:
    site = Held()
    yield site
    site.over.set()


@pytest.fixture
def threads(held: Held) -> Iterator[ThreadPoolExecutor]:
    two = ThreadPoolExecutor(2)
    yield two
    held.over.set()
    two.shutdown()


def told(held: Held, workers: Workers, *steps: dict[str, Any], **policy: Any) -> str:
    tools = ToolExecutor(Toolbox([Tool(held.work, effects="none"), Tool(held.circles, effects="none")]))
    with pytest.raises(AssertionError) as caught:
        to_its_end(lambda: execute(Plan.parse(list(steps)), tools, workers=workers, policy=Policy(**policy)), SOON)
    return str(caught.value)


def test_what_comes_to_an_end_is_given_back_and_what_is_raised_goes_on() -> None:
    assert to_its_end(lambda: 5) == 5
    with pytest.raises(KeyError):
        to_its_end(lambda: {}["no"])


def test_the_step_that_is_waited_for_is_named_with_the_line_it_is_at(held: Held) -> None:
    message = told(held, Inline(), step("1", "work"), step("2", "work", "1"))
    assert "stands still" in message
    assert "step 1 (work) has been running since 0.0" in message
    assert "test_ending.py" in message
    assert "assert self.over.wait(60)" in message
    assert "step 2 (work) waits for step 1 (running)" in message
    assert "StepStarted 1" in message


def test_a_step_that_the_executor_has_not_begun_with_is_told(held: Held, threads: ThreadPoolExecutor) -> None:
    message = told(held, Pool(threads), *(step(str(n), "work") for n in range(3)))
    assert "step 2 (work) has been running since 0.0" in message
    assert "the executor has not begun with it" in message


def test_a_step_that_should_have_been_taken_back_is_told(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(real_time._Session, "cancel", lambda session: None)
    with Shelf(1) as shelf:
        message = told(held, Pool(shelf), step("bad", "work", fails=True), step("2", "work"), failure="stop")
    assert "the executor has not begun with it, and since nothing more is to start it should have been taken" in message


def test_a_step_that_is_not_given_up_is_told(
    held: Held, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_time._Session, "_overdue", lambda session: [])
    message = told(held, Pool(threads), step("1", "work", timeout=0.01))
    assert "longer than its timeout of 0.01 s and was not given up" in message


def test_an_end_that_the_loop_is_not_told_of_is_told(
    held: Held, threads: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_time._Session, "_ended", lambda *about: None)
    assert "it has ended, and the loop was not told" in told(held, Pool(threads), step("1", "work", fails=True))


def test_a_step_that_was_taken_back_unheard_is_told(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    tell = real_time._Session._ended
    monkeypatch.setattr(real_time._Session, "_ended", lambda *about: about[-1].cancelled() or tell(*about))
    with Shelf(1) as shelf:
        message = told(held, Pool(shelf), step("bad", "work", fails=True), step("2", "work"), failure="stop")
    assert "step 2 (work) has been running since 0.0" in message
    assert "it was taken back, and the loop was not told" in message


def test_who_goes_round_in_circles_is_told_too(held: Held) -> None:
    message = told(held, Inline(), step("1", "circles"))
    assert "goes round in circles" in message
    assert "step 1 (circles) has been running" in message


def test_a_run_that_was_left_behind_is_not_told_of_in_later_tests(held: Held, threads: ThreadPoolExecutor) -> None:
    told(held, Pool(threads), step("earlier", "work"))
    assert "earlier" not in told(held, Pool(threads), step("later", "work"))


def test_a_run_that_goes_round_in_circles_is_ended_after_its_test(held: Held) -> None:
    before = set(threading.enumerate())
    told(held, Inline(), step("1", "circles"))
    for thread in set(threading.enumerate()) - before:
        to_its_end(thread.join)


def test_where_there_is_no_run_the_line_of_the_thread_is_told(held: Held) -> None:
    with pytest.raises(AssertionError, match=r"stands still(.|\n)*its thread is at tests/core/test_ending.py:\d+: "):
        to_its_end(held.work, SOON)


def test_events_are_progress_however_long_they_take() -> None:
    still = Standstill()
    assert not any(still.look(n // 30, cpu=0.0) for n in range(1000))


def test_who_gets_a_little_of_a_busy_machine_does_not_stand_still() -> None:
    still = Standstill()
    looks = range(10 * still.looks)
    assert not any(still.look("one", cpu=n * LOOK / 20) for n in looks), "a twentieth of a CPU"


def test_looks_that_come_late_say_nothing_for_a_minute() -> None:
    still = Standstill()
    verdicts = [still.look("one", cpu=0.0, late=True) for _ in range(15 * still.looks + 1)]
    assert not any(verdicts[:-1])
    assert "stands still" in str(verdicts[-1])


def test_the_end_of_a_child_that_has_worked_is_no_standstill() -> None:
    still = Standstill()
    assert not any(still.look("one", cpu=2 - n / 20) for n in range(2 * still.looks)), "each look sees less than before"


def test_nobody_at_work_is_a_standstill_and_much_work_for_nothing_is_one() -> None:
    still = Standstill()
    assert [bool(still.look("one", cpu=0.0)) for _ in range(still.looks + 1)] == [False] * still.looks + [True]
    busy = Standstill()
    verdicts = [busy.look("one", cpu=n * LOOK) for n in range(busy.looks + 1)]
    assert not any(verdicts[:-1])
    assert "circles" in str(verdicts[-1])


def test_a_run_that_was_given_up_disturbs_no_later_test(tmp_path: Path) -> None:
    """With an error still to be raised in a thread that waits for good, Python 3.11 runs no further under a profiler."""
    first = f"{__file__}::test_an_end_that_the_loop_is_not_told_of_is_told"
    later = "tests/spans/test_foreign.py::test_a_long_foreign_trace_takes_what_its_length_says[in turns]"
    done = books.run("-m", "pytest", "-p", "no:xdist", first, later, scratch=tmp_path, timeout=120)
    assert "2 passed" in done.stdout
