"""Checks for lesson 02, ReAct."""

from __future__ import annotations

import json
from functools import wraps
from types import SimpleNamespace
from typing import Any

from planexec_lab import views
from planexec_lab.worlds import migration
from planexec_lite import (
    Board,
    NextStepPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    tool,
)
from planexec_lite.run.events import StepStarted

from exercises.checker import drawn
from exercises.checker.checks import said
from exercises.checker.checks.order import unguarded
from exercises.checker.exercise import Trial, cut, exercise


def _read(steps: int, goal: int, observation: int) -> tuple[int, int]:
    """Return how many characters the lesson's agent sends for a task with `steps` steps: in total, and in the last question."""
    read = 0

    def model(text: str) -> str:
        nonlocal read
        read += len(text)
        return "done" if text.count("o") == observation * steps else "look"

    text = "g" * goal
    while model(text) != "done":
        text += "o" * observation
    return read, len(text)


@exercise("02.1")
def sent(trial: Trial, ten: Any, twenty: Any) -> None:
    """Two whole numbers: the characters that the agent sends for ten steps and for twenty."""
    for name, guess, steps in [("ten", ten, 10), ("twenty", twenty, 20)]:
        right, last = _read(steps, **drawn.drawn("02.1"))
        trial.given(name, guess)
        number = said.number(trial, guess, f"a whole number, as in `{name} = 700`")
        rule = "A model remembers nothing, so each question contains everything that happened before."
        if number == right - last:
            rule = (
                "The agent asks once per step and once more for 'done'. That last question contains all observations."
            )
        elif name == "twenty":
            rule = "The text grows with the square of the steps: there are more questions, and each one is longer."
        trial.want(number == right, f"the characters counted by a test model ({name})", rule)


@exercise("02.2")
def reads_errors(trial: Trial, react: Any) -> None:
    """The model's answer. Errors become observations; after `turns` turns, a string that starts with "gave up"."""
    world = migration.World()
    made = [
        (_reply("write_migration", sql=migration.BROKEN_SCRIPT), "syntax error"),
        (_reply("write_migration", sql=migration.SCRIPT), "migration-1.sql"),
        (_reply("test_script", file="migration-1.sql"), ""),
        (_reply("test_migration", name="migration-1.sql"), "file"),
        ("Let me test it first.", ""),
        ("7", ""),
        (_reply("test_migration", file="migration-1.sql"), "emails"),
        ('{"tool": "backup_database"}', ""),
        (_reply("run_migration", file="migration-1.sql"), "statements"),
    ]
    came = _act(trial, react, world.tools, made, "migrated", turns=10)
    trial.show(views.graph, _drawn(made), title="What the model asked of your agent, turn by turn")
    trial.want(
        came == "migrated", "'migrated', the model's answer", "When the model's reply has an 'answer', return it."
    )
    damage = world.damage()
    trial.want(
        not damage and world.read_schema()["now"] == world.read_schema()["wanted"], "a migrated database", str(damage)
    )
    for answer in (0, "", False, None):
        came = _act(trial, react, world.tools, [(_reply("read_schema"), "customers")], answer, turns=2)
        kind = type(came) is type(answer) and came == answer
        trial.want(
            kind, f"{answer!r}, the model's answer", "An answer can be 0, empty or null: test whether the key exists."
        )
    for name, seen in (("late_orders", ""), ("lines", "order 8")):
        made = [(_reply(name), seen)]
        came = _act(trial, react, Toolbox([_late_orders, _lines]), made, "none", turns=2, goal="Which orders are late?")
        trial.want(came == "none", "'none', the model's answer", "When the model's reply has an 'answer', return it.")
    for turns in (1, 4):
        made = [(_reply("read_schema"), "customers")] * turns
        came = _act(trial, react, world.tools, made, None, turns=turns)
        gave_up = isinstance(came, str) and came.startswith("gave up")
        trial.want(
            gave_up,
            "a string that starts with 'gave up'",
            "Every loop needs a bound, and its result must say that the bound was reached.",
        )


