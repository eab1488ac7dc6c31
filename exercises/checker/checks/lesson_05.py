"""Checks for lesson 05, the executor."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import openai.resources.chat.completions  # noqa: F401  (imported before the time limit of a check starts)
from mock_llm import MockLLM, Reply, Scene, ToolUse, When
from planexec_lab import views
from planexec_lab.worlds import migration, research, support
from planexec_lite import (
    LLMPlanner,
    Plan,
    PlannerExecutor,
    ReActExecutor,
    Run,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.meter import ModelCall
from planexec_lite.model import prices
from planexec_lite.plan.data import copied
from planexec_lite.tools import ToolError

from exercises.checker.checks import material, said
from exercises.checker.comparing import compare, exactly
from exercises.checker.data import data
from exercises.checker.exercise import Raised, Trial, cut, exercise

STRONG, CHEAP = "gpt-4o", "gpt-4o-mini"
SECRET = "must not leave the office"
TEAMS = (("A", STRONG, STRONG), ("B", STRONG, CHEAP), ("C", CHEAP, STRONG), ("D", CHEAP, CHEAP))


class _Step(Step):
    """A step whose repr shows only the fields that differ from their defaults."""

    def __repr__(self) -> str:
        named = self.model_dump(exclude_defaults=True).items()
        return f"Step({', '.join(f'{name}={value!r}' for name, value in named)})"


@exercise("05.1")
def price(trial: Trial, cheapest_first: Any, costs_more: Any) -> None:
    """The letters of the four teams, cheapest first, and "planner" or "executor"."""
    world = support.World()
    client = MockLLM.load(Path(support.__file__).with_name("team.yaml")).client()
    executor = ReActExecutor(client, world.tools, CHEAP)
    run = PlannerExecutor(LLMPlanner(client, STRONG, tasks=True), executor, workers=Simulated(4)).run(support.GOAL)
    trial.show(views.board, run)
    planning = [call for event in run.events for call in getattr(event, "calls", ()) if call.model == STRONG]
    working = [call for call in run.board.calls if call.model == CHEAP]
    bills = {team: _dollars(planning, mine) + _dollars(working, theirs) for team, mine, theirs in TEAMS}
    trial.given("cheapest_first", cheapest_first)
    form, rule = 'four letters, each once, as in `cheapest_first = "ABCD"`', "Write all four letters, each once."
    letters = said.names(trial, cheapest_first, bills, form, rule, in_order=True)
    trial.want(sorted(letters) == sorted(bills), form, rule)
    rule = "All teams make the same calls. The bill drops most where the cheap model handles the most tokens."
    trial.want(
        letters == sorted(bills, key=bills.__getitem__), "the teams ordered by the bill of that run, lowest first", rule
    )
    trial.given("costs_more", costs_more)
    halves = {"planner": _dollars(planning, STRONG), "executor": _dollars(working, CHEAP)}
    form, rule = '"planner" or "executor"', "Name one half of the team."
    half = said.names(trial, costs_more, halves, form, rule)
    trial.want(len(half) == 1, form, rule)
    rule = (
        "A strong token costs as much as sixteen cheap tokens, and the nine short calls do not use sixteen times "
        "the tokens of the long call."
    )
    trial.want(half == [max(halves, key=halves.__getitem__)], "the half of team B with the larger bill", rule)


def _dollars(calls: list[ModelCall], model: str) -> float:
    """Return the cost of the calls in dollars if `model` answers them."""
    return prices.cost(ModelCall(model, call.input_tokens, call.output_tokens) for call in calls)


@exercise("05.2")
def resolver(trial: Trial, resolve: Any) -> None:
    """The value with each reference replaced once: by the result itself if it is alone, else by the result's text."""
    trial.show(_trapped, resolve)
    given = data("05.2")
    _compared(trial, resolve, given["cases"], given["results"])
    lone = next(iter(given["cases"]))
    for right in material.FALSY:
        came = trial.call(resolve, "{step_0_result}", {"0": right})
        trial.want(exactly(came, right), f"{right!r}, a {type(right).__name__}", f"{lone} {right!r} is a result, too.")
        text = right if isinstance(right, str) else json.dumps(right)
        came = trial.call(resolve, "<{step_0_result}>", {"0": right})
        trial.want(exactly(came, f"<{text}>"), repr(f"<{text}>"), f"{right!r} is a result, too.")
    _compared(trial, resolve, given["unsearched"], given["guest"])
    for value in given["missing"]:
        _missing(trial, resolve, value, given["results"])
    run, report = _the_trap(partial(trial.call, resolve))
    rule = "The newsletter contains a reference to the notes. Its text is data, so don't resolve that reference."
    trial.want(run.status == "finished", "a run that finishes", rule)
    trial.want(SECRET not in report, "a report without the firm's notes", rule)


