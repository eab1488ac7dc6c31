"""Checks for lesson 04, the model planner."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai.resources.chat.completions  # noqa: F401  (imported before the time limit of a check starts)
from mock_llm import MockLLM
from planexec_lab import connect, views
from planexec_lab.worlds import arithmetic, clock
from planexec_lite import (
    Board,
    LLMPlanner,
    Plan,
    PlanError,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.model.asking import model_for

from exercises.checker import drawn
from exercises.checker.checks import said
from exercises.checker.data import data
from exercises.checker.exercise import Raised, Trial, cut, exercise, raising, shown


@exercise("04.1")
def bounded(trial: Trial, calls: Any, tools: Any) -> None:
    """For the three values of `max_repairs`: three numbers of model calls, and three numbers of tool calls."""
    runs, bounds = [], [*drawn.drawn("04.1").values()]
    least = bounds.index(min(bounds))
    for bound in bounds:
        planner = LLMPlanner(connect("arithmetic", "stubborn"))
        executor, policy = ToolExecutor(arithmetic.TOOLS), Policy(max_repairs=bound)
        runs.append(PlannerExecutor(planner, executor, workers=Simulated(), policy=policy).run("What is 7 * 6 + 1?"))
    counted = [
        ("calls", calls, [run.usage.calls for run in runs]),
        ("tools", tools, [len(run.results) for run in runs]),
    ]
    for name, guess, right in counted:
        trial.given(name, guess)
        form, rule = "three whole numbers, such as [1, 2, 3]", "Write one number for each run."
        numbers = said.numbers(trial, guess, 3, form, rule)
        wanted = f"the numbers of the three runs ({name})"
        if name == "calls":
            rule = "The planner always asks the first question, so the total is one more than the number of repairs."
            trial.want(numbers[least] == right[least], wanted, rule)
            trial.want(numbers == right, wanted, "A bound is a maximum: a valid plan needs no repair.")
        trial.want(numbers == right, wanted, "An invalid plan calls no tool; a valid plan calls each of its tools.")
    trial.show(views.timeline, max(runs, key=lambda run: len(run.results)))


@exercise("04.2")
def trimmed(trial: Trial, keep: Any, seconds: Any) -> None:
    """The ids of the steps that must stay, and the seconds that they take."""
    whole = LLMPlanner(connect("clock")).plan("What time is it?", Board(), clock.World("09:41").tools)
    trial.given("keep", keep)
    form, rule = "ids of steps of the plan, in a list", "Write your prediction as step ids."
    ids = set(said.names(trial, keep, whole.graph, form, rule))
    trial.want(ids, form, rule)
    plan = whole.changed(steps=tuple(step for step in whole.steps if step.id in ids))
    trial.show(views.graph, plan)
    problems = plan.problems(clock.World("09:41").tools)
    trial.want(not problems, "steps that form a valid plan", str(problems[0]) if problems else "")
    run = _told(trial, plan)
    for step in plan.steps:
        fewer = plan.changed(steps=tuple(one for one in plan.steps if one.id != step.id))
        rule = "Keep a step only if the answer is wrong without it."
        text = f"fewer steps: without step {step.id} the time is still correct"
        trial.want(fewer.problems(clock.World("09:41").tools) or not _right(fewer), text, rule)
    trial.want(
        not _shorter(whole, len(ids)), "the correct time with fewer steps", "Keep only the steps that the answer needs."
    )
    trial.given("seconds", seconds)
    number = said.number(trial, seconds, "seconds, as in `seconds = 1.5`")
    rule = "Independent steps run at the same time."
    if number < run.makespan:
        rule = "A dependent step starts when the last of its dependencies ends; then add its own time."
    trial.want(abs(number - run.makespan) < 0.01, "the seconds that a run of these steps takes", rule)
    trial.show(views.timeline, run)


def _asked(hours: int, plan: Plan) -> Run:
    """Run the plan at 23:50 for a user whose time zone is `hours` ahead."""
    return execute(plan, ToolExecutor(clock.World("23:50", hours).tools), workers=Simulated())


def _told(trial: Trial, plan: Plan) -> Run:
    """Check that the steps give the correct time in three time zones, and return the last run."""
    for hours, right in ((0, "23:50"), (9, "08:50"), (-5, "18:50")):
        run = _asked(hours, plan)
        where = f"{hours:+} hours from the clock, which shows 23:50" if hours else "in the clock's own time zone"
        text = f"an answer that contains {right}, {where}; a run of these steps answers {run.answer!r}"
        a_time = isinstance(run.answer, str) and ":" in run.answer
        rule = "The result of the last step is the answer." + ("" if a_time else " This result contains no time.")
        trial.want(right in str(run.answer), text, rule)
    return run


def _right(plan: Plan) -> bool:
    """Return whether the steps give the correct time nine hours ahead."""
    return bool(plan.steps) and "08:50" in str(_asked(9, plan).answer)


def _shorter(whole: Plan, count: int) -> bool:
    """Return whether fewer than `count` steps from the start of the plan already give the correct time."""
    tools = clock.World("09:41").tools
    parts = [whole.changed(steps=whole.steps[:number]) for number in range(1, count)]
    return any(not part.problems(tools) and _right(part) for part in parts)


FIRST = ({"role": "system", "content": "Role: planner"}, {"role": "user", "content": "Goal: What is 7 * 6 + 1?"})
VALID = (
    '[{"id": "1", "tool": "multiply", "params": {"a": 7, "b": 6}, "depends_on": []}, '
    '{"id": "2", "tool": "add", "params": {"a": "{step_1_result}", "b": 1}, "depends_on": ["1"]}]'
)
OTHER = ({"role": "user", "content": "Goal: What is 1 + 2?"},)
FEWER = Toolbox(tool for tool in arithmetic.TOOLS if tool.name != "multiply")
ADDS = '[{"id": "1", "tool": "add", "params": {"a": 1, "b": 2}, "depends_on": []}]'
PROSE = "Sure! First multiply 7 by 6, then add 1."
CYCLE = VALID.replace('"b": 6}, "depends_on": []', '"b": 6}, "depends_on": ["2"]')
MANY = VALID.replace('"add"', '"sum"').replace('"b": 6', '"c": 6')


@exercise("04.3")
def repaired(trial: Trial, fit_plan: Any) -> None:
    """A valid `Plan` after at most `1 + repairs` questions; otherwise a `PlanError` with the last problems."""
    for answers, repairs in [
        ((VALID,), 2),
        ((MANY, VALID), 2),
        ((PROSE, VALID), 1),
        ((CYCLE, PROSE, MANY, VALID), 3),
        ((VALID,), 0),
    ]:
        model, seen = _model(trial, answers, repairs)
        came = _called(trial, fit_plan, model, seen, answers, repairs)
        trial.want(isinstance(came, Plan), "a `Plan`", "Return a plan, not its text.")
        problems = came.problems(arithmetic.TOOLS)
        first = problems[0].message if problems else ""
        trial.want(
            not problems, f"a valid plan; this one has a problem: {first}", "Parsing a plan does not validate it."
        )
        rule = "Return the last plan that the model wrote."
        trial.want(came.to_json() == Plan.parse(VALID).to_json(), "the plan from the valid answer", rule)
    model, seen = _model(trial, (VALID, ADDS), 1, OTHER, FEWER)
    came = trial.call(fit_plan, model, list(OTHER), FEWER, 1)
    rule = "Judge a plan by the tools in `tools`, and begin with the messages in `asked`."
    trial.want(isinstance(came, Plan) and len(seen) == 2, "a plan without multiply, after one repair", rule)
    error = ValueError("the model is not available")
    trial.lets_through(error, fit_plan, raising(error), list(FIRST), arithmetic.TOOLS, 2)
    for answers, repairs in [((PROSE, MANY, CYCLE), 2), ((MANY,), 0), ((CYCLE,) * 5, 4)]:
        _gives_up(trial, fit_plan, answers, repairs)
    scenes = [
        _scene("chats", {"says": ["Goal"]}, PROSE),
        _scene("ties a knot", {"says": ["Goal"], "last": ["this is not JSON"]}, CYCLE),
        _scene("is right", {"says": ["Goal"], "last": ["none of them can ever start"]}, VALID),
    ]
    client = MockLLM(scenes).client(max_retries=0)

    def scripted(messages: Any) -> Any:
        reply = client.chat.completions.create(model=model_for("planner"), messages=messages)
        return reply.choices[0].message.content

    came = trial.call(fit_plan, scripted, list(FIRST), arithmetic.TOOLS, 2)
    trial.want(
        isinstance(came, Plan), "a `Plan` from a scripted model behind the real client", "Two repairs are enough here."
    )
    trial.show(views.graph, came)


def _many(count: int, what: str = "question") -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _scene(name: str, when: dict[str, Any], text: str) -> dict[str, Any]:
    """Make a scene in which the scripted model answers with a text, valid or not."""
    return {"name": name, "when": when, "reply": {"text": text, "broken": True}}


def _called(trial: Trial, fit_plan: Any, model: Any, seen: list[Any], answers: tuple[str, ...], repairs: int) -> Any:
    """Call the learner's function with a model whose last answer is a valid plan."""
    try:
        return trial.call(fit_plan, model, list(FIRST), arithmetic.TOOLS, repairs)
    except Raised as raised:
        if isinstance(raised.error, PlanError) and len(seen) < len(answers):
            trial.came = f"PlanError: {raised.error}"
            few = f"one more question: repairs={repairs} allows {_many(repairs + 1)}"
            trial.wrong(few, "The first question does not count as a repair.")
        raise


