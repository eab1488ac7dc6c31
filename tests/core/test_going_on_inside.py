"""A run inside a step is written down as it goes: after a crash at any instant it goes on from there, and nothing is done twice."""

from __future__ import annotations

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
    Budget,
    Decision,
    HybridExecutor,
    Inline,
    Journal,
    PlannerExecutor,
    Policy,
    Pool,
    RulePlanner,
    Run,
    Simulated,
    Team,
    Toolbox,
    ToolExecutor,
    tool,
)
from planexec_lite import events as e
from planexec_lite.decisions import innermost
from planexec_lite.journal import FILE, JournalError, _Log
from planexec_lite.meter import ModelCall, charge, idempotency_key
from tests.core.shapes import check_fold, step


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

        def noted(name: str) -> str:
            cut = name == self.cut
            self.cut = "" if cut else self.cut
            if cut and not self.after:
                raise KeyboardInterrupt
            self.done.append(name)
            self.keys.setdefault(name, set()).add(idempotency_key())
            if cut:
                raise KeyboardInterrupt
            return name

        @tool(effects="once", latency=1.0)
        def pay(name: str) -> str:
            return noted(name)

        @tool(latency=2.0, effects="none")
        def look(name: str) -> str:
            return noted(name)

        @tool(effects="idempotent", latency=1.0)
        def put(name: str) -> str:
            return noted(name)

        @tool(effects="idempotent")
        def take_back(name: str) -> str:
            return noted(f"undo {name}")

        return Toolbox([pay, look, put, take_back])


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
    """What may be done once, between two calls."""
    charge(1.0, ModelCall("m", 5, 1))
    name = goal.splitlines()[0]
    return [
        step("a", "look", name=f"{name}a"),
        step("p", "pay", "a", name=f"{name}p"),
        step("z", "look", "p", name=f"{name}z"),
    ]


CALLS = ["Ax", "Ama", "Amp", "Amz", "Ay", "Bx", "Bma", "Bmp", "Bmz", "By"]


def agent_of(world: World, kept: Journal | None, workers: Any = None, **more: Any) -> PlannerExecutor:
    """Three planners, one above the other."""
    workers, tools = workers or Simulated(), world.tools
    deepest = PlannerExecutor(RulePlanner(inner), ToolExecutor(tools), workers=workers)
    below = PlannerExecutor(RulePlanner(middle), HybridExecutor(ToolExecutor(tools), deepest), workers=workers)
    return PlannerExecutor(RulePlanner(outer), Team({"all": below}), workers=workers, journal=kept, **more)


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


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("cut", CALLS)
@pytest.mark.parametrize("workers", [Simulated(), Inline()])
def test_it_goes_on_with_the_call_that_was_cut_off(workers: Any, cut: str, after: bool, tmp_path: Path) -> None:
    world, kept = World(cut=cut, after=after), Journal(tmp_path / "runs.db", "OFF")
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, kept, workers).run("go")
    agent = agent_of(world, kept, workers)
    run = agent.resume(kept.load(1))
    if cut.endswith("p"):
        # only the one call is in doubt, and it is asked about wherever it is
        assert run.reason.endswith("the run inside waits to be told whether step p was done")
    run = answered(agent, world, run)
    check_whole(run, world)
    again = ["" if cut.endswith("p") else cut] * after
    assert Counter(world.done) == Counter(CALLS) + Counter(filter(None, again))
    assert kept.load(1).events == run.events


