"""Checks for lesson 01, the toy planner."""

from __future__ import annotations

from math import isclose
from types import MappingProxyType
from typing import Any

from planexec_lab import views
from planexec_lab.worlds import arithmetic
from planexec_lite import (
    NextStepPlanner,
    Plan,
    PlanError,
    PlannerExecutor,
    RulePlanner,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)

from exercises.checker import drawn
from exercises.checker.checks import said
from exercises.checker.exercise import Trial, exercise, raising, unforeseen

RULES = MappingProxyType(
    {
        "whole": "The loop asks again only after a surprise, or when an incomplete plan has no steps left.",
        "single": "The planner is asked once for each step, and once more to learn that no step is left.",
    }
)
ACTIONS = ("boil", "peel", "chop", "fry", "salt", "pour", "stir", "taste", "serve")


@exercise("01.1")
def asked(trial: Trial, whole: Any, single: Any) -> None:
    """Two whole numbers: how often the run asks each planner."""

    def next_step(goal: str, board: Any) -> Any:
        return next((step for step in arithmetic.rules(goal) if step["id"] not in board.results), None)

    goal = drawn.sum_of(drawn.drawn("01.1"))
    trial.show(views.graph, Plan.parse(arithmetic.rules(goal)))
    planners: list[Any] = [RulePlanner(arithmetic.rules), NextStepPlanner(next_step)]
    for name, guess, planner in zip(("whole", "single"), (whole, single), planners, strict=True):
        run = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), workers=Simulated()).run(goal)
        times = [type(event).__name__ for event in run.events].count("PlanStarted")
        trial.given(name, guess)
        number = said.number(trial, guess, f"a whole number, as in `{name} = 7`")
        trial.want(
            number == times,
            f"how often the run asks this planner, counted in its events ({name})",
            RULES[name],
        )


@exercise("01.2")
def gives_up(trial: Trial, run: Any) -> None:
    """The answer at "done"; a string that starts with "gave up" when a step is named twice or after ten questions."""
    seen: list[Any] = []
    done: list[str] = []

    def planner(goal: str, history: dict[str, Any]) -> dict[str, Any]:
        seen.append((goal, dict(history)))
        left = [name for name in goal.split() if name not in history]
        return {"action": left[0]} if left else {"action": "done", "answer": sum(history.values())}

    def executor(step: dict[str, Any]) -> Any:
        if step["action"] != "done":
            done.append(step["action"])
        return step["answer"] if step["action"] == "done" else len(step["action"])

    goal = "peel chop fry"
    came = trial.call(run, goal, planner, executor)
    trial.show(_drawn, done)
    trial.want(
        all(goal == heard for heard, _ in seen),
        "a planner call whose first argument is the goal",
        "The planner needs the goal.",
    )
    handed = [history for _, history in seen]
    right = [{}, {"peel": 4}, {"peel": 4, "chop": 4}, {"peel": 4, "chop": 4, "fry": 3}]
    rule = "Store each result in `history[action]`."
    trial.want(handed == right[: len(handed)], f"the histories {right}, one for each question to the planner", rule)
    trial.want(done == ["peel", "chop", "fry"], "each step run once, in order", "Never run a step twice.")
    trial.want(came == 11, "11, the answer in the planner's 'done' step", "At 'done', return the answer.")
    came = trial.call(run, " ".join(ACTIONS), planner, executor)
    trial.want(
        came == 37,
        "37: nine steps and 'done' make ten questions",
        "The limit is ten questions, and this run needs exactly ten.",
    )
    came = trial.call(run, "", planner, executor)
    trial.want(
        came == 0,
        "0, the answer in the planner's 'done' step",
        "0 is a valid answer: look for 'done', not for a true value.",
    )
    _stops(trial, run)


def _stops(trial: Trial, run: Any) -> None:
    """Check that the loop stops planners that repeat a step and planners that never say 'done'."""
    asked: list[str] = []
    done: list[str] = []
    turns = iter(range(1000))
    first, second = "peel", "salt"

    def repeats(goal: str, history: dict[str, Any]) -> dict[str, Any]:
        asked.append(goal)
        return {"action": second if first in history else first}

    def returns(goal: str, history: dict[str, Any]) -> dict[str, Any]:
        asked.append(goal)
        return {"action": second if first in history and second not in history else first}

    def restless(goal: str, history: dict[str, Any]) -> dict[str, Any]:
        turn = next(turns)
        trial.want(turn < 10, "at most ten questions", "Every loop needs a bound: give up after ten questions.")
        return {"action": f"stir {turn}"}

    def executor(step: dict[str, Any]) -> Any:
        done.append(step["action"])
        return 4 if step["action"] == first else None

    stirs = [f"stir {number}" for number in unforeseen(run, 2)]
    for planner, names in (
        (repeats, ["peel", "salt"]),
        (returns, ["peel", "salt"]),
        (repeats, stirs),
        (returns, stirs),
    ):
        first, second = names
        again = second if planner is repeats else first
        asked.clear()
        done.clear()
        came = trial.call(run, "soup", planner, executor)
        text = f"a string that starts with 'gave up' and names {again!r}"
        rule = "When the planner names a step again, don't run it again."
        trial.want(
            done == [first, second], f"the steps {first} and {second}, once each", rule, f"the steps {', '.join(done)}"
        )
        trial.want(
            _gave_up(came) and again in came, text, "When the loop gives up, its result must say so and name the step."
        )
        other = first if again == second else second
        trial.want(
            other not in came, f"a string that names only {again!r}", "Name the step that came again, and no other."
        )
        few = f"three questions: the third reply repeats {again!r}"
        trial.want(len(asked) == 3, few, "A repeated step ends the loop at once.", f"{len(asked)} questions")
    came = trial.call(run, "soup", restless, executor)
    trial.want(_gave_up(came), "a string that starts with 'gave up'", "When the loop gives up, its result must say so.")
    error = ConnectionError("no gas")
    trial.lets_through(error, run, "soup", repeats, raising(error))
    trial.lets_through(error, run, "soup", raising(error), executor)