def _model(
    trial: Trial,
    answers: tuple[str, ...],
    repairs: int,
    asked: tuple[dict[str, str], ...] = FIRST,
    tools: Toolbox = arithmetic.TOOLS,
) -> tuple[Callable[[Any], str], list[Any]]:
    """Return a model that gives these answers in turn and checks its messages, and the list of its questions so far."""
    seen: list[Any] = []

    def model(messages: Any) -> str:
        rule = f"Every loop needs a bound: repairs={repairs} allows {_many(repairs + 1)}."
        trial.want(len(seen) < repairs + 1, f"at most {_many(repairs + 1)}", rule)
        trial.want(len(seen) < len(answers), "no question after a valid answer", "Stop asking once the plan is valid.")
        heard = [(one["role"], one["content"]) for one in messages]
        first = [(one["role"], one["content"]) for one in asked]
        rule = "A model remembers nothing: everything it needs must be in the messages."
        trial.want(heard[: len(first)] == first, "messages that begin with the first question's messages", rule)
        _heard(trial, heard[len(first) :], answers[len(seen) - 1] if seen else None, tools)
        seen.append(heard)
        return answers[len(seen) - 1]

    return model, seen


def _heard(trial: Trial, messages: list[tuple[str, str]], bad: str | None, tools: Toolbox) -> None:
    """Check the messages after the first ones: none at first, later the bad answer and each of its problems."""
    rule = "The same messages would get the same answer again."
    wanted = "the first messages, then the bad answer, then its problems"
    if bad is None:
        trial.want(
            not messages,
            "only the first messages in the first question",
            "No answer exists yet, so there is nothing to repair.",
        )
        return
    last = max((place for place, message in enumerate(messages) if message == ("assistant", bad)), default=-1)
    told = messages[last + 1 :]
    trial.want(last >= 0 and told, wanted, rule)
    for role, _ in told:
        trial.want(role == "user", "the problems in messages with the role user", rule, f"the role {role}")
    words = "\n".join(text for _, text in told)
    for problem in _problems(bad, tools):
        text = f"a message that contains: {problem.message}"
        trial.want(
            problem.message in words, text, "Send all problems at once; otherwise the model fixes them one by one."
        )
        text = f"a message that contains the hint: {problem.hint}"
        trial.want(problem.hint in words, text, "The hint helps the model as much as it helps you.")


