"""Lesson 01, the toy planner: what its exercises are judged by."""

from __future__ import annotations

from math import isclose
from types import MappingProxyType
from typing import Any

from exercises.checks import said
from exercises.exercise import Trial, exercise, unforeseen
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

SUM = "What is 2 * 3 + 4 * 5 - 6?"
RULES = MappingProxyType(
    {
        "whole": "A planner is asked again only when something surprised the run, or a plan that is not complete is used up.",
        "single": "One question a step, and one more whose reply is that nothing is left.",
    }
)
ACTIONS = ("boil", "peel", "chop", "fry", "salt", "pour", "stir", "taste", "serve")


@exercise(
    "01.1",
    nudge="A planner is asked whenever nothing is left to carry out and the plan is not complete.",
    question="How many steps has the plan for this sum? And when all of them are done, how does the planner that looks "
    "one step ahead tell the loop that the goal is reached?",
    learned="A whole plan costs one question. One step at a time costs one a step, and one more to hear 'nothing left'.",
)
def asked(trial: Trial, whole: Any, single: Any) -> None:
    """Two whole numbers: how often each planner is asked."""

    def next_step(goal: str, board: Any) -> Any:
        return next((step for step in arithmetic.rules(goal) if step["id"] not in board.results), None)

    trial.show(views.graph, Plan.parse(arithmetic.rules(SUM)))
    planners: list[Any] = [RulePlanner(arithmetic.rules), NextStepPlanner(next_step)]
    for name, guess, planner in zip(("whole", "single"), (whole, single), planners, strict=True):
        run = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), workers=Simulated()).run(SUM)
        times = [type(event).__name__ for event in run.events].count("PlanStarted")
        trial.given(name, guess)
        number = said.number(trial, guess, f"a whole number, as in `{name} = 7`")
        trial.want(
            number == times,
            f"the number of times that the run asks this planner, counted in its events ({name})",
            RULES[name],
        )


@exercise(
    "01.2",
    nudge="Four things happen in a turn: ask, look at what was said, do, remember. Two of the looks end the loop early.",
    question="When the planner names a step whose result you already hold, what would carrying it out again tell you? "
    "And what is left to say after the tenth question?",
    learned="The planner may be wrong for ever. The loop is the half that stops.",
)
def gives_up(trial: Trial, run: Any) -> None:
    """The answer at "done"; a text that begins with "gave up" when a step comes twice, or ten questions are used up."""
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
        all(goal == heard for heard, _ in seen), "the planner, asked with the goal", "The planner reads the goal."
    )
    handed = [history for _, history in seen]
    right = [{}, {"peel": 4}, {"peel": 4, "chop": 4}, {"peel": 4, "chop": 4, "fry": 3}]
    rule = "The history keeps the result of each step by its action."
    trial.want(handed == right[: len(handed)], f"the planner handed {right}, one history a question", rule)
    trial.want(done == ["peel", "chop", "fry"], "each step carried out once, in order", "A step is never done twice.")
    trial.want(came == 11, "11, the answer that the planner gave at 'done'", "At 'done' the answer is handed out.")
    came = trial.call(run, " ".join(ACTIONS), planner, executor)
    trial.want(came == 37, "37: nine steps and 'done' are ten questions", "Ten questions may be asked.")
    came = trial.call(run, "", planner, executor)
    trial.want(
        came == 0, "0, the answer that the planner gave at 'done'", "An answer may be 0: 'done' says that it is one."
    )
    _stops(trial, run)


def _stops(trial: Trial, run: Any) -> None:
    """A planner that repeats itself, at once or later, and one that never says 'done', are stopped."""
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
        trial.want(turn < 10, "ten questions at most", "Every loop ends: after ten questions it gives up.")
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
        text = f"a text that begins with 'gave up' and names {again!r}; the steps carried out were {done}"
        trial.want(done == [first, second], text, "A step that comes again is not carried out again.")
        trial.want(_gave_up(came) and again in came, text, "Who gives up says so, and says at which step.")
        few = f"three questions, not {len(asked)}: the third reply is {again!r} again"
        trial.want(len(asked) == 3, few, "A step that comes again ends the loop at once.")
    came = trial.call(run, "soup", restless, executor)
    trial.want(_gave_up(came), "a text that begins with 'gave up'", "Who gives up says so.")