@tool(name="late_orders", effects="none")
def _late_orders() -> list[str]:
    """List the late orders: an empty list."""
    return []


@tool(name="lines", effects="none")
def _lines() -> str:
    """List the late orders, one in each line."""
    return "order 7\norder 8"


def _reply(tool: str, **params: Any) -> str:
    return json.dumps({"tool": tool, "params": params})


def _act(
    trial: Trial,
    react: Any,
    tools: Toolbox,
    made: list[tuple[str, str]],
    answer: Any,
    turns: int,
    goal: str = migration.GOAL,
) -> Any:
    """Run the learner's agent with a model that gives these replies in turn and checks the observation after each."""
    asked, before, calls, seen_by_tool = 0, "", list[str](), list[str]()
    once = "Each reply asks for one call. The agent must make that call exactly once; retrying is the model's decision."
    most = f"at most {turns} question{'s' * (turns != 1)}"

    def model(text: str) -> str:
        nonlocal asked, before
        least = int(asked > 0 and answer is None)  # each of these replies is a valid call
        trial.want(least <= len(calls) <= 1, f"one call to {', '.join(calls[:1])}", once, f"{len(calls)} calls")
        calls.clear()
        trial.want(asked < turns, most, f"Every loop needs a bound: turns={turns} is the limit.")
        trial.want(goal in text, "a text that contains the goal", "The model needs the goal in every question.")
        rule = "Each run starts without observations; those of an earlier run don't belong to it."
        trial.want(asked or "migration-1.sql" not in text, "a first question without observations", rule, cut(text))
        place = 0
        for number, (reply, seen) in enumerate(made[:asked], 1):
            wanted = f"a text with the observation after reply {number}, {cut(reply, 90)}"
            wanted += f": it should contain {seen!r}" if seen else ""
            rule = "Each question contains all earlier observations, in order."
            if number == asked and (seen not in text or text == before):
                rule = "An error is an observation too, and so is an empty result. "
                rule += "Without it, the model receives the same question again."
            trial.want(seen in text[place:] and text != before, wanted, rule)
            place = text.index(seen, place) + len(seen)
        rule = "The model must see the observation itself, complete: it can't act on what was cut off."
        for leaf in seen_by_tool:
            wanted = f"a text with all parts of what {made[asked - 1][0]} returned: {cut(leaf, 60)!r}"
            trial.want(any(form in text for form in (leaf, repr(leaf)[1:-1], json.dumps(leaf)[1:-1])), wanted, rule)
        seen_by_tool.clear()
        asked, before = asked + 1, text
        return made[asked - 1][0] if asked <= len(made) else json.dumps({"answer": answer})

    came = trial.call(react, goal, model, _counted(tools, calls, seen_by_tool), turns)
    wanted = turns if answer is None else len(made) + 1
    rule = "The agent continues until the model answers or no turns are left."
    trial.want(asked == wanted, f"{wanted} question{'s' * (wanted != 1)}", rule, f"{asked}")
    return came


def _counted(tools: Toolbox, calls: list[str], seen: list[str]) -> Toolbox:
    """Return copies of the tools that record their names in `calls`, and the strings of their results in `seen`."""

    def counted(one: Tool) -> Tool:
        @wraps(one.function)
        def called(*args: Any, **named: Any) -> Any:
            calls.append(one.name)
            result = one.function(*args, **named)
            seen.extend(_strings(result))
            return result

        return Tool(called, name=one.name, effects=one.effects)

    return Toolbox(map(counted, tools))


def _strings(value: Any) -> list[str]:
    """Return the strings and numbers in a result."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in _strings(one)]
    if isinstance(value, (list, tuple)):
        return [text for one in value for text in _strings(one)]
    return [str(value)] if isinstance(value, (str, int, float)) and not isinstance(value, bool) else []


def _drawn(made: list[tuple[str, str]]) -> Plan:
    """Draw the model's replies as a chain of steps."""
    tools = [json.loads(reply)["tool"] if reply[0] == "{" else "(no JSON)" for reply, _ in made]
    return Plan.parse([{"description": tool} for tool in tools])