def _problems(text: str, tools: Toolbox = arithmetic.TOOLS) -> list[Any]:
    try:
        return Plan.parse(text).problems(tools)
    except PlanError as error:
        return list(error.problems)


def _gives_up(trial: Trial, fit_plan: Any, answers: tuple[str, ...], repairs: int) -> None:
    """Check that the function asks `1 + repairs` times and then raises, with a model that never writes a valid plan."""
    model, seen = _model(trial, answers, repairs)
    rule = "The planner must not return an invalid plan: when it gives up, it raises the reason."
    wanted = "a PlanError with the problems and the text of the last answer"
    try:
        trial.call(fit_plan, model, list(FIRST), arithmetic.TOOLS, repairs)
    except Raised as raised:
        error = raised.error
        few = f"{_many(repairs + 1)}, as repairs={repairs} allows"
        trial.want(len(seen) == repairs + 1, few, "The first question does not count as a repair.")
        if not isinstance(error, PlanError):
            raise
        trial.came = f"PlanError: {error}"
        trial.want(list(error.problems) == _problems(answers[-1]), wanted, rule)
        trial.want(error.text == answers[-1], wanted, rule)
    else:
        trial.wrong(wanted, rule)


REFERENCE = "An argument can be a reference such as {step_1_result} instead of a number."


