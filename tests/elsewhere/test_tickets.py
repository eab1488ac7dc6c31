"""Tickets: executors take them, die and are taken over; and handles, which keep large results off the board."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Barrier, Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from elsewhere.tickets import Folder, Handles, Tickets, TicketsError, claim_tickets, desk, queue
from planexec_lab.capacity import run_times
from planexec_lab.cluster import ClusterPool, Submission, carry_out
from planexec_lab.worlds import deploy
from planexec_lite import Decision, Journal, Plan, PlannerExecutor, Pool, Run, Toolbox, ToolExecutor, execute, tool
from planexec_lite.run.events import StepLate
from planexec_lite.workers import Report
from tests.core import odd_tools
from tests.core.ending import to_its_end
from tests.elsewhere import kills
from tests.journal.runs import carried_out

EXECUTOR = ToolExecutor(desk.TOOLS)


@contextmanager
def executor(file: Path, name: str, *tools: str) -> Iterator[list[str]]:
    """An executor on a thread; what it says."""
    lines: list[str] = []
    stop = Event()
    thread = Thread(target=claim_tickets, args=(file, name, tools, stop, lines.append))
    thread.start()
    try:
        yield lines
    finally:
        stop.set()
        thread.join()


@contextmanager
def queued(file: Path) -> Iterator[Tickets]:
    tickets = Tickets(file)
    try:
        yield tickets
    finally:
        tickets.shutdown()


def wait_for(condition: Callable[[], Any]) -> None:
    until = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_two_executors_take_the_tickets_of_their_roles(tmp_path: Path) -> None:
    file, ledger = tmp_path / "tickets.db", tmp_path / "ledger"
    with (
        queued(file) as tickets,
        executor(file, "reader", "read_bill") as read,
        executor(file, "clerk", "book") as clerk,
    ):
        plan = desk.plan_for(["rent", "gas"], ledger)
        run = to_its_end(lambda: execute(plan, EXECUTOR, workers=ClusterPool(tickets)))
        assert run.status == "finished"
        assert {(row.tool, row.holder, row.state) for row in tickets.rows} == {
            ("read_bill", "reader", "done"), ("book", "clerk", "done"),
        }  # fmt: skip
    assert sorted(ledger.read_text().split("\n")) == ["", "gas 3", "rent 4"]
    assert (len(read), len(clerk)) == (4, 4)


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_zombie_does_not_count(tmp_path: Path, repeatable: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=1e6)
    monkeypatch.setattr(queue, "time", SimpleNamespace(monotonic=lambda: clock.now))
    zombie, other = queue._Leases(), queue._Leases()
    with queue.FILE.writing(tmp_path / "tickets.db") as db:

        def claim(name: str, leases: queue._Leases) -> list[Any]:
            named = {"holder": name, "tools": "", "silent": leases.silent(db), "claims": 4}
            return db.execute(queue.CLAIM, named).fetchall()

        db.execute(queue.SUBMIT, ("key", "", repeatable, b"work"))
        assert claim("zombie", zombie) == [(1, 1, b"work")]
        clock.now -= 9e5  # from here on the clock of another machine
        assert claim("other", other) == []
        clock.now += 1.9
        assert db.execute(queue.HEARTBEAT, {"id": 1, "fence": 1}).rowcount == 1
        assert claim("other", other) == []
        clock.now += 1.9
        assert claim("other", other) == []
        clock.now += 0.2
        assert claim("other", other) == ([(1, 2, b"work")] if repeatable else [])
        answer = {"id": 1, "fence": 1, "report": b"", "failed": 0}
        if repeatable:
            assert claim("other", other) == []  # a claim begins a new lease
            assert db.execute(queue.HEARTBEAT, {"id": 1, "fence": 1}).rowcount == 0
            assert db.execute(queue.FINISH, answer).rowcount == 0
            assert db.execute(queue.FINISH, answer | {"fence": 2}).rowcount == 1
        else:
            assert db.execute(queue.LOSE, {"report": b"", "silent": other.silent(db), "claims": 4}).rowcount == 1
            assert db.execute(queue.FINISH, answer).rowcount == 0


@pytest.mark.skipif(os.name != "posix", reason="other systems have other modes")
def test_only_the_owner_can_read_and_write_tickets_and_results(tmp_path: Path) -> None:
    file = tmp_path / "tickets.db"
    before = os.umask(0)
    try:
        Folder(tmp_path / "store")
        with queued(file) as tickets, executor(file, "clerk"):
            assert tickets.submit(carry_out, work("1")).result(20).value == 1
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes.pop("store") == 0o700
    assert {"tickets.db", "tickets.db-lock"} <= modes.keys()
    assert set(modes.values()) == {0o600}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.touch(0o600) or path.chmod(0o660), "other users can .* chmod 600 tickets.db"),
        (lambda path: path.touch(0o600) or path.chmod(0o604), "other users can .* chmod 600 tickets.db"),
        (lambda path: path.touch(0o600) or path.write_text("dear diary\n" * 99), "is not an SQLite file"),
        (lambda path: carried_out(Journal(path)), "is another program's database"),
    ],
    ids=["group", "others", "text", "journal"],
)
def test_an_unsafe_or_foreign_file_is_refused(make: Callable[[Path], Any], words: str, tmp_path: Path) -> None:
    make(tmp_path / "tickets.db")
    for use in (Tickets, lambda file: claim_tickets(file, "clerk")):
        with pytest.raises(TicketsError, match=words):
            use(tmp_path / "tickets.db")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system does not list open files")
def test_a_tool_that_closes_the_files_of_its_executor_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "tickets.db"
    command = [sys.executable, "-m", "elsewhere.tickets", str(file), "first"]
    with queued(file) as tickets, subprocess.Popen(command, stdout=subprocess.DEVNULL) as first:
        closing = Submission(odd_tools.closes_all, (str(tmp_path),), repeatable=False)
        assert tickets.submit(carry_out, closing).result(20).error is None
        assert tickets.submit(carry_out, work("1")).result(20).value == 1
        first.kill()
    assert {path.read_text() for path in tmp_path.glob("*.txt")} == {""}


@pytest.mark.slow
@pytest.mark.parametrize("hangs", [False, True], ids=["killed", "hangs and answers late"])
def test_a_booking_of_a_silent_executor_is_in_doubt(tmp_path: Path, hangs: bool) -> None:
    file, ledger = tmp_path / "tickets.db", tmp_path / "ledger"
    command = [sys.executable, "-m", "elsewhere.tickets", str(file), "first"]
    with queued(file) as tickets, subprocess.Popen(command, stdout=subprocess.DEVNULL) as first:

        def stop() -> None:
            wait_for(ledger.exists)
            first.send_signal(signal.SIGSTOP if hangs else signal.SIGKILL)

        stopping = Thread(target=stop)
        stopping.start()
        plan = desk.plan_for(["rent"], ledger, seconds=1.0)
        run = to_its_end(lambda: execute(plan, EXECUTOR, workers=ClusterPool(tickets)), 200)
        stopping.join()
        assert (run.status, run.board.state["book-rent"]) == ("paused", "in doubt")
        agent = PlannerExecutor(None, EXECUTOR, workers=ClusterPool(tickets))
        if hangs:
            first.send_signal(signal.SIGCONT)
            wait_for(lambda: tickets.rows[1].late)
            first.kill()
            assert tickets.rows[1].late == "first, fence 1"
            for _ in range(2):  # a second look adds nothing
                run = tickets.with_late_answers(run)
        late = [event.result for event in run.events if isinstance(event, StepLate)]
        assert late == (["rent: 4 euros booked"] if hangs else [])
        assert (run.status, run.board.state["book-rent"]) == ("paused", "in doubt")
        done = agent.resume(run, Decision("done", by="Ada", result=(*late, "booked")[0]))
    assert (done.status, ledger.read_text()) == ("finished", "rent 4\n")


def test_a_driver_that_died_finds_its_call_by_key(tmp_path: Path) -> None:
    file, ledger = tmp_path / "tickets.db", tmp_path / "ledger"
    plan = desk.plan_for(["rent"], ledger, seconds=0.2)
    moments: list[Run] = []
    with queued(file) as first, executor(file, "clerk"):
        execute(plan, EXECUTOR, workers=ClusterPool(first), watch=lambda run: moments.append(run.again()))
    dead = moments[-2]
    assert dead.board.state["book-rent"] == "running"
    with queued(file) as second:
        run = PlannerExecutor(None, EXECUTOR, workers=ClusterPool(second)).resume(dead)
    assert (run.status, ledger.read_text()) == ("finished", "rent 4\n")


def test_a_failed_step_gets_a_new_ticket(tmp_path: Path) -> None:
    with queued(tmp_path / "tickets.db") as tickets, executor(tmp_path / "tickets.db", "clerk"):
        plan = desk.plan_for(["rent"], tmp_path / "missing" / "ledger")
        step = plan.steps[1].model_copy(update={"retries": 1})
        run = to_its_end(
            lambda: execute(plan.changed(steps=[plan.steps[0], step]), EXECUTOR, workers=ClusterPool(tickets))
        )
        assert run.status == "failed"
        assert [row.tool for row in tickets.rows] == ["read_bill", "book", "book"]


def test_work_that_this_process_can_not_import_is_reported() -> None:
    assert isinstance(queue._report_of(b"no pickle"), Report)
    assert "UnpicklingError" in str(queue._report_of(b"no pickle").error)


def work(text: str, key: str | None = None) -> Submission:
    return Submission(int, (text,), key=key)


def test_a_cancelled_ticket_and_a_broken_one_keep_nobody_waiting(tmp_path: Path) -> None:
    file = tmp_path / "tickets.db"
    with queued(file) as tickets, queued(file) as other:
        cancelled, same = tickets.submit(carry_out, work("1", "key")), other.submit(carry_out, work("1", "key"))
        assert cancelled.cancel()
        with pytest.raises(CancelledError):
            same.result(20)
        with executor(file, "clerk"):
            assert tickets.submit(carry_out, work("2")).result(20).value == 2
        broken, queued_one = tickets.submit(carry_out, work("3")), tickets.submit(carry_out, work("4"))
        with queue.FILE.writing(file) as db:
            db.execute("UPDATE tickets SET state = 'done', report = ? WHERE id = 3", (b"no pickle",))
        for ticket in (broken, queued_one):
            assert ticket.result(20).lost
            assert "UnpicklingError" in ticket.result().error
        with pytest.raises(RuntimeError, match="no ticket is submitted"):
            tickets.submit(carry_out, work("5"))


def test_a_shutdown_keeps_no_run_waiting(tmp_path: Path) -> None:
    with queued(tmp_path / "tickets.db") as tickets:
        waits = tickets.submit(carry_out, work("1", "key"))
        tickets.shutdown()
        assert waits.result(20).lost
        assert "shut down" in waits.result().error
    with queued(tmp_path / "tickets.db") as again:
        assert again.keys == {"key"}


def test_steps_of_many_runs_share_the_slots() -> None:
    release = Plan.parse(deploy.PLAN)
    seconds = release.durations(deploy.World().tools)
    assert [run_times(release, seconds, [5], slots, lambda at, run: run) for slots in (2, 1)] == [[266], [386]]
    assert run_times(release, seconds, [0, 0], 1, lambda at, run: run) == [386, 772]
    assert run_times(release, seconds, [0, 0], 1, lambda at, run: at) == [771, 772]  # the last step takes a second


def test_executors_that_start_together_all_open_a_new_file(tmp_path: Path) -> None:
    together = Barrier(8)

    def start(file: Path) -> None:
        together.wait()
        with queue.FILE.writing(file):
            pass

    with ThreadPoolExecutor(8) as threads:
        for number in range(100):
            list(threads.map(start, [tmp_path / f"{number}.db"] * 8))


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(3))
def test_twenty_killed_executors_change_no_result(tmp_path: Path, seed: int) -> None:
    file = tmp_path / "tickets.db"
    tickets = Tickets(file)
    try:
        with kills.executors(kills.command("elsewhere.tickets", file)) as kill:
            print(kills.survives(kill, tickets, tmp_path, seed))
    finally:
        tickets.shutdown()


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
WHOLE, PART = "{step_load_result}", "{step_load_result[0]}"
STEPS: list[Any] = [
    {"id": "load", "tool": "load", "params": {"items": 5000}},
    {"id": "count", "tool": "count", "params": {"items": WHOLE, "first": PART}, "depends_on": ["load"]},
    {"id": "send", "tool": "send", "params": {"value": WHOLE}, "depends_on": ["load"]},
]
PLAN = Plan.parse(STEPS)


def changed(**step: Any) -> Plan:
    return Plan.parse([STEPS[0], {"id": "next", "depends_on": ["load"], **step}])


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
    moments: list[Run] = []
    execute(PLAN, Handles(TOOLS, Folder(tmp_path)), watch=lambda run: moments.append(run.again()))
    dead = next(run for run in moments if run.board.state.get("load") == "done" and "count" not in run.results)
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

    run = execute(changed(tool="send", params={"value": WHOLE}), executor, watch=watch)
    assert run.status == "failed"
    assert "is lost" in run.board.errors["next"]


@pytest.mark.parametrize(
    "step",
    [
        {"tool": "send", "params": {"value": PART}},
        {"tool": "echo", "undo": {"tool": "remove", "params": {"value": WHOLE}}, "params": {"value": 1}},
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
    values: list[Any] = [forged, "{step_1_result}", {"inside": "{step_2_result}"}]
    steps = [{"id": n, "tool": "echo", "params": {"value": value}} for n, value in enumerate(values, 1)]
    run = execute(Plan.parse([{**step, "depends_on": [n] if n else []} for n, step in enumerate(steps)]), executor)
    assert executor.value(run.results["2"]) == forged
    assert run.results["3"] == {"inside": forged}


def test_the_result_of_a_step_with_an_undo_stays_on_the_board(tmp_path: Path) -> None:
    undo = {"tool": "remove", "params": {"value": WHOLE}}
    plan = Plan.parse([{"id": "load", "tool": "load", "params": {"items": 5000}, "undo": undo}])
    run = execute(plan, Handles(TOOLS, Folder(tmp_path)))
    assert len(run.results["load"]) == 5000
