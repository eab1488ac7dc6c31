"""Lesson 02, ReAct: what its exercises are judged by."""

from __future__ import annotations

import json
from functools import wraps
from types import SimpleNamespace
from typing import Any

from exercises.checks import said
from exercises.checks.order import unguarded
from exercises.exercise import Trial, cut, exercise
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
from planexec_lite.events import StepStarted


def _read(steps: int) -> int:
    """How many characters the agent of the lesson sends for a task of so many steps."""
    read = 0

    def model(text: str) -> str:
        nonlocal read
        read += len(text)
        return "done" if len(text) == 100 * (steps + 1) else "look"

    text = "g" * 100
    while model(text) != "done":
        text += "o" * 100
    return read


@exercise(
    "02.1",
    nudge="Write down how long the text is in the first question, the second and the third. The last one holds "
    "every observation.",
    question="What is 100 + 200 + 300 + …, and how many terms has that sum when ten steps are to be done and one 'done' "
    "is to be heard?",
    learned="Who sends the whole transcript each time pays for it again each time: the text grows with the square of the steps.",
)
def sent(trial: Trial, ten: Any, twenty: Any) -> None:
    """Two whole numbers: the characters that are sent for ten steps and for twenty."""
    for name, guess, steps in [("ten", ten, 10), ("twenty", twenty, 20)]:
        right = _read(steps)
        trial.given(name, guess)
        number = said.number(trial, guess, f"a whole number, as in `{name} = 700`")
        rule = "A model remembers nothing: each question holds all that was seen before."
        if number == right - 100 * (steps + 1):
            rule = "One question a step, and one more to hear 'done'; it holds all the observations."
        elif name == "twenty":
            rule = "The text grows with the square of the steps: more questions, and each of them longer."
        trial.want(number == right, f"the characters that a counting model has read ({name})", rule)


@exercise(
    "02.2",
    nudge="One `try` round the whole turn is enough: reading the reply, finding the tool, calling it. What comes out of it, "
    "result or error, is added to the text in the same way.",
    question="If the model is not told what went wrong, what will it answer to the same text? And is an answer of 0 an "
    "answer?",
    learned="An error that the model can read is a step forward. An error that ends the agent is the end of the work.",
)
def reads_errors(trial: Trial, react: Any) -> None:
    """The model's answer; errors are observations, and after so many turns a text that begins with "gave up"."""
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
    trial.want(came == "migrated", "'migrated', the model's answer", "At 'answer' the agent hands it out.")
    damage = world.damage()
    trial.want(
        not damage and world.read_schema()["now"] == world.read_schema()["wanted"], "a migrated database", str(damage)
    )
    for answer in (0, "", False):
        came = _act(trial, react, world.tools, [(_reply("read_schema"), "customers")], answer, turns=2)
        kind = type(came) is type(answer) and came == answer
        trial.want(
            kind, f"{answer!r}, the model's answer", "An answer may be 0, or empty: what counts is that it is there."
        )
    came = _act(trial, react, Toolbox([_late_orders]), [(_reply("late_orders"), "")], "none", turns=2)
    trial.want(came == "none", "'none', the model's answer", "At 'answer' the agent hands it out.")
    for turns in (1, 4):
        made = [(_reply("read_schema"), "customers")] * turns
        came = _act(trial, react, world.tools, made, None, turns=turns)
        gave_up = isinstance(came, str) and came.startswith("gave up")
        trial.want(gave_up, "a text that begins with 'gave up'", "Every loop ends, and says so.")


@tool(name="late_orders", effects="none")
def _late_orders() -> list[str]:
    """List the orders that are late: none is."""
    return []


def _reply(tool: str, **params: Any) -> str:
    return json.dumps({"tool": tool, "params": params})


def _act(trial: Trial, react: Any, tools: Toolbox, made: list[tuple[str, str]], answer: Any, turns: int) -> Any:
    """Run the learner's agent with a model that makes these replies in turn, and reads what came of each."""
    asked, before, calls = 0, "", list[str]()
    once = "The model asks for a call, and for another one if that went wrong: the agent makes each of them once."
    most = f"{turns} question{'s' * (turns != 1)} at most"

    def model(text: str) -> str:
        nonlocal asked, before
        trial.want(len(calls) <= 1, f"one call of {', '.join(calls[:1])}, not {len(calls)}", once)
        calls.clear()
        trial.want(asked < turns, most, f"Every loop ends: turns={turns} is the most.")
        trial.want("the new schema" in text, "a text that holds the goal", "The model reads the goal each time.")
        place = 0
        for number, (reply, seen) in enumerate(made[:asked], 1):
            wanted = f"a text that says what came of reply {number}, {cut(reply, 90)}"
            wanted += f": something with {seen!r}" if seen else ""
            rule = "The model reads all that was seen before, in order."
            if number == asked and (seen not in text or text == before):
                rule = "What went wrong is an observation too, and so is an empty result. "
                rule += "Without it, the model is asked the same question again."
            trial.want(seen in text[place:] and text != before, wanted, rule)
            place = text.index(seen, place) + len(seen)
        asked, before = asked + 1, text
        return made[asked - 1][0] if asked <= len(made) else json.dumps({"answer": answer})

    came = trial.call(react, migration.GOAL, model, _counted(tools, calls), turns)
    wanted = turns if answer is None else len(made) + 1
    rule = "The agent goes on until the model answers, or its turns are used up."
    trial.want(asked == wanted, f"{wanted} question{'s' * (wanted != 1)}, not {asked}", rule)
    return came


