"""The journal: what is written down when, what comes back, who may go on with it, and what a file may hold."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Decision,
    Journal,
    JournalError,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RulePlanner,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
    execute,
)
from planexec_lite.events import StepDone, StepStarted, from_json, to_json
from planexec_lite.journal import FILE
from planexec_lite.meter import emit
from tests.core.shapes import Workshop, jobs, json_values, plan_of, step

TWO = [step("1", "add", a=1, b=2), step("2", "add", "1", a="{step_1_result}", b=4)]


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def broken() -> NoReturn:
    """Leave the run as an interrupt does."""
    raise KeyboardInterrupt


TOOLS = Toolbox([Tool(add, effects="none"), Tool(broken, effects="none")])


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs.db")


def carried_out(journal: Journal, *steps: dict[str, Any], **settings: Any) -> Run:
    return execute(Plan.parse(list(steps or TWO)), ToolExecutor(TOOLS), journal=journal, **settings)


def agent(**settings: Any) -> PlannerExecutor:
    return PlannerExecutor(None, ToolExecutor(TOOLS), **settings)


def test_a_run_comes_back_as_it_was_written_down(journal: Journal) -> None:
    run = carried_out(journal)
    again = journal.load(run.id)
    assert (again.events, again.status, again.results, again.uid) == (run.events, "finished", {"1": 3, "2": 7}, run.uid)
    assert [(one.id, one.status, one.events) for one in journal.list()] == [("1", "finished", len(run.events))]


@given(json_values)
def test_any_result_comes_back_from_a_line_as_it_was(value: object) -> None:
    event = StepDone(1.5, "1", value, 0.25)
    assert from_json(to_json(event)) == event


def test_what_is_done_is_on_disk_before_its_dependents_start(journal: Journal) -> None:
    seen: list[int] = []

    def look(n: int) -> int:
        """Look at what another process would find."""
        seen.append(sum(isinstance(event, StepDone) for event in journal.load(1).events))
        return n

    chain = [step(str(n), "look", *([str(n - 1)] if n else []), n=n) for n in range(5)]
    execute(Plan.parse(chain), ToolExecutor(Toolbox([Tool(look, effects="none")])), journal=journal)
    assert seen == [0, 1, 2, 3, 4]


def test_what_starts_together_is_one_commit(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    commits: list[int] = []
    commit = Run.commit

    def counted(run: Run) -> None:
        commits.append(len(run.events) - run.stored)
        commit(run)

    monkeypatch.setattr(Run, "commit", counted)
    fan = [step(str(n), "add", a=n, b=1) for n in range(4)]
    carried_out(journal, *fan, workers=Simulated())
    assert commits == [4, 5]  # four starts; four results and the end


@pytest.mark.slow
def test_a_paused_run_is_decided_in_another_process(journal: Journal) -> None:
    run = carried_out(journal, TWO[0], TWO[1] | {"gate": True})
    assert (run.status, journal.list()[0].status) == ("paused", "paused")
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent("""
            import sys
            from planexec_lite import Decision, Journal
            from tests.core.test_journal import agent
            run = agent().resume(Journal(sys.argv[1]).load(1), Decision("approve", by="Ada"))
            print(run.status, run.results)
            """), str(journal.path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert told.stdout == "finished {'1': 3, '2': 7}\n"
    assert journal.load(run.id).board.reviews[0].by == "Ada"


def test_an_old_copy_of_a_run_that_went_on_is_refused(journal: Journal) -> None:
    run = carried_out(journal, TWO[0], TWO[1] | {"gate": True})
    done = agent().resume(run, Decision("approve", by="Ada"))
    with pytest.raises(
        JournalError, match=r"run 1 has gone on since this copy of it was read: 9 events .* load it again"
    ):
        agent().resume(run, Decision("reject", by="Bob"))
    assert journal.load(1).events == done.events


def test_a_run_in_memory_is_written_down_from_where_a_journal_is_given(journal: Journal) -> None:
    plan = Plan.parse([TWO[0], TWO[1] | {"gate": True}])
    run = execute(plan, ToolExecutor(TOOLS))
    done = agent(journal=journal).resume(run, Decision("approve", by="Ada"))
    assert journal.load(done.id).events == done.events


def test_an_interrupted_run_goes_on_and_repeats_nothing(journal: Journal) -> None:
    calls: list[int] = []

    def once(n: int) -> int:
        """Count, and be interrupted the first time that 2 is wanted."""
        calls.append(n)
        if calls == [1, 2]:
            raise KeyboardInterrupt
        return n

    tools = Toolbox([Tool(once, effects="none")])
    plan = Plan.parse([step("1", "once", n=1), step("2", "once", "1", n=2), step("3", "once", "2", n=3)])
    with pytest.raises(KeyboardInterrupt):
        execute(plan, ToolExecutor(tools), journal=journal)
    assert journal.list()[0].status == "interrupted"
    run = PlannerExecutor(None, ToolExecutor(tools)).resume(journal.load(1))
    assert (run.status, calls) == ("finished", [1, 2, 2, 3])
    assert journal.list()[0].status == "finished"


def test_one_process_at_a_time_carries_on_a_run(journal: Journal) -> None:
    run = carried_out(journal, TWO[0], TWO[1] | {"gate": True})
    with FILE.lease(journal.path, run.uid, lambda: ""):
        assert journal.list()[0].status == "paused"
        with pytest.raises(
            JournalError, match=f"run 1 is being carried on by process {os.getpid()} on .*; wait for it"
        ):
            agent().resume(run, Decision("approve", by="Ada"))
    assert agent().resume(run, Decision("approve", by="Ada")).status == "finished"


HOLDER = """
import sys, time
from planexec_lite import Journal, Plan, Tool, Toolbox, ToolExecutor, execute

