"""The plan of the article: collect logs, inspect the failing branch, summarize the root cause, propose a patch."""

from __future__ import annotations

import json
from typing import Any

from planexec_lab.worlds.support.services import SERVICES

GOAL = "Audit the workflow of order A-1034, identify the failure point, and draft a fix"

_TASKS: list[tuple[int, str, dict[str, Any], list[int], str, str | None]] = [
    *(
        (number, "collect_logs", {"service": service}, [], f"Collect the log of {service}", None)
        for number, service in enumerate(SERVICES, 1)
    ),
    (5, "inspect_branch", {"order": "A-1034"}, [1, 2, 3, 4], "Inspect the failing branch", "no record is missing"),
    (6, "root_cause", {"order": "A-1034"}, [5], "Summarize the root cause", "log lines prove the cause"),
    (7, "draft_fix", {"cause": "{step_6_result}"}, [6], "Propose a patch", "the draft cites log lines"),
]

PLAN = json.dumps(
    {
        "goal": GOAL,
        "tasks": [
            {"id": id, "task": task, "tool": tool, "params": params, "depends_on": after, "success_criteria": criteria}
            for id, tool, params, after, task, criteria in _TASKS
        ],
    },
    indent=2,
)
