"""What the scripted head chef of the kitchen world knows."""

from planexec_lab.worlds.kitchen.plan import GOAL, PLAN
from planexec_lab.worlds.minds.requests import Reader, Topic, phrases_of
from planexec_lab.worlds.minds.scripted import Row, ScriptedPlanner
from planexec_lite.plan import Plan

_STARTER, _MAIN = ("1", "6", "8", "12"), ("2", "3", "7", "9", "13")
_LEEKS = ("1", "6")
_SERVED = ("12", "13", "14")


def _when(id: str) -> str:
    if id in _LEEKS:
        return "starter -onions"
    course = "starter" if id in _STARTER else "main" if id in _MAIN else "dessert"
    return f"{course} serve" if id in _SERVED else course


_PLANNED = [
    Row(step.id, step.description, str(step.tool), step.params, step.depends_on, when=_when(step.id))
    for step in Plan.parse(PLAN).steps
]
_ONIONS = [
    Row("1b", "Chop onions in place of the leeks", "chop", {"what": "onions"}, when="starter onions"),
    Row("6", "Simmer the soup", "simmer", {"what": ["onions", "stock"]}, ["1b"], when="starter onions"),
]
PLANNER = ScriptedPlanner(
    GOAL,
    "skip the starter, the main course or the dessert, or cook only one of them; take onions instead of the leeks; cook,"
    " but don't serve yet",
    [_PLANNED[0], _ONIONS[0], *_PLANNED[1:6], _ONIONS[1], *_PLANNED[6:]],
    Reader(
        (
            Topic("starter soup", "", "starter", "-starter", early="starter", only="-main -dessert"),
            Topic("roast chicken meat", "", "main", "-main", only="-starter -dessert"),
            Topic("dessert tart sweet", "", "dessert", "-dessert", only="-starter -main"),
            Topic("onion", "", "onions", "-onions"),
            Topic("leek", "", "-onions", "onions"),
            Topic("", "serve", "serve", "-serve", weak=True),
            Topic("dinner meal menu course", "cook prepare", "dinner", None, weak=True),
        ),
        "dinner",
        "three-course three eight 8 guest people persons eat dish table today tonight",
        phrases_of("kitchen"),
    ),
    "dinner starter main dessert serve",
    "",
    facts={"onions": r"step 1, chop\(what='leeks'\): failed|step 1b"},
)
PLANNERS = {"scenes": PLANNER}