def _gave_up(came: Any) -> bool:
    return isinstance(came, str) and came.startswith("gave up")


def _drawn(actions: list[str]) -> views.Figure:
    """Draw the steps that the learner's loop ran."""
    return views.graph(Plan.parse([{"description": name} for name in actions]), title="The steps that your loop ran")


@exercise("01.3")
def mended(trial: Trial, planner: Any) -> None:
    """Three steps whose numbers come from the goal or the history: add, then multiply, then done."""
    for first, second, third, total, product in [
        (2, 3, 4, 5, 20),
        (7, 1, 6, 900, 41),
        (1, 8, 2, 0, 3),
        (3, 4, 5, 6.5, 0),
    ]:
        goal = f"What is ({first} + {second}) * {third}?"
        wanted = [
            {"action": "add", "a": first, "b": second},
            {"action": "multiply", "a": total, "b": third},
            {"action": "done", "answer": product},
        ]
        histories: list[dict[str, Any]] = [{}, {"add": total}, {"add": total, "multiply": product}]
        steps = []
        for history in histories:
            steps.append(trial.call(planner, goal, history))
            if first == 2 and len(steps) == 3:
                trial.show(_planned, steps)
            right = wanted[len(steps) - 1]
            rule = "The planner reads the goal and the history. It must not calculate."
            trial.want(_step(steps[-1]) == _step(right), str(right), rule)
        for history, right in zip(reversed(histories), reversed(wanted), strict=True):
            rule = "Find the next step from the goal and the history alone."
            trial.want(_step(trial.call(planner, goal, history)) == _step(right), str(right), rule)


def _planned(steps: list[dict[str, Any]]) -> views.Figure:
    """Draw the three steps that the learner's planner named with correct tools."""
    tasks = [{"description": f"{step.pop('action')} {', '.join(map(str, step.values()))}"} for step in map(dict, steps)]
    return views.graph(Plan.parse(tasks), title="Your planner's steps when the tools return 5 and 20")


def _step(step: Any) -> Any:
    """Return a step in a form that ignores the order of its two numbers."""
    if isinstance(step, dict) and step.get("action") in ("add", "multiply"):
        return step["action"], sorted([step["a"], step["b"]], key=str), len(step)
    return step


@exercise("01.4")
def average(trial: Trial, rules: Any) -> None:
    """A list of steps: additions, then a division. Each value comes from the goal, from a reference, or is the count of numbers."""
    for numbers in [(3, 5, 10), (7, 9), (4, 4, 4, 4), (1, 2, 3, 4, 50), tuple(range(1, 21))]:
        goal = f"What is the average of {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}?"
        steps = trial.call(rules, goal)
        try:
            plan = Plan.parse(steps)
        except PlanError as problem:
            trial.wrong("steps that `Plan.parse` reads", str(problem.problems[0]))
        if len(trial.figures) == 0:
            trial.show(views.graph, plan)
        problems = plan.problems(arithmetic.TOOLS)
        trial.want(not problems, "a valid plan", str(problems[0]) if problems else "")
        rule = "This exercise allows only the tools add and divide."
        trial.want({step.tool for step in plan.steps} <= {"add", "divide"}, "steps that use only add and divide", rule)
        answer = execute(plan, ToolExecutor(arithmetic.TOOLS), workers=Simulated()).answer
        mean = sum(numbers) / len(numbers)
        trial.want(
            _about(answer, mean),
            f"a plan whose answer is {mean:g}",
            "The result of the last step is the answer.",
            f"a plan whose answer is {answer}",
        )
        off = execute(plan, ToolExecutor(_off(1000)), workers=Simulated()).answer
        rule = "The planner must not calculate: if every `add` is off by 1000, the answer must be wrong too."
        trial.want(
            not _about(off, mean), "a wrong answer when each `add` is off by 1000", rule, f"the right answer, {off}"
        )
        written = _written(plan)
        rule = "The planner must not calculate: it adds and divides only numbers from the goal and references."
        wanted = f"the numbers {', '.join(map(str, sorted(numbers)))} in the steps"
        have = f"the numbers {', '.join(map('{:g}'.format, written))}"
        trial.want(written == sorted(numbers), wanted, rule, have)


def _about(answer: Any, right: float) -> bool:
    """Return whether an answer equals `right`, up to rounding errors."""
    return isinstance(answer, (int, float)) and isclose(answer, right)


def _written(plan: Plan) -> list[float]:
    """Return the literal numbers that the plan adds or divides, sorted, without zeros."""
    terms = [
        step.params.get(name) for step in plan.steps for name in ("a", "b") if (step.tool, name) != ("divide", "b")
    ]
    return sorted(term for term in terms if isinstance(term, (int, float)) and term)


def _off(by: int) -> Toolbox:
    """Return a toolbox whose `add` is wrong by `by`."""

    def add(a: float, b: float) -> float:
        """Add b to a, wrongly."""
        return a + b + by

    def divide(a: float, b: float) -> float:
        """Divide a by b."""
        return a / b

    return Toolbox([Tool(add, effects="none"), Tool(divide, effects="none")])
