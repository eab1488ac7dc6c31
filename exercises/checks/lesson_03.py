"""Lesson 03, the plan as data: what its exercises are judged by."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from exercises.checks import said
from exercises.checks.order import unguarded
from exercises.exercise import Trial, exercise
from planexec_lab import views
from planexec_lab.worlds import deploy
from planexec_lite import Plan, PlanError, Simulated, ToolExecutor, execute, references
from planexec_lite.plan import Problem

DINNER = (
    "serve < carve sauce",
    "carve < roast",
    "roast < oven baste",
    "sauce < stock",
    "baste < stock",
    "stock < shop",
    "oven",
    "shop",
)


def _plan(lines: Iterable[str]) -> Plan:
    """A plan from lines such as `4:run_migration < 2 3`."""
    steps = []
    for line in lines:
        name, _, after = line.partition("<")
        id, _, tool = name.strip().partition(":")
        steps.append({"id": id, "tool": tool or None, "depends_on": after.split()})
    return Plan.parse(steps)


@exercise(
    "03.1",
    nudge="Cross out what waits for nothing: that is the first wave. Then cross out what waits only for what is crossed "
    "out. The order in which the steps are listed means nothing.",
    question="With the new dependency, which steps can you still cross out at the start? And what happens to those that "
    "wait for one that you can't?",
    learned="A step starts when what it waits for is done. Round a circle and behind it, that never happens.",
)
def dinner(trial: Trial, waves: Any, never: Any) -> None:
    """The waves as lists of names, and the names of the steps that never start."""
    plan = _plan(DINNER)
    trial.given("waves", waves)
    form = "lists of names in a list, such as [['a', 'b'], ['c']]"
    rule = "A wave is a list of steps, and the waves are a list of waves."
    waves = [said.listed(trial, wave, form, rule) for wave in said.listed(trial, waves, form, rule, in_order=True)]
    wave_of = {id: number for number, wave in enumerate(waves, 1) for id in wave}
    once = sorted(map(str, [id for wave in waves for id in wave])) == sorted(plan.graph)
    trial.want(once, "each of the eight steps in one wave", "Every step of this plan starts in some wave, and once.")
    for id, after in plan.graph.items():
        for other in after:
            late = f"{id} stands in wave {wave_of[id]}, {other} in wave {wave_of[other]}, and {id} waits for {other}"
            rule = "A wave can start when the waves before it are done."
            trial.want(wave_of[other] < wave_of[id], f"{id} in a later wave than {other}: {late}", rule)
        first = 1 + max((wave_of[other] for other in after), default=0)
        early = f"{id} stands in wave {wave_of[id]}; all that it waits for is done before that"
        rule = "A step starts as soon as everything that it waits for is done."
        trial.want(wave_of[id] == first, f"{id} in an earlier wave: {early}", rule)
    trial.want(len(waves) == max(wave_of.values()), "no empty wave", "In each wave, something starts.")
    trial.show(views.graph, plan)
    trial.given("never", never)
    form = "names of steps of this plan, in a list"
    names = set(said.names(trial, never, plan.graph, form, "A prediction names steps."))
    closed = _plan(line.replace("stock < shop", "stock < shop carve") for line in DINNER)
    right = set(plan.graph) - {id for wave in closed.waves() for id in wave}
    wanted = "the steps that are in no wave of the kit, once stock waits for carve"
    trial.want(names >= right, wanted, "What waits for a step that never starts never starts either.")
    trial.want(names <= right, wanted, "A circle stops no step that waits for nothing in it.")


SHAPES = (  # lines of a plan, and whether it holds a cycle
    (("a < b c", "b < d", "c < d", "d"), False),
    (("1", "2 < 1 4", "3 < 2", "4 < 3", "5 < 4"), True),
    (("a < b", "b < c", "c < b"), True),
    (("a < a",), True),
    (("x", "a < x b", "b < x c d", "c < x", "d < b"), True),
    (("out < a", "a < b", "b < a", "p < q", "q < r", "r < p b"), True),
    (("z", "m < n z", "n < o", "o < k n", "k < z"), True),
    (
        (
            "e",
            "g < e",
            "h < g",
            "i < h",
            "j < i",
            "o < p z",
            "p < e q z",
            "q < r z",
            "r < e s z",
            "s < t z",
            "t < e o z",
            "z",
        ),
        True,
    ),
    (("3 < 2", "2 < 1", "1"), False),
    (("a", "b", "c"), False),
    (("a < b c", "b < c", "c"), False),
    ((), False),
)


@exercise(
    "03.2",
    nudge="Take away what can start, again and again, as in the lesson. Every step that is left waits for a step that is "
    "left. Now walk.",
    question="If you go from step to step, always to one that it waits for and that is left, what must happen sooner or "
    "later? And is the place where it happens the place where you began?",
    learned="'Never ready' is a symptom. A circle with names can be mended: drop one of its arrows.",
)
def named(trial: Trial, circle: Any) -> None:
    """A list in which each step waits for the next and the last for the first; [] when there is no cycle."""
    for lines, round_about in SHAPES:
        plan = _plan(lines)
        came = _answer(trial, circle, plan)
        if round_about and not trial.figures:
            trial.show(views.graph, plan)
        if not round_about:
            rule = "Two ways to one step are no circle: a circle comes back to where it was."
            trial.want(came == [], "[], because every step can start", rule)
            continue
        rule = "When steps wait for each other, there is a circle to name."
        trial.want(came, "one circle, not [], though one of them waits in a circle", rule)
        wanted = "one circle: each step waits for the next, the last for the first"
        trial.want(set(came) <= set(plan.graph), wanted, "A circle is made of steps of the plan.")
        trial.want(len(set(came)) == len(came), f"{wanted}, each step once", "A circle names each of its steps once.")
        for id, other in pairwise(came):
            trial.want(other in plan.graph[id], wanted, f"{id!r} does not wait for {other!r}, which comes next.")
        last = f"The last one, {came[-1]!r}, does not wait for the first, {came[0]!r}: the way to a circle is no part of it."
        trial.want(came[0] in plan.graph[came[-1]], wanted, last)


def _answer(trial: Trial, circle: Any, plan: Plan) -> list[Any]:
    """What the learner's function returns for a plan, as a list."""
    came = trial.call(circle, {id: list(after) for id, after in plan.graph.items()})
    trial.want(isinstance(came, list | tuple), "a list of steps", "What comes back is a list of names, or [].")
    return list(came)


