"""The plans and the agent of the article, in the article's own shape (`action`, `params`, integer ids)."""

import json
from pathlib import Path
from typing import Any

from planexec_lab.worlds.migration.scripts import HASTY_SCRIPT, SCRIPT


def _written(name: str) -> str:
    return Path(__file__).with_name(name).read_text("utf-8").rstrip()


def _with_script(steps: list[dict[str, Any]], script: str) -> None:
    """Let the step that writes the migration write this one."""
    (step,) = (step for step in steps if step["action"] == "write_migration")
    step["params"]["sql"] = script


def plan_with(script: str) -> str:
    """The plan of seven steps as JSON, with `script` as what step 3 writes."""
    plan = json.loads(_written("plan.json"))
    _with_script(plan["steps"], script)
    return json.dumps(plan, indent=2)


PLAN = plan_with(SCRIPT)
GOAL: str = json.loads(PLAN)["goal"]
DANGEROUS_PLAN = _written("dangerous_plan.json")
REACT_ORDER: list[dict[str, Any]] = json.loads(_written("react_order.json"))
_with_script(REACT_ORDER, HASTY_SCRIPT)
