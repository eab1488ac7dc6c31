"""The plan of the article, in the article's own shape (`action`, `params`, integer ids)."""

from __future__ import annotations

import json

GOAL = "Deploy v2.3.1 to production safely"

_STEPS = [
    (1, "run_tests", {}, [], "Run full test suite"),
    (2, "build_docker", {"tag": "v2.3.1"}, [1], "Build Docker image"),
    (3, "backup_database", {}, [], "Backup production database"),
    (4, "deploy_staging", {"tag": "v2.3.1"}, [2], "Deploy to staging"),
    (5, "run_smoke_tests", {"env": "staging"}, [4], "Verify staging works"),
    (6, "deploy_production", {"tag": "v2.3.1"}, [3, 5], "Deploy to production"),
    (7, "run_smoke_tests", {"env": "production"}, [6], "Verify production works"),
    (8, "notify_team", {"message": "v2.3.1 deployed"}, [7], "Send notification"),
]

PLAN = json.dumps(
    {
        "goal": GOAL,
        "steps": [
            {"id": id, "action": action, "params": params, "depends_on": depends_on, "description": description}
            for id, action, params, depends_on, description in _STEPS
        ],
        "rollback": [
            {"action": "rollback_production", "params": {"to": "previous"}},
            {"action": "notify_team", "params": {"message": "Rollback executed"}},
        ],
    },
    indent=2,
)