def wait() -> None:
    \"\"\"Say that it has begun, and wait.\"\"\"
    print("begun", flush=True)
    time.sleep(600)

tools = Toolbox([Tool(wait, effects="none")])
execute(Plan.parse([{"id": "1", "tool": "wait"}]), ToolExecutor(tools), journal=Journal(sys.argv[1]))
"""


@pytest.fixture
def holder(journal: Journal) -> Iterator[subprocess.Popen[str]]:
    """A process that carries on run 1, whose only step has begun."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(journal.path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        yield process
        process.kill()


@pytest.mark.slow
def test_a_dead_process_loses_its_lease(journal: Journal, holder: subprocess.Popen[str]) -> None:
    def wait() -> int:
        """Wait no longer."""
        return 7

    waiting = PlannerExecutor(None, ToolExecutor(Toolbox([Tool(wait, effects="none")])))
    assert journal.list()[0].status == "running"
    with pytest.raises(JournalError, match=f"carried on by process {holder.pid} on"):
        waiting.resume(journal.load(1))
    holder.kill()
    holder.wait()
    assert journal.list()[0].status == "interrupted"
    assert waiting.resume(journal.load(1)).results == {"1": 7}


def test_several_threads_write_runs_of_their_own_into_one_file(journal: Journal) -> None:
    with ThreadPoolExecutor(4) as threads:
        runs = list(threads.map(lambda _: carried_out(journal), range(12)))
    assert sorted(int(run.id) for run in runs) == list(range(1, 13))
    assert all(journal.load(run.id).events == run.events for run in runs)


WRITERS = """
import sys
from planexec_lite import Journal
from tests.core.test_journal import carried_out

print("ready", flush=True)
sys.stdin.readline()
for _ in range(5):
    carried_out(Journal(sys.argv[1]))
"""
RESUMERS = """
import sys
from planexec_lite import Decision, Journal, JournalError
from tests.core.test_journal import agent

run = Journal(sys.argv[1]).load(1)
print("ready", flush=True)
sys.stdin.readline()
try:
    print(agent().resume(run, Decision("approve", by="Ada")).status)
except JournalError as problem:
    print(problem)
"""


