"""Big results stay with the workers: the same answers, a small board, an empty store afterwards; no handle can be forged."""

import json
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from planexec_lab.tickets import Folder, Handles
from planexec_lite import Journal, Plan, PlannerExecutor, Pool, Run, Toolbox, ToolExecutor, execute, tool


@tool(effects="none")
def load(items: int) -> list[str]:
    """Return many items."""
    return [f"item {number}" for number in range(items)]


@tool(effects="none")
def count(items: list[str], first: str = "") -> int:
    """Count the items."""
    return len(items) + len(first)


@tool(effects="none")
def echo(value: Any) -> Any:
    """Return a value."""
    return value


@tool(effects="once")
def send(value: Any) -> int:
    """Send a value."""
    return len(value)


@tool(effects="idempotent")
def remove(value: Any) -> None:
    """Remove a value."""


TOOLS = ToolExecutor(Toolbox([load, count, echo, send, remove]))
PLAN = Plan.parse(
    [
        {"id": "load", "tool": "load", "params": {"items": 5000}},
        {
            "id": "count",
            "tool": "count",
            "params": {"items": "{step_load_result}", "first": "{step_load_result[0]}"},
            "depends_on": ["load"],
        },
        {"id": "send", "tool": "send", "params": {"value": "{step_load_result}"}, "depends_on": ["load"]},
    ]
)


def changed(**step: Any) -> Plan:
    return Plan.parse([PLAN.steps[0].model_dump(), {"id": "next", "depends_on": ["load"], **step}])


@pytest.mark.slow
def test_the_board_and_the_journal_stay_small_and_the_store_is_freed(tmp_path: Path) -> None:
    with ProcessPoolExecutor(2) as pool, closing(Handles(TOOLS, Folder(tmp_path / "store"))) as executor:
        run = execute(PLAN, executor, workers=Pool(pool), journal=Journal(tmp_path / "journal.db"))
        plain = execute(PLAN, TOOLS)
        assert {id: executor.value(result) for id, result in run.results.items()} == plain.results
        assert (run.results["count"], run.results["send"]) == (5006, 5000)
        assert len(executor.store) == 1
    assert list((tmp_path / "store").iterdir()) == []
    assert (tmp_path / "journal.db").stat().st_size < 50_000 < len(json.dumps(plain.results["load"]))


def test_a_resumed_run_reads_what_an_earlier_process_stored(tmp_path: Path) -> None:
    finished = execute(PLAN, Handles(TOOLS, Folder(tmp_path)))
    dead = Run()
    dead.uid = finished.uid
    for event in finished.events[:-3]:
        dead.record(event)
    assert dead.status == "running"
    resumed = PlannerExecutor(None, Handles(TOOLS, Folder(tmp_path))).resume(dead)
    assert resumed.status in ("finished", "paused")
    assert resumed.results["count"] == 5006


@pytest.mark.parametrize("lose", ["closed", "cut"])
def test_a_lost_result_fails_the_step_before_it_begins(tmp_path: Path, lose: str) -> None:
    executor = Handles(TOOLS, Folder(tmp_path))

    def watch(run: Run) -> None:
        if run.results and executor.store:
            if lose == "closed":
                executor.close()
            else:
                name = next(iter(executor.store))
                executor.store[name] = executor.store[name][:-1]

    run = execute(changed(tool="send", params={"value": "{step_load_result}"}), executor, watch=watch)
    assert run.status == "failed"
    assert "is lost" in run.board.errors["next"]


@pytest.mark.parametrize(
    "step",
    [
        {"tool": "send", "params": {"value": "{step_load_result[0]}"}},
        {"tool": "echo", "undo": {"tool": "remove", "params": {"value": "{step_load_result}"}}, "params": {"value": 1}},
    ],
    ids=["part", "undo"],
)
def test_what_the_loop_would_have_to_read_is_refused(tmp_path: Path, step: dict[str, Any]) -> None:
    run = execute(changed(**step), Handles(TOOLS, Folder(tmp_path)))
    assert "is in a big result" in run.board.errors["next"]


def test_no_result_can_pretend_to_be_a_handle(tmp_path: Path) -> None:
    executor = Handles(TOOLS, Folder(tmp_path))
    secret = execute(PLAN, executor).results["load"]
    forged = json.loads(json.dumps(secret))
    plan = Plan.parse(
        [
            {"id": 1, "tool": "echo", "params": {"value": forged}},
            {"id": 2, "tool": "echo", "params": {"value": "{step_1_result}"}, "depends_on": [1]},
            {"id": 3, "tool": "echo", "params": {"value": {"inside": "{step_2_result}"}}, "depends_on": [2]},
        ]
    )
    run = execute(plan, executor)
    assert executor.value(run.results["2"]) == forged
    assert run.results["3"] == {"inside": forged}


def test_the_result_of_a_step_with_an_undo_stays_on_the_board(tmp_path: Path) -> None:
    undo = {"tool": "remove", "params": {"value": "{step_load_result}"}}
    plan = Plan.parse([{"id": "load", "tool": "load", "params": {"items": 5000}, "undo": undo}])
    run = execute(plan, Handles(TOOLS, Folder(tmp_path)))
    assert len(run.results["load"]) == 5000
