"""The plan of the article: seven tasks with success criteria."""

from __future__ import annotations

import json
from typing import Any

GOAL = "Refactor the authentication module to use JWT"

_TASKS: list[tuple[int, str, dict[str, Any], list[int], str, str]] = [
    (1, "analyze_auth", {}, [], "Analyze current auth module structure", "the kind of authentication is named"),
    (2, "list_endpoints", {}, [], "Identify all auth-related endpoints", "every endpoint is listed"),
    (
        3,
        "design_token_schema",
        {"claims": ["sub", "iat", "exp"], "minutes": 30},
        [1],
        "Design JWT token schema",
        "a token says who and until when",
    ),
    (4, "implement_jwt", {}, [3], "Implement JWT generation and validation", "the auth module uses tokens"),
    (5, "update_endpoints", {}, [2, 4], "Update endpoints to use JWT", "no endpoint reads a session"),
    (6, "update_tests", {}, [5], "Update tests", "every test passes"),
    (7, "run_test_suite", {}, [6], "Run test suite", "every test passes"),
]
_EDITS = {"design_token_schema", "implement_jwt", "update_endpoints", "update_tests"}


def _task(id: int, tool: str, params: dict[str, Any], after: list[int], task: str, criteria: str) -> dict[str, Any]:
    written = {
        "id": id,
        "task": task,
        "tool": tool,
        "params": params,
        "depends_on": after,
        "success_criteria": criteria,
    }
    undo = {"undo": {"tool": "restore", "params": {"files": f"{{step_{id}_result.changed}}"}}}
    return written | undo if tool in _EDITS else written


PLAN = json.dumps({"goal": GOAL, "tasks": [_task(*task) for task in _TASKS]}, indent=2)
