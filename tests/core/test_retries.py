"""Which errors are worth a retry is told by the tool, not guessed from the words of the error."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from planexec_lite import Inline, Policy, Pool, Run, Simulated, Tool, Toolbox, ToolExecutor, execute, tool
from planexec_lite.events import StepFailed, StepStarted
from planexec_lite.plan import Plan
from tests.core.shapes import check_fold, step

ERRORS: dict[str, type[Exception]] = {"busy": ConnectionError, "gone": LookupError, "reset": ConnectionResetError}


class Line:
    """A telephone line that is busy some times, or says that nobody has that number."""

    def __init__(self, *says: str) -> None:
        self.says = list(says)

    def ring(self) -> str:
        """Ring once."""
        if self.says:
            raise ERRORS[word := self.says.pop(0)](word)
        return "hello"

    async def ring_async(self) -> str:
        """Ring once, and wait."""
        await asyncio.sleep(0)
        return self.ring()

    def run(self, retry_on: Any, workers: Any = None, name: str = "ring", **more: Any) -> Run:
        tools = Toolbox([Tool(getattr(self, name), retry_on=retry_on, effects="none")])
        plan = Plan.parse([step("1", name, **more)])
        run = execute(plan, ToolExecutor(tools), workers=workers or Simulated(), policy=Policy(retries=3))
        check_fold(run)
        return run


def tries(run: Run) -> int:
    return sum(isinstance(event, StepStarted) for event in run.events)


@pytest.mark.parametrize(
    ("says", "retry_on", "status", "count"),
    [
        (["busy", "busy"], None, "finished", 3),
        (["gone", "gone"], None, "finished", 3),
        (["busy", "busy"], [ConnectionError], "finished", 3),
        (["reset"], [ConnectionError], "finished", 2),  # it is a kind of ConnectionError
        (["busy", "gone"], [ConnectionError], "failed", 2),
        (["gone"], [ConnectionError, TimeoutError], "failed", 1),
        (["busy"], [], "failed", 1),
    ],
)
def test_only_the_errors_that_the_tool_names_are_tried_again(
    says: list[str], retry_on: Any, status: str, count: int
) -> None:
    run = Line(*says).run(retry_on)
    assert (run.status, tries(run)) == (status, count)
    assert [event.final for event in run.events if isinstance(event, StepFailed)][-1:] == [status == "failed"]


def test_the_retries_that_a_step_asks_for_itself_end_there_too() -> None:
    assert tries(Line("gone").run([ConnectionError], retries=5)) == 1


@pytest.mark.parametrize("name", ["ring", "ring_async"])
def test_it_is_so_on_threads_inline_and_in_async_tools(name: str) -> None:
    with ThreadPoolExecutor(1) as threads:
        for workers in (Inline(), Pool(threads)):
            run = Line("busy", "gone").run([ConnectionError], workers, name)
            assert (run.status, tries(run)) == ("failed", 2)


@tool(retry_on=[ConnectionError], effects="none")
def ring() -> str:
    """Ring once."""
    return "hello"


def test_a_tool_that_is_sent_to_another_process_keeps_what_it_names() -> None:
    for one in (ring.tool, Tool(ring, name="phone", retry_on=(ConnectionError,), effects="none")):  # type: ignore[attr-defined]
        assert pickle.loads(pickle.dumps(one)).retry_on == (ConnectionError,)
