"""Executors, or workers of a cluster, that are killed at random while they carry out a plan."""

import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

from elsewhere.tickets import desk
from planexec_lab.cluster import ClusterPool
from planexec_lite import Decision, Plan, PlannerExecutor, Policy, Run, ToolExecutor, execute

EXECUTOR = ToolExecutor(desk.TOOLS)
BILLS = [f"bill-{number}" for number in range(40)]
Start = Callable[[str], "subprocess.Popen[bytes]"]


@contextmanager
def killing(kill: Callable[[int], None], kills: int, seed: int) -> Iterator[list[float]]:
    """Call `kill` with 0 or 1 at random times, so many times. Yield the times of the kills."""
    source, stop, killed = random.Random(seed), Event(), []

    def work() -> None:
        while len(killed) < kills and not stop.wait(source.uniform(0.2, 2.0)):
            kill(source.randrange(2))
            killed.append(time.monotonic())

    killer = Thread(target=work)
    killer.start()
    try:
        yield killed
    finally:
        stop.set()
        killer.join()


@contextmanager
def executors(start: Start) -> Iterator[Callable[[int], None]]:
    """Two executors. Yield a function that kills one of them and starts another in its place."""
    number = iter(range(1000))
    alive = [start(f"executor-{next(number)}") for _ in range(2)]

    def kill(place: int) -> None:
        alive[place].kill()
        alive[place].wait()
        alive[place] = start(f"executor-{next(number)}")

    try:
        yield kill
    finally:
        for one in alive:
            one.kill()
            one.wait()


def booked(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="utf-8").splitlines() if ledger.exists() else []


def carried_out(plan: Plan, pool: Any, ledger: Path) -> tuple[Run, int]:
    """The run, after a person has looked into the ledger for each booking in doubt; and how many were in doubt."""
    agent = PlannerExecutor(None, EXECUTOR, workers=ClusterPool(pool), policy=Policy(retries=6))
    run, doubts = execute(plan, EXECUTOR, workers=agent.workers, policy=agent.policy), 0
    while run.status == "paused" and run.board.paused is not None:
        doubts += 1
        bill = str(run.board.paused.step).removeprefix("book-")
        done = f"{bill} {len(bill)}" in booked(ledger)
        result = {"result": f"{bill}: {len(bill)} euros booked"} if done else {}
        run = agent.resume(run, Decision("done" if done else "not done", by="Ada", **result))
    return run, doubts


def survives(kill: Callable[[int], None], executor: Any, folder: Path, seed: int, seconds: float = 0.7) -> str:
    """Kill twenty times while a plan runs; its results and its ledger are those of an undisturbed run. Return the numbers."""
    ledger, calm = folder / "ledger", folder / "calm"
    undisturbed = execute(desk.plan_for(BILLS, calm), EXECUTOR)
    with killing(kill, 20, seed) as killed:
        run, doubts = carried_out(desk.plan_for(BILLS, ledger, seconds), executor, ledger)
    assert run.status == "finished", run.board.errors
    assert run.results == undisturbed.results
    assert sorted(booked(ledger)) == sorted(booked(calm))
    assert len(killed) == 20, "the plan ended before the last kill"
    return f"{len(killed)} kills, {doubts} in doubt, {run.makespan:.0f} s"


def command(module: str, file: Path) -> Start:
    """How an executor with a name is started."""
    return lambda name: subprocess.Popen([sys.executable, "-m", module, str(file), name], stdout=subprocess.DEVNULL)
