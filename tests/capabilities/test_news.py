"""News: a running run receives it once, and the rest is planned again after the running steps have finished."""

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from planexec_lite import Board, Decision, Inline, Journal, JournalError, Run, Simulated
from planexec_lite.capabilities.news import News
from planexec_lite.run import events as e
from planexec_lite.workers import Workers
from tests.capabilities.scaffold import World
from tests.core import telling
from tests.core.agents import agent_for, carry_out
from tests.core.ending import to_its_end
from tests.core.shapes import check_fold, step
from tests.journal import crashing

PATIENT = 30.0  # seconds that a test waits for another process


FIRST = [step("1", "work", n=1), step("2", "work", "1", n=2), step("3", "work", "2", n=3)]
REST = [step("9", "work", n=9)]


def texts(run: Run) -> list[str]:
    return [event.text for event in run.events if isinstance(event, e.NewsReceived)]


def when(seen: Callable[[Run], bool], send: Callable[[Run], object]) -> Callable[[Run], None]:
    """Return a `watch` that sends news once, when `seen` is true."""
    sent: list[bool] = []

    def watch(run: Run) -> None:
        if not sent and seen(run):
            sent.append(True)
            send(run)

    return watch


def check_nothing_starts_between(run: Run) -> None:
    """No step starts between news and the next plan, and the planner is asked when no job is in flight."""
    board, unread = Board(), False
    for event in run.events:
        assert not (unread and isinstance(event, e.StepStarted)), event
        assert not (isinstance(event, e.PlanStarted) and board.in_flight), event
        board.apply(event)
        unread = board[News].unplanned
    check_fold(run)


@pytest.mark.parametrize("workers", [Inline(), Simulated(1)], ids=str)
@pytest.mark.parametrize("through", ["agent", "journal"])
def test_news_from_watch_is_read_once_and_done_work_is_kept(workers: Workers, through: str, journal: Journal) -> None:
    world = World()
    agent = agent_for(world.tools, FIRST, REST, workers=workers, journal=journal)
    tell = agent.tell if through == "agent" else lambda run, news: journal.tell(run.id, news)
    agent.watch = when(lambda run: "1" in run.results, lambda run: [tell(run, text) for text in ("one", "two")])
    run = to_its_end(lambda: agent.run("go"))
    # watch sends the news when step 2 is already running, so step 2 ends
    assert (run.status, texts(run), world.done) == ("finished", ["one", "two"], [1, 2, 9])
    assert [event.reason for event in run.events if isinstance(event, e.PlanStarted)] == ["first", "news"]
    check_nothing_starts_between(run)
    assert journal.load(1).events == run.events
    assert list(journal.inbox(1)) == []


def test_news_at_the_end_of_a_run_stays_in_its_inbox() -> None:
    agent = agent_for(World().tools, FIRST)

    def watch(run: Run) -> None:
        if run.board.ended:
            with pytest.raises(ValueError, match="has ended"):
                agent.tell(run, "late")
            assert run.put("later")

    agent.watch = watch
    run = agent.run("go")
    assert (run.status, texts(run), list(run.inbox)) == ("finished", [], ["later"])
    with pytest.raises(ValueError, match=r"has ended \(finished\)"):
        agent.tell(run, "too late")
    assert agent.resume(run).events == run.events


def test_a_nested_run_ends_and_receives_no_news() -> None:
    world = World()
    plans = [step("a", None, description="in"), step("b", None, "a")], [step("c", None, description="out")]
    outer = agent_for(agent_for(world.tools, FIRST), *plans)
    outer.watch = when(lambda run: "a" in run.board.in_flight, lambda run: outer.tell(run, "hurry"))
    run = to_its_end(lambda: outer.run("go"))
    assert (run.status, world.done, list(run.results)) == ("finished", [1, 2, 3, 1, 2, 3], ["a", "c"])
    assert (texts(run), texts(run.inside("a"))) == (["hurry"], [])


def test_a_run_that_has_ended_or_has_no_journal_gets_no_news(journal: Journal) -> None:
    with pytest.raises(JournalError, match=r"there is no journal runs.db"):
        journal.tell(1, "hello")
    assert not journal.path.exists()
    carry_out(FIRST, World().tools, journal=journal)
    with pytest.raises(JournalError, match=r"run 1 in runs.db has ended \(finished\); start a new run with the news"):
        journal.tell(1, "too late")


HOSTILE = [
    "",
    "'; DROP TABLE news; --",
    "a\x00b",
    "\x1b[2J\u202e",
    "🦊" * 10_000,
    "{step_1_result}",
    "a\nb\x85c\u2028d",
]


def test_news_for_a_paused_run_waits_in_its_inbox_and_comes_back_unchanged(journal: Journal) -> None:
    """The decision comes first, then the news in the file, then the news from the agent."""
    gated = [FIRST[0], FIRST[1] | {"gate": True}]
    agents = [agent_for(World().tools, gated, REST, journal=journal) for _ in range(3)]
    for agent in agents:
        agent.run("go")
    for text in HOSTILE:
        journal.tell(1, text)
    journal.tell(2, "in the file")
    assert journal.inbox(1) == HOSTILE
    assert (journal.list()[0].status, journal.inbox(3)) == ("paused", [])
    run = agents[0].resume(journal.load(1), Decision("approve", by="Ada"))
    assert texts(run) == texts(journal.load(1)) == HOSTILE
    assert (run.status, list(run.results), journal.inbox(1)) == ("finished", ["1", "9"], [])
    assert texts(agents[1].tell(journal.load(2), "by the agent")) == ["in the file", "by the agent"]


def started(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.core.telling", str(folder / "runs.db"), str(folder / "world.txt")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def until(seen: Callable[[], object]) -> None:
    """Wait for something that another process does."""
    end = time.monotonic() + PATIENT
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.0005)


MANY = [pytest.param(seed, 12, marks=pytest.mark.weekly) for seed in range(1, 30)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "kills"), [(0, 4), *MANY])
def test_news_is_read_once_whenever_the_process_is_killed(seed: int, kills: int, tmp_path: Path) -> None:
    """A process is killed at about the time when news is sent; its run is resumed, and the news is compared."""
    chance, journal, world = Random(seed), Journal(tmp_path / "runs.db"), crashing.World(tmp_path / "world.txt")
    told: list[str] = []
    for n in range(kills):
        with started(tmp_path) as process:
            until(lambda: world.path.exists() or process.poll() is not None)
            time.sleep(chance.random() * 0.02)
            for m in range(chance.randint(1, 3)):
                text = f"{n} {m}"
                with suppress(JournalError):  # it has ended
                    journal.tell(1, text)
                    told.append(text)
            time.sleep(chance.random() * chance.choice([0.001, 0.02]))
            process.kill()
        kept = journal.load(1)
        assert texts(kept) + list(journal.inbox(1)) == told, "something is lost, or there twice"
        if kept.board.ended:
            break
    run = telling.main(journal.path, world.path)
    assert texts(run) + list(journal.inbox(1)) == told
    assert run.status == "finished"
    assert {line for line in world.lines() if "end" in line} == {f"end {n}" for n in range(telling.LENGTH)}
    check_nothing_starts_between(run)