@contextmanager
def each_commit(
    folder: Path, path: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> Iterator[list[tuple[Path, list[str]]]]:
    """Keep a copy of what a kill would leave behind after each commit, and of the world at that time."""
    kept: list[tuple[Path, list[str]]] = []
    plain = type(FILE).writing

    @contextmanager
    def copied(*arguments: Any, **options: Any) -> Iterator[sqlite3.Connection]:
        with plain(*arguments, **options) as connection:
            yield connection
        copy()

    def copy() -> None:
        place = folder / str(len(kept))
        place.mkdir(parents=True)
        for file in path.parent.glob(f"{path.name}*"):
            if file.is_dir():
                shutil.copytree(file, place / file.name)
            elif not file.name.endswith("-lock"):
                shutil.copy(file, place / file.name)
        kept.append((place / path.name, [*world.done]))

    with monkeypatch.context() as patched:
        patched.setattr(type(FILE), "writing", copied)
        yield kept


@pytest.mark.slow
@pytest.mark.parametrize("seen", [False, True])
def test_it_goes_on_from_every_commit(seen: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, path = World(), tmp_path / "runs.db"
    with each_commit(tmp_path / "kept", path, world, monkeypatch) as kept:
        agent_of(world, Journal(path, "OFF")).run("go")
    assert world.done == CALLS
    assert len(kept) > 20
    for (file, done), (_, later) in zip(kept, [*kept[1:], kept[-1]], strict=True):
        # what followed the commit had happened when the process was killed, or had not
        there, stored = World([*(later if seen else done)]), Journal(file, "OFF")
        if not stored.list():
            continue
        agent = agent_of(there, stored)
        run = stored.load(1)
        ended = run.status == "finished"
        run = run if ended else answered(agent, there, agent.resume(run))
        check_whole(run, there)
        twice = Counter(there.done) - Counter(CALLS)
        assert not any(name.endswith("p") for name in twice)
        # at most the call that was in flight
        assert sum(twice.values()) <= (len(later) - len(done) if seen else 0), (file, there.done)


@pytest.mark.slow
def test_a_second_crash_at_every_commit_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world, path = World(cut="Amp", after=True), tmp_path / "runs.db"
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, Journal(path, "OFF")).run("go")
    agent = agent_of(world, Journal(path, "OFF"))
    with each_commit(tmp_path / "kept", path, world, monkeypatch) as kept:
        run = agent.resume(Journal(path, "OFF").load(1))
        answered(agent, world, run)
    for file, done in kept:
        there, stored = World([*done]), Journal(file, "OFF")
        agent = agent_of(there, stored)
        run = stored.load(1)
        if run.status != "finished":
            run = answered(agent, there, run if run.board.paused else agent.resume(run))
        check_whole(run, there)
        assert Counter(there.done) == Counter(CALLS)


def test_what_was_done_inside_before_the_crash_is_taken_back(tmp_path: Path) -> None:
    world, kept = World(cut="Amp", after=True), Journal(tmp_path / "runs.db", "OFF")
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, kept).run("go")
    agent = agent_of(world, kept)
    run = agent.roll_back(kept.load(1))
    assert (run.status, world.done[-1]) == ("rolled back", "undo Ax")
    assert "1/m/p" in run.reason
    # asked first, the answer may be to roll back as well
    world = World(cut="Amp", after=True)
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, kept).run("go")
    agent = agent_of(world, kept)
    run = agent.resume(kept.load(2))
    assert run.reason.endswith("the run inside waits to be told whether step p was done")
    run = agent.resume(run, Decision("roll back", "Ann"))
    assert (run.status, world.done[-1]) == ("rolled back", "undo Ax")


def test_without_a_journal_it_begins_again_or_is_in_doubt() -> None:
    world = World(cut="Amz")
    agent = agent_of(world, None)
    with pytest.raises(KeyboardInterrupt) as problem:
        agent.run("go")
    run = agent.resume(problem.value.run)  # type: ignore[attr-defined]
    assert run.reason == "waits to be told whether step 1 was done"


def test_the_budget_counts_what_was_used_inside_before_the_crash(tmp_path: Path) -> None:
    world, kept = World(cut="Ay"), Journal(tmp_path / "runs.db", "OFF")
    policy = Policy(budget=Budget(model_calls=3))
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, kept, policy=policy).run("go")
    run = agent_of(world, kept, policy=policy).resume(kept.load(1))
    # two were made inside step 1 before the crash, and one is left for step 2
    assert (run.status, len(run.board.calls)) == ("paused", 3)
    assert "3 of 3 model calls" in run.reason or "1 of 1 model call" in run.reason