@exercise("02.3")
def tested_first(trial: Trial, next_step: Any) -> None:
    """The next step as a dict, or None: back up, then write and test one script after another, then run the first that passes."""
    hasty, sound = migration.HASTY_SCRIPT, migration.SCRIPT
    other = sound.replace("DROP", "UPDATE customers SET email = email;\nDROP")
    alike = hasty.replace("DROP", "UPDATE customers SET email = email;\nDROP")
    for name, scripts, passes in [
        ("hasty, sound", [hasty, sound], 2),
        ("hasty, another hasty one", [hasty, alike], 0),
        ("sound, other", [sound, other], 1),
        ("hasty, another hasty one, sound", [hasty, alike, sound], 3),
        ("other, sound, hasty", [other, sound, hasty], 1),
    ]:
        world = migration.World()
        run = _migrated(trial, next_step, world, scripts)
        if not trial.figures:
            trial.show(views.board, run)
        trial.called = f"migrate(next_step, migration.World(), [{name}])"
        called = [run.board.steps[id].tool for id in _started(run)]
        trial.came = f"{run.status}; tools called: {', '.join(map(str, called)) or 'none'}" + (
            f"; {run.reason}" if run.reason else ""
        )
        damage = world.damage()
        rule = "Test a script before it can do harm."
        before = called[: called.index("run_migration")] if "run_migration" in called else called
        if "test_migration" in before:
            rule = "A test helps only if its result is used: run the file that passed."
        trial.want(not damage, "no damage to the database", rule, f"{trial.came}; damage: {'; '.join(damage)}")
        now = world.read_schema()
        new = now["now"] == now["wanted"]
        if not passes:
            trial.want(not new and "run_migration" not in called, "no migration", "If no script passes, run none.")
        else:
            text = f"the first script that passes, script {passes}, in production"
            trial.want(new and called.count("run_migration") == 1, text, "After a failed test, try the next script.")
            ran = next(run.results[id]["file"] for id in _started(run) if run.board.steps[id].tool == "run_migration")
            first = (world.folder / ran).read_text(encoding="utf-8") == scripts[passes - 1]
            trial.want(
                first, text, "Run the first script that passes. No other script was needed.", f"{ran} in production"
            )
            rule = "Make the backup before you need it."
            trial.want("backup_database" in before, "a backup before anything runs", rule)
        tests = called.count("test_migration")
        text = f"one test per script, at most {len(scripts)} tests"
        trial.want(tests <= len(scripts), text, "Name each step only once.")
        trial.want(called.count("backup_database") <= 1, "one backup", "Name each step only once.")
        # If no script passes, the run can end as failed: its last step was a failing test.
        ends = ("finished",) if passes else ("finished", "failed")
        trial.want(run.status in ends, "a run that reaches its end", str(run.reason))


def _started(run: Run) -> list[str]:
    """Return the ids of the steps in the order in which they started."""
    return [event.step for event in run.events if isinstance(event, StepStarted)]


def _migrated(trial: Trial, next_step: Any, world: migration.World, scripts: list[str]) -> Run:
    """Run the learner's one-step planner in the kit's loop."""

    def asked(goal: str, board: Board) -> Any:
        step = trial.call(next_step, goal, board, scripts)
        trial.want(
            step is None or isinstance(step, dict), "a step as a dict, or None", "A planner returns a step, or None."
        )
        return step

    policy = Policy(replan="failure", max_replans=5)
    agent = PlannerExecutor(NextStepPlanner(asked), ToolExecutor(world.tools), workers=Simulated(), policy=policy)
    return agent.run(migration.GOAL)


ORDER = {
    "run_migration": ("backup_database", "test_migration"),
    "verify_integrity": ("run_migration",),
    "update_config": ("run_migration",),
}