def _compared(trial: Trial, resolve: Any, groups: Any, results: Any) -> None:
    """Compare the answer's values for these results."""
    compare(trial, resolve, {rule: [[value, results, right] for value, right in rows] for rule, rows in groups.items()})


def _missing(trial: Trial, resolve: Any, value: Any, results: dict[str, Any]) -> None:
    """Check that a reference to a step without a result raises a LookupError."""
    try:
        trial.call(resolve, value, results)
    except Raised as problem:
        if not isinstance(problem.error, LookupError):
            raise
    else:
        rule = "A missing result is an error. If you leave a gap, a customer will find it."
        trial.wrong("a LookupError: step 9 has no result", rule)


def _the_trap(resolve: Any) -> tuple[Run, str]:
    """Run the lesson's newsletter and notes with the learner's resolver; return the run and the report."""
    world = research.World()

    class Resolving:
        tools = world.tools

        def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
            return world.tools[step.tool or ""].call(resolve(copied(dict(step.params)), copied(dict(inputs))))

    return execute(Plan.parse(research.TRAP_PLAN), Resolving(), workers=Simulated()), world.report


def _trapped(resolve: Any) -> views.Figure:
    run, report = _the_trap(resolve)
    title = "The newsletter asks for the notes, and your report only quotes the request"
    if SECRET in report:
        title = "The newsletter asks for the notes, and your report reveals them"
    return views.graph(run, title=title if run.status == "finished" else None)


@exercise("05.3")
def narrowed(trial: Trial, allow: Any) -> None:
    """The names of the allowed tools: the step's own tool, or all tools whose effects are not stronger than the step's."""
    trial.show(_greedy, allow)
    boxes = [Toolbox([_read, _save, _pay]), Toolbox([_pay, _save, _read, _look]), Toolbox([_save, _pay])]
    boxes.append(Toolbox([_look_away, _read_off, _pay]))
    effects = {"read": 0, "look": 0, "save": 1, "pay": 2, "look_away": 2, "read_off": 1}
    for box in boxes:
        for word, most in [(None, 0), ("none", 0), ("idempotent", 1), ("once", 2)]:
            step = _Step(id="1", description="Find out what is owed", effects=word)
            names = _named(trial, allow, step, box)
            right = {one.name for one in box if effects[one.name] <= most}
            meaning = f"effects = {word!r}" if word else "the step declares no effects, so it may only read"
            rule = 'Allow no tool with stronger effects than the step declares. From weak to strong: "none", "idempotent", "once".'
            trial.want(set(names) == right, f"{sorted(right)}: {meaning}", rule)
        for one in box:
            names = _named(trial, allow, _Step(id="2", tool=one.name), box)
            rule = "A step that names its tool gets only that tool."
            trial.want(set(names) == {one.name}, f"[{one.name!r}]", rule)
        for word in ("none", "once"):
            names = _named(trial, allow, _Step(id="2", tool="pay", effects=word), box)
            trial.want(set(names) == {"pay"}, "['pay']", "A step that names its tool gets only that tool.")
    _narrow_in_the_kit(trial, allow)


def _named(trial: Trial, allow: Any, step: Step, box: Toolbox) -> list[str]:
    came = trial.call(allow, step, box)
    rule = "Return tool names: the kit uses them to select tools."
    trial.want(not isinstance(came, str) and hasattr(came, "__iter__"), "a list of names", rule)
    names = list(came)
    trial.want(all(isinstance(name, str) for name in names), "a list of names, as strings", rule)
    trial.want(len(names) == len(set(names)), "each name once", rule)
    return names


