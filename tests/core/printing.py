"""Prints what must not depend on the hash seed, the time zone or the process: ``python -m tests.core.printing``."""

from __future__ import annotations

import json
import random
from typing import Any

from planexec_lite import Plan, Policy, Simulated, Toolbox, ToolExecutor, execute
from planexec_lite.events import to_dict
from planexec_lite.model.schemas import plan_schema
from tests.core import odd_tools
from tests.core.shapes import Job, Workshop, plan_of


def random_jobs(seed: int) -> list[Job]:
    chance = random.Random(seed)
    made = []
    for n in range(1, chance.randint(2, 30)):
        waits_for = sorted(chance.sample(range(1, n), chance.randint(0, min(3, n - 1))))
        made.append(
            Job(
                str(n),
                tuple(map(str, waits_for)),
                chance.randint(0, 6),
                chance.choice((0, 0, 0, 1)),
                chance.randint(0, 1),
            )
        )
    chance.shuffle(made)
    return made


def runs() -> list[Any]:
    logs = []
    for seed in range(12):
        workers, policy = Simulated(seed % 4 + 1), Policy(failure="skip" if seed % 2 else "stop")
        run = execute(plan_of(random_jobs(seed)), ToolExecutor(Workshop().toolbox), workers=workers, policy=policy)
        logs.append([to_dict(event) for event in run.events])
    return logs


def sets() -> Any:
    plan = Plan.parse([{"id": 1, "tool": "sets"}])
    return execute(plan, ToolExecutor(Toolbox([odd_tools.sets])), workers=Simulated()).results


def problems(steps: int) -> list[str]:
    """The words about a dependency on nobody, in a plan of so many steps with names that are alike."""
    names = [f"task-{n:04}" for n in range(steps)]
    plan = Plan.parse([*({"id": id} for id in names), {"id": "last", "depends_on": ["task-x", "taks-0001"]}])
    return [str(problem) for problem in plan.problems()]


def main() -> None:
    toolbox = Workshop().toolbox
    topics = {
        "runs": runs(), "sets": sets(), "problems": problems(30), "problems of a large plan": problems(400),
        "schema": plan_schema(toolbox), "hashes": [plan_of(random_jobs(seed)).hash for seed in range(5)],
    }  # fmt: skip
    print(json.dumps(topics))


if __name__ == "__main__":
    main()
