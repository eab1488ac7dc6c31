"""What the scripted planner of the support world knows. What it plans when logs are missing is in the scenes."""

from planexec_lab.worlds.minds.requests import Reader, Topic, phrases_of
from planexec_lab.worlds.minds.scripted import Choice, Row, ScriptedPlanner
from planexec_lab.worlds.support.plan import GOAL
from planexec_lab.worlds.support.services import SERVICES

_ORDER = {"order": "$value"}
_ROWS = (
    *(Row(str(number), f"Collect the log of {service}", "collect_logs", {"service": service}, when=service)
      for number, service in enumerate(SERVICES, 1)),
    Row("5", "Inspect the failing branch", "inspect_branch", _ORDER, ["1", "2", "3", "4"], "no record is missing"),
    Row("6", "Summarize the root cause", "root_cause", _ORDER, ["5"], "log lines prove the cause", "cause"),
    Row("7", "Propose a patch", "draft_fix", {"cause": "{step_6_result}"}, ["6"], "the draft cites log lines", "fix cause"),
)  # fmt: skip
_TOPICS = (
    *(Topic(service, "", service, f"-{service}") for service in SERVICES),
    Topic("fix patch solution proposal suggestion remedy", "fix patch draft", "fix", "-fix", only=""),
    Topic("cause reason", "", "cause", "-cause -fix", only="-fix"),
    Topic("workflow audit", "audit", "cause", "-cause -fix", weak=True),
    Topic("chosen-order", "", "", "", weak=True),
    Topic("preview simulation", "show display print see", "show", "", early="show", message=True),
    Topic("", "execute run", None, "show", weak=True),
)

PLANNER = ScriptedPlanner(
    GOAL,
    "skip the log of checkout, payment, fulfilment or mail; draft no fix; find only the cause; look for no cause; another"
    " order (A-1001 to A-1060); only show the plan",
    _ROWS,
    Reader(
        _TOPICS,
        "cause",
        "log logs order identify failure point find look check collect fetch read branch propose write suggest root service"
        " where examine inspect investigate analyze analyse review trace number",
        phrases_of("support"),
    ),
    "checkout payment fulfilment mail cause fix",
    "collect_logs",
    choice=Choice(
        "chosen-order",
        r"\b(?:A-?|order (?:number |no\.? |nr\.? |#)?)(\d{4})\b",
        "A-",
        {f"A-{number}": {} for number in range(1001, 1061)},
        "A-1034",
    ),
    latency=(6.5, 4.0),
)
PLANNERS = {"scenes": PLANNER}