def _narrow_in_the_kit(trial: Trial, allow: Any) -> None:
    """Check that the kit's executor offers its model the tools that the learner's rule allows."""
    executor = ReActExecutor(None, Toolbox([_read, _save, _pay]), CHEAP, allow=lambda step: allow(step, executor.tools))
    names = executor.tools_for(Step(id="1", description="Look", effects="idempotent")).names
    trial.want(
        set(names) == {"read", "save"},
        "read and save, in the kit's executor",
        "The kit's executor calls your function.",
    )


def _greedy(allow: Any) -> views.Figure:
    """Run a model that tries to delete the database in an executor restricted by the learner's function."""
    world = migration.World()
    words = "Fewer tables are cleaner. I will delete the database."
    wish = Reply(text=words, calls=[ToolUse("delete_database")], broken=True)  # even if the tool is not offered
    end = Reply(text="That is all that I can do.")
    scenes = [Scene("wish", wish, When(turn=1)), Scene("end", end, When(turn=2))]

    def in_order(step: Step) -> list[str]:
        allowed = list(allow(step, world.tools))
        return sorted(allowed, key=world.tools.names.index)

    executor = ReActExecutor(MockLLM(scenes).client(), world.tools, CHEAP, allow=in_order)
    plan = Plan.parse([{"id": "1", "description": "Find out which tables there are"}])
    return views.thoughts(execute(plan, executor, workers=Simulated()))


@tool(name="read", effects="none")
def _read() -> str:
    """Read the debt."""
    return "30 euros"


@tool(name="look", effects="none")
def _look() -> str:
    """Look up the debtor."""
    return "Ada"


@tool(name="look_away", effects="once")
def _look_away() -> str:
    """Cancel the debt."""
    return "forgotten"


@tool(name="read_off", effects="idempotent")
def _read_off() -> str:
    """Mark the debt as read."""
    return "marked"


@tool(name="save", effects="idempotent")
def _save() -> str:
    """Save a note. Saving it twice does no harm."""
    return "saved"


@tool(name="pay", effects="once")
def _pay() -> str:
    """Pay the debt. Paying it twice does harm."""
    return "paid"


@exercise("05.4")
def hybrid(trial: Trial, carry_out: Any) -> None:
    """The result of the rule where it applies, and of the model elsewhere; a tool's failure is raised."""
    trial.show(_mixed, carry_out)
    kitchen = _Kitchen()
    think, fits, rejected, breaks = (_Step(**step.model_dump()) for step in _MIXED.steps)
    came = _carried_out(trial, carry_out, think, {"0": "a cold oven"}, kitchen)
    rule = "A step without a tool needs a model. The rule would only note the task and report it as done."
    trial.want(kitchen.asked == ["1"] and not kitchen.ruled, "one question to the model, and none to the rule", rule)
    trial.want(came == "about 10 minutes", "what the model returned", "Return the executor's result unchanged.")
    came = _carried_out(trial, carry_out, fits, {}, kitchen)
    rule = "If the tool accepts the call, calling it is the cheapest way."
    trial.want(
        kitchen.asked == ["1"] and kitchen.ruled == ["2"], "the rule called once, and no question to the model", rule
    )
    trial.want(came == "2 lines", "what the rule returned", "Return the executor's result unchanged.")
    came = _carried_out(trial, carry_out, rejected, {"1": "about 10 minutes"}, kitchen)
    rule = (
        "A ToolError is raised before the call, so nothing has happened, and a model might understand input that "
        "the rule could not."
    )
    trial.want(kitchen.asked == ["1", "3"], "a question to the model after the tool rejected the call", rule)
    trial.want(kitchen.ruled.count("3") <= 1, "the rule called once", "The same call would be rejected again.")
    rule = "Pass the step and its inputs to the model, and return its result."
    trial.want(came == "the timer is set to 10", "what the model returned: 'the timer is set to 10'", rule)
    for error in (ConnectionError("the bank hung up"), ValueError("no such card"), TypeError("no card at all")):
        kitchen.error, kitchen.paid = error, []
        came = _carried_out(trial, carry_out, breaks, {}, kitchen)
        rule = "This tool had already charged the card. A second attempt would charge it again."
        once, came_paid = kitchen.paid == [30] and kitchen.asked == ["1", "3"], f"charges: {kitchen.paid}"
        trial.want(once, "one charge, and no further question to the model", rule, came_paid)
        rule = "Let the failure be raised. If you swallow it, the step counts as done."
        trial.want(came is error, "the tool's own error, raised", rule)
    for kitchen.basket in material.FALSY:
        came = _carried_out(trial, carry_out, _Step(id="5", tool="eggs"), {}, kitchen)
        same = "5" not in kitchen.asked and came == kitchen.basket
        trial.want(same, f"{kitchen.basket!r}, what the rule returned", f"{kitchen.basket!r} is a valid result.")
    came = _carried_out(trial, carry_out, _Step(id="6", description="Think of nothing"), {}, kitchen)
    rule = "If the model itself raises, don't try again: its effects are unknown."
    trial.want(
        kitchen.asked.count("6") == 1 and isinstance(came, ToolError),
        "one question to the model, and its error raised",
        rule,
    )
    came = _carried_out(trial, carry_out, rejected.model_copy(update={"id": "7"}), {"1": "about 10 minutes"}, kitchen)
    rule = "The model's errors are raised: the error of the rejected call hides what the model has done."
    trial.want(came is kitchen.error, "the model's own error, raised", rule)