LIVE = {
    "deploy_production": ("run_tests", "build_docker", "backup_database", "deploy_staging", "run_smoke_tests"),
    "notify_team": ("deploy_production",),
}


@exercise(
    "03.3",
    nudge="`faults(release)` lists all that is wrong, with a hint each. Mend and ask again. The tools and their "
    "parameters are in `deploy.World().tools.describe()`.",
    question="Two steps wait for each other. Fit is the plan without either arrow; but what does a smoke test see that "
    "runs before the deployment?",
    learned="The validator's words mend the form. Which of two arrows to drop, only the purpose can say.",
)
def released(trial: Trial, release: Any) -> None:
    """A valid plan that releases v2.3.1: tested, backed up, tried on staging, then live, then told."""
    trial.given("release", release)
    world = deploy.World()
    try:
        plan = Plan.parse(release)
    except PlanError as problem:
        trial.wrong("a plan that `Plan.parse` reads", str(problem.problems[0]))
    trial.called = f"release =\n{plan}"
    trial.show(views.graph, plan)
    problems = plan.problems(world.tools)
    count = len(problems)
    trial.want(not problems, f"a valid plan, [] from `problems`, not {count}", str(problems[:1] and problems[0]))
    for tool, before in LIVE.items():
        missing = ", ".join(unguarded(plan, tool, before))
        text = f"a plan in which {tool} waits, directly or through others, for {missing}"
        trial.want(not missing, text, "A bad step is mended, not dropped, and what it protects waits for it.")
    told = [step for step in plan.steps if step.tool == "notify_team"]
    trial.want(len(told) == 1, "one message to the team", "A message can't be taken back: it is sent once.")
    trial.want("{step_" in str(told[0].params), "a message with a reference", "What a tool finds is referred to.")
    run = execute(plan, ToolExecutor(world.tools), workers=Simulated(2))
    trial.want(run.status == "finished", "a run that finishes", str(run.reason))
    seen = [run.results[step.id] for step in plan.steps if step.tool == "run_smoke_tests"]
    old = [result["version"] for result in seen if result["version"] != "v2.3.1"]
    rule = "A check knows the form of a plan, not its purpose: the test has to come after what it tests."
    trial.want(not old, f"smoke tests of v2.3.1; one of them saw {''.join(old[:1])}", rule)
    trial.want(not unguarded(plan, "run_smoke_tests", ["deploy_staging"]), "smoke tests after deploy_staging", rule)
    live = world.deployed("production"), world.deployed("staging")
    trial.want(live == ("v2.3.1", "v2.3.1"), f"v2.3.1 in production and on staging, not {live}", "That was the goal.")
    rule = "The message holds the version that production runs."
    trial.want("v2.3.1" in "".join(world.messages), f"a message with v2.3.1, not {world.messages}", rule)
    message = str(dict(told[0].params))
    for one in (found := references.find(dict(told[0].params))):
        message = message.replace(str(one), "")
    there = {
        step.id for step in plan.steps if step.tool == "deploy_production" or step.params.get("env") == "production"
    }
    tells = [one for one in found if one.step in there and "v2.3.1" in str(references.look_up(one, run.results))]
    wanted = "a message that refers to what deploy_production found, without a version from your hand"
    trial.want(tells and "2.3.1" not in message, wanted, rule)
    trial.want("v2.3.1" in str(run.answer), f"an answer with v2.3.1, not {run.answer}", "The answer says what is live.")