@exercise("04.4")
def closed_doors(trial: Trial, schema: Any) -> None:
    """A schema with a closed form for each tool, which a real endpoint accepts with `strict`."""
    given, fields = data("04.4"), "Every field is required, and no other field is allowed."
    first, *halved = given["arithmetic"][REFERENCE][0][1:]
    every = [first | {"id": f"step_{n}", "tool": one.name} for n, one in enumerate([*arithmetic.TOOLS] * 3, 1)]
    every[-1]["depends_on"] = [step["id"] for step in every[:-1]]
    _fits(
        trial, schema, arithmetic.TOOLS, {"steps": every}, "", "The schema needs a form for each tool of the toolbox."
    )
    for tools, groups in ((arithmetic.TOOLS, given["arithmetic"]), (clock.World("09:41").tools, given["clock"])):
        for rule, rows in groups.items():
            for fault, *steps in rows:
                _fits(trial, schema, tools, {"steps": steps}, fault, rule)
    _fits(trial, schema, arithmetic.TOOLS, {"steps": [first], "joke": "…"}, "an answer has no field 'joke'", fields)
    _fits(trial, schema, arithmetic.TOOLS, {}, "steps is missing", fields)
    trial.show(views.graph, Plan.parse([first, *halved]))


def _fits(trial: Trial, schema: Any, tools: Toolbox, answer: dict[str, Any], fault: str, rule: str) -> None:
    """Send the learner's schema with the real client, and check whether it accepts an answer with this fault ("" for none)."""
    made = trial.call(schema, tools)
    trial.want(isinstance(made, dict), "a schema as a dict", "A JSON schema is plain data.")
    scene = {"name": "planner", "when": {"says": ["Plan"]}, "reply": {"json": answer}}
    llm = MockLLM([scene])
    client = llm.client(max_retries=0)
    message = ""
    try:
        client.chat.completions.create(
            model=model_for("planner"),
            messages=[{"role": "user", "content": "Plan"}],
            response_format={"type": "json_schema", "json_schema": {"name": "plan", "strict": True, "schema": made}},
        )
    except Exception as error:
        message = str(getattr(error, "body", {}).get("message", error))
        if getattr(error, "status_code", None) == 400:
            message = str(llm.calls[-1].error)  # with the explanation
            trial.wrong("a schema that a real endpoint accepts with strict", cut(message.replace("\n", " "), 400, 200))
    text = json.dumps(answer)
    if fault:
        trial.want(message, f"a schema that rejects {text}: {fault}", rule)
    else:
        trial.want(not message, f"a schema that accepts {text}", f"{rule} Your schema rejects it.")


@exercise("04.5")
def rules_first(trial: Trial, RulesFirst: Any) -> None:  # noqa: N803
    """A planner that asks the rules once, at the start, and asks the model whenever the rules have no valid plan."""
    late = "Rules read only the goal, not the board, so a second question gets the same answer."
    _planned(trial, RulesFirst, "What is 2 + 3 * 4?", calls=0, answer=14)
    run = _planned(trial, RulesFirst, "What is 2 + 3 * 4?", calls=0, answer=14, runs=2)
    trial.show(views.timeline, run)
    run = _planned(trial, RulesFirst, "What time is it?", calls=0, answer="09:41")
    trial.want(run.makespan == 0.2, "0.2 s for one step", "One tool call answers this goal.", f"{run.makespan:g} s")
    _planned(trial, RulesFirst, "Add five to twelve", calls=1, answer=17)
    run = _planned(trial, RulesFirst, "Take the root of nine", calls=1, answer=3)
    plans = [type(event).__name__ for event in run.events].count("PlanStarted")
    rule = "A planner must validate a plan before it returns it."
    trial.want(
        plans == 1,
        "the model asked at once when the rules' plan is invalid",
        rule,
        "the run rejected the first plan and asked again",
    )
    _planned(trial, RulesFirst, "Add six to twelve", calls=2, answer=18, rule=late)
    _planned(trial, RulesFirst, "What is 2 * 3 + 1?", calls=1, answer=7, out_of_order=True, rule=late)
    bug, chat = _Fails(KeyError("a rule without a tool")), _Fails(PlanError([], "Sure, I will."))
    for rules, fails in ((bug, bug), (RulePlanner(_invalid), chat)):
        planner = trial.call(RulesFirst, rules, chat)
        trial.lets_through(fails.error, planner.plan, "Take the root of nine", Board(), arithmetic.TOOLS)


def _invalid(goal: str) -> list[dict[str, Any]]:
    return [{"tool": "divide", "params": {"a": 9}}]


