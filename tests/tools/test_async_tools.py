"""Tools written with `async def`: on all kinds of workers, inside a running loop, and in parallel."""

import asyncio
import contextlib
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lite import Inline, Plan, Policy, Pool, Run, Simulated, Tool, Toolbox, ToolExecutor, execute, tool
from planexec_lite.tools import awaiting
from planexec_lite.workers import Workers
from tests.core import agents, odd_tools
from tests.core.ending import to_its_end
from tests.core.shapes import check_order, step
from tests.journal.runs import printed

TOOLS = Toolbox([odd_tools.awaits, odd_tools.async_raises, odd_tools.async_process, odd_tools.fine, odd_tools.process])
CHAIN = [
    step("1", "awaits", value=1),
    step("2", "awaits", "1", value="{step_1_result}"),
    step("3", "fine", "2", value="{step_2_result}"),
]


def carry_out(steps: list[dict[str, Any]], workers: Workers, tools: Any = TOOLS) -> Run:
    run = to_its_end(lambda: agents.carry_out(steps, tools, workers))
    check_order(run)
    return run


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait only briefly for a blocked loop and for a tool that ignores its cancellation."""
    monkeypatch.setattr(awaiting, "GRACE", 0.05)


def test_async_tools_give_results_like_any_tool(workers: Workers) -> None:
    run = carry_out(CHAIN, workers)
    assert (run.status, run.results) == ("finished", {"1": 2, "2": 4, "3": 8})


class Bound:
    """A client with an open connection, which works only on the loop of its first call."""

    def __init__(self) -> None:
        self.loop: Any = None

    async def ask(self, what: str) -> str:
        self.loop = self.loop or asyncio.get_running_loop()
        if self.loop is not asyncio.get_running_loop():
            raise RuntimeError("attached to a different loop")
        await asyncio.sleep(0.001)
        return f"about {what}"


def test_steps_and_runs_can_share_a_client_that_is_bound_to_a_loop(threads: ThreadPoolExecutor) -> None:
    client = Bound()

    @tool(effects="none")
    async def ask(what: str) -> str:
        return await client.ask(what)

    steps = [step(str(n), "ask", *([str(n - 1)] if n % 2 else []), what=str(n)) for n in range(6)]
    for workers in (Pool(threads), Inline(), Simulated()):
        run = carry_out(steps, workers, [ask])
        assert run.results == {str(n): f"about {n}" for n in range(6)}


def test_async_tools_run_inside_a_running_loop(threads: ThreadPoolExecutor) -> None:
    some: list[Workers] = [Inline(), Simulated(), Simulated(1), Pool(threads)]

    async def main() -> list[Run]:
        runs = [execute(Plan.parse(CHAIN), ToolExecutor(TOOLS), workers=workers) for workers in some]
        return [*runs, await asyncio.to_thread(execute, Plan.parse(CHAIN), ToolExecutor(TOOLS))]

    for run in to_its_end(lambda: asyncio.run(main())):
        assert run.results == {"1": 2, "2": 4, "3": 8}


@pytest.mark.usefixtures("short_grace")
@pytest.mark.parametrize("inner", ["inline", "simulated", "threads", "the same threads"])
@pytest.mark.parametrize("outer", ["inline", "simulated", "threads"])
def test_a_plan_inside_an_async_tool_does_not_deadlock(outer: str, inner: str, threads: ThreadPoolExecutor) -> None:
    others = ThreadPoolExecutor(4)
    here: dict[str, Workers] = {"inline": Inline(), "simulated": Simulated(), "threads": Pool(threads)}
    inside = {**here, "threads": Pool(others), "the same threads": Pool(threads)}[inner]

    @tool(effects="none")
    async def nests(value: int) -> int:
        plan = Plan.parse([step("1", "awaits", value=value), *CHAIN[1:]])
        if inner == "the same threads":
            run = await asyncio.to_thread(execute, plan, ToolExecutor(TOOLS), workers=inside)
        else:
            run = execute(plan, ToolExecutor(TOOLS), workers=inside)
        return int(run.results["3"])

    steps = [step("1", "nests", value=1), step("2", "nests", value=2), step("3", "awaits", "1", value=1)]
    try:
        run = carry_out(steps, here[outer], [nests, odd_tools.awaits])
        assert run.results == {"1": 8, "2": 16, "3": 2}
    finally:
        others.shutdown(wait=False, cancel_futures=True)


def test_a_loop_that_is_left_ends_with_its_last_call_and_loses_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaiting, "GRACE", 0.0)
    before = set(threading.enumerate())
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda n: awaiting.awaited(odd_tools.awaits(n)), range(200)))
    assert results == [2 * n for n in range(200)]
    for left in set(threading.enumerate()) - before - {place.thread for place in awaiting._shared.values()}:
        to_its_end(left.join, 20)


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt])
def test_the_loop_survives_a_background_task_that_exits(error: type[BaseException]) -> None:
    async def leaves() -> str:
        async def exits() -> None:
            raise error

        asyncio.get_running_loop().create_task(exits())
        await asyncio.sleep(0.01)
        return "done"

    called = to_its_end(lambda: [awaiting.awaited(one) for one in (leaves(), odd_tools.awaits(1))], 20)
    assert called == ["done", 2]


@pytest.fixture
def stuck(short_grace: None) -> Iterator[Toolbox]:
    """Tools that block their loop, or ignore their cancellation, until the test is over."""
    over = threading.Event()

    async def blocks() -> str:
        over.wait()
        return "late"

    async def ignores() -> str:
        while not over.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
        return "late"

    async def nests(name: str) -> str:
        plan = Plan.parse([step("1", name, timeout=0.01)])
        return execute(plan, ToolExecutor(Toolbox([blocks, ignores]))).board.errors["1"]

    yield Toolbox([blocks, ignores, nests, odd_tools.awaits])
    over.set()


TOO_LONG: list[tuple[dict[str, Any], Policy]] = [
    (step("1", "blocks", timeout=0.01), Policy()),
    (step("1", "ignores"), Policy(deadline=0.01)),
    (step("1", "nests", name="blocks", timeout=0.01), Policy()),
    (step("1", "nests", name="ignores", timeout=0.01), Policy()),
]


@pytest.mark.parametrize(("late", "policy"), TOO_LONG)
def test_an_endless_async_tool_delays_no_other_step(stuck: Toolbox, late: dict[str, Any], policy: Policy) -> None:
    run = to_its_end(lambda: execute(Plan.parse([late]), ToolExecutor(stuck), policy=policy))
    assert run.board.state == {"1": "failed"}
    assert run.board.errors["1"].startswith("TimeoutError: ")
    assert carry_out(CHAIN, Inline()).results["3"] == 8


def test_an_async_generator_is_not_a_result() -> None:
    @tool(effects="none")
    async def many() -> AsyncIterator[int]:
        yield 1

    run = carry_out([step("1", "many")], Inline(), [many])
    assert run.board.state == {"1": "failed"}
    assert "returned" in run.board.errors["1"]


def test_an_awaitable_result_of_a_plain_tool_or_callable_object_is_awaited() -> None:
    @tool(effects="none")
    def later(value: int) -> Any:
        return odd_tools.awaits(value)

    class Doubling:
        __name__ = "doubling"
        __doc__ = "Double."

        async def __call__(self, value: int) -> int:
            return value * 2

    tools = Toolbox([later, Tool(Doubling().__call__, name="doubling", effects="none")])
    run = carry_out([step("1", "later", value=3), step("2", "doubling", value=4)], Inline(), tools)
    assert run.results == {"1": 6, "2": 8}


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C interrupts, also if the tests run in the background, where it is switched off."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_ctrl_c_cancels_the_async_tool_and_stops_the_run(ctrl_c: None) -> None:
    begun, cancelled = threading.Event(), threading.Event()

    @tool(effects="none")
    async def long() -> str:
        begun.set()
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return "done"

    main = threading.main_thread().ident

    def press() -> None:
        begun.wait(60)
        while sys._current_frames()[main].f_code.co_name != "wait":
            time.sleep(0.001)
        signal.pthread_kill(main, signal.SIGINT)

    threading.Thread(target=press, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        execute(Plan.parse([step("1", "long")]), ToolExecutor(Toolbox([long])))
    assert cancelled.wait(60)
    assert carry_out([step("1", "awaits", value=1)], Inline()).results == {"1": 2}


CLOSES = """
    import asyncio, os, select, socket, sys, time
    from concurrent.futures import ThreadPoolExecutor
    from planexec_lite import Pool, Tool
    from tests.core.agents import carry_out
    from tests.core.shapes import step

    sockets = []

    async def waits(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    def close(seconds: float) -> str:
        "Close all handles, and open sockets that get their numbers."
        time.sleep(seconds)
        os.closerange(3, 200)
        pairs = 20 + len(sockets)  # more each time, so that they also get the numbers of the loop that came after them
        sockets.extend(end for _ in range(pairs) for end in socket.socketpair())
        return "closed"

    tools = [Tool(waits, effects="none"), Tool(close, effects="none")]
    steps = {
        "before and after": [
            step("1", "waits", seconds=0.01),
            step("2", "close", "1", seconds=0),
            step("3", "waits", "2", seconds=0.01),
        ],
        "meanwhile": [
            step("1", "waits", seconds=float(sys.argv[1])),
            step("2", "close", seconds=0.1),
            step("3", "waits", "2", seconds=0.01),
        ],
        "later": [step("1", "waits", seconds=0.01)],
    }
    for name, plan in steps.items():
        print(name, carry_out(plan, tools, Pool(ThreadPoolExecutor(2))).reason)
    time.sleep(0.3)
    before = time.process_time()
    time.sleep(0.3)
    print("idle" if time.process_time() - before < 0.2 else "busy")
    print("written to" if select.select(sockets, [], [], 0)[0] else "silent")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="its loop has no handles that a program closes by number")
@pytest.mark.parametrize("seconds", [0.3, 30.0])
def test_a_call_whose_loop_was_closed_by_other_code_fails_and_later_ones_work(seconds: float) -> None:
    first, meanwhile, later, idle, sockets = printed(CLOSES, seconds).splitlines()
    assert first == "before and after 3 steps done"
    assert "closed the files of the loop of async tools" in meanwhile
    assert (later, idle, sockets) == ("later 1 steps done", "idle", "silent")