def _gave_up(came: Any) -> bool:
    return isinstance(came, str) and came.startswith("gave up")


def _drawn(actions: list[str]) -> views.Figure:
    """The steps that the learner's loop carried out, as a plan."""
    return views.graph(Plan.parse([{"description": name} for name in actions]), title="What your loop carried out")


@exercise(
    "01.3",
    nudge="Give the executor a bad day: it says that 2 + 3 is 900. Follow what the planner does with that 900.",
    question="Which of the three steps holds a number that no tool has found yet? Where does the loop keep what the "
    "tools did find?",
    learned="Numbers come from the goal or from the history. A planner that works one out has left its role.",
)
def mended(trial: Trial, planner: Any) -> None:
    """Steps whose numbers stand in the goal or in the history: add, then multiply, then done."""
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
            rule = "The planner reads the goal and the history, and calculates nothing."
            trial.want(_step(steps[-1]) == _step(right), str(right), rule)


def _planned(steps: list[dict[str, Any]]) -> views.Figure:
    """The three steps that the learner's planner named when all went well, as a plan."""
    tasks = [{"description": f"{step.pop('action')} {', '.join(map(str, step.values()))}"} for step in map(dict, steps)]
    return views.graph(Plan.parse(tasks), title="What your planner said, when the tools found 5 and 20")


def _step(step: Any) -> Any:
    """A step whose factors may come in either order."""
    if isinstance(step, dict) and step.get("action") in ("add", "multiply"):
        return step["action"], sorted([step["a"], step["b"]], key=str), len(step)
    return step


@exercise(
    "01.4",
    nudge="Write the steps for 3, 5 and 10 by hand first. The second addition needs what the first one finds.",
    question="What stands in the place of a result that nobody has yet? And which steps have to wait for which?",
    learned="A plan with references can be written whole before anything is known, and any executor can carry it out.",
)
def average(trial: Trial, rules: Any) -> None:
    """A list of steps: additions, then a division; what is not in the goal is a reference, or the count of numbers."""
    for numbers in [(3, 5, 10), (7, 9), (4, 4, 4, 4), (1, 2, 3, 4, 50)]:
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
        rule = "The tools of this exercise are add and divide."
        trial.want({step.tool for step in plan.steps} <= {"add", "divide"}, "steps with add and divide", rule)
        answer = execute(plan, ToolExecutor(arithmetic.TOOLS), workers=Simulated()).answer
        mean = sum(numbers) / len(numbers)
        trial.want(
            _about(answer, mean), f"a plan whose answer is {mean:g}, not {answer}", "The answer is the last result."
        )
        off = execute(plan, ToolExecutor(_off(1000)), workers=Simulated()).answer
        rule = "The planner calculates nothing: with an `add` that is 1000 off, the answer has to be off too."
        trial.want(not _about(off, mean), f"another answer from an `add` that is 1000 off each time, not {off}", rule)
        written = _written(plan)
        rule = "The planner calculates nothing: what is added or divided stands in the goal, or is a reference."
        wanted = f"the numbers {', '.join(map(str, sorted(numbers)))} in the steps, not {', '.join(map('{:g}'.format, written))}"
        trial.want(written == sorted(numbers), wanted, rule)


def _about(answer: Any, right: float) -> bool:
    """Whether an answer is that number; shares that are added up may miss it by a hair."""
    return isinstance(answer, (int, float)) and isclose(answer, right)


def _written(plan: Plan) -> list[float]:
    """The numbers that the plan adds or divides and that are no references, in order; 0 says nothing."""
    terms = [
        step.params.get(name) for step in plan.steps for name in ("a", "b") if (step.tool, name) != ("divide", "b")
    ]
    return sorted(term for term in terms if isinstance(term, (int, float)) and term)


def _off(by: int) -> Toolbox:
    """A toolbox whose addition is wrong by that much."""

    def add(a: float, b: float) -> float:
        """Add b to a, wrongly."""
        return a + b + by

    def divide(a: float, b: float) -> float:
        """Divide a by b."""
        return a / b

    return Toolbox([Tool(add, effects="none"), Tool(divide, effects="none")])