@exercise("02.4")
def look_first(trial: Trial, plan: Any) -> None:
    """A `Plan`: first one step that reads the schema; then either an answer without steps, or all remaining steps."""
    for migrated in (True, False):
        world = migration.World()
        if migrated:
            file = world.write_migration(migration.SCRIPT)["file"]
            world.run_migration(file)
        run, asked = _looked(trial, plan, world, migrated)
        trial.show(views.board, run)
        tools = {id: run.board.steps[id].tool for id in _started(run)}
        where = "a world that already has the new schema" if migrated else "a fresh world"
        trial.called = f"a run with your planner in {where}"
        trial.came = f"{run.status}, {asked} questions, tools called: {', '.join(map(str, tools.values()))}"
        trial.want(run.status == "finished", "a run that finishes", str(run.reason))
        trial.want(
            asked == 2,
            "two questions to the planner",
            "The first question plans the look at the schema, the second plans the rest.",
            f"{asked} questions to the planner",
        )
        trial.want(
            list(tools.values()).count("read_schema") == 1, "one call of read_schema", "Don't repeat finished work."
        )
        if migrated:
            trial.want(len(tools) == 1, "no step after the look", "The schema was already new, so no work was left.")
            explained = isinstance(run.answer, str) and run.answer.strip()
            trial.want(explained, "a string in the plan's `answer`", "A run that ends early should say why.")
            continue
        now = world.read_schema()
        damage = world.damage()
        trial.want(
            not damage and now["now"] == now["wanted"], "the new schema, and no damage", f"{damage or now['now']}"
        )
        rule = "The application's config must match the schema of the database."
        trial.want(world.config == {"schema": 2}, "the config {'schema': 2}", rule, f"the config {world.config}")


def _looked(trial: Trial, plan: Any, world: migration.World, migrated: bool) -> tuple[Run, int]:
    """Run the learner's planner in the kit's loop, check each plan, and count the questions."""
    asked = 0

    def planned(goal: str, board: Board, tools: Toolbox) -> Any:
        nonlocal asked
        asked += 1
        rule = "The second plan must contain all remaining steps, so no third question is necessary."
        trial.want(asked <= 2, "at most two questions to the planner", rule)
        came = trial.call(plan, goal, board, tools)
        trial.want(isinstance(came, Plan), "a `Plan`", "A planner returns a plan.")
        trial.called = f"plan(goal, board, tools), question {asked}; done: {', '.join(board.results) or 'nothing'}"
        trial.came = (
            f"a plan with complete={came.complete}" + (f", answer {came.answer!r}" if came.answer else "") + f"\n{came}"
        )
        if asked == 1:
            looks = [step.tool for step in came.steps] == ["read_schema"]
            rule = "The first plan can only read the schema: the planner does not know yet which work is necessary."
            trial.want(looks, "a first plan with one step, whose tool is read_schema", rule)
            rule = "A planner that wants another question must mark its plan as incomplete."
            trial.want(not came.complete, "a plan with complete=False", rule)
            came = came.changed(rollback=())  # the rollback can mention later steps; the second plan checks it
        problems = came.problems(tools, done=list(board.results))
        first = str(problems[0]) if problems else ""
        trial.want(not problems, "a valid plan", "The kit never runs an invalid plan.", f"{first}\n{came}")
        if asked == 2 and came.complete and not migrated:
            _is_all_the_rest(trial, came)
        return came

    agent = PlannerExecutor(SimpleNamespace(plan=planned), ToolExecutor(world.tools), workers=Simulated())
    run = agent.run(migration.GOAL)
    return run, asked


def _is_all_the_rest(trial: Trial, plan: Plan) -> None:
    """Check that the plan has all remaining steps, in the required order."""
    planned = {step.tool for step in plan.steps}
    left = [step.tool for step in Plan.parse(migration.PLAN).steps if step.tool not in {*planned, "read_schema"}]
    wanted = f"a plan that also has {', '.join(map(str, left))}"
    trial.want(not left, wanted, "The second plan must contain all remaining steps.")
    for name, before in ORDER.items():
        missing = " and ".join(unguarded(plan, name, before))
        wanted = f"a plan in which {name} depends, directly or indirectly, on {missing}"
        trial.want(
            not missing,
            wanted,
            "The order of the list means nothing: a step starts as soon as its dependencies are done.",
        )
