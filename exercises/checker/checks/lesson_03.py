"""Checks for lesson 03, the plan as data."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

from planexec_lab import views
from planexec_lab.worlds import deploy, migration
from planexec_lite import Plan, PlanError, Simulated, ToolExecutor, execute
from planexec_lite.plan import Problem
from planexec_lite.tools import references

from exercises.checker.checks import said
from exercises.checker.checks.order import unguarded
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise


def _plan(lines: Iterable[str]) -> Plan:
    """Make a plan from lines such as `4:run_migration < 2 3`."""
    steps = []
    for line in lines:
        name, _, after = line.partition("<")
        id, _, tool = name.strip().partition(":")
        steps.append({"id": id, "tool": tool or None, "depends_on": after.split()})
    return Plan.parse(steps)


@exercise("03.1")
def dinner(trial: Trial, waves: Any, never: Any) -> None:
    """The waves as lists of step names, and the names of the steps that never start."""
    lines = data("03.1")["plan"]
    plan = _plan(lines)
    trial.given("waves", waves)
    form = "lists of names in a list, such as [['a', 'b'], ['c']]"
    rule = "Write each wave as a list of steps, and all waves as a list of those lists."
    waves = said.listed(trial, waves, form, rule, in_order=True)
    waves = [said.names(trial, wave, plan.graph, form, rule) for wave in waves]
    wave_of = {id: number for number, wave in enumerate(waves, 1) for id in wave}
    once = sorted(id for wave in waves for id in wave) == sorted(plan.graph)
    trial.want(once, "each of the eight steps in exactly one wave", "Every step of this plan starts once.")
    for id, after in plan.graph.items():
        for other in after:
            late = f"{id} is in wave {wave_of[id]} and depends on {other}, which is in wave {wave_of[other]}"
            rule = "A step's dependencies must all be in earlier waves."
            trial.want(wave_of[other] < wave_of[id], f"{id} in a later wave than {other}: {late}", rule)
        first = 1 + max((wave_of[other] for other in after), default=0)
        early = f"{id} is in wave {wave_of[id]}, but its dependencies are done earlier"
        rule = "A step starts as soon as all its dependencies are done."
        trial.want(wave_of[id] == first, f"{id} in an earlier wave: {early}", rule)
    trial.want(len(waves) == max(wave_of.values()), "no empty wave", "At least one step starts in each wave.")
    trial.show(views.graph, plan)
    trial.given("never", never)
    form = "names of steps of this plan, in a list"
    names = set(said.names(trial, never, plan.graph, form, "Write your prediction as step names."))
    closed = _plan(line.replace("stock < shop", "stock < shop carve") for line in lines)
    right = set(plan.graph) - {id for wave in closed.waves() for id in wave}
    wanted = "the steps that never start in the kit once stock depends on carve"
    trial.want(names >= right, wanted, "A step that depends on a step that never starts will never start either.")
    trial.want(names <= right, wanted, "A cycle blocks only its own steps and the steps that depend on them.")


@exercise("03.2")
def named(trial: Trial, cycle: Any) -> None:
    """A list in which each step depends on the next and the last on the first; [] when there is no cycle."""
    for lines in data("03.2")["plain"]:
        rule = "Two paths to the same step are not a cycle. A cycle returns to its first step."
        trial.want(_answer(trial, cycle, _plan(lines)) == [], "[], because every step can start", rule)
    for lines in data("03.2")["cycles"]:
        plan = _plan(lines)
        came = _answer(trial, cycle, plan)
        if not trial.figures:
            trial.show(views.graph, plan)
        rule = "Some steps of this plan depend on each other: name that cycle."
        trial.want(came, "the steps of a cycle, not []", rule)
        wanted = "one cycle: each step depends on the next, the last on the first"
        trial.want(set(came) <= set(plan.graph), wanted, "A cycle contains only steps of the plan.")
        trial.want(len(set(came)) == len(came), f"{wanted}, each step once", "List each step of the cycle once.")
        for id, other in pairwise(came):
            trial.want(
                other in plan.graph[id], wanted, f"{id!r} does not depend on {other!r}, the next step in your list."
            )
        last = (
            f"The last step, {came[-1]!r}, does not depend on the first, {came[0]!r}. Leave out the steps that "
            "only lead to the cycle."
        )
        trial.want(came[0] in plan.graph[came[-1]], wanted, last)


def _answer(trial: Trial, cycle: Any, plan: Plan) -> list[Any]:
    """Call the learner's function with the plan's graph, and return its result as a list."""
    came = trial.call(cycle, {id: list(after) for id, after in plan.graph.items()})
    trial.want(isinstance(came, list | tuple), "a list of steps", "Return a list of step names, or [].")
    return list(came)


@exercise("03.3")
def released(trial: Trial, release: Any) -> None:
    """A valid plan that releases v2.3.1: test, back up, try it on staging, deploy to production, notify the team."""
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
    trial.want(
        not problems, "a valid plan: `problems` returns []", str(problems[:1] and problems[0]), f"{count} problems"
    )
    for tool, before in data("03.3")["guards"].items():
        missing = ", ".join(unguarded(plan, tool, before))
        text = f"a plan in which {tool} depends, directly or indirectly, on {missing}"
        trial.want(
            not missing, text, "Fix a faulty step instead of deleting it; the steps that it protects must depend on it."
        )
    told = [step for step in plan.steps if step.tool == "notify_team"]
    trial.want(len(told) == 1, "one message to the team", "A message can't be unsent, so send it only once.")
    trial.want(
        "{step_" in str(told[0].params), "a message with a reference", "Refer to a tool's result instead of typing it."
    )
    run = execute(plan, ToolExecutor(world.tools), workers=Simulated(2))
    trial.want(run.status == "finished", "a run that finishes", str(run.reason))
    seen = [run.results[step.id] for step in plan.steps if step.tool == "run_smoke_tests"]
    old = [result["version"] for result in seen if result["version"] != "v2.3.1"]
    rule = (
        "The validator checks the form of a plan, not its purpose: a test must run after the deployment that it tests."
    )
    trial.want(not old, f"smoke tests of v2.3.1; one of them saw {''.join(old[:1])}", rule)
    trial.want(not unguarded(plan, "run_smoke_tests", ["deploy_staging"]), "smoke tests after deploy_staging", rule)
    live = world.deployed("production"), world.deployed("staging")
    trial.want(
        live == ("v2.3.1", "v2.3.1"),
        "v2.3.1 in production and on staging",
        "The goal asks for this version in both.",
        f"in production and on staging: {live}",
    )
    rule = "The message must contain the version that runs in production."
    trial.want("v2.3.1" in "".join(world.messages), "a message with v2.3.1", rule, f"the messages {world.messages}")
    message = str(dict(told[0].params))
    for one in (found := references.find(dict(told[0].params))):
        message = message.replace(str(one), "")
    there = {
        step.id for step in plan.steps if step.tool == "deploy_production" or step.params.get("env") == "production"
    }
    tells = [one for one in found if one.step in there and "v2.3.1" in str(references.look_up(one, run.results))]
    wanted = "a message that refers to the result of deploy_production, without a version that you typed"
    trial.want(tells and "2.3.1" not in message, wanted, rule)
    trial.want(
        "v2.3.1" in str(run.answer),
        "an answer with v2.3.1",
        "The answer should state the version in production.",
        f"the answer {run.answer}",
    )


@exercise("03.5")
def house_rule(trial: Trial, unguarded: Any) -> None:
    """A list of `Problem`, one for each step and each guard that the step's tool requires but the step does not depend on."""
    given = data("03.5")
    similar = given["similar"]
    for lines, lacking in given["plans"]:
        plan = _plan(lines.split(", ") if lines else [])
        if not trial.figures:
            trial.show(views.graph, plan)
        _judge(trial, unguarded, plan, given["guards"], lacking)
    for steps, lacking in _by_lot(similar):
        _judge(trial, unguarded, _plan(steps), similar, lacking)
    plan = _plan(["1:cook", "2:eat < 1", "3:pay"])
    _judge(trial, unguarded, plan, {"eat": ["cook", "wash"], "pay": ["eat"]}, "2 wash, 3 eat")


