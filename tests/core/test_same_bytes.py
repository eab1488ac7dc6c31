"""The same bytes with every hash seed and time zone; ``python -m tests.core.test_same_bytes`` prints them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planexec_lite import Plan, Simulated
from planexec_lite.events import to_dict
from planexec_lite.model.schemas import plan_schema
from tests.core import odd_tools
from tests.core.agents import carry_out
from tests.core.shapes import Job, Workshop, plan_of, step

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def printed(seed: str, zone: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.core.test_same_bytes"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=True)
    by_topic: dict[str, Any] = json.loads(done.stdout)
    return by_topic


def test_two_processes_with_other_hash_seeds_print_the_same() -> None:
    one, other = printed("0", "UTC"), printed("4711", "Pacific/Auckland")
    assert [topic for topic in one if json.dumps(one[topic]) != json.dumps(other[topic])] == []
    assert all(len(json.dumps(topic)) > 20 for topic in one.values())


def jobs_of(seed: int) -> list[Job]:
    """Thirty jobs with other durations and failures for each seed; job n waits for n/2 and n/3."""
    before = {n: dict.fromkeys(str(n // part) for part in (2, 3) if n >= part) for n in range(1, 31)}
    return [Job(str(n), tuple(before[n]), n * seed % 7, int(n % 4 == seed % 4), n % 2) for n in before]


def runs() -> list[Any]:
    logs = []
    for seed in range(40):
        failure = "skip" if seed % 2 else "stop"
        run = carry_out(plan_of(jobs_of(seed)), Workshop().toolbox, Simulated(seed % 4 + 1), failure=failure)
        logs.append([to_dict(event) for event in run.events])
    return logs


def problems(steps: int) -> list[str]:
    """The problems of a plan of `steps` similar ids with two missing dependencies."""
    names = [f"task-{n:04}" for n in range(steps)]
    plan = Plan.parse([*({"id": id} for id in names), {"id": "last", "depends_on": ["task-x", "taks-0001"]}])
    return [str(problem) for problem in plan.problems()]


def main() -> None:
    topics = {
        "runs": runs(),
        "sets": carry_out([step("1", "sets")], [odd_tools.sets]).results,
        "problems": [problems(30), problems(400)],
        "schema": plan_schema(Workshop().toolbox),
        "hashes": [plan_of(jobs_of(seed)).hash for seed in range(5)],
    }
    print(json.dumps(topics))


if __name__ == "__main__":
    main()
