"""A process that carries on a run until it is killed: ``python -m tests.journal.crashing JOURNAL WORLD SEED``.

The plan follows from the seed alone. The file WORLD has a line for each thing that its tools did.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from random import Random

from planexec_lite import (
    AskPerson,
    Backoff,
    Board,
    Budget,
    Decision,
    HybridExecutor,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Policy,
    Pool,
    RuleEvaluator,
    RulePlanner,
    Run,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite.capabilities.replanning import Replanning
from planexec_lite.decisions import innermost
from tests.core.shapes import step

PAUSE = 0.003


class World:
    """What the tools do: begin and end are lines of one file; work that is to fail fails the first time, as the file says."""

    def __init__(self, path: str) -> None:
        self.path = path
        tools = [Tool(self.note, effects="none"), Tool(self.put, effects="idempotent"), Tool(self.pay, effects="once")]
        self.tools = Toolbox([*tools, Tool(self.take_back, effects="idempotent")])

    def write(self, line: str) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{line}\n".encode())
        os.close(file)

    def lines(self) -> list[str]:
        return Path(self.path).read_text(encoding="utf-8").splitlines()

    def note(self, name: str, fails: str = "") -> str:
        """Do the work of any of the tools."""
        again = fails == "first" and f"fail {name}" in self.lines()
        self.write(f"begin {name}")
        time.sleep(PAUSE)
        if fails and not again:
            self.write(f"fail {name}")
            raise RuntimeError("not yet")
        self.write(f"end {name}")
        return name

    def put(self, name: str, fails: str = "") -> str:
        """Do what may be repeated."""
        return self.note(name, fails)

    def pay(self, name: str) -> str:
        """Do what may be done once."""
        return self.note(name)

    def take_back(self, name: str) -> str:
        """Take back what was put."""
        return self.note(f"undo {name}")


def plan_of(seed: int) -> Plan:
    """A plan of up to 14 steps. By the seed it has steps that may be done once, criteria, gates, and steps without a tool."""
    chance = Random(seed)
    kinds = ["note", "put", "pay"] if seed % 3 == 0 else ["note", "put"]
    steps = []
    for n in range(chance.randint(5, 14)):
        after = sorted(chance.sample(range(n), min(n, chance.randint(0, 2))))
        tool = chance.choice(kinds)
        fails = chance.choice(["first", "always"]) if tool != "pay" and chance.random() < 0.25 else ""
        one = step(str(n), tool, *map(str, after), name=str(n), **({"fails": fails} if fails else {}))
        one |= {"retries": 1} if fails == "first" else {}
        one |= {"success_criteria": "good work"} if tool == "put" and seed % 7 == 1 else {}
        if seed % 7 == 5 and tool == "note":
            one |= {"tool": None, "params": {}, "description": f"{n} pay" if "pay" in kinds else str(n)}
        one |= {"undo": {"tool": "take_back", "params": {"name": str(n)}}} if tool == "put" else {}
        one |= {"gate": True} if seed % 6 in (1, 4) and chance.random() < 0.3 else {}
        steps.append(one)
    return Plan.parse(steps)


class Planner:
    """Gives the plan; after a failure one more step, which no failed one is waited for by."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        time.sleep(PAUSE)
        if board.failed:
            name = f"mend-{board[Replanning].replans}"
            return Plan.parse([step(name, "note", name=name)])
        return plan_of(self.seed)


def judged(*_: object) -> bool:
    """Find it good, and take some time for that."""
    time.sleep(PAUSE)
    return True


def policy_of(seed: int) -> Policy:
    """What failure means: go on elsewhere, or take back. One run in five has a budget of steps, and asks for more."""
    return Policy(
        rollback="failed" if seed % 4 == 0 else "never",
        failure="stop" if seed % 5 == 0 else "skip",
        backoff=Backoff(first=0.002, longest=0.01) if seed % 2 else None,
        replan="failure" if seed % 7 == 3 else "never",
        budget=Budget(steps=2) if seed % 5 == 2 else None,
    )


def pool_of(seed: int) -> AbstractContextManager[Executor | None]:
    """Inline in one half of the runs; in the other on threads, or in processes."""
    if seed % 2 == 0:
        return nullcontext()
    if seed % 4 == 1:
        return ThreadPoolExecutor(4)
    return ProcessPoolExecutor(2, mp_context=get_context("forkserver"))  # no copy of a process that has threads


def two(goal: str) -> list[dict[str, object]]:
    """The plan of a run inside a step: something that may be done once, or may be repeated, and a note of it."""
    name, *what = goal.splitlines()[0].split()
    return [step("1", what[0] if what else "put", name=f"{name}a"), step("2", "note", "1", name=f"{name}b")]


def agent_of(seed: int, world: World, journal: Journal | None, pool: Executor | None) -> PlannerExecutor:
    """Who carries the plan out. Steps without a tool are runs of their own."""
    by_tool = ToolExecutor(world.tools if seed % 3 == 0 else world.tools.only("note", "put", "take_back"))
    return PlannerExecutor(
        Planner(seed),
        HybridExecutor(by_tool, PlannerExecutor(RulePlanner(two), by_tool)) if seed % 7 == 5 else by_tool,
        reviewer=AskPerson() if seed % 6 == 2 else None,
        evaluator=RuleEvaluator(judged) if seed % 7 == 1 else None,
        workers=Inline() if pool is None else Pool(pool, slots=3),
        policy=policy_of(seed),
        journal=journal,
    )


def carried_out(agent: PlannerExecutor, world: World, run: Run | None = None) -> Run:
    """Begin the run, or go on with it, to its end; whatever it asks is answered as by a person who looks at the world."""
    run = agent.run("do it") if run is None else agent.resume(run)
    while run.board.paused:
        run = agent.resume(run, answer(world, run))
    return run


def answer(world: World, run: Run) -> Decision:
    """Yes to plans, gates and more steps; what became of a step in doubt, as far as the world's file says."""
    waits = innermost(run)
    asked = waits.board.paused
    assert asked is not None
    if asked.reason == "budget":
        return Decision("approve", "Ann", budget=Budget(steps=3))
    if asked.reason != "doubt":
        return Decision("approve", "Ann")
    name = waits.board.steps[asked.step or ""].params["name"]
    done = f"end {name}" in world.lines()
    return Decision("done", "Ann", result=name) if done else Decision("not done", "Ann")


def main(path: str, world: str, seed: int) -> Run:
    """Begin the run, or go on with the one in the journal."""
    journal, there = Journal(path), World(world)
    with pool_of(seed) as pool:
        agent = agent_of(seed, there, journal, pool)
        print("ready", flush=True)
        runs = journal.list() if os.path.exists(path) else []
        return carried_out(agent, there, journal.load(runs[0].id) if runs else None)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
