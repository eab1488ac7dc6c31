"""Nested runs in the journal: after a crash at any instant they continue, and no call is made twice."""

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import Decision, HybridExecutor, Journal, PlannerExecutor, RulePlanner, Run, Team
from planexec_lite.meter import ModelCall, charge
from planexec_lite.storage.journal import FILE
from tests.core.agents import agent_for, executor_of
from tests.core.shapes import check_fold, left, step
from tests.core.world import World, nested_in


def outer(goal: str) -> list[dict[str, Any]]:
    return [step("1", None, description="A"), step("2", None, "1", description="B")]


def middle(goal: str) -> list[dict[str, Any]]:
    charge(1.0, ModelCall("m", 10, 1))
    name = goal.splitlines()[0]
    return [
        step("x", "put", name=f"{name}x") | {"undo": {"tool": "take_back", "params": {"name": f"{name}x"}}},
        step("m", None, "x", description=f"{name}m"),
        step("y", "look", "m", name=f"{name}y"),
    ]


def inner(goal: str) -> list[dict[str, Any]]:
    charge(1.0, ModelCall("m", 5, 1))
    name = goal.splitlines()[0]
    return [
        step("a", "look", name=f"{name}a"),
        step("p", "pay", "a", name=f"{name}p"),
        step("z", "look", "p", name=f"{name}z"),
    ]


CALLS = ["Ax", "Ama", "Amp", "Amz", "Ay", "Bx", "Bma", "Bmp", "Bmz", "By"]


def agent_of(world: World, kept: Journal | None) -> PlannerExecutor:
    tools = executor_of(world.tools)
    below = agent_for(HybridExecutor(tools, agent_for(tools, RulePlanner(inner))), RulePlanner(middle))
    return agent_for(Team({"all": below}), RulePlanner(outer), journal=kept)


YES = Decision("approve", "Ann")


def answered(agent: PlannerExecutor, world: World, run: Run) -> Run:
    """Answer the questions about calls in doubt by what the world did."""
    while run.question:
        assert run.question.call is not None
        name = run.question.call.params["name"]
        there = name in world.done
        run = agent.resume(run, Decision("done" if there else "not done", "Ann", result=name if there else None))
    return run


def check_whole(run: Run, world: World) -> None:
    """The run ended as it would have without an interruption, and its events tell everything once."""
    check_fold(run)
    assert (run.status, run.results) == ("finished", {"1": "Ay", "2": "By"})
    assert {one.input_tokens for one in run.board.calls} == {5, 10}
    assert len(run.board.calls) == 4
    for id in ("1", "2"):
        assert list(run.inside(id).results) == ["x", "m", "y"]
        assert list(run.inside(id).inside("m").results) == ["a", "p", "z"]
    assert all(len(keys) == 1 for keys in world.keys.values())


