"""The journal: what is written when, what is read back, leases, and failures of the disk."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from planexec_lite import Decision, Journal, JournalError, Plan, RulePlanner, Run, execute
from planexec_lite.meter import emit
from planexec_lite.run.events import StepDone
from planexec_lite.storage import file_lock
from planexec_lite.storage.sqlite_file import is_leased, lease_of
from tests.core.agents import agent_for, carry_out
from tests.journal.runs import ADDS, GATED, YES, carried_out, chain, executor_of, line_of, look, printed, started, tell

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't be copied here")


def test_a_run_is_read_back_as_it_was_written(journal: Journal) -> None:
    run = carried_out(journal)
    again = journal.load(run.id)
    assert (again.events, again.status, again.results, again.uid) == (run.events, "finished", {"1": 3, "2": 7}, run.uid)
    assert [(one.id, one.status, one.events) for one in journal.list()] == [("1", "finished", len(run.events))]


def test_a_result_is_on_disk_before_dependent_steps_start(journal: Journal) -> None:
    seen: list[int] = []

    def count() -> None:
        """Count the done steps in the file."""
        seen.append(sum(isinstance(event, StepDone) for event in journal.load(1).events))

    execute(chain(*["count"] * 5), executor_of(count), journal=journal)
    assert seen == [0, 1, 2, 3, 4]


@pytest.mark.skipif(sys.platform != "linux", reason="such names are refused there")
@pytest.mark.parametrize("name", ["a?b#c%25&mode=memory.db", ":memory:", "file:x?mode=ro", "\udcff.db", "a\nb.db"])
def test_any_file_name_works_also_after_a_change_of_folder(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path)
    run = carried_out(Journal(name), *GATED)
    monkeypatch.chdir(tmp_path / "below")
    assert agent_for(ADDS).resume(run, YES).status == "finished"
    assert Journal(f"/{tmp_path / name}").load(1).status == "finished"
    assert not list((tmp_path / "below").iterdir())


def test_a_run_in_memory_gets_a_journal_and_an_old_copy_is_refused(journal: Journal) -> None:
    run = agent_for(ADDS, journal=journal).resume(carry_out(GATED, ADDS))
    done = agent_for(ADDS).resume(journal.load(1), YES)
    assert journal.load(1).events == done.events
    with pytest.raises(JournalError, match=r"this copy of run 1 is out of date: .* has \d+ events, .* load the run"):
        agent_for(ADDS).resume(run, Decision("reject", by="Bob"))
    assert journal.load(1).events == done.events


RESUMES = """
    import sys
    from tests.journal.runs import YES, agent
    from planexec_lite import Journal, JournalError
    run = Journal(sys.argv[1]).load(1)
    print("ready", flush=True)
    sys.stdin.readline()
    try:
        print(agent().resume(run, YES).status)
    except JournalError as problem:
        print(problem)
"""


@pytest.mark.slow
def test_only_one_of_several_processes_resumes_a_run(journal: Journal) -> None:
    carried_out(journal, *GATED)
    processes = [started(RESUMES, journal.path) for _ in range(4)]
    assert [line_of(one) for one in processes] == ["ready"] * 4
    for one in processes:
        tell(one)
    ends = [one.communicate()[0].strip() for one in processes]
    assert ends.count("finished") == 1
    assert all("being carried on by" in one or "is out of date" in one for one in ends if one != "finished")
    assert len(journal.load(1).board.reviews) == 1


def test_reading_a_lease_does_not_block_other_threads(journal: Journal) -> None:
    with pytest.raises(ZeroDivisionError):
        carried_out(journal, watch=lambda run: 1 / 0)
    over, seen = threading.Event(), set[str]()

    def watch() -> None:
        while not over.is_set():
            seen.add(journal.list()[0].status)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(watch)
        for _ in range(50):
            with journal.carry_on(journal.load(1)):
                assert journal.list()[0].status == "running"
        over.set()
    assert seen <= {"running", "interrupted"}


INTERRUPTS = """
    import gc, os, sys
    from pathlib import Path
    from planexec_lite.storage.file_lock import is_locked
    from planexec_lite.storage.journal import FILE
    from planexec_lite.storage.sqlite_file import is_leased

    path = Path(sys.argv[1])

    def is_interrupted(after):
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
            with FILE.lease(path, "run"), FILE.writing(path):
                return False
        except KeyboardInterrupt:
            return True
        finally:
            sys.setprofile(None)

    after = 1
    while is_interrupted(after):
        assert not is_leased(path, "run"), after
        assert not is_locked(f"{path}-lock"), after
        gc.collect()
        os.closerange(3, 64)  # an interrupt right after a file was opened leaves it open
        after += 1
    print(after)