def _counted(tools: Toolbox, calls: list[str]) -> Toolbox:
    """The same tools, which write down their names when they are called."""

    def counted(one: Tool) -> Tool:
        @wraps(one.function)
        def called(*args: Any, **named: Any) -> Any:
            calls.append(one.name)
            return one.function(*args, **named)

        return Tool(called, name=one.name, effects=one.effects)

    return Toolbox(map(counted, tools), copied=tools.copied)


def _drawn(made: list[tuple[str, str]]) -> Plan:
    """The replies of the model as a plan: one after the other."""
    tools = [json.loads(reply)["tool"] if reply[0] == "{" else "(no JSON)" for reply, _ in made]
    return Plan.parse([{"description": tool} for tool in tools])


@exercise(
    "02.3",
    nudge="Say what has to be on the board before `run_migration` may be named, for one script. Then put a loop over the "
    "scripts around it.",
    question="A step that has failed is in `board.steps` and not in `board.results`. How do you tell a test that has not "
    "been made from one that has failed, and what comes after each?",
    learned="One step at a time is not the fault. The fault was an order that nobody had written down.",
)
def tested_first(trial: Trial, next_step: Any) -> None:
    """The next step as a dict, or None: backup, then write and test script after script, then run the first that passes."""
    hasty, sound = migration.HASTY_SCRIPT, migration.SCRIPT
    other = sound.replace("DROP", "UPDATE customers SET email = email;\nDROP")
    alike = hasty.replace("DROP", "UPDATE customers SET email = email;\nDROP")
    for name, scripts, passes in [
        ("hasty, sound", [hasty, sound], 2),
        ("hasty, another hasty one", [hasty, alike], 0),
        ("sound, other", [sound, other], 1),
        ("hasty, another hasty one, sound", [hasty, alike, sound], 3),
    ]:
        world = migration.World()
        run = _migrated(trial, next_step, world, scripts)
        if not trial.figures:
            trial.show(views.board, run)
        trial.called = f"migrate(next_step, migration.World(), [{name}])"
        called = [run.board.steps[id].tool for id in _started(run)]
        trial.came = f"{run.status}; called were {', '.join(map(str, called)) or 'none'}" + (
            f"; {run.reason}" if run.reason else ""
        )
        damage = world.damage()
        rule = "A test comes before what it tests can do harm."
        before = called[: called.index("run_migration")] if "run_migration" in called else called
        if "test_migration" in before:
            rule = "A test that nobody looks at is no test: what runs is the file that has passed."
        trial.want(not damage, f"no damage, and not: {'; '.join(damage)}", rule)
        now = world.read_schema()
        new = now["now"] == now["wanted"]
        if not passes:
            trial.want(not new and "run_migration" not in called, "nothing run", "If no script passes, none is run.")
        else:
            text = f"the first script that passes, in production; it is script {passes}"
            trial.want(new and called.count("run_migration") == 1, text, "After a failed test comes the next script.")
            ran = next(run.results[id]["file"] for id in _started(run) if run.board.steps[id].tool == "run_migration")
            first = (world.folder / ran).read_text(encoding="utf-8") == scripts[passes - 1]
            trial.want(
                first, f"{text}, and not {ran}", "The first one that passes is run; there was no need for another."
            )
            rule = "A way back is made before it is needed."
            trial.want("backup_database" in before, "a backup before anything runs", rule)
        tests = called.count("test_migration")
        text = f"each script tested once, at most {len(scripts)} tests, not {tests}"
        trial.want(tests <= len(scripts), text, "A step is done once.")
        trial.want(called.count("backup_database") == 1, "one backup", "A step is done once.")
        # where no script passes, the run may fail: the last test failed, and perhaps no step came after it
        ends = ("finished",) if passes else ("finished", "failed")
        trial.want(run.status in ends, "a run that comes to its end", str(run.reason))


def _started(run: Run) -> list[str]:
    """The ids of the steps in the order in which they started."""
    return [event.step for event in run.events if isinstance(event, StepStarted)]


def _migrated(trial: Trial, next_step: Any, world: migration.World, scripts: list[str]) -> Run:
    """Run the learner's one-step planner in the loop of the kit."""

    def asked(goal: str, board: Board) -> Any:
        step = trial.call(next_step, goal, board, scripts)
        trial.want(step is None or isinstance(step, dict), "a step as a dict, or None", "A planner hands over steps.")
        return step

    policy = Policy(replan="failure", max_replans=5)
    agent = PlannerExecutor(NextStepPlanner(asked), ToolExecutor(world.tools), workers=Simulated(), policy=policy)
    return agent.run(migration.GOAL)


