"""A process that runs until it is killed: ``python -m tests.journal.crashing JOURNAL WORLD SEED``.

The plan depends only on the seed. The file WORLD has lines for each call.
"""

import os
import sys
import time
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from multiprocessing import get_context
from pathlib import Path
from random import Random

from planexec_lite import (
    Backoff,
    Decision,
    HybridExecutor,
    Inline,
    Journal,
    Plan,
    PlannerExecutor,
    Pool,
    RulePlanner,
    Run,
    Tool,
    Toolbox,
)
from tests.core.agents import agent_for, executor_of
from tests.core.shapes import step

PAUSE = 0.003


class World:
    """Tools that write the begin and the end of each call to a file; a call can fail the first time, or always."""

    def __init__(self, path: Path) -> None:
        self.path = path
        kinds = [(self.note, "none"), (self.put, "idempotent"), (self.pay, "once"), (self.take_back, "idempotent")]
        self.tools = Toolbox([Tool(function, effects=effects) for function, effects in kinds])  # type: ignore[arg-type]

    def write(self, line: str) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{line}\n".encode())
        os.close(file)

    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines()

    def note(self, name: str, fails: str = "") -> str:
        again = fails == "first" and f"fail {name}" in self.lines()
        self.write(f"begin {name}")
        time.sleep(PAUSE)
        if fails and not again:
            self.write(f"fail {name}")
            raise RuntimeError("not yet")
        self.write(f"end {name}")
        return name

    def put(self, name: str, fails: str = "") -> str:
        return self.note(name, fails)

    def pay(self, name: str) -> str:
        return self.note(name)

    def take_back(self, name: str) -> str:
        return self.note(f"undo {name}")


def plan_of(seed: int) -> Plan:
    """A plan of up to 14 steps. The seed adds at-most-once calls, criteria, gates, or steps without a tool."""
    chance, steps = Random(seed), []
    for n in range(chance.randint(5, 14)):
        after = [str(other) for other in sorted(chance.sample(range(n), min(n, chance.randint(0, 2))))]
        tool = chance.choice(["note", "put", "pay"] if seed % 3 == 0 else ["note", "put"])
        fails = chance.choice(["first", "always"]) if tool != "pay" and chance.random() < 0.25 else ""
        one = step(str(n), tool, *after, name=str(n), **({"fails": fails} if fails else {}))
        one |= {"retries": 1} if fails == "first" else {}
        one |= {"success_criteria": "good work"} if tool == "put" and seed % 7 == 1 else {}
        one |= {"gate": True} if seed % 6 in (1, 4) and chance.random() < 0.3 else {}
        one |= {"undo": {"tool": "take_back", "params": {"name": str(n)}}} if tool == "put" else {}
        if seed % 7 == 5 and tool == "note":
            one = step(str(n), None, *after, description=f"{n} pay" if seed % 3 == 0 else str(n))
        steps.append(one)
    return Plan.parse(steps)


def inside(goal: str) -> list[dict[str, object]]:
    """The plan of a nested run: an at-most-once or idempotent call, and a note."""
    name, *what = goal.splitlines()[0].split()
    return [step("1", what[0] if what else "put", name=f"{name}a"), step("2", "note", "1", name=f"{name}b")]


def judged(*_: object) -> bool:
    time.sleep(PAUSE)
    return True


def pool_of(seed: int) -> AbstractContextManager[Executor | None]:
    """No pool for one half of the seeds; threads or processes for the others."""
    if seed % 2 == 0:
        return nullcontext()
    if seed % 4 == 1:
        return ThreadPoolExecutor(4)
    return ProcessPoolExecutor(2, mp_context=get_context("forkserver"))  # a process with threads is not forked


def agent_of(seed: int, world: World, journal: Journal | None, pool: Executor | None) -> PlannerExecutor:
    """The agent for a seed, whose steps without a tool are nested runs."""
    tools = executor_of(world.tools if seed % 3 == 0 else world.tools.only("note", "put", "take_back"))
    return agent_for(
        HybridExecutor(tools, agent_for(tools, RulePlanner(inside), workers=Inline())) if seed % 7 == 5 else tools,
        plan_of(seed),
        evaluator=judged if seed % 7 == 1 else None,
        workers=Inline() if pool is None else Pool(pool, slots=3),
        journal=journal,
        rollback="failed" if seed % 4 == 0 else "never",
        failure="stop" if seed % 5 == 0 else "skip",
        backoff=Backoff(first=0.002, longest=0.01) if seed % 2 else None,
    )


def carried_out(agent: PlannerExecutor, world: World, run: Run | None = None) -> Run:
    """Begin the run or resume it, until its end. The world's file answers the questions."""
    run = agent.run("do it") if run is None else agent.resume(run)
    while (question := run.question) is not None:
        if question.kind == "doubt":
            assert question.call is not None
            name = question.call.params["name"]
            done = f"end {name}" in world.lines()
            run = agent.resume(run, Decision("done", result=name) if done else Decision("not done"))
        else:
            run = agent.resume(run, Decision("approve"))
    return run


def main(path: Path, world: Path, seed: int) -> Run:
    journal, there = Journal(path), World(world)
    with pool_of(seed) as pool:
        agent = agent_of(seed, there, journal, pool)
        print("ready", flush=True)
        begun = path.exists() and journal.list()
        return carried_out(agent, there, journal.load(1) if begun else None)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