INVOICE = (
    '{"goal": "Pay the invoice", "steps": ['
    '{"id": 1, "tool": "read_invoice", "params": {"number": 7, "year": 2026}}, '
    '{"id": 2, "tool": "read_balance"}, '
    '{"id": 3, "tool": "pay", "params": {"amount": "{step_1_result.total}"}, "depends_on": [1, 2]}]}'
)
EDITS = (  # letter, what is replaced in the text, the rule that decides
    (
        "A",
        (('"number": 7, "year": 2026', '"year": 2026, "number": 7'),),
        "Arguments have names: their order says nothing.",
    ),
    (
        "B",
        (('"pay"', '"pay", "description": "routine"'),),
        "A description is part of the plan: it is what a person reads.",
    ),
    ("C", (('"id": 1', '"id": "1"'), ("[1, 2]", '["1", "2"]')), "An id is a name: 1 and '1' are the same one."),
    (
        "D",
        (('"pay"', '"pay", "retries": 0, "gate": false'),),
        "What is left out and what is written as it is by default are the same.",
    ),
    ("E", (("2026", '"2026"'),), "An argument keeps its type: a tool may do something else with a text."),
    ("F", (("tool", "action"), ("params", "input")), "Planners call fields by several names; the plan knows one each."),
)


@exercise(
    "03.4",
    nudge="The hash is that of the standard text, `print(Plan.parse(APPROVED).to_json())`. Ask of each version whether "
    "its standard text would be another one.",
    question="Which differences are only in how the plan was written down, and which would the person want to see again "
    "before they sign?",
    learned="The same plan has the same hash however it is written. Any other plan, even one word longer, needs a new yes.",
)
def approved(trial: Trial, holds: Any) -> None:
    """The letters of the versions for which the approval still holds."""
    trial.given("holds", holds)
    form = "letters from A to F, in a list"
    letters = set(said.names(trial, holds, "ABCDEF", form, "A prediction names versions."))
    hashes = {}
    for letter, changes, _ in EDITS:
        text = INVOICE
        for old, new in changes:
            text = text.replace(old, new)
        hashes[letter] = Plan.parse(text).hash
    same = {letter for letter in hashes if hashes[letter] == Plan.parse(INVOICE).hash}
    right = len(hashes) - len(letters ^ same)
    wanted = f"the versions with the hash of the approved plan; you are right about {right} of {len(hashes)}"
    trial.want(letters, wanted, "The hash is that of the standard text, not of the text that came in.")
    for letter, _, rule in EDITS:
        trial.want((letter in letters) == (letter in same), wanted, rule)