def test_a_new_plan_that_keeps_the_step_goes_on_with_it_too(tmp_path: Path) -> None:
    world, kept = World(cut="Amz"), Journal(tmp_path / "runs.db", "OFF")
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, kept).run("go")
    run = agent_of(world, kept).tell(kept.load(1), "hurry")
    check_whole(run, world)
    assert world.done == CALLS
    # another step of the same name begins anew; what was done inside the old one is known, and stays
    world = World(cut="Amz")
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, kept).run("go")
    other = agent_of(world, kept)
    other.planner = RulePlanner(lambda goal: [step("1", None, description="C")])
    run = other.tell(kept.load(2), "hurry")
    assert (run.status, world.done[3:]) == ("finished", ["Cx", "Cma", "Cmp", "Cmz", "Cy"])


def test_a_decision_is_taken_once_and_not_for_the_next_pause(tmp_path: Path) -> None:
    gates = [step("a", "look", name="a") | {"gate": True}, step("b", "look", "a", name="b") | {"gate": True}]
    world, kept = World(cut="a"), Journal(tmp_path / "runs.db", "OFF")

    def agent() -> PlannerExecutor:
        below = PlannerExecutor(RulePlanner(lambda goal: gates), ToolExecutor(world.tools), workers=Simulated())
        plan = [step("1", None, description="both")]
        return PlannerExecutor(RulePlanner(lambda goal: plan), below, workers=Simulated(), journal=kept)

    run = agent().run("go")
    assert run.reason == "waits for gate of step 1: the run inside waits for gate of step a"
    with pytest.raises(KeyboardInterrupt):
        agent().resume(run, Decision("approve", "Ann"))
    run = agent().resume(kept.load(1))
    assert (run.reason, world.done) == ("waits for gate of step 1: the run inside waits for gate of step b", ["a"])
    run = agent().resume(kept.load(1), Decision("approve", "Ann"))
    assert (run.status, world.done) == ("finished", ["a", "b"])


