"""News: a running run receives it once, and the rest is planned again after the running steps have finished."""

import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event as Flag
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.__main__ import main
from planexec_lite import (
    Board,
    Decision,
    Inline,
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
    execute,
)
from planexec_lite import events as e
from planexec_lite.capabilities.news import News
from planexec_lite.workers import Workers
from tests.capabilities.scaffold import planned
from tests.core import telling
from tests.core.ending import to_its_end
from tests.core.shapes import Portions, Workshop, check_fold, jobs, plan_of, step
from tests.rounds import rounds

PATIENT = 30.0  # seconds; a test waits so long for what must come


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs.db")


class World:
    """Three tools: one returns at once, one waits for `let_go`, and one fails `fails` times."""

    def __init__(self, fails: int = 0) -> None:
        self.begun, self.let_go = ({n: Flag() for n in (1, 2)} for _ in range(2))
        self.did, self.fails = list[int](), fails
        self.tools = Toolbox([Tool(one, effects="none") for one in (self.act, self.wait, self.fail)])

    def act(self, n: int) -> int:
        """Act."""
        self.did.append(n)
        return n

    def wait(self, n: int) -> int:
        """Wait until somebody lets it go."""
        self.begun[n].set()
        assert self.let_go[n].wait(PATIENT)
        return self.act(n)

    def fail(self, n: int) -> int:
        """Fail, and work the next time."""
        self.act(n)
        if self.did.count(n) <= self.fails:
            raise RuntimeError("not yet")
        return n


FIRST = [step("1", "act", n=1), step("2", "act", "1", n=2), step("3", "act", "2", n=3)]
REST = [step("9", "act", n=9)]


def texts(run: Run) -> list[str]:
    return [event.text for event in run.events if isinstance(event, e.NewsReceived)]


def when(telling: Callable[[Run], object], seen: Callable[[Run], bool]) -> Callable[[Run], None]:
    """Return a `watch` that sends news once, when `seen` is true."""
    told: list[bool] = []

    def watch(run: Run) -> None:
        if not told and seen(run):
            told.append(True)
            telling(run)

    return watch


def done(*ids: str) -> Callable[[Run], bool]:
    return lambda run: set(ids) <= run.board.results.keys()


def check_nothing_starts_between(run: Run) -> None:
    """No step starts between news and the next plan, and the planner is asked when no job is in flight."""
    board, unread = Board(), False
    for event in run.events:
        assert not (unread and isinstance(event, e.StepStarted)), event
        assert not (isinstance(event, e.PlanStarted) and board.in_flight), event
        board.apply(event)
        unread = board[News].unplanned
    check_fold(run)


def test_a_run_in_a_thread_is_told_and_hears_out_what_is_in_flight() -> None:
    world, seen = World(), list[Run]()
    first = [step("1", "wait", n=1), step("2", "wait", n=2), step("3", "act", "1", n=3), step("4", "act", "2", n=4)]
    with ThreadPoolExecutor(4) as threads, ThreadPoolExecutor(1) as driver:
        agent = planned(world.tools, first, REST, workers=Pool(threads), roles={"watch": seen.append})
        ended = driver.submit(agent.run, "go")
        for n in (1, 2):
            assert world.begun[n].wait(PATIENT)
        run = seen[0]
        assert agent.tell(run, "hurry") is run
        world.let_go[1].set()
        until(lambda: "1" in run.board.results)
        assert run.board.planning is False, "step 2 is in flight"
        world.let_go[2].set()
        assert ended.result(PATIENT) is run
    assert (run.status, texts(run), list(run.results)) == ("finished", ["hurry"], ["1", "2", "9"])
    assert not {3, 4} & {*world.did}
    check_nothing_starts_between(run)