GUARDS = {"run_migration": ["test_migration", "backup_database"], "delete_database": ["backup_database"]}
PLANS = (  # the plan, and what has to be found in it: steps and the guards that each lacks
    ("1:backup_database, 2:write, 3:test_migration < 2, 4:run_migration < 2", "4 test_migration, 4 backup_database"),
    ("1:backup_database, 2:test_migration, 3:run_migration < 1 2", ""),
    ("1:backup_database, 2:write < 1, 3:test_migration < 2, 4:read < 3, 5:run_migration < 4", ""),
    ("5:run_migration < 4, 4:read < 3, 3:test_migration < 2, 2:write < 1, 1:backup_database", ""),
    ("1:run_migration, 2:test_migration < 1, 3:backup_database < 1", "1 test_migration, 1 backup_database"),
    (
        "a:backup_database, b:run_migration < a, c:delete_database < b, d:delete_database",
        "b test_migration, d backup_database",
    ),
    ("1:read < 2, 2:write < 1, 3:run_migration < 1", "3 test_migration, 3 backup_database"),
    ("1:test_migration < 2, 2:run_migration < 1 3, 3:backup_database", ""),
    ("1:run_migration < 9, 2:test_migration", "1 test_migration, 1 backup_database"),
    ("1:read, 2:write < 1, 3:notify_team < 2", ""),
    ("1:test_migration, 2:run_migration < 1, 3:run_migration < 2", "2 backup_database, 3 backup_database"),
    ("1:delete_database < 1", "1 backup_database"),
    ("1:backup_files, 2:delete_database < 1", "2 backup_database"),
    (
        "1:backup_database, 2:read < 1, 3:write < 1, 4:test_migration < 2 3, 5:run_migration < 4, 6:run_migration < 2 3",
        "6 test_migration",
    ),
    ("", ""),
)


@exercise(
    "03.5",
    nudge="What is done before a step starts? All that it waits for, and all that those wait for. Collect that first, for "
    "one step, and remember where you have been.",
    question="In the plan of the task, step 3 stands above step 4. What makes sure that it is done before? And what does "
    "your walk do in a plan where 1 waits for 2 and 2 for 1?",
    learned="A rule that nobody can break is a check, not a sentence in a prompt.",
)
def house_rule(trial: Trial, unguarded: Any) -> None:
    """A list of `Problem`, one for each step and each guard of its tool that is not sure to be done before it."""
    for lines, lacking in PLANS:
        plan = _plan(lines.split(", ") if lines else [])
        if not trial.figures:
            trial.show(views.graph, plan)
        _judge(trial, unguarded, plan, GUARDS, lacking)
    plan = _plan(["1:cook", "2:eat < 1", "3:pay"])
    _judge(trial, unguarded, plan, {"eat": ["cook", "wash"], "pay": ["eat"]}, "2 wash, 3 eat")


def _judge(trial: Trial, unguarded: Any, plan: Plan, guards: dict[str, list[str]], lacking: str) -> None:
    """Compare what the learner's check finds in a plan with what is there."""
    came = trial.call(unguarded, plan, guards)
    problems = list(came) if isinstance(came, list | tuple) or inspect.isgenerator(came) else [came]
    trial.called = f"unguarded(plan, guards), and the plan is\n{plan if plan.steps else '(no steps)'}"
    trial.came = str([f"{one.step}: {one.message}" if isinstance(one, Problem) else one for one in problems])
    form = "A problem has a code for programs, a message for people and a hint to mend it."
    trial.want(all(isinstance(one, Problem) for one in problems), "a list of `Problem`", form)
    tool = {step.id: step.tool for step in plan.steps}
    expected = [tuple(pair.split()) for pair in lacking.split(", ") if pair]
    wanted = "; ".join(f"step {id}: {guard} is missing" for id, guard in expected) or "no problem"
    for one in problems:
        trial.want(one.code == "unguarded", f"the code 'unguarded', not {one.code!r}", form)
        trial.want(one.step in tool, f"the id of a step, not {one.step!r}", form)
        trial.want(isinstance(one.hint, str) and one.hint.strip(), "a hint, which is a text", form)
        trial.want(str(tool[one.step]) in one.message, f"a message that names {tool[one.step]}", form)
        rule = (
            "What a step waits for is done, and so is what that one waited for: only who waits for no guard is named."
        )
        trial.want(any(one.step == id and guard in one.message for id, guard in expected), wanted, rule)
    if plan.problems():
        return  # other checks name its circle or its missing step: enough that what is said is true, and comes to an end
    rule = "Order in the list means nothing, and being in the plan is not enough: what counts is what is waited for."
    trial.want(problems or not expected, wanted, rule)
    for id, guard in expected:
        here = [one for one in problems if one.step == id and guard in one.message]
        trial.want(here, wanted, "All problems at once: one for each step and each guard that is missing.")
    trial.want(
        len(problems) == len(expected), f"{wanted}, and nothing else", "All problems at once, and each of them once."
    )