def at_once(program: str, journal: Journal) -> list[str]:
    """Let four processes do something at the same moment, and return what they say."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", program, str(journal.path)]
    processes = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(4)]
    for one in processes:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in processes:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    said = [one.communicate()[0].strip() for one in processes]
    assert [one.returncode for one in processes] == [0] * 4
    return said


@pytest.mark.slow
def test_several_processes_begin_one_file_together_and_write_into_it(journal: Journal) -> None:
    at_once(WRITERS, journal)
    assert [(one.id, one.status) for one in journal.list()] == [(str(n), "finished") for n in range(1, 21)]
    assert all(journal.load(one.id).results == {"1": 3, "2": 7} for one in journal.list())


@pytest.mark.slow
def test_of_several_processes_that_resume_a_run_one_carries_it_on(journal: Journal) -> None:
    carried_out(journal, TWO[0], TWO[1] | {"gate": True})
    said = at_once(RESUMERS, journal)
    assert said.count("finished") == 1
    assert all("being carried on by" in one or "has gone on since" in one for one in said if one != "finished")
    assert len(journal.load(1).board.reviews) == 1


def test_a_run_inside_a_step_is_written_down_with_the_run_around_it(journal: Journal, tmp_path: Path) -> None:
    inner = PlannerExecutor(RulePlanner(lambda goal: TWO), ToolExecutor(TOOLS), journal=Journal(tmp_path / "other.db"))
    run = execute(Plan.parse([{"id": "1", "description": "add up"}]), inner, journal=journal)
    assert journal.load(run.id).inside(1).results == {"1": 3, "2": 7}
    assert not (tmp_path / "other.db").exists()


@given(jobs(most=6), st.integers(1, 3))
def test_a_replay_shows_each_board_of_a_random_run(tmp_path_factory: Any, made: list[Any], slots: int) -> None:
    journal = Journal(tmp_path_factory.mktemp("replays") / "runs.db", "OFF")
    boards: list[tuple[int, dict[str, str]]] = []
    run = execute(
        plan_of(made), ToolExecutor(Workshop().toolbox), workers=Simulated(slots), policy=Policy(), journal=journal,
        watch=lambda run: boards.append((len(run.events), dict(run.board.state))),
    )  # fmt: skip
    replayed = [dict(one.board.state) for one in journal.replay(run.id)]
    assert all(replayed[count - 1] == state for count, state in boards)


def test_a_folder_that_is_changed_does_not_change_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = carried_out(Journal("runs.db"), TWO[0], TWO[1] | {"gate": True})  # type: ignore[arg-type]
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    assert agent().resume(run, Decision("approve", by="Ada")).status == "finished"
    assert not list((tmp_path / "below").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="such names are refused there")
@pytest.mark.parametrize("name", ["a?b#c%25&mode=memory.db", ":memory:", "file:x?mode=ro", "\udcff.db", "a\nb.db"])
def test_a_journal_may_be_called_whatever_a_file_may(name: str, tmp_path: Path) -> None:
    run = carried_out(Journal(tmp_path / name))
    assert (tmp_path / name).exists()
    assert Journal(f"/{tmp_path / name}").load(1).events == run.events  # type: ignore[arg-type]


# Who carries it on


def test_an_error_of_another_journal_leaves_no_doubt_about_a_step(journal: Journal, tmp_path: Path) -> None:
    def pay() -> int:
        """Pay."""
        return 7

    def watch(run: Run) -> None:
        Journal(tmp_path / "other.db").list()

    executor = ToolExecutor(Toolbox([Tool(pay, effects="once")]))
    with pytest.raises(JournalError, match=r"no journal other.db"):
        execute(Plan.parse([{"id": "1", "tool": "pay"}]), executor, journal=journal, watch=watch)
    assert PlannerExecutor(None, executor).resume(journal.load(1)).results == {"1": 7}


def test_a_look_at_a_lease_keeps_no_thread_from_it(journal: Journal) -> None:
    with pytest.raises(KeyboardInterrupt):
        carried_out(journal, TWO[0], step("2", "broken", "1"))
    over, seen = threading.Event(), set[str]()

    def look() -> None:
        while not over.is_set():
            seen.add(journal.list()[0].status)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(look)
        for _ in range(50):
            with journal.carry_on(journal.load(1)):
                assert journal.list()[0].status == "running"
        over.set()
    assert seen <= {"running", "interrupted"}
    assert journal.list()[0].status == "interrupted"


INTERRUPTING = """
import sys
from pathlib import Path
from planexec_lite.file_lock import is_locked
from planexec_lite.journal import FILE
from planexec_lite.sqlite_file import is_leased

