"""What the scripted planner of the deploy world knows."""

from __future__ import annotations

from planexec_lab.worlds.deploy.plan import GOAL
from planexec_lab.worlds.minds.requests import Reader, Topic, phrases_of
from planexec_lab.worlds.minds.scripted import Choice, Row, ScriptedPlanner

_TAG = {"tag": "$value"}
_ANSWERS = "every endpoint answers"
_ROWS = (
    Row("0", "Backup production database, before everything else", "backup_database", when="backup backup_first"),
    Row("1", "Run full test suite", "run_tests", {}, ["0"], when="tests build"),
    Row("2", "Build Docker image", "build_docker", _TAG, ["1", "0"], when="build"),
    Row("3", "Backup production database", "backup_database", when="backup -backup_first"),
    Row("4", "Deploy to staging", "deploy_staging", _TAG, ["2"], when="staging"),
    Row("5", "Verify staging works", "run_smoke_tests", {"env": "staging"}, ["4"], _ANSWERS, "staging smoke"),
    Row("5b", "Tell the team that production will change", "notify_team",
        {"message": "$value goes to production now"}, ["3", "5"], when="announce production"),
    Row("6", "Deploy to production", "deploy_production", _TAG, ["5b"], when="production"),
    Row("7", "Verify production works", "run_smoke_tests", {"env": "production"}, ["6"], _ANSWERS, "production smoke"),
    Row("8", "Send notification", "notify_team", {"message": "$value deployed"}, ["7"], when="report production"),
    Row("9", "Tell the team that production stays as it is", "notify_team",
        {"message": "$value is ready, production is unchanged"}, ["3", "5"], when="report -production"),
)  # fmt: skip
_TOPICS = (
    Topic("staging", "stage rehearse", "staging", "-staging", early="staging", only="-production", thing=True),
    Topic("straight directly", "", "-staging", "staging"),
    Topic("backup snapshot dump", "save secure", "backup", "-backup -backup_first", early="backup backup_first"),
    Topic("notification announcement word warning message note mail e-mail email",
          "tell told inform notify announce warn alert know hear learn ping brief text",
          "report", "-announce -report", early="announce", message=True),
    Topic("test unit-test suite", "test", "tests", "-tests", early="tests"),
    Topic("smoke verification check", "verify check", "smoke", "-smoke", early="smoke"),
    Topic("production prod", "", "production", "-production -announce", thing=True),
    Topic("live", "deploy ship release publish roll push deliver install rollout upgrade", "production",
          "-production -announce", weak=True),
    Topic("monday tuesday wednesday thursday friday saturday sunday weekend tonight today tomorrow window holiday", "", None,
          "-production -announce"),
    Topic("preview simulation", "show display print see", "show", "", early="show", message=True),
    Topic("chosen-value", "", "", "", weak=True),
    Topic("", "execute run", None, "show", weak=True),
)  # fmt: skip

PLANNER = ScriptedPlanner(
    GOAL,
    "skip staging, the tests, the smoke tests or the backup; back up first; tell the team first, or not at all; stop before"
    " production (such as on a Friday, or outside a maintenance window); use v2.3.0 or v2.3.1; only show the plan",
    _ROWS,
    Reader(
        _TOPICS,
        "production",
        "outside during maintenance shop software application app unit old older",
        phrases_of("deploy"),
    ),
    "tests build backup staging smoke production report",
    "run_tests",
    (("rollback_production", {"to": "previous"}), ("notify_team", {"message": "Rollback executed"})),
    Choice(
        "chosen-value",
        r"\bv?\.?(\d+(?:\.\d+)+)\b",
        "v",
        {"v2.3.1": {"build": True}, "v2.3.0": {"build": False}},
        "v2.3.1",
    ),
)
PLANNERS = {"scenes": PLANNER}