def _carried_out(trial: Trial, carry_out: Any, step: Step, inputs: dict[str, Any], kitchen: _Kitchen) -> Any:
    """Return the learner's result; return a tool's error as a value."""
    kitchen.given.clear()
    try:
        came = trial.call(carry_out, step, inputs, _Rule(kitchen), _Model(kitchen))
    except Raised as problem:
        if not isinstance(problem.error, ToolError) and problem.error is not kitchen.error:
            raise
        trial.came = cut(f"raised {type(problem.error).__name__}: {problem.error}")
        came = problem.error
    same = all(given == (step, inputs) for given in kitchen.given)
    trial.want(same, "the given step and inputs in each call", "Pass the step and its inputs unchanged.")
    return came


class _Kitchen:
    """Four tools, the payments, and the steps that the rule and the model received."""

    def __init__(self) -> None:
        self.paid: list[int] = []
        self.asked: list[str] = []
        self.ruled: list[str] = []
        self.given: list[tuple[Step, Mapping[str, Any]]] = []
        self.error: Exception = ConnectionError("the bank hung up")
        self.basket: Any = 0
        free = (Tool(one, effects="none") for one in (self.count, self.timer, self.charge, self.eggs))
        self.tools = Toolbox(free)

    def count(self, text: str) -> str:
        """Count lines."""
        return f"{len(text.splitlines())} lines"

    def timer(self, minutes: int) -> str:
        """Set a timer."""
        return f"the timer is set to {minutes}"

    def charge(self, euros: int) -> str:
        """Charge the card, then lose the connection."""
        self.paid.append(euros)
        raise self.error

    def eggs(self) -> Any:
        """Look into the basket. It is empty."""
        return self.basket


class _Rule(ToolExecutor):
    """A tool executor that records the steps it receives."""

    def __init__(self, kitchen: _Kitchen) -> None:
        super().__init__(kitchen.tools)
        self.kitchen = kitchen

    def __repr__(self) -> str:
        return "rule"

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        self.kitchen.ruled.append(step.id)
        self.kitchen.given.append((step, inputs))
        return super().execute(step, inputs)


class _Model:
    """A stand-in for a model: it understands input that no rule can, and retries failed calls."""

    def __init__(self, kitchen: _Kitchen) -> None:
        self.kitchen, self.tools = kitchen, kitchen.tools

    def __repr__(self) -> str:
        return "model"

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        self.kitchen.asked.append(step.id)
        self.kitchen.given.append((step, inputs))
        if step.tool == "charge":
            return self.kitchen.charge(30)
        if step.id == "6":
            raise ToolError("there is no tool 'nothing'")
        if step.id == "7":
            raise self.kitchen.error
        minutes = "".join(filter(str.isdigit, inputs.get("1", "")))
        return self.tools["timer"].call({"minutes": int(minutes)}) if minutes else "about 10 minutes"


_MIXED = Plan.parse(data("05.4")["steps"])