@pytest.mark.parametrize("workers", [Inline(), Simulated(), Simulated(1)], ids=str)
@pytest.mark.parametrize("through", ["agent", "journal"])
def test_news_that_watch_tells_is_read_once_and_done_work_is_kept(
    workers: Workers, through: str, journal: Journal
) -> None:
    world = World()
    agent = PlannerExecutor(Portions(FIRST, REST), ToolExecutor(world.tools), workers=workers, journal=journal)
    tell = agent.tell if through == "agent" else lambda run, news: journal.tell(run.id, news)
    agent.watch = when(lambda run: [tell(run, text) for text in ("one", "two")], done("1"))
    run = to_its_end(lambda: agent.run("go"))
    # the watcher tells when step 2 has been decided on: it is in flight, and heard out
    assert (run.status, texts(run), world.did) == ("finished", ["one", "two"], [1, 2, 9])
    assert [event.reason for event in run.events if isinstance(event, e.PlanStarted)] == ["first", "news"]
    check_nothing_starts_between(run)
    assert journal.load(1).events == run.events
    assert list(journal.inbox(1)) == []


def test_news_as_a_run_ends_stays_in_its_inbox() -> None:
    agent = PlannerExecutor(Portions(FIRST), ToolExecutor(World().tools), workers=Simulated())
    told: list[str] = []

    def watch(run: Run) -> None:
        if run.board.ended:
            with pytest.raises(ValueError, match="has ended"):
                agent.tell(run, "late")
            assert run.put("later")
            told.append("late")

    agent.watch = watch
    run = agent.run("go")
    assert (run.status, texts(run), list(run.inbox), told) == ("finished", [], ["later"], ["late"])
    with pytest.raises(ValueError, match=r"has ended \(finished\)"):
        agent.tell(run, "too late")
    assert agent.resume(run).events == run.events


@pytest.mark.parametrize("news", [None, 5, b"x", ["x"], "\ud800", "a\udcff"], ids=ascii)
def test_what_is_no_text_is_told_to_nobody(news: Any, journal: Journal) -> None:
    agent = PlannerExecutor(Portions([FIRST[0] | {"gate": True}]), ToolExecutor(World().tools), journal=journal)
    run = agent.run("go")
    for tell in (lambda: agent.tell(run, news), lambda: journal.tell(1, news)):
        with pytest.raises(ValueError, match="news"):
            tell()
    assert (journal.inbox(1), list(run.inbox), journal.load(1).events) == ([], [], run.events)


def test_a_run_inside_a_step_is_heard_out_and_told_nothing() -> None:
    world = World()
    inner = PlannerExecutor(RulePlanner(lambda goal: FIRST), ToolExecutor(world.tools), workers=Simulated())
    plans = [step("a", None, description="in"), step("b", None, "a")], [step("c", None, description="out")]
    outer = PlannerExecutor(Portions(*plans), inner, workers=Simulated())
    outer.watch = when(lambda run: outer.tell(run, "hurry"), lambda run: "a" in run.board.in_flight)
    run = to_its_end(lambda: outer.run("go"))
    assert (run.status, world.did, list(run.results)) == ("finished", [1, 2, 3, 1, 2, 3], ["a", "c"])
    assert texts(run) == ["hurry"]
    assert not [
        event for event in run.events if isinstance(event, e.Inside) and isinstance(event.event, e.NewsReceived)
    ]


@rounds(100)
@given(jobs(most=8), st.sampled_from([1, 2, None]), st.data())
def test_any_run_told_at_any_moment_keeps_what_is_done(made: Any, slots: int | None, data: st.DataObject) -> None:
    first = plan_of(made)
    shop = Workshop()
    plans = 0

    class Again:
        def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
            nonlocal plans
            plans += 1
            if plans == 1:
                return first
            left = [one for one in first.steps if one.id not in board.results]
            return Plan(steps=tuple(one for one in left if set(one.depends_on) <= board.results.keys()))

    moments = data.draw(st.lists(st.integers(1, 12), max_size=3))
    seen = 0
    told = []

    def watch(run: Run) -> None:
        nonlocal seen
        seen += 1
        for _ in range(moments.count(seen)):
            if not run.board.ended:
                told.append(f"{seen}")
                agent.tell(run, f"{seen}")

    policy = Policy(max_replans=9)
    agent = PlannerExecutor(Again(), ToolExecutor(shop.toolbox), workers=Simulated(slots), policy=policy, watch=watch)
    run = to_its_end(lambda: agent.run("go"))
    assert run.board.ended
    assert texts(run) + list(run.inbox) == told
    finished = [event.step for event in run.events if isinstance(event, e.StepDone)]
    assert len(finished) == len(set(finished)), "what is done is done again"
    check_nothing_starts_between(run)