"""


@pytest.mark.slow
def test_an_interrupt_in_any_call_of_a_lease_gives_it_back(journal: Journal) -> None:
    """An interrupt comes when a function begins or a built-in function returns, in a process without another tracer."""
    assert int(printed(INTERRUPTS, journal.path)) > 60


COPIES = """
    import os, sys, time
    from planexec_lite import Journal, JournalError, execute
    from tests.journal.runs import chain, executor_of

    def fork() -> None:
        "Fork the process; the fork continues at once or sleeps."
        copy = os.fork()
        if sys.argv[2] == "sleeps":
            if not copy:
                print(os.getpid(), flush=True)
            time.sleep(600)
            os._exit(0)
        if copy:
            os.waitpid(copy, 0)

    try:
        print(execute(chain("fork"), executor_of(fork), journal=Journal(sys.argv[1])).status, flush=True)
    except JournalError as problem:
        print(problem, flush=True)
"""


@pytest.mark.slow
@forks
def test_a_fork_of_the_process_writes_nothing_into_the_run(journal: Journal) -> None:
    copy, parent = printed(COPIES, journal.path, "goes on").splitlines()
    assert "can't write run 1 any more: other code, perhaps a tool, closed its files or forked it; resume" in copy
    assert (parent, journal.load(1).status) == ("finished", "finished")


@pytest.mark.slow
@forks
def test_a_fork_of_a_killed_process_has_no_lease(journal: Journal) -> None:
    with started(COPIES, journal.path, "sleeps") as process:
        copy = int(line_of(process))
        try:
            assert journal.list()[0].status == "running"
            process.kill()
            process.wait()
            assert journal.list()[0].status == "interrupted"
        finally:
            os.kill(copy, signal.SIGKILL)


CLOSES = """
    import os, sys
    from pathlib import Path
    from planexec_lite import JournalError
    from planexec_lite.storage.journal import FILE

    path = Path(sys.argv[1])
    try:
        with FILE.writing(path) as connection:
            connection.execute("INSERT INTO runs VALUES (1, 'a', 'b', 'c', 'd')")
            os.closerange(3, 200)  # as a tool on another thread can do
            files = [open(f"{path}-{number}.txt", "w+") for number in range(20)]
    except JournalError as problem:
        print(problem)
    print({Path(file.name).stat().st_size for file in files})
