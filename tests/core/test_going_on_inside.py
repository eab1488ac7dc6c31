"""A run inside a step is in the journal too: after a crash at any instant it continues from there, and no call is made twice."""

import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import (
    Decision,
    HybridExecutor,
    Journal,
    PlannerExecutor,
    Policy,
    Pool,
    RulePlanner,
    Run,
    Simulated,
    Team,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite import events as e
from planexec_lite.decisions import innermost
from planexec_lite.journal import FILE, JournalError, _Log
from planexec_lite.meter import ModelCall, charge, idempotency_key
from tests.core.shapes import check_fold, left, step


@dataclass
class World:
    """What was really done, in order. The call of that name is cut off, once, before or after it is done."""

    done: list[str] = field(default_factory=list)
    keys: dict[str, set[str | None]] = field(default_factory=dict)
    cut: str = ""
    after: bool = False

    @property
    def tools(self) -> Toolbox:
        """Tools that do no more than to be noted."""

        def take_back(name: str) -> str:
            return self.note(f"undo {name}")

        look, undo = Tool(self.note, name="look", latency=2.0, effects="none"), Tool(take_back, effects="idempotent")
        kinds: dict[str, Any] = {"pay": "once", "put": "idempotent"}
        made = [Tool(self.note, name=name, latency=1.0, effects=effects) for name, effects in kinds.items()]
        return Toolbox([*made, look, undo])

    def note(self, name: str) -> str:
        """Note it."""
        cut = name == self.cut
        self.cut = "" if cut else self.cut
        if cut and not self.after:
            raise KeyboardInterrupt
        self.done.append(name)
        self.keys.setdefault(name, set()).add(idempotency_key())
        if cut:
            raise KeyboardInterrupt
        return name


def outer(goal: str) -> list[dict[str, Any]]:
    """Two steps that are runs of their own, the second behind the first."""
    return [step("1", None, description="A"), step("2", None, "1", description="B")]


def middle(goal: str) -> list[dict[str, Any]]:
    """A run of its own, between two calls."""
    charge(1.0, ModelCall("m", 10, 1))
    name = goal.splitlines()[0]
    return [
        step("x", "put", name=f"{name}x") | {"undo": {"tool": "take_back", "params": {"name": f"{name}x"}}},
        step("m", None, "x", description=f"{name}m"),
        step("y", "look", "m", name=f"{name}y"),
    ]


def inner(goal: str) -> list[dict[str, Any]]:
    """An at-most-once call between two other calls."""
    charge(1.0, ModelCall("m", 5, 1))
    name = goal.splitlines()[0]
    return [
        step("a", "look", name=f"{name}a"),
        step("p", "pay", "a", name=f"{name}p"),
        step("z", "look", "p", name=f"{name}z"),
    ]


CALLS = ["Ax", "Ama", "Amp", "Amz", "Ay", "Bx", "Bma", "Bmp", "Bmz", "By"]


def agent_of(world: World, kept: Journal | None, **more: Any) -> PlannerExecutor:
    """Three planners, one above the other."""
    tools = ToolExecutor(world.tools)
    deepest = PlannerExecutor(RulePlanner(inner), tools, workers=Simulated())
    below = PlannerExecutor(RulePlanner(middle), HybridExecutor(tools, deepest), workers=Simulated())
    return PlannerExecutor(RulePlanner(outer), Team({"all": below}), workers=Simulated(), journal=kept, **more)


def nested_in(world: World, kept: Journal | None, *below: Any, outer: Any = (), **more: Any) -> PlannerExecutor:
    """A plan whose steps without a tool, one unless it is given, are carried out by a planner that writes the plan `below`."""
    deeper = PlannerExecutor(RulePlanner(lambda goal: [*below]), ToolExecutor(world.tools), **(WORKERS | more))
    plan = [*outer] or [step("1", None, description="A")]
    return PlannerExecutor(RulePlanner(lambda goal: plan), deeper, journal=kept, **WORKERS)


WORKERS: dict[str, Any] = {"workers": Simulated()}
YES = Decision("approve", "Ann")


def answered(agent: PlannerExecutor, world: World, run: Run) -> Run:
    """Say of a call in doubt what the world says."""
    while run.board.paused:
        waits = innermost(run).board
        assert waits.paused is not None
        assert waits.paused.step is not None
        name = waits.steps[waits.paused.step].params["name"]
        there = name in world.done
        run = agent.resume(run, Decision("done" if there else "not done", "Ann", result=name if there else None))
    return run


def check_whole(run: Run, world: World) -> None:
    """It came to the end that it would have come to undisturbed, and told everything once."""
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
    return Journal(tmp_path / "runs.db", "OFF")


@contextmanager
def each_commit(
    folder: Path, path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tuple[Path, list[str]]]]:
    """Keep a copy of what a kill would leave behind after each commit, and of the world at that time."""
    kept: list[tuple[Path, list[str]]] = []
    plain = FILE.transaction

    @contextmanager
    def copied(connection: sqlite3.Connection) -> Iterator[None]:
        with plain(connection):
            yield
        copy()

    def copy() -> None:
        place = folder / str(len(kept))
        place.mkdir(parents=True)
        for file in path.parent.glob(f"{path.name}*"):
            if file.is_dir():
                shutil.copytree(file, place / file.name)
            elif not file.name.endswith(("-lock", "-shm")):
                shutil.copy(file, place / file.name)
        kept.append((place / path.name, [*world.done]))

    with monkeypatch.context() as patched:
        patched.setattr(type(FILE), "transaction", lambda file, connection: copied(connection))
        yield kept


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "seen"), [("", False), ("", True), ("Amp", False)], ids=["not done", "done", "a second crash"]
)
def test_it_goes_on_from_every_commit(first: str, seen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What followed the commit had happened when the process was killed, or had not; perhaps it is killed a second time."""
    world, path = World(cut=first, after=True), tmp_path / "runs.db"
    agent = agent_of(world, Journal(path, "OFF"))
    if first:
        left(lambda: agent.run("go"))
    with each_commit(tmp_path / "kept", path, world, monkeypatch) as copies:
        answered(agent, world, agent.resume(Journal(path, "OFF").load(1)) if first else agent.run("go"))
    assert world.done == CALLS
    assert len(copies) > 20
    for (file, done), (_, later) in zip(copies, [*copies[1:], copies[-1]], strict=True):
        there, stored = World([*(later if seen else done)]), Journal(file, "OFF")
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


def test_a_new_plan_that_keeps_the_step_goes_on_with_it_and_another_begins_anew(kept: Journal) -> None:
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


GATES = [step("a", "look", name="a") | {"gate": True}, step("b", "look", "a", name="b") | {"gate": True}]


def test_a_pause_inside_that_was_not_told_yet_is_asked_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, path = World(), tmp_path / "runs.db"
    one = nested_in(world, Journal(path, "OFF"), *GATES)
    run = one.run("go")
    with each_commit(tmp_path / "kept", path, world, monkeypatch) as copies:
        for _ in range(2):
            run = one.resume(run, YES)
    for file, done in copies:
        there, stored = World([*done]), Journal(file, "OFF")
        one, run = nested_in(there, stored, *GATES), stored.load(1)
        while run.status in ("paused", "running"):
            if run.board.paused:
                assert run.reason.endswith(f"gate of step {'b' if 'a' in there.done else 'a'}")
            run = one.resume(run, YES if run.board.paused else None)
        assert (run.status, there.done) == ("finished", ["a", "b"])
        check_fold(run)


def test_a_gate_inside_that_was_opened_is_not_asked_again_after_news(kept: Journal) -> None:
    world = World(cut="a")
    paused = nested_in(world, kept, GATES[0]).run("go")
    left(lambda: nested_in(world, kept, GATES[0]).resume(paused, YES))
    run = nested_in(world, kept, GATES[0]).tell(kept.load(1), "hurry")
    assert (run.status, world.done) == ("finished", ["a"])
    check_fold(run)


def test_a_yes_to_the_step_is_none_to_the_run_inside(kept: Journal) -> None:
    world, gated = World(cut="b"), [step("1", None, description="A") | {"gate": True}]
    below = [step("a", "look", name="a"), step("b", "look", "a", name="b"), step("c", "pay", "b", name="c")]
    paused = nested_in(world, kept, *below, outer=gated).run("go")
    left(lambda: nested_in(world, kept, *below, outer=gated).resume(paused, YES))
    run = nested_in(world, kept, *below, outer=gated).tell(kept.load(1), "hurry")
    assert run.reason == "waits for gate of step 1"
    run = nested_in(world, kept, *below, outer=gated).resume(run, YES)
    assert (run.status, world.done) == ("finished", ["a", "b", "c"])


def test_a_run_inside_that_another_process_took_over_ends_there(kept: Journal) -> None:
    world, began = World(), list[None]()

    def plan(goal: str) -> list[dict[str, Any]]:
        if not began:  # an orphan is at the step, while another process goes on with the run
            began.append(None)
            with sqlite3.connect(kept.path) as connection:
                (uid,) = connection.execute("SELECT uid FROM runs WHERE id < 0").fetchone()
            inside = kept.find(uid)
            assert inside is not None
            with kept.carry_on(inside):
                pass
        return [step("a", "pay", name="a")]

    agent = nested_in(world, kept)
    agent.executor.planner = RulePlanner(plan)  # type: ignore[attr-defined]
    run = agent.run("go")
    assert (run.status, world.done) == ("failed", [])
    assert "was taken over by process" in run.reason


def test_a_run_that_is_carried_on_is_not_taken_over(kept: Journal) -> None:
    world, refused = World(), list[str]()

    def watch(run: Run) -> None:
        if run.board.in_flight.keys() == {"2"}:
            with pytest.raises(JournalError, match="is being carried on by process") as problem:
                agent_of(world, kept).resume(kept.load(1))
            refused.append(str(problem.value))

    check_whole(agent_of(world, kept, watch=watch).run("go"), world)
    assert refused


def test_on_threads_each_try_of_each_step_has_a_run_of_its_own(kept: Journal) -> None:
    world, tries = World(), Counter[str]()

    def plan(goal: str) -> list[dict[str, Any]]:
        tries[goal] += 1
        return [
            step("a", "look", name=f"{goal}a"),
            step("b", "put", "a", name=f"{goal}b", **{"no": 1} if tries[goal] < 2 else {}),
        ]

    below = PlannerExecutor(RulePlanner(plan), ToolExecutor(world.tools), policy=Policy(max_repairs=0))
    steps = [step(name, None, description=name, retries=2) for name in "ABCDEF"]
    with ThreadPoolExecutor(4) as threads:
        run = PlannerExecutor(RulePlanner(lambda goal: steps), below, workers=Pool(threads), journal=kept).run("go")
    assert (run.status, set(tries.values())) == ("finished", {2})
    assert Counter(world.done) == Counter(f"{name}{which}" for name in "ABCDEF" for which in "ab")


def test_an_error_of_watch_inside_hides_no_call_that_may_be_made_once() -> None:
    world, broken = World(), list[str]()

    def watch(run: Run) -> None:
        if not broken and "q" in run.results:
            broken.append("once")
            raise RuntimeError("no more pictures")

    below = [step("p", "pay", name="p"), step("q", "put", name="q")]
    again = [step("1", None, description="A", retries=2)]
    agent = nested_in(world, None, *below, outer=again, watch=watch)
    run = agent.run("go")
    assert (run.status, world.done) == ("failed", ["p", "q"])
    assert "1/p" in agent.roll_back(run).reason
    check_fold(run)


def test_what_was_done_inside_is_told_where_it_cannot_be_written_down(
    kept: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, append = World(), _Log.append

    def full(log: Any, number: int, events: Any, *args: Any) -> None:
        if log.run < 0 and any(isinstance(event, e.StepDone) for event in events):
            raise JournalError("there is no room for it")
        append(log, number, events, *args)

    monkeypatch.setattr(_Log, "append", full)
    again = [step("1", None, description="A", retries=2)]
    run = nested_in(world, kept, step("p", "pay", name="p"), outer=again).run("go")
    assert (run.status, world.done) == ("failed", ["p"])
    assert run.inside("1").results == {"p": "p"}


def test_a_run_that_fails_elsewhere_names_the_call_in_doubt(kept: Journal) -> None:
    world = World(cut="Ap", after=True)

    def fail() -> None:
        """Fail."""
        raise RuntimeError("not today")

    below = PlannerExecutor(RulePlanner(inner), ToolExecutor(world.tools))
    hybrid = HybridExecutor(ToolExecutor(Toolbox([Tool(fail, effects="idempotent")])), below)
    rule = RulePlanner(lambda _: [step("1", None, description="A"), step("2", "fail")])
    policy = Policy(replan="never", failure="stop")
    agent = PlannerExecutor(rule, hybrid, workers=Simulated(), policy=policy, journal=kept)
    left(lambda: agent.run("go"))
    run = agent.resume(kept.load(1))
    assert run.status == "failed"
    assert run.reason == "step 2 failed: RuntimeError: not today; nobody knows how far step 1 came"