def _by_lot(similar: dict[str, list[str]]) -> Iterator[tuple[list[str], str]]:
    """Yield plans by lot, whose tools have similar names, and the guards that are missing in each."""
    chance = Random(3)
    for _ in range(30):
        tools = [chance.choice(["cook", "cook_rice", "wash", "eat"]) for _ in range(chance.randrange(1, 7))]
        before: list[set[int]] = []
        lines, lacking = [], []
        for place, tool in enumerate(tools):
            needs = sorted(chance.sample(range(place), min(place, chance.randrange(3))))
            before.append(set(needs).union(*(before[one] for one in needs)))
            lines.append(f"{place + 1}:{tool}" + (f" < {' '.join(str(one + 1) for one in needs)}" if needs else ""))
            there = {tools[one] for one in before[place]}
            lacking += [f"{place + 1} {guard}" for guard in similar.get(tool, []) if guard not in there]
        yield lines, ", ".join(lacking)


def _judge(trial: Trial, unguarded: Any, plan: Plan, guards: dict[str, list[str]], lacking: str) -> None:
    """Compare the problems that the learner's check finds with the expected ones."""
    came = trial.call(unguarded, plan, guards)
    problems = list(came) if isinstance(came, (list, tuple, Iterator)) else [came]
    trial.called = f"unguarded(plan, guards), and the plan is\n{plan if plan.steps else '(no steps)'}"
    trial.came = str([f"{one.step}: {one.message}" if isinstance(one, Problem) else one for one in problems])
    form = "A problem has a code for programs, a message for people, and a hint how to fix it."
    trial.want(all(isinstance(one, Problem) for one in problems), "a list of `Problem`", form)
    tool = {step.id: step.tool for step in plan.steps}
    expected = [tuple(pair.split()) for pair in lacking.split(", ") if pair]
    wanted = "; ".join(f"step {id}: {guard} is missing" for id, guard in expected) or "no problem"
    for one in problems:
        trial.want(one.code == "unguarded", "the code 'unguarded'", form, f"the code {one.code!r}")
        trial.want(one.step in tool, "the id of a step", form, f"step={one.step!r}")
        trial.want(isinstance(one.hint, str) and one.hint.strip(), "a hint, as a non-empty string", form)
        trial.want(str(tool[one.step]) in one.message, f"a message that names {tool[one.step]}", form)
        rule = "A guard counts if the step depends on it, directly or indirectly. Report only guards that are missing."
        trial.want(any(one.step == id and guard in one.message for id, guard in expected), wanted, rule)
    if plan.problems():
        return  # the plan itself is invalid, which other checks report: it is enough that these problems are true
    rule = "It is not enough that the guard is in the plan or earlier in the list: the step must depend on it."
    trial.want(problems or not expected, wanted, rule)
    for id, guard in expected:
        here = [one for one in problems if one.step == id and guard in one.message]
        trial.want(here, wanted, "Report all problems at once: one for each step and each missing guard.")
    trial.want(
        len(problems) == len(expected),
        f"{wanted}, and nothing else",
        "Report all problems at once, and each of them once.",
    )