@pytest.fixture
def kept(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs.db")


@contextmanager
def each_commit(
    folder: Path, path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tuple[Path, list[str]]]]:
    """After each commit, copy the files that a kill would leave, and the state of the world."""
    kept: list[tuple[Path, list[str]]] = []
    plain = FILE.writing

    @contextmanager
    def copied(path: Path) -> Iterator[sqlite3.Connection]:
        with plain(path) as connection:
            yield connection
        copy()

    def copy() -> None:
        place = folder / str(len(kept))
        place.mkdir(parents=True)
        for file in path.parent.glob(f"{path.name}*"):
            shutil.copy(file, place / file.name)
        kept.append((place / path.name, [*world.done]))

    with monkeypatch.context() as patched:
        patched.setattr(type(FILE), "writing", lambda file, path: copied(path))
        yield kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "seen"), [("", False), ("", True), pytest.param("Amp", False, marks=pytest.mark.weekly)], ids=str
)
def test_it_goes_on_from_every_commit(first: str, seen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call after the commit was made before the process was killed, or was not; in one case it is killed a second time."""
    world, path = World(cut=first, after=True), tmp_path / "runs.db"
    agent = agent_of(world, Journal(path))
    if first:
        left(lambda: agent.run("go"))
    with each_commit(tmp_path / "kept", path, world, monkeypatch) as copies:
        answered(agent, world, agent.resume(Journal(path).load(1)) if first else agent.run("go"))
    assert world.done == CALLS
    assert len(copies) > 20
    for (file, done), (_, later) in zip(copies, [*copies[1:], copies[-1]], strict=True):
        there, stored = World([*(later if seen else done)]), Journal(file)
        if not stored.list():
            continue
        agent, run = agent_of(there, stored), stored.load(1)
        if run.status != "finished":
            run = answered(agent, there, run if run.board.paused else agent.resume(run))
        check_whole(run, there)
        twice = Counter(there.done) - Counter(CALLS)
        assert not any(name.endswith("p") for name in twice)
        # at most the call that was in flight
        assert sum(twice.values()) <= (len(later) - len(done) if seen else 0), (file, there.done)


@pytest.mark.parametrize("done", [False, True])
def test_without_a_journal_the_step_is_in_doubt_as_a_whole(done: bool) -> None:
    world = World(cut="a", after=done)
    agent = nested_in(world, None, step("a", "pay", name="a") | {"gate": True})
    paused = agent.run("go")
    run = agent.resume(left(lambda: agent.resume(paused, YES)))
    assert run.reason == "waits for your answer: was step 1 done?"
    run = agent.resume(run, Decision("done", "Ann", result="a") if done else Decision("not done", "Ann"))
    assert (run.status, run.answer, world.done) == ("finished", "a", ["a"])


def test_a_new_plan_with_the_same_step_continues_it_and_another_starts_anew(kept: Journal) -> None:
    world = World(cut="Amz")
    left(lambda: agent_of(world, kept).run("go"))
    check_whole(agent_of(world, kept).tell(kept.load(1), "hurry"), world)
    assert world.done == CALLS
    world = World(cut="Amz")
    left(lambda: agent_of(world, kept).run("go"))
    other = agent_of(world, kept)
    other.planner = RulePlanner(lambda goal: [step("1", None, description="C")])
    run = other.tell(kept.load(2), "hurry")
    assert (run.status, world.done[3:]) == ("finished", ["Cx", "Cma", "Cmp", "Cmz", "Cy"])


def test_an_opened_gate_inside_is_not_asked_again_after_news(kept: Journal) -> None:
    world, gated = World(cut="a"), step("a", "look", name="a", gate=True)
    paused = nested_in(world, kept, gated).run("go")
    left(lambda: nested_in(world, kept, gated).resume(paused, YES))
    run = nested_in(world, kept, gated).tell(kept.load(1), "hurry")
    assert (run.status, world.done) == ("finished", ["a"])
    check_fold(run)


def test_an_approved_step_does_not_approve_the_run_inside(kept: Journal) -> None:
    world, gated = World(cut="b"), [step("1", None, description="A", gate=True)]
    below = [step("a", "look", name="a"), step("b", "look", "a", name="b"), step("c", "pay", "b", name="c")]
    paused = nested_in(world, kept, *below, outer=gated).run("go")
    left(lambda: nested_in(world, kept, *below, outer=gated).resume(paused, YES))
    run = nested_in(world, kept, *below, outer=gated).tell(kept.load(1), "hurry")
    assert run.reason == "waits for the gate of step 1"
    run = nested_in(world, kept, *below, outer=gated).resume(run, YES)
    assert (run.status, world.done) == ("finished", ["a", "b", "c"])


def test_a_nested_run_that_another_process_took_over_ends(kept: Journal) -> None:
    world, began = World(), list[None]()

    def plan(goal: str) -> list[dict[str, Any]]:
        if not began:  # another process has continued the run
            began.append(None)
            with sqlite3.connect(kept.path) as connection:
                (uid,) = connection.execute("SELECT uid FROM runs WHERE id < 0").fetchone()
            inside = kept.find(uid)
            with kept.carry_on(inside):
                pass
        return [step("a", "pay", name="a")]

    agent = nested_in(world, kept)
    agent.executor.planner = RulePlanner(plan)  # type: ignore[attr-defined]
    run = agent.run("go")
    assert (run.status, world.done) == ("failed", [])
    assert "was taken over by process" in run.reason


def test_an_error_of_watch_inside_leaves_a_payment_in_doubt() -> None:
    world, raised = World(), list[int]()

    def watch(run: Run) -> None:
        if "q" in run.results and not raised:
            raised.append(1)
            raise RuntimeError("no more pictures")

    below = agent_for(world.tools, [step("p", "pay", name="p"), step("q", "put", name="q")], watch=watch)
    agent = agent_for(below, [step("1", None, description="A", retries=2)])
    run = agent.run("go")
    assert (run.status, world.done) == ("failed", ["p", "q"])
    assert "1/p" in agent.roll_back(run).reason


GATES = [step("a", "look", name="a", gate=True), step("b", "look", "a", name="b", gate=True)]


def test_a_pause_inside_that_was_not_recorded_outside_asks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, path = World(), tmp_path / "runs.db"
    one = nested_in(world, Journal(path), *GATES)
    run = one.run("go")
    with each_commit(tmp_path / "kept", path, world, monkeypatch) as copies:
        for _ in range(2):
            run = one.resume(run, YES)
    for file, done in copies:
        there, stored = World([*done]), Journal(file)
        one, run = nested_in(there, stored, *GATES), stored.load(1)
        while run.status in ("paused", "running"):
            if run.board.paused:
                assert run.reason == f"waits for the gate of step {'b' if 'a' in there.done else 'a'} inside step 1"
            run = one.resume(run, YES if run.board.paused else None)
        assert (run.status, there.done) == ("finished", ["a", "b"])
        check_fold(run)