"""


@pytest.mark.slow
@forks
def test_a_write_whose_handles_were_closed_reaches_no_other_file(journal: Journal) -> None:
    refused, sizes = printed(CLOSES, journal.path).splitlines()
    assert (sizes, "was deleted or replaced while it was in use, so the write is refused" in refused) == ("{0}", True)


def test_without_file_locks_a_process_remembers_its_leases(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_lock, "lock_opened", os.fstat)

    def peek() -> str:
        """Try to continue the run a second time."""
        with pytest.raises(JournalError, match="run 1 is being carried on by"), journal.carry_on(journal.load(1)):
            pass
        return journal.list()[0].status

    run = execute(chain("peek", "look"), executor_of(peek, look), journal=journal)
    assert run.results == {"0": "running", "1": "seen"}
    assert not is_leased(journal.path, run.uid)


def test_a_run_that_was_taken_over_is_not_appended_to(journal: Journal) -> None:
    def lose() -> None:
        """Delete the lock, and continue the run a second time."""
        run = journal.load(1)
        os.replace(lease_of(journal.path, run.uid), f"{journal.path}.gone")
        file_lock._locks.clear()  # as in another process
        with journal.carry_on(run):
            pass

    with pytest.raises(JournalError, match=r"run 1 was taken over by process \d+ on .*; load it again to continue it"):
        execute(chain("lose", "look"), executor_of(lose, look), journal=journal)
    assert [type(event).__name__ for event in journal.load(1).events] == ["RunStarted", "PlanProposed", "StepStarted"]


@pytest.mark.parametrize(
    ("what", "words"),
    [("result", "step 0: odd returned a value of type str, which JSON can't hold"), ("error", r"OSError: a\udcffb"),
     ("emitted", "1 steps done"), ("plan", "")],
)  # fmt: skip
def test_text_that_is_not_unicode_ends_no_run(what: str, words: str, journal: Journal) -> None:
    name = "a\udcffb"  # a valid file name on some systems

    def odd() -> str:
        if what == "error":
            raise OSError(name)
        if what == "emitted":
            emit({"name": name})
        return name if what == "result" else ""

    planner = RulePlanner(lambda goal: Plan.parse(f"no plan {name} {{") if what == "plan" else chain("odd"))
    run = agent_for(executor_of(odd, effects="none"), planner, journal=journal).run("go")
    assert words in run.reason
    assert [journal.load(1).status, journal.list()[0].events] == [run.status, len(run.events)]


@pytest.mark.slow
def test_the_command_line_prints_any_goal_on_any_terminal(journal: Journal) -> None:
    execute(Plan.parse({"goal": "Grüße \u202e\x1b[2J\x00 \U0001f600", "steps": GATED}), ADDS, journal=journal)
    for encoding, *more in (("ascii",), ("cp1252", "1")):
        command = [sys.executable, "-m", "planexec_lab", "runs", str(journal.path), *more]
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        assert b"\x1b" not in subprocess.run(command, capture_output=True, check=True, env=environment).stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the size of a file can't be limited there")
def test_a_full_disk_stops_the_run_which_can_be_resumed(journal: Journal) -> None:
    output = printed(
        """
        import resource, signal, sys
        from planexec_lite import Journal, JournalError
        from tests.journal.runs import additions, carried_out
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        try:
            carried_out(Journal(sys.argv[1]), *additions(200))
        except JournalError as problem:
            print(problem, "|", len(problem.run.board.done) > 10)
        """,
        journal.path,
    )
    assert "can't be written: the disk is full, or fails; free some space and resume the run" in output
    assert output.rstrip().endswith("| True")
    assert journal.list()[0].status == "interrupted"
    done = agent_for(ADDS).resume(journal.load(1))
    assert done.status == "finished"
    assert [event.step for event in done.events if isinstance(event, StepDone)] == [str(n) for n in range(200)]


def test_a_file_that_is_locked_in_the_middle_of_a_run_stops_it(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planexec_lite.storage.sqlite_file.PATIENCE", 0.2)
    other: list[sqlite3.Connection] = []

    def lock() -> None:
        """Lock the file once, as a backup program might."""
        if not other:
            other.append(sqlite3.connect(journal.path, isolation_level=None))
            other[0].execute("BEGIN IMMEDIATE")

    locks = executor_of(lock, effects="none")
    with pytest.raises(JournalError, match=r"has locked the journal runs.db for 0.2 s; try again") as left:
        execute(chain("lock", "lock", "lock"), locks, journal=journal)
    run: Run = left.value.run  # type: ignore[attr-defined]
    kept = journal.load(1).events  # reading needs no lock
    assert kept == run.events[: len(kept)]
    other[0].close()
    done = agent_for(locks).resume(run)  # the run in memory is complete
    assert [event.step for event in done.events if isinstance(event, StepDone)] == ["0", "1", "2"]
    assert journal.load(1).events == done.events


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions are other ones here")
def test_a_journal_in_a_read_only_folder_can_be_read(journal: Journal, tmp_path: Path) -> None:
    run = carried_out(journal)
    Path(f"{journal.path}-lock").unlink()
    for path in (journal.path, tmp_path):
        path.chmod(0o555)
    for path in [one for one in tmp_path.parents if one.is_relative_to("/tmp") and one != Path("/tmp")]:
        path.chmod(path.stat().st_mode | 0o011)
    try:
        output = printed(
            """
            import os, sys
            from planexec_lite import Journal, JournalError
            from tests.journal.runs import carried_out
            if os.geteuid() == 0:
                os.setuid(65534)
            print(len(Journal(sys.argv[1]).load(1).events))
            try:
                carried_out(Journal(sys.argv[1]))
            except JournalError as problem:
                print(problem)
            """,
            journal.path,
        )
    finally:
        tmp_path.chmod(0o755)
    assert output.startswith(f"{len(run.events)}\n")
    assert "can't be opened or written to; check its permissions" in output


def test_an_error_of_watch_is_raised_and_leaves_no_step_in_doubt(journal: Journal, tmp_path: Path) -> None:
    def pay() -> int:
        return 7

    def watch(run: Run) -> None:
        Journal(tmp_path / "other.db").list()

    pays = executor_of(pay, effects="once")
    with pytest.raises(JournalError, match=r"no journal other.db"):
        execute(chain("pay"), pays, journal=journal, watch=watch)
    assert agent_for(pays).resume(journal.load(1)).results == {"0": 7}


def test_a_missing_journal_folder_or_run_is_named(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"there is no journal runs.db"):
        journal.list()
    with pytest.raises(JournalError, match=r"there is no folder for the journal runs.db; create it first"):
        carried_out(Journal(tmp_path / "nowhere" / "runs.db"))
    carried_out(journal)
    for run in ("7", "1; DROP TABLE runs", "٣", "-1", "9" * 30):
        for use in (journal.load, journal.inbox, partial(journal.tell, news="x")):
            with pytest.raises(JournalError, match=r"there is no run .* in runs.db; there are 1"):
                use(run)


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"event":"Exec"}', '{"event":"StepDone","at":1.0,"step":"9","result":1}', "[" * 9999,
     '{"event":["StepDone"]}', '{"event":"Inside","at":1}', None],
)  # fmt: skip
def test_an_unreadable_or_missing_event_is_named(text: str | None, journal: Journal) -> None:
    carried_out(journal)
    with closing(sqlite3.connect(journal.path)) as db, db:
        change = "DELETE FROM events" if text is None else "UPDATE events SET data = :text"
        db.execute(f"{change} WHERE number = 3", {"text": text})
    words = "event 4 of run 1 in runs.db can't be read" if text is not None else "events of run 1 are missing"
    with pytest.raises(JournalError, match=words):
        journal.load(1)