ORDER = {
    "run_migration": ("backup_database", "test_migration"),
    "verify_integrity": ("run_migration",),
    "update_config": ("run_migration",),
}


@exercise(
    "02.4",
    nudge="Ask the board first: is the look done? Before it, hand over that one step and `complete=False`. `Plan` takes "
    "goal, steps, answer and complete.",
    question="What did `read_schema` return, and which two parts of it tell whether work is left? Which of the seven steps "
    "must not be in the rest, and what may its steps still refer to?",
    learned="The horizon is a choice for every question: one step where you can't know, all of them where you can.",
)
def look_first(trial: Trial, plan: Any) -> None:
    """A `Plan`: one step that reads the schema; then an answer without steps, or all the steps of the rest."""
    for migrated in (True, False):
        world = migration.World()
        if migrated:
            file = world.write_migration(migration.SCRIPT)["file"]
            world.run_migration(file)
        run, asked = _looked(trial, plan, world, migrated)
        trial.show(views.board, run)
        tools = {id: run.board.steps[id].tool for id in _started(run)}
        where = "a world that has the new schema" if migrated else "a fresh world"
        trial.called = f"a run with your planner in {where}"
        trial.came = f"{run.status}, {asked} questions, called were {', '.join(map(str, tools.values()))}"
        trial.want(run.status == "finished", "a run that finishes", str(run.reason))
        trial.want(asked == 2, f"two questions to the planner, not {asked}", "One to look, one for all the rest.")
        trial.want(list(tools.values()).count("read_schema") == 1, "one look at the schema", "Finished work is kept.")
        if migrated:
            trial.want(
                len(tools) == 1, "nothing done after the look", "Who looks first need not do what is done already."
            )
            explained = isinstance(run.answer, str) and run.answer.strip()
            trial.want(explained, "a text in the plan's `answer`", "A run that ends early says why.")
            continue
        now = world.read_schema()
        damage = world.damage()
        trial.want(
            not damage and now["now"] == now["wanted"], "the new schema, and no damage", f"{damage or now['now']}"
        )
        rule = "The application has to expect the schema that there is."
        trial.want(world.config == {"schema": 2}, f"the config {{'schema': 2}}, not {world.config}", rule)


def _looked(trial: Trial, plan: Any, world: migration.World, migrated: bool) -> tuple[Run, int]:
    """Run the learner's planner in the loop of the kit, and look at each plan that it hands over; and count them."""
    asked = 0

    def planned(goal: str, board: Board, tools: Toolbox) -> Any:
        nonlocal asked
        asked += 1
        rule = "The second plan is all the rest: between its steps nobody has to be asked."
        trial.want(asked <= 2, "a run in which the planner is not asked a third time", rule)
        came = trial.call(plan, goal, board, tools)
        trial.want(isinstance(came, Plan), "a `Plan`", "A planner hands over a plan.")
        trial.called = f"plan(goal, board, tools), question {asked}; done: {', '.join(board.results) or 'nothing'}"
        trial.came = (
            f"a plan with complete={came.complete}" + (f", answer {came.answer!r}" if came.answer else "") + f"\n{came}"
        )
        if asked == 1:
            looks = [step.tool for step in came.steps] == ["read_schema"]
            rule = "Nobody knows yet what has to be done: nothing but the look is planned."
            trial.want(looks, "one step at first, with the tool read_schema", rule)
            rule = "A planner that wants to be asked again says that its plan is not complete."
            trial.want(not came.complete, "a plan with complete=False", rule)
            came = came.changed(rollback=())  # which may speak of the rest: it is looked at with the rest
        problems = came.problems(tools, done=list(board.results))
        first = str(problems[0]) if problems else ""
        trial.want(not problems, f"a valid plan, not one in which {first}", "A bad plan never runs.")
        if asked == 2 and came.complete and not migrated:
            _is_all_the_rest(trial, came)
        return came

    agent = PlannerExecutor(SimpleNamespace(plan=planned), ToolExecutor(world.tools), workers=Simulated())
    run = agent.run(migration.GOAL)
    return run, asked


def _is_all_the_rest(trial: Trial, plan: Plan) -> None:
    """The steps that are left are there, and wait for what has to be done before them."""
    planned = {step.tool for step in plan.steps}
    left = [step.tool for step in Plan.parse(migration.PLAN).steps if step.tool not in {*planned, "read_schema"}]
    wanted = f"a plan with {', '.join(map(str, left))} too"
    trial.want(not left, wanted, "The second time it hands over all the rest.")
    for name, before in ORDER.items():
        missing = " and ".join(unguarded(plan, name, before))
        wanted = f"a plan in which {name} waits, directly or through others, for {missing}"
        trial.want(
            not missing, wanted, "Order in the list means nothing: a step starts when what it waits for is done."
        )