def gated(journal: Journal, world: World | None = None, **settings: Any) -> tuple[PlannerExecutor, Run]:
    """An agent, and its run that waits at a gate."""
    world = world or World()
    agent = PlannerExecutor(
        Portions([FIRST[0], FIRST[1] | {"gate": True}], REST), ToolExecutor(world.tools), journal=journal, **settings
    )
    return agent, agent.run("go")


def test_a_run_that_has_ended_or_is_unknown_is_told_nothing(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(JournalError, match=r"there is no journal runs.db"):
        journal.tell(1, "hello")
    assert not journal.path.exists()
    execute(Plan.parse(FIRST), ToolExecutor(World().tools), journal=journal)
    with pytest.raises(JournalError, match=r"run 1 in runs.db has ended \(finished\); start a new run with the news"):
        journal.tell(1, "too late")
    for run in ("7", "1; DROP TABLE runs", "٣", "-1", "9" * 30):
        for ask in (lambda run=run: journal.tell(run, "x"), lambda run=run: journal.inbox(run)):  # type: ignore[misc]
            with pytest.raises(JournalError, match=r"there is no run .* in runs.db; there are 1"):
                ask()


def test_news_after_the_last_look_stays_in_the_inbox_and_is_shown(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = Run.commit

    def late(run: Run) -> None:
        if run.board.ended:
            journal.tell(1, "late \x1b[2J")
        commit(run)

    monkeypatch.setattr(Run, "commit", late)
    run = planned(World().tools, FIRST, roles={"journal": journal}).run("go")
    assert (run.status, texts(run), journal.inbox(1)) == ("finished", [], ["late \x1b[2J"])
    assert main(["runs", str(journal.path), "1"]) == 0
    shown = capsys.readouterr().out
    assert "told, and not recorded: late " in shown
    assert "\x1b" not in shown
    for wrong, words in ((["9", "--tell", "x"], "there is no run 9"), (["1", "--tell", "\udcff"], "can't be saved")):
        assert main(["runs", str(journal.path), *wrong]) == 1
        assert words in capsys.readouterr().err


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
    """The decision comes first, then the news in the file, then what the agent is told."""
    agents = [gated(journal)[0] for _ in range(3)]
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
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def until(seen: Callable[[], object]) -> None:
    """Wait until another process has done something."""
    end = time.monotonic() + PATIENT
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.0005)


def _runs(journal: Journal) -> bool:
    try:
        return bool(journal.list())
    except JournalError:
        return False


MANY = [pytest.param(seed, 12, marks=pytest.mark.weekly) for seed in range(1, 30)]


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "kills"), [(0, 4), *MANY])
def test_news_is_read_once_whenever_the_process_is_killed(seed: int, kills: int, tmp_path: Path) -> None:
    """News is sent to a process, which is killed at about that time; its run is resumed, and the news is compared."""
    chance, journal, world = Random(seed), Journal(tmp_path / "runs.db"), telling.World(tmp_path / "world.txt")
    told: list[str] = []
    for n in range(kills):
        with started(tmp_path) as process:
            until(lambda: (journal.path.exists() and _runs(journal)) or process.poll() is not None)
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
    assert sorted(set(world.done()), key=int) == [str(n) for n in range(telling.LENGTH)]
    check_nothing_starts_between(run)