@exercise("03.6")
def valid_and_harmful(trial: Trial, harmful: Any) -> None:
    """The letters of the plans that do harm, as a string such as "AF"."""
    trial.given("harmful", harmful)
    wanted = 'letters from A to F, as in `harmful = "AF"`'
    letters = said.names(trial, harmful, VALID, wanted, "Write your prediction as the letters of the plans.")
    rules = data("03.6")["rules"]
    for letter in VALID:
        trial.want((letter in letters) == _does_harm(letter), f"{letter}: whether this plan does harm", rules[letter])


VALID = data("03.6")["plans"]
_SCRIPTS = {
    "write": migration.SCRIPT,
    "write typo": migration.BROKEN_SCRIPT,
    "write hasty": migration.HASTY_SCRIPT,
}


def _does_harm(letter: str) -> bool:
    """Return whether the run of a plan lost data, left no way back, or left database and application apart."""
    world = migration.World()
    before = _dump(world.database)
    execute(_migration(VALID[letter]), ToolExecutor(world.tools), workers=Simulated(4))
    after = _dump(world.database)
    backups = map(_dump, world.folder.glob("backup-*.sqlite"))
    no_way_back = after != before and before not in backups
    schema = 1 if "CREATE TABLE contacts" in after else 2
    return bool(world.damage()) or no_way_back or world.config["schema"] != schema


def _migration(lines: str) -> Plan:
    """Return a plan of 03.6 with real calls; `run` and `test` name the script that they use."""
    steps = [line.partition(" < ") for line in lines.split("; ")]
    scripts = [name for name, _, _ in steps if name.startswith("write")]
    calls: dict[str, tuple[str, dict[str, Any]]] = {
        "back up": ("backup_database", {}),
        "test": ("test_migration", {"file": f"{{step_{_id(scripts[0])}_result.file}}"}),
        "run": ("run_migration", {"file": f"{{step_{_id(scripts[-1])}_result.file}}"}),
        "configure": ("update_config", {"schema": 2}),
        "tell the team": ("notify_team", {"message": "the test has passed"}),
    }
    calls |= {name: ("write_migration", {"sql": _SCRIPTS[name]}) for name in scripts}
    return Plan.parse(
        [
            {
                "id": _id(name),
                "tool": calls[name][0],
                "params": calls[name][1],
                "depends_on": [_id(one) for one in [*after.split(", "), *_needed(name, scripts)] if one],
            }
            for name, _, after in steps
        ]
    )


def _needed(name: str, scripts: list[str]) -> list[str]:
    """Return the step whose file a step uses."""
    return {"test": scripts[:1], "run": scripts[-1:]}.get(name, [])


def _id(name: str) -> str:
    return name.replace(" ", "_")


def _dump(database: Path) -> str:
    """Return a database as SQL."""
    with closing(sqlite3.connect(database)) as db:
        return "\n".join(db.iterdump())