path = Path(sys.argv[1])


def use(after: int) -> bool:
    left = after

    def profile(frame, event, arg):
        nonlocal left
        if event in ("call", "c_return") and frame.f_code.co_filename.endswith(("sqlite_file.py", "file_lock.py")):
            left -= 1
            if left == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        with FILE.lease(path, "run", lambda: "refused"):
            pass
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


after = 1
while use(after):
    assert not is_leased(path, "run"), after
    assert not is_locked(f"{path}-lock"), after
    after += 1
print(after)
"""


@pytest.mark.slow
def test_an_interrupt_in_any_call_of_a_lease_gives_it_back(journal: Journal) -> None:
    """An interrupt comes when a function begins, or when one that is built in returns: in a process that has traced nothing."""
    command = [sys.executable, "-c", INTERRUPTING, str(journal.path)]
    told = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert told.returncode == 0, told.stderr
    assert int(told.stdout) > 50


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't be copied here")
def test_a_copy_of_the_process_writes_nothing_into_the_run(journal: Journal) -> None:
    told = subprocess.run(
        [sys.executable, "-c", textwrap.dedent("""
            import os, sys
            from planexec_lite import Journal, JournalError, Plan, Tool, Toolbox, ToolExecutor, execute

            def fork() -> int:
                "Leave a copy that goes on."
                copy = os.fork()
                if copy:
                    os.waitpid(copy, 0)
                return copy

            plan = Plan.parse([{"id": "1", "tool": "fork"}])
            try:
                print(execute(plan, ToolExecutor(Toolbox([Tool(fork)])), journal=Journal(sys.argv[1])).status, flush=True)
            except JournalError as problem:
                print(problem, flush=True)
            """), str(journal.path)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    copy, parent = told.stdout.splitlines()
    assert "and not by its copy" in copy
    assert (parent, journal.load(1).status) == ("finished", "finished")


# What can't be written down


@pytest.mark.parametrize(
    ("what", "kept"),
    [
        ("result", "step 1: odd returned a value of type str, which JSON can't hold"),
        ("error", r"OSError: a\udcffb"),
        ("emitted", "1 steps done"),
    ],
)
def test_words_that_no_file_can_hold_end_no_run(what: str, kept: str, journal: Journal) -> None:
    def odd() -> str:
        """Give the name of a file as some systems have it."""
        name = "a\udcffb"
        if what == "error":
            raise OSError(name)
        if what == "emitted":
            emit({"name": name})
        return name if what == "result" else ""

    run = execute(
        Plan.parse([{"id": "1", "tool": "odd"}]), ToolExecutor(Toolbox([Tool(odd, effects="none")])), journal=journal
    )
    assert kept in run.reason
    assert journal.load(1).status == run.status


def test_a_plan_that_no_file_can_hold_ends_no_run(journal: Journal) -> None:
    planner = RulePlanner(lambda goal: Plan.parse("no plan \ud800 {"))
    run = PlannerExecutor(planner, ToolExecutor(TOOLS), journal=journal).run("add up")
    assert journal.load(1).events == run.events


def test_a_decision_or_verdict_that_cannot_be_written_down_is_refused() -> None:
    for made in (
        lambda: Decision("reject", comment="a\ud800"),
        lambda: Decision("approve", by="a\ud800"),
        lambda: Verdict("replan", "a\ud800"),
    ):
        with pytest.raises(ValueError, match="can't be saved"):
            made()


# What goes out and comes in


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_the_command_line_tells_any_goal_to_any_terminal(encoding: str, journal: Journal) -> None:
    plan = Plan.parse({"goal": "Grüße \u202e\x1b[2J\x00 \U0001f600", "steps": TWO})
    execute(plan, ToolExecutor(TOOLS), journal=journal)

    def told(*arguments: str) -> bytes:
        command = [sys.executable, "-m", "planexec_lab", "runs", str(journal.path), *arguments]
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        return subprocess.run(command, capture_output=True, check=True, env=environment).stdout

    assert b"\x1b" not in told() + told("1")


# Files that are no journal, or no longer one


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.endswith("-journal")}


def another_database(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE orders (id)")
    db.close()


def newer(path: Path) -> None:
    carried_out(Journal(path))
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 7")
    db.close()


def torn(path: Path) -> None:
    carried_out(Journal(path))
    path.write_bytes(path.read_bytes()[:5000])


def overwritten(path: Path) -> None:
    carried_out(Journal(path))
    path.write_bytes(path.read_bytes()[:100] + b"\x5a" * 20_000)


FOREIGN: dict[str, tuple[Callable[[Path], Any], str]] = {
    "text": (
        lambda path: path.write_text("dear diary, this is no database"),
        "is not an SQLite file, and was not changed",
    ),
    "a long text": (lambda path: path.write_text("dear diary\n" * 999), "is not an SQLite file, and was not changed"),
    "a letter": (lambda path: path.write_text("x"), "is not an SQLite file, and was not changed"),
    "another database": (another_database, "another program's database, and was not changed"),
    "newer": (newer, r"written by another version of the kit \(schema 7; this one reads 1\)"),
    "torn": (torn, "is damaged"),
    "overwritten": (overwritten, "is damaged"),
    "a folder": (lambda path: path.mkdir(), "is not a file"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_or_damaged_file_is_refused_and_stays_as_it_is(name: str, journal: Journal, tmp_path: Path) -> None:
    make, words = FOREIGN[name]
    make(journal.path)
    before = bytes_of(tmp_path) if journal.path.is_file() else None
    for use in (journal.list, lambda: journal.load(1), lambda: carried_out(journal)):
        with pytest.raises(JournalError, match=words):
            use()
    assert before is None or bytes_of(tmp_path) == before


def test_a_journal_that_is_not_there_is_named(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"there is no journal runs.db"):
        journal.list()
    with pytest.raises(JournalError, match=r"there is no folder for the journal runs.db; create it first"):
        carried_out(Journal(tmp_path / "nowhere" / "runs.db"))
    carried_out(journal)
    for run in ("7", "1; DROP TABLE runs", "٣", "-1", "9" * 30):
        with pytest.raises(JournalError, match=r"there is no run .* in runs.db; there are 1"):
            journal.load(run)


@pytest.mark.parametrize(
    "spoiled",
    ["", "{", "[]", "3", '{"event":"Exec"}', '{"event":"StepDone","at":1.0,"step":"9","result":1}', "[" * 9999,
     '{"event":"StepDone","at":"x","step":"1","result":1}', '{"event":["StepDone"]}', '{"event":"Inside","at":1}'],
)  # fmt: skip
def test_an_event_that_cannot_be_read_is_named(spoiled: str, journal: Journal) -> None:
    carried_out(journal)
    with sqlite3.connect(journal.path) as db:
        db.execute("UPDATE events SET data = ? WHERE number = 3", (spoiled,))
    db.close()
    with pytest.raises(JournalError, match=r"event 4 of run 1 in runs.db can't be read"):
        journal.load(1)
    replayed = journal.replay(1)
    assert [len(next(replayed).events) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(JournalError):
        next(replayed)


def test_an_event_that_is_missing_is_noticed(journal: Journal) -> None:
    carried_out(journal)
    with sqlite3.connect(journal.path) as db:
        db.execute("DELETE FROM events WHERE number = 3")
    db.close()
    with pytest.raises(JournalError, match=r"events of run 1 are missing in runs.db"):
        journal.load(1)


# What the disk can do


@pytest.mark.slow
def test_a_full_disk_stops_the_run_and_what_was_committed_can_be_read(journal: Journal) -> None:
    full = textwrap.dedent("""
        import resource, signal, sys
        from planexec_lite import JournalError
        from tests.core.test_journal import Journal, carried_out, step
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        chain = [step(str(n), "add", *([str(n - 1)] if n else []), a=n, b=1) for n in range(400)]
        try:
            carried_out(Journal(sys.argv[1]), *chain)
        except JournalError as problem:
            print(problem, "|", len(problem.run.board.done) > 10)
        """)
    told = subprocess.run([sys.executable, "-c", full, str(journal.path)], capture_output=True, text=True, check=True)
    assert "can't be written: the disk is full, or fails; free some space and resume the run" in told.stdout
    assert told.stdout.rstrip().endswith("| True")
    left = journal.load(1)
    assert (left.status, journal.list()[0].status) == ("running", "interrupted")
    done = agent().resume(left)
    assert (done.status, len(done.results)) == ("finished", 400)
    assert [event.step for event in done.events if isinstance(event, StepDone)] == [str(n) for n in range(400)]


def test_a_locked_journal_is_waited_for_and_then_named(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    carried_out(journal)
    monkeypatch.setattr("planexec_lite.sqlite_file.PATIENCE", 0.2)
    db = sqlite3.connect(journal.path, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(JournalError, match=r"has locked the journal runs.db for 0.2 s; try again"):
            carried_out(journal)
        assert journal.load(1).status == "finished"  # reading waits for nobody
    finally:
        db.execute("ROLLBACK")
        db.close()


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are other ones here")
def test_a_folder_that_cannot_be_written_to_can_be_read(journal: Journal, tmp_path: Path) -> None:
    run = carried_out(journal)
    tell = textwrap.dedent("""
        import os, sys
        from planexec_lite import Journal, JournalError
        from tests.core.test_journal import carried_out
        if os.geteuid() == 0:
            os.setuid(65534)
        print(len(Journal(sys.argv[1]).load(1).events))
        try:
            carried_out(Journal(sys.argv[1]))
        except JournalError as problem:
            print(problem)
        """)
    Path(f"{journal.path}-lock").unlink()
    for path in (journal.path, tmp_path):
        path.chmod(0o555)
    for path in [one for one in tmp_path.parents if one.is_relative_to("/tmp") and one != Path("/tmp")]:
        path.chmod(path.stat().st_mode | 0o011)
    try:
        told = subprocess.run([sys.executable, "-c", tell, str(journal.path)], capture_output=True, text=True)
    finally:
        tmp_path.chmod(0o755)
    assert told.stdout.startswith(f"{len(run.events)}\n"), told.stderr
    assert "can't be opened or written to; check its permissions" in told.stdout


def test_an_interrupt_in_the_middle_leaves_a_whole_journal(journal: Journal) -> None:
    with pytest.raises(KeyboardInterrupt) as left:
        carried_out(journal, TWO[0], step("2", "broken", "1"))
    run = left.value.run  # type: ignore[attr-defined]
    assert journal.load(1).events == run.events
    assert isinstance(run.events[-1], StepStarted)


def test_an_error_outside_the_journal_is_not_told_as_one_of_the_journal(journal: Journal) -> None:
    def watch(run: Run) -> None:
        if run.board.done:
            raise FileNotFoundError("picture.svg")

    with pytest.raises(FileNotFoundError) as left:
        carried_out(journal, watch=watch)
    assert journal.load(1).events == left.value.run.events  # type: ignore[attr-defined]


def test_a_pool_of_threads_writes_down_what_it_does(journal: Journal) -> None:
    fan = [step(str(n), "add", a=n, b=1) for n in range(20)]
    with ThreadPoolExecutor(4) as threads:
        run = carried_out(journal, *fan, workers=Pool(threads))
    assert journal.load(1).events == run.events


def test_what_is_no_way_to_wait_for_the_disk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="synchronous='EXTRA!': choose one of FULL, NORMAL, OFF"):
        Journal(tmp_path / "runs.db", "EXTRA!")  # type: ignore[arg-type]


@pytest.mark.parametrize("effects", ["unknown", "idempotent", "none"])
def test_a_tool_that_writes_runs_of_its_own_down_may_be_tried_again(effects: Any, tmp_path: Path) -> None:
    own, failures = Journal(tmp_path / "own.db"), [ConnectionError("lost")]
    look = Toolbox([Tool(lambda: "seen", name="look", effects="none")])

    def agent() -> str:
        """Run a plan of its own, twice."""
        for _ in range(2):
            execute(Plan.parse([{"id": "1", "tool": "look"}]), ToolExecutor(look), journal=own)
        if failures:
            raise failures.pop()
        return "done"

    tools = ToolExecutor(Toolbox([Tool(agent, effects=effects)]))
    run = execute(Plan.parse([{"id": "1", "tool": "agent", "retries": 1}]), tools)
    assert (run.status, len(own.list())) == ("finished", 4)