class _Fails:
    """A planner that raises an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Plan:
        """Raise the error."""
        raise self.error


def _planned(
    trial: Trial,
    kind: Any,
    goal: str,
    calls: int,
    answer: Any,
    out_of_order: bool = False,
    runs: int = 1,
    rule: str = "Ask the model exactly when the rules have no valid plan.",
) -> Run:
    """Run the learner's planner on a goal, count its questions, and check the answer; repeat `runs` times with the same planner."""
    asked: list[str] = []

    def rules(goal: str) -> Any:
        asked.append(goal)
        if goal == "What time is it?":
            return [{"tool": "current_time"}]
        return _invalid(goal) if "root" in goal else arithmetic.rules(goal)

    llm = MockLLM(list(_scenes()))
    planner = trial.call(kind, RulePlanner(rules), LLMPlanner(llm.client(max_retries=0)))
    heard = _Heard(planner, lambda: len(llm.calls))
    trial.want(
        hasattr(planner, "plan"), "a planner, with a method `plan`", "A planner has a method plan(goal, board, tools)."
    )
    tools = Toolbox([*_arithmetic(out_of_order), *clock.World("09:41").tools])
    agent = PlannerExecutor(heard, ToolExecutor(tools), workers=Simulated(), policy=Policy(replan="failure"))
    if runs > 1:
        agent.run("Add five to twelve")  # an earlier run with a goal that no rule covers
    for number in range(runs):
        asked.clear()
        before = len(llm.calls)
        run = agent.run(goal)
        used = len(llm.calls) - before
        again = ", after other runs" if runs > 1 else ""
        trial.head, trial.called = "called", f"PlannerExecutor(RulesFirst(rules, model), executor).run({goal!r}){again}"
        trial.came = f"{run.status}, answer {run.answer!r}, {_many(used, 'model call')}; {run.reason}"
        trial.want(len(asked) <= 1, "one question to the rules", rule, f"{len(asked)} questions to the rules")
        heard.judge(trial)
        told = "Pass the board to the model, so that it knows what has happened."
        trial.want(run.status == "finished", "a run that finishes", told)
        if runs > 1 and (number or used > calls):
            rule = "One planner serves many runs: read the state of this run from the board."
        trial.want(used == calls, f"{_many(calls, 'model call')}", rule, _many(used, "model call"))
        trial.want(len(asked) == 1, "one question to the rules", "Rules cost nothing, so ask them first.")
        trial.want(
            run.answer == answer,
            f"the answer {answer!r}",
            "The result of the last step is the answer.",
            f"the answer {run.answer!r}",
        )
    return run


class _Heard:
    """The learner's planner in the kit, with its exceptions, its return values, and the number of its questions to the model."""

    def __init__(self, planner: Any, asked: Callable[[], int]) -> None:
        self.planner, self.asked = planner, asked
        self.most, self.returned, self.raised = 0, list[Any](), list[Exception]()

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Any:
        """Ask the learner's planner."""
        before = self.asked()
        try:
            came = self.planner.plan(goal, board, tools)
        except Exception as error:
            if (
                not isinstance(error, PlanError) or self.asked() == before
            ):  # a PlanError about the model's answer is allowed
                self.raised.append(error)
            raise
        finally:
            self.most = max(self.most, self.asked() - before)
        self.returned.append(came)
        return came

    def judge(self, trial: Trial) -> None:
        """Check that each call returned a plan and asked the model at most once."""
        for error in self.raised:
            if not isinstance(error, ValueError):
                raise Raised(error)
            rule = "Catch the ValueError of the rules: it means that no rule applies."
            trial.wrong("the model's plan when the rules have none", rule, f"{type(error).__name__}: {error}")
        for came in self.returned:
            rule = "A planner returns a plan, from the rules or from the model."
            trial.want(isinstance(came, Plan), "a Plan from each call of `plan`", rule, shown(came))
        rule = "Leave repairs to the run: it records the problems on the board and asks again."
        trial.want(
            self.most <= 1,
            "at most one question to the model for each call of `plan`",
            rule,
            f"{self.most} in one call",
        )


def _arithmetic(out_of_order: bool) -> list[Any]:
    """Return the arithmetic tools; with `out_of_order`, multiply always fails."""

    def multiply(a: float, b: float) -> float:
        """Multiply a by b."""
        raise RuntimeError("multiply is out of order")

    return [tool(multiply) if one.name == "multiply" and out_of_order else one for one in arithmetic.TOOLS]


def _scenes() -> list[dict[str, Any]]:
    """Return the model's answer to each goal; without the required text in its messages, it chats."""
    scenes = []
    for one in data("04.5")["plans"]:
        goal, read = one["goal"], one["read"]
        steps = [step | {"description": "", "success_criteria": None} for step in one["steps"]]
        plan = {"goal": goal, "steps": steps, "rollback": [], "answer": None, "complete": True}
        when = {"says": [f"Goal: {goal}", *([read] if read else [])]}
        scenes.append({"name": goal, "when": when, "reply": {"json": plan}})
        if read:
            scenes.append(_scene(f"chats about {goal}", {"says": [f"Goal: {goal}"], "never": [read]}, "Sure, I will."))
    return scenes
