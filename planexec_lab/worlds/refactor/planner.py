"""What the scripted planner of the refactor world knows. What it plans after failures is in the scenes."""

from planexec_lab.worlds.minds.requests import Reader, Topic, phrases_of
from planexec_lab.worlds.minds.scripted import Row, ScriptedPlanner
from planexec_lab.worlds.refactor.plan import GOAL

_PASSES = "every test passes"
_TOKEN = {"claims": ["sub", "iat", "exp"], "minutes": 30}
_WITH_ISSUER = {"claims": ["sub", "iss", "iat", "exp"], "minutes": 30}
_SAYS = "a token says who and until when"
_ROWS = (
    Row("0", "Run test suite, before everything else", "run_test_suite", {}, [], _PASSES, "baseline"),
    Row("1", "Analyze current auth module structure", "analyze_auth", {}, ["0"], "the kind of authentication is named",
        "analysis"),
    Row("2", "Identify all auth-related endpoints", "list_endpoints", {}, ["0"], "every endpoint is listed"),
    Row("3", "Design JWT token schema", "design_token_schema", _TOKEN, ["1", "0"], _SAYS, "-issuer"),
    Row("3b", "Design JWT token schema with an issuer", "design_token_schema", _WITH_ISSUER, ["1", "0"], _SAYS, "issuer"),
    Row("4", "Implement JWT generation and validation", "implement_jwt", {}, ["3", "3b"], "the auth module uses tokens",
        "code"),
    Row("5", "Update endpoints to use JWT", "update_endpoints", {}, ["2", "4"], "no endpoint reads a session",
        "endpoints code"),
    Row("6", "Update tests", "update_tests", {}, ["5"], _PASSES, "tests endpoints code"),
    Row("7", "Run test suite", "run_test_suite", {}, ["6"], _PASSES, "suite code"),
)  # fmt: skip
_TOPICS = (
    Topic("analysis", "analyze analyse", "analysis", "-analysis", early="analysis"),
    Topic("issuer iss", "", "issuer", "-issuer"),
    Topic("endpoint", "", "endpoints", "-endpoints", thing=True),
    Topic("test-edit", "", "tests", "-tests", thing=True),
    Topic("test unit-test suite", "test", "suite", "-suite -tests", early="baseline suite"),
    Topic("code implementation", "implement", "code", "-code", thing=True),
    Topic("jwt jwts authentication auth login", "", "code", None, weak=True),
    Topic("", "refactor migrate convert rewrite replace move", "code", "-code", weak=True),
    Topic("monday tuesday wednesday thursday friday saturday sunday weekend tonight today tomorrow", "", None, "-code"),
    Topic("preview simulation", "show display print see", "show", "", early="show", message=True),
    Topic("", "execute run", None, "show", weak=True),
)  # fmt: skip

PLANNER = ScriptedPlanner(
    GOAL,
    "skip the analysis or the tests; run the tests first; leave the tests or the endpoints as they are; put the issuer into"
    " the token; don't change the code (such as on a Friday); only show the plan",
    _ROWS,
    Reader(
        _TOPICS,
        "code",
        "module token package uses using shop user web design name over based json claim contain carry belong",
        phrases_of("refactor"),
    ),
    "analysis code endpoints tests suite",
    "list_endpoints",
    latency=(7.5, 4.0),
)  # fmt: skip
PLANNERS = {"scenes": PLANNER}
