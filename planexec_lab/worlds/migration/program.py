"""The migration as a program. It says when a call begins and when it has ended, and waits for a line each time."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planexec_lab.worlds.migration.plan import GOAL, PLAN
from planexec_lab.worlds.migration.world import World
from planexec_lite.agent import PlannerExecutor
from planexec_lite.capabilities.stepping import ToolExecutor
from planexec_lite.plan import Step
from planexec_lite.roles.planners import RulePlanner
from planexec_lite.storage.journal import Journal
from planexec_lite.workers import Simulated


class Watched(ToolExecutor):
    """Calls tools; the program that started it decides when it continues."""

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        print(f"{step.tool} begins", flush=True)
        sys.stdin.readline()
        result = super().execute(step, inputs)
        print(f"{step.tool} has ended", flush=True)
        sys.stdin.readline()
        return result


def main() -> None:
    folder, *options = sys.argv[1:]
    executor = Watched(World(folder).tools)
    journal = None if options else Journal(Path(folder) / "runs.db")
    agent = PlannerExecutor(RulePlanner(lambda goal: PLAN), executor, workers=Simulated(), journal=journal)
    run = agent.run(GOAL)
    print(run.status, run.reason)