@pytest.mark.parametrize("at", [1, 2])
def test_a_pause_inside_that_was_not_told_yet_is_asked_once_more(
    at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates = [step("a", "look", name="a") | {"gate": True}, step("b", "look", "a", name="b") | {"gate": True}]
    world, path = World(), tmp_path / "runs.db"

    def agent(there: World, kept: Journal) -> PlannerExecutor:
        below = PlannerExecutor(RulePlanner(lambda goal: gates), ToolExecutor(there.tools), workers=Simulated())
        plan = [step("1", None, description="both")]
        return PlannerExecutor(RulePlanner(lambda goal: plan), below, workers=Simulated(), journal=kept)

    one = agent(world, Journal(path, "OFF"))
    run = one.run("go")
    with each_commit(tmp_path / "kept", path, world, monkeypatch) as kept:
        for _ in range(at):
            run = one.resume(run, Decision("approve", "Ann"))
    for file, done in kept:
        there, stored = World([*done]), Journal(file, "OFF")
        one, asked = agent(there, stored), 0
        run = stored.load(1)
        while run.status in ("paused", "running"):
            if run.board.paused:
                assert run.reason.endswith(f"gate of step {'b' if 'a' in there.done else 'a'}")
                asked += 1
            run = one.resume(run, Decision("approve", "Ann") if run.board.paused else None)
        assert (run.status, there.done) == ("finished", ["a", "b"])
        check_fold(run)


def test_a_run_inside_that_somebody_else_took_over_ends_there(tmp_path: Path) -> None:
    kept, world = Journal(tmp_path / "runs.db", "OFF"), World()
    began: list[Any] = []

    def plan(goal: str) -> list[dict[str, Any]]:
        if goal == "go":
            return [step("1", None, description="inside")]
        if not began:  # an orphan is at the step, while somebody goes on with the run
            began.append(None)
            with sqlite3.connect(kept.path) as connection:
                (uid,) = connection.execute("SELECT uid FROM runs WHERE id < 0").fetchone()
            found = kept.find(uid)
            assert found is not None
            with kept.carry_on(found):
                pass
        return [step("a", "pay", name="a")]

    below = PlannerExecutor(RulePlanner(plan), ToolExecutor(world.tools))
    run = PlannerExecutor(RulePlanner(plan), below, journal=kept).run("go")
    assert (run.status, world.done) == ("failed", [])
    assert "was taken over by process" in run.reason


def test_a_run_that_somebody_carries_on_is_not_taken_over(tmp_path: Path) -> None:
    world, kept = World(), Journal(tmp_path / "runs.db", "OFF")
    refused: list[str] = []

    def watch(run: Run) -> None:
        if run.board.in_flight.keys() == {"2"}:
            try:
                agent_of(world, kept).resume(kept.load(1))
            except JournalError as problem:
                refused.append(str(problem))

    run = agent_of(world, kept, watch=watch).run("go")
    check_whole(run, world)
    assert refused
    assert all("is being carried on by process" in one for one in refused)


def test_threads_write_runs_inside_steps_side_by_side(tmp_path: Path) -> None:
    world, kept = World(), Journal(tmp_path / "runs.db", "OFF")
    names = "ABCDEF"
    below = PlannerExecutor(
        RulePlanner(lambda goal: [step("a", "look", name=f"{goal}a"), step("b", "put", "a", name=f"{goal}b")]),
        ToolExecutor(world.tools),
    )
    plan = [step(str(n), None, description=name) for n, name in enumerate(names)]
    with ThreadPoolExecutor(4) as threads:
        agent = PlannerExecutor(RulePlanner(lambda goal: plan), below, workers=Pool(threads), journal=kept)
        run = agent.run("go")
    assert (run.status, Counter(world.done)) == (
        "finished",
        Counter(f"{name}{which}" for name in names for which in "ab"),
    )


def nested_in(world: World, plan: list[dict[str, Any]], below: list[dict[str, Any]], kept: Journal | None) -> Any:
    """A plan whose steps without a tool are carried out by a planner that always writes the plan `below`."""
    deeper = PlannerExecutor(RulePlanner(lambda goal: below), ToolExecutor(world.tools), workers=Simulated())
    return PlannerExecutor(RulePlanner(lambda goal: plan), deeper, workers=Simulated(), journal=kept)


def test_a_step_that_is_tried_again_has_a_run_of_its_own(tmp_path: Path) -> None:
    tries: list[str] = []

    @tool(effects="none")
    def flaky() -> str:
        tries.append("once more")
        if len(tries) < 3:
            raise RuntimeError("not yet")
        return "now"

    kept = Journal(tmp_path / "runs.db", "OFF")
    below = PlannerExecutor(RulePlanner(lambda goal: [step("a", "flaky")]), ToolExecutor(Toolbox([flaky])))
    plan = [step("1", None, description="A") | {"retries": 2}]
    run = PlannerExecutor(RulePlanner(lambda goal: plan), below, journal=kept).run("go")
    assert (run.status, run.answer, len(tries)) == ("finished", "now", 3)


def test_it_goes_on_by_whatever_link_the_journal_is_reached(tmp_path: Path) -> None:
    real, link = tmp_path / "real" / "runs.db", tmp_path / "link.db"
    real.parent.mkdir()
    try:
        link.symlink_to(real)
    except OSError:
        pytest.skip("links can't be made here")
    world = World(cut="Amz")
    with pytest.raises(KeyboardInterrupt):
        agent_of(world, Journal(link, "OFF")).run("go")
    kept = Journal(real, "OFF")
    check_whole(agent_of(world, kept).resume(kept.load(1)), world)
    assert world.done == CALLS


def test_a_gate_inside_that_was_opened_is_not_asked_again_after_news(tmp_path: Path) -> None:
    world, kept = World(cut="a"), Journal(tmp_path / "runs.db", "OFF")
    plan, below = [step("1", None, description="A")], [step("a", "look", name="a") | {"gate": True}]
    run = nested_in(world, plan, below, kept).run("go")
    with pytest.raises(KeyboardInterrupt):
        nested_in(world, plan, below, kept).resume(run, Decision("approve", "Ann"))
    run = nested_in(world, plan, below, kept).tell(kept.load(1), "hurry")
    assert (run.status, world.done) == ("finished", ["a"])
    check_fold(run)


def test_a_yes_to_the_step_is_none_to_the_run_inside(tmp_path: Path) -> None:
    world, kept = World(cut="b"), Journal(tmp_path / "runs.db", "OFF")
    plan = [step("1", None, description="A") | {"gate": True}]
    below = [step("a", "look", name="a"), step("b", "look", "a", name="b"), step("c", "pay", "b", name="c")]
    run = nested_in(world, plan, below, kept).run("go")
    with pytest.raises(KeyboardInterrupt):
        nested_in(world, plan, below, kept).resume(run, Decision("approve", "Ann"))
    run = nested_in(world, plan, below, kept).tell(kept.load(1), "hurry")
    assert run.reason == "waits for gate of step 1"
    run = nested_in(world, plan, below, kept).resume(run, Decision("approve", "Ann"))
    assert (run.status, world.done) == ("finished", ["a", "b", "c"])


@pytest.mark.parametrize("done", [False, True])
def test_a_step_that_waited_inside_can_be_in_doubt_as_a_whole(done: bool) -> None:
    world = World(cut="a", after=done)
    agent = nested_in(world, [step("1", None, description="A")], [step("a", "pay", name="a") | {"gate": True}], None)
    run = agent.run("go")
    with pytest.raises(KeyboardInterrupt) as problem:
        agent.resume(run, Decision("approve", "Ann"))
    run = agent.resume(problem.value.run)  # type: ignore[attr-defined]
    assert run.reason == "waits to be told whether step 1 was done"
    run = agent.resume(run, Decision("done", "Ann", result="a") if done else Decision("not done", "Ann"))
    assert (run.status, run.answer, world.done) == ("finished", "a", ["a"])


def test_an_error_of_watch_inside_hides_no_call_that_may_be_made_once() -> None:
    world, broken = World(), list[str]()

    def watch(run: Run) -> None:
        if not broken and "q" in run.results:
            broken.append("once")
            raise RuntimeError("no more pictures")

    plan = [step("p", "pay", name="p"), step("q", "put", name="q")]

    @tool(effects="once", latency=5.0)
    def pay(name: str) -> str:
        world.done.append(name)
        return name

    tools = Toolbox([pay, *(one for one in world.tools if one.name != "pay")])
    below = PlannerExecutor(RulePlanner(lambda goal: plan), ToolExecutor(tools), workers=Simulated(), watch=watch)
    steps = [step("1", None, description="A") | {"retries": 2}]
    agent = PlannerExecutor(RulePlanner(lambda goal: steps), below, workers=Simulated())
    run = agent.run("go")
    assert (run.status, world.done) == ("failed", ["p", "q"])
    assert "1/p" in agent.roll_back(run).reason
    check_fold(run)


def test_what_was_done_inside_is_told_where_it_cannot_be_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, kept, append = World(), Journal(tmp_path / "runs.db", "OFF"), _Log.append

    def full(log: Any, number: int, events: Any, *args: Any) -> None:
        if log.run < 0 and any(isinstance(event, e.StepDone) for event in events):
            raise JournalError("there is no room for it")
        append(log, number, events, *args)

    monkeypatch.setattr(_Log, "append", full)
    plan = [step("1", None, description="A") | {"retries": 2}]
    run = nested_in(world, plan, [step("p", "pay", name="p")], kept).run("go")
    assert (run.status, world.done) == ("failed", ["p"])
    assert run.inside("1").results == {"p": "p"}


def test_a_run_that_fails_elsewhere_names_the_call_in_doubt(tmp_path: Path) -> None:
    world, kept = World(cut="Ap", after=True), Journal(tmp_path / "runs.db")

    @tool(effects="idempotent")
    def fail() -> None:
        raise RuntimeError("not today")

    below = PlannerExecutor(RulePlanner(inner), ToolExecutor(world.tools))
    plan = [step("1", None, description="A"), step("2", "fail")]
    executor = HybridExecutor(ToolExecutor(Toolbox([fail])), below)
    policy = Policy(replan="never", failure="stop")
    agent = PlannerExecutor(RulePlanner(lambda _: plan), executor, workers=Simulated(), policy=policy, journal=kept)
    with pytest.raises(KeyboardInterrupt):
        agent.run("go")
    run = agent.resume(kept.load(1))
    assert run.status == "failed"
    assert run.reason == "step 2 failed: RuntimeError: not today; nobody knows how far step 1 came"