def _mixed(carry_out: Any) -> views.Figure:
    """Run the four steps in the kit with the learner's function as the executor."""
    kitchen = _Kitchen()

    class Hybrid:
        tools = kitchen.tools

        def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
            return carry_out(step, inputs, _Rule(kitchen), _Model(kitchen))

    return views.board(execute(_MIXED, Hybrid(), workers=Simulated(4)))


@exercise("05.5")
def told(trial: Trial, briefing: Any) -> None:
    """A string with the task, its criterion if it has one, and the results of its dependencies; nothing else."""
    here, other = _board("Open a bakery in Lisbon", "a lease"), _board("Close the shop on the corner", "nothing at all")
    trial.show(views.graph, here.plan)
    board = here.board
    for id in ("s4", "s5", "s6", "s1"):
        step = _Step(**board.steps[id].model_dump())
        text = trial.call(briefing, step, board)
        trial.want(isinstance(text, str), "a string", "A briefing is text for a model.")
        trial.want(
            step.description in text, f"a text with the task, {step.description!r}", "The executor must know its task."
        )
        if step.success_criteria:
            wanted = f"a text with the criterion, {step.success_criteria!r}"
            trial.want(step.success_criteria in text, wanted, "The executor must know when the task is done.")
        rule = "Leave out missing fields; the executor would try to interpret 'None'."
        trial.want("None" not in text, "a text without 'None'", rule)
        for source, result in board.results.items():
            _sees(trial, text, source, result, needed=source in step.depends_on)
        rule = "The goal concerns the planner. The executor only needs its task."
        trial.want(board.goal not in text, "a text without the goal", rule)
        changed = _board("Sell the shop", "a lease", but=[id, *step.depends_on])
        for run, rule in (
            (other, "The other board differs only in its goal, an unrelated result, and a later step"),
            (changed, "On the other board, all other results and the tasks of all other steps differ"),
        ):
            again = trial.call(briefing, step, run.board)
            wanted = f"the same text on both boards, {text!r}"
            trial.want(again == text, wanted, f"{rule}, so the briefing must be the same.")
        board_now = _board("Sell the shop", "a lease", but=[id]).board
        text = trial.call(briefing, step, board_now)
        for source, result in board_now.results.items():
            _sees(trial, text, source, result, needed=source in step.depends_on)
        for result in ("", 0, [], "all of it " * 400):
            board_now.results.update(dict.fromkeys(step.depends_on, result))
            text = trial.call(briefing, step, board_now)
            for source in step.depends_on:
                _sees(trial, text, source, result, needed=True)


def _sees(trial: Trial, text: str, source: str, result: Any, needed: bool) -> None:
    """Check that the text contains a result and its step id exactly if the step depends on it."""
    for word in [result] if isinstance(result, str) else result or ():
        wanted = f"a text {'with' if needed else 'without'} {word!r}, the result of step {source}"
        rule = "Include the results of the step's dependencies, unchanged."
        trial.want((word in text) == needed, wanted, rule if needed else f"{rule} Include no other results.")
    if needed:
        rule = "The executor must know which result comes from which step."
        trial.want(source in text, f"each result with the id of its step, here {source}", rule)


def _board(goal: str, second: str, but: Sequence[str] | None = None) -> Run:
    """Return a run of six or seven steps. Step 2's result is `second`, and step 3's result contains a reference.

    With `but`, another step comes first, all tasks have changed except that of the first id in it, and all results except
    those of the ids.
    """
    given = data("05.5")
    results, steps = given["results"] | {"s2": second}, given["steps"]
    if second != "a lease":
        steps.append({"id": "s7", "description": "Think about it once more", "depends_on": ["s6"]})
    if but is not None:
        results = {id: result if id in but else f"another result {id}" for id, result in results.items()}
        for step in steps:
            if step["id"] != but[0]:
                step.update(description=f"Another task {step['id']}", success_criteria=None)
        steps.insert(0, {"id": "s0", "description": "Open the door"})

    class Finds:
        tools = Toolbox()

        def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
            return results.get(step.id, "a thought")

    plan = Plan.parse({"goal": goal, "steps": steps})
    return execute(plan, Finds(), workers=Simulated(4))
