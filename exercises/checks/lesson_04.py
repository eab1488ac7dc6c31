"""Lesson 04, the model planner: what its exercises are judged by."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import openai.resources.chat.completions  # noqa: F401  (what a check needs is there before its clock starts)

from exercises.checks import said
from exercises.exercise import Raised, Trial, cut, exercise, shown
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

BOUNDS = (1, 3, 9)


@exercise(
    "04.1",
    nudge="A repair is a question too, and it is asked only while the last answer is not fit. Draw the four answers in a "
    "row and count how far each run gets.",
    question="How many questions are one question and one repair? And what is left to repair after the fourth answer, "
    "however high the bound is?",
    learned="A bound is paid only when the planner needs it; a bad plan costs model calls, and never a tool call.",
)
def bounded(trial: Trial, calls: Any, tools: Any) -> None:
    """Three whole numbers each: calls of the model and calls of a tool, with max_repairs at 1, 3 and 9."""
    runs = []
    for bound in BOUNDS:
        planner = LLMPlanner(connect("arithmetic", "stubborn"))
        executor, policy = ToolExecutor(arithmetic.TOOLS), Policy(max_repairs=bound)
        runs.append(PlannerExecutor(planner, executor, workers=Simulated(), policy=policy).run("What is 7 * 6 + 1?"))
    counted = [
        ("calls", calls, [run.usage.calls for run in runs]),
        ("tools", tools, [len(run.results) for run in runs]),
    ]
    for name, guess, right in counted:
        trial.given(name, guess)
        form, rule = "three whole numbers, such as [1, 2, 3]", "A prediction is one number for each run."
        numbers = said.numbers(trial, guess, 3, form, rule)
        wanted = f"the numbers of the three runs ({name})"
        if name == "calls":
            rule = "One question is asked in any case: a question and its repairs are one more than the repairs."
            trial.want(numbers[0] == right[0], wanted, rule)
            trial.want(numbers == right, wanted, "A bound is the most that may happen: a valid plan is not repaired.")
        trial.want(numbers == right, wanted, "A plan that is not fit calls no tool; a fit one calls each of its tools.")
    trial.show(views.timeline, runs[1])


@exercise(
    "04.2",
    nudge="Ask of each step what is wrong without it, for somebody in Tokyo. A step whose result nobody uses, and that "
    "is not the answer, says nothing.",
    question="Which steps does the right time come from? Which of these wait for nothing, and so start together?",
    learned="Over-planning is not 'more than one step'. It is a step that the answer does not need.",
)
def trimmed(trial: Trial, keep: Any, seconds: Any) -> None:
    """The ids of the steps that have to stay, and the seconds that they take."""
    whole = LLMPlanner(connect("clock")).plan("What time is it?", Board(), clock.World("09:41").tools)
    trial.given("keep", keep)
    form, rule = "ids of steps of the plan, in a list", "A prediction names steps."
    ids = set(said.names(trial, keep, whole.graph, form, rule))
    trial.want(ids, form, rule)
    plan = whole.changed(steps=tuple(step for step in whole.steps if step.id in ids))
    trial.show(views.graph, plan)
    problems = plan.problems(clock.World("09:41").tools)
    trial.want(not problems, "steps that are a valid plan", str(problems[0]) if problems else "")
    run = _told(trial, plan)
    for step in plan.steps:
        fewer = plan.changed(steps=tuple(one for one in plan.steps if one.id != step.id))
        rule = "A step is worth its place when the answer is wrong without it."
        text = f"the right time with fewer steps: it comes without step {step.id} too"
        trial.want(fewer.problems(clock.World("09:41").tools) or not _right(fewer), text, rule)
    trial.want(not _shorter(whole, len(ids)), "the right time with fewer steps", "No step is too many.")
    trial.given("seconds", seconds)
    number = said.number(trial, seconds, "seconds, as in `seconds = 1.5`")
    rule = "Steps that do not wait for each other run at the same time."
    if number < run.makespan:
        rule = "A step that waits for others begins when the last of them is over, and takes its own time."
    trial.want(abs(number - run.makespan) < 0.01, "the seconds that the run of these steps takes", rule)
    trial.show(views.timeline, run)


def _asked(hours: int, plan: Plan) -> Run:
    """The plan, carried out at 23:50 for a person who lives some hours further on."""
    return execute(plan, ToolExecutor(clock.World("23:50", hours).tools), workers=Simulated())


def _told(trial: Trial, plan: Plan) -> Run:
    """The steps tell the right time in three zones; the last of the runs."""
    for hours, right in ((0, "23:50"), (9, "08:50"), (-5, "18:50")):
        run = _asked(hours, plan)
        where = f"{hours:+} hours from the clock, which shows 23:50" if hours else "where the clock is"
        text = f"an answer that holds {right}, {where}; the run of these steps answers {run.answer!r}"
        a_time = isinstance(run.answer, str) and ":" in run.answer
        rule = "The answer is the result of the last step." + ("" if a_time else " This one holds no time.")
        trial.want(right in str(run.answer), text, rule)
    return run


def _right(plan: Plan) -> bool:
    """Whether the steps tell the right time, nine hours on."""
    return bool(plan.steps) and "08:50" in str(_asked(9, plan).answer)


def _shorter(whole: Plan, count: int) -> bool:
    """Whether the first steps of the plan, fewer than `count`, tell the right time."""
    tools = clock.World("09:41").tools
    parts = [whole.changed(steps=whole.steps[:number]) for number in range(1, count)]
    return any(not part.problems(tools) and _right(part) for part in parts)


FIRST = ({"role": "system", "content": "Role: planner"}, {"role": "user", "content": "Goal: What is 7 * 6 + 1?"})
VALID = (
    '[{"id": "1", "tool": "multiply", "params": {"a": 7, "b": 6}, "depends_on": []}, '
    '{"id": "2", "tool": "add", "params": {"a": "{step_1_result}", "b": 1}, "depends_on": ["1"]}]'
)
PROSE = "Sure! First multiply 7 by 6, then add 1."
CYCLE = VALID.replace('"b": 6}, "depends_on": []', '"b": 6}, "depends_on": ["2"]')
MANY = VALID.replace('"add"', '"sum"').replace('"b": 6', '"c": 6')


@exercise(
    "04.3",
    nudge="Each turn: ask, look, and either return or prepare the next messages. The next messages begin as the first "
    "ones did. `str(problem)` is the validator's own words.",
    question="How many questions are one question and two repairs? When the last of them was in vain, what do you hold "
    "that the caller has to see?",
    learned="A repair is the validator's words, all of them, a bounded number of times.",
)
def repaired(trial: Trial, fit_plan: Any) -> None:
    """A valid `Plan`, from at most `1 + repairs` questions; a `PlanError` with the last problems when none came."""
    for answers, repairs in [
        ((VALID,), 2),
        ((MANY, VALID), 2),
        ((PROSE, VALID), 1),
        ((CYCLE, PROSE, MANY, VALID), 3),
        ((VALID,), 0),
    ]:
        model, seen = _model(trial, answers, repairs)
        came = _called(trial, fit_plan, model, seen, answers, repairs)
        trial.want(isinstance(came, Plan), "a `Plan`", "The planner hands over a plan, not its text.")
        problems = came.problems(arithmetic.TOOLS)
        first = problems[0].message if problems else ""
        trial.want(not problems, f"a valid plan, not one where: {first}", "Parsing is not checking.")
        rule = "The plan is the one that the model wrote last."
        trial.want(came.to_json() == Plan.parse(VALID).to_json(), "the plan of the fit answer", rule)
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
        isinstance(came, Plan), "a `Plan` from a scripted model, behind the genuine client", "Two repairs are enough."
    )
    trial.show(views.graph, came)


def _many(count: int, what: str = "question") -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _scene(name: str, when: dict[str, Any], text: str) -> dict[str, Any]:
    """A scene of the scripted model that answers with a text, valid or not."""
    return {"name": name, "when": when, "reply": {"text": text, "broken": True}}


def _called(trial: Trial, fit_plan: Any, model: Any, seen: list[Any], answers: tuple[str, ...], repairs: int) -> Any:
    """Call the learner's function with a model whose last answer is valid."""
    try:
        return trial.call(fit_plan, model, list(FIRST), arithmetic.TOOLS, repairs)
    except Raised as raised:
        if isinstance(raised.error, PlanError) and len(seen) < len(answers):
            trial.came = f"PlanError: {raised.error}"
            few = f"another question: repairs={repairs} allows {_many(repairs + 1)}, not {len(seen)}"
            trial.wrong(few, "A repair comes after the first question.")
        raise


def _model(trial: Trial, answers: tuple[str, ...], repairs: int) -> tuple[Callable[[Any], str], list[Any]]:
    """A model that gives these answers in turn, and reads what it is asked; and the questions so far."""
    seen: list[Any] = []

    def model(messages: Any) -> str:
        rule = f"Every loop needs a bound: repairs={repairs} allows {_many(repairs + 1)}."
        trial.want(len(seen) < repairs + 1, f"{_many(repairs + 1)} at most", rule)
        trial.want(len(seen) < len(answers), "no question after a valid answer", "A valid plan is not asked for again.")
        heard = [(one["role"], one["content"]) for one in messages]
        first = [(one["role"], one["content"]) for one in FIRST]
        rule = "A model remembers nothing: what it has to know stands in the messages."
        trial.want(heard[:2] == first, "messages that begin with those of the first question", rule)
        _heard(trial, heard[2:], answers[len(seen) - 1] if seen else None)
        seen.append(heard)
        return answers[len(seen) - 1]

    return model, seen


def _heard(trial: Trial, messages: list[tuple[str, str]], bad: str | None) -> None:
    """What follows the first messages: nothing at first, later the bad answer and each of its problems."""
    rule = "The same words again would get the same answer."
    wanted = "the first messages, the bad answer, and what was wrong with it; then the question"
    if bad is None:
        trial.want(not messages, "the first messages alone, at first", "There is nothing to repair yet.")
        return
    last = max((place for place, message in enumerate(messages) if message == ("assistant", bad)), default=-1)
    told = messages[last + 1 :]
    trial.want(last >= 0 and told, wanted, rule)
    for role, _ in told:
        trial.want(role == "user", f"the problems in messages of the role user, not {role}", rule)
    words = "\n".join(text for _, text in told)
    for problem in _problems(bad):
        text = f"a message that says: {problem.message}"
        trial.want(problem.message in words, text, "All problems at once: else they are mended one by one.")
        text = f"a message that says how to mend it: {problem.hint}"
        trial.want(problem.hint in words, text, "A hint is for the model as much as for you.")


def _problems(text: str) -> list[Any]:
    try:
        return Plan.parse(text).problems(arithmetic.TOOLS)
    except PlanError as error:
        return list(error.problems)


def _gives_up(trial: Trial, fit_plan: Any, answers: tuple[str, ...], repairs: int) -> None:
    """A model that never writes a valid plan is asked `1 + repairs` times, and then that is said."""
    model, seen = _model(trial, answers, repairs)
    rule = "A bad plan never leaves the planner: who gives up says so, and why."
    wanted = "a PlanError with the problems and the text of the last answer"
    try:
        trial.call(fit_plan, model, list(FIRST), arithmetic.TOOLS, repairs)
    except Raised as raised:
        error = raised.error
        few = f"repairs={repairs} allows {_many(repairs + 1)}, not {len(seen)}"
        trial.want(len(seen) == repairs + 1, few, "A repair comes after the first question.")
        if not isinstance(error, PlanError):
            raise
        trial.came = f"PlanError: {error}"
        trial.want(list(error.problems) == _problems(answers[-1]), wanted, rule)
        trial.want(error.text == answers[-1], wanted, rule)
    else:
        trial.wrong(wanted, rule)


SUM = {"id": "1", "tool": "add", "params": {"a": 1, "b": 2}, "depends_on": []}
HALF = {"id": "2", "tool": "divide", "params": {"a": "{step_1_result}", "b": 2}, "depends_on": ["1"]}
ZONE = {"id": "1", "tool": "time_zone", "params": {}, "depends_on": []}
SHIFT = {"id": "2", "tool": "shift", "params": {"time": "09:41", "hours": "{step_1_result}"}, "depends_on": ["1"]}


@exercise(
    "04.4",
    nudge="The lesson wrote the schema of one step, for one tool. You need one such form for each tool, in a list under "
    "`anyOf`. `closed` requires every field that you give it.",
    question="Which of the four fields is another one in each form, and which value may `tool` have there? Then: what "
    "closes the object around the steps?",
    learned="A closed schema makes wrong tools and missing arguments impossible. Circles and bad ideas still fit it.",
    seconds=10.0,
)
def closed_doors(trial: Trial, schema: Any) -> None:
    """A schema with one closed form for each tool, which a real endpoint takes under strict."""
    once = "One form for each tool: its name, its own arguments, and nothing else."
    arguments = "A tool's arguments are all there, by their names and types."
    every = [SUM | {"id": f"step_{n}", "tool": one.name} for n, one in enumerate([*arithmetic.TOOLS] * 3, 1)]
    every[-1] = every[-1] | {"depends_on": [step["id"] for step in every[:-1]]}
    fields = "Every field is required, and no other is allowed."
    cases: list[tuple[Toolbox, Any, str, str]] = [
        (arithmetic.TOOLS, [SUM], "", "A valid plan still has to fit."),
        (arithmetic.TOOLS, every, "", "One form for each tool of the toolbox."),
        (arithmetic.TOOLS, [SUM, HALF], "", "A step may refer to a result with {step_1_result}, beside a number."),
        (arithmetic.TOOLS, [], "", "Whether a plan may be empty is for the validator to say."),
        (arithmetic.TOOLS, [SUM | {"tool": "sum"}], "there is no tool 'sum'", once),
        (arithmetic.TOOLS, [SUM | {"tool": "address"}], "there is no tool 'address'", once),
        (arithmetic.TOOLS, [SUM | {"params": {"a": 1}}], "'b' is missing", arguments),
        (arithmetic.TOOLS, [SUM | {"params": {"a": 1, "b": "two"}}], "'two' is no number", arguments),
        (arithmetic.TOOLS, [SUM | {"params": {"a": 1, "b": 2, "c": 3}}], "add has no parameter 'c'", arguments),
        (arithmetic.TOOLS, [SUM | {"why": "because"}], "a step has no field 'why'", fields),
        (arithmetic.TOOLS, [SUM | {"id": 1}], "an id is a text", fields),
        (arithmetic.TOOLS, [SUM | {"depends_on": "1"}], "depends_on is a list", fields),
        (arithmetic.TOOLS, [SUM | {"depends_on": [1]}], "depends_on lists texts", fields),
        *((arithmetic.TOOLS, [_without(SUM, name)], f"{name} is missing", fields) for name in SUM),
        (clock.World("09:41").tools, [ZONE, SHIFT], "", "The forms are made from the toolbox that is given."),
        (clock.World("09:41").tools, [SUM], "there is no tool 'add' in this toolbox", once),
        (clock.World("09:41").tools, [ZONE | {"params": SHIFT["params"]}], "time_zone has no parameters", once),
        (clock.World("09:41").tools, [SHIFT | {"tool": "sentence"}], "these are the arguments of shift", once),
    ]
    for tools, steps, fault, rule in cases:
        _fits(trial, schema, tools, {"steps": steps}, fault, rule)
    _fits(trial, schema, arithmetic.TOOLS, {"steps": [SUM], "joke": "…"}, "an answer has no field 'joke'", fields)
    _fits(trial, schema, arithmetic.TOOLS, {}, "steps is missing", fields)
    trial.show(views.graph, Plan.parse([SUM, HALF]))


def _without(step: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in step.items() if key != name}


def _fits(trial: Trial, schema: Any, tools: Toolbox, answer: dict[str, Any], fault: str, rule: str) -> None:
    """Send the learner's schema with the genuine client: does the answer, which has that fault or none, fit it?"""
    made = trial.call(schema, tools)
    trial.want(isinstance(made, dict), "a schema, which is a dict", "A schema is data.")
    scene = {"name": "planner", "when": {"says": ["Plan"]}, "reply": {"json": answer}}
    client = MockLLM([scene]).client(max_retries=0)
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
            trial.wrong("a schema that a real endpoint takes under strict", cut(message.replace("\n", " "), 400, 200))
    text = json.dumps(answer)
    if fault:
        trial.want(message, f"a schema that refuses {text}: {fault}", rule)
    else:
        trial.want(not message, f"a schema that lets {text} pass", f"{rule} Here it is refused.")


@exercise(
    "04.5",
    nudge="Three questions in a row. Has anything happened yet? Does a rule apply? Is what the rules wrote valid? Each "
    "of them may lead to the model.",
    question="When a tool of the rules' plan has failed, what would the rules say if they were asked again? And who needs "
    "the board as it is?",
    learned="Rules where they apply, a model where they don't: for the executor, a plan is a plan.",
    seconds=10.0,
)
def rules_first(trial: Trial, RulesFirst: Any) -> None:  # noqa: N803
    """A planner that asks the rules once, at the start, and the model for all that they have no valid plan for."""
    late = "Rules read the goal and not the board: asked again, they say the same again."
    run = _planned(trial, RulesFirst, "What is 2 + 3 * 4?", calls=0, answer=14, runs=2)
    trial.show(views.timeline, run)
    run = _planned(trial, RulesFirst, "What time is it?", calls=0, answer="09:41")
    trial.want(run.makespan == 0.2, f"0.2 s for one step, not {run.makespan:g} s", "One tool answers that.")
    _planned(trial, RulesFirst, "Add five to twelve", calls=1, answer=17)
    run = _planned(trial, RulesFirst, "Take the root of nine", calls=1, answer=3)
    plans = [type(event).__name__ for event in run.events].count("PlanStarted")
    rule = "A plan is checked by whoever wrote it, before it is handed over."
    trial.want(
        plans == 1, "the model at once for a plan of the rules that is invalid; here it was turned down first", rule
    )
    _planned(trial, RulesFirst, "Add six to twelve", calls=2, answer=18, rule=late)
    _planned(trial, RulesFirst, "What is 2 * 3 + 1?", calls=1, answer=7, out_of_order=True, rule=late)


PLANS = (  # goal, what the model must have read, the steps that it writes
    ("What is 2 + 3 * 4?", "", (("1", "multiply", 3, 4), ("2", "add", 2, "{step_1_result}"))),
    ("What time is it?", "", (("1", "add", 9, 41),)),
    ("Add five to twelve", "", (("1", "add", 5, 12),)),
    ("Take the root of nine", "", (("1", "divide", 9, 3),)),
    ("Add six to twelve", "can't be carried out", (("1", "add", 6, 12),)),
    (
        "What is 2 * 3 + 1?",
        "out of order",
        (("1b", "add", 2, 2), ("2b", "add", "{step_1b_result}", 2), ("3b", "add", "{step_2b_result}", 1)),
    ),
)


def _planned(
    trial: Trial,
    kind: Any,
    goal: str,
    calls: int,
    answer: Any,
    out_of_order: bool = False,
    runs: int = 1,
    rule: str = "The model is asked when the rules have nothing fit to say, and only then.",
) -> Run:
    """Run the learner's planner on a goal, count what it asks, and look at the answer; `runs` times, with one planner."""
    asked: list[str] = []

    def rules(goal: str) -> Any:
        asked.append(goal)
        if goal == "What time is it?":
            return [{"tool": "current_time"}]
        return [{"tool": "divide", "params": {"a": 9}}] if "root" in goal else arithmetic.rules(goal)

    llm = MockLLM(list(_scenes()))
    planner = trial.call(kind, RulePlanner(rules), LLMPlanner(llm.client(max_retries=0)))
    heard = _Heard(planner, lambda: len(llm.calls))
    trial.want(
        hasattr(planner, "plan"), "a planner, with a method `plan`", "A planner is what has plan(goal, board, tools)."
    )
    tools = Toolbox([*_arithmetic(out_of_order), *clock.World("09:41").tools])
    agent = PlannerExecutor(heard, ToolExecutor(tools), workers=Simulated(), policy=Policy(replan="failure"))
    if runs > 1:
        agent.run("Add five to twelve")  # another goal before, for which there is no rule
    for number in range(runs):
        asked.clear()
        before = len(llm.calls)
        run = agent.run(goal)
        used = len(llm.calls) - before
        again = ", after other runs" if runs > 1 else ""
        trial.head, trial.called = "called", f"PlannerExecutor(RulesFirst(rules, model), executor).run({goal!r}){again}"
        trial.came = f"{run.status}, answer {run.answer!r}, {_many(used, 'model call')}; {run.reason}"
        trial.want(len(asked) <= 1, f"the rules asked once, not {len(asked)} times", rule)
        heard.judge(trial)
        told = "The model is told what has happened: it gets the board."
        trial.want(run.status == "finished", "a run that finishes", told)
        if runs > 1 and (number or used > calls):
            rule = "A planner serves many runs: what has happened in this one stands on the board."
        trial.want(used == calls, f"{_many(calls, 'model call')}, not {used}", rule)
        trial.want(len(asked) == 1, "the rules asked once", "Rules cost nothing: they are asked first.")
        trial.want(run.answer == answer, f"the answer {answer!r}, not {run.answer!r}", "The answer is the last result.")
    return run


class _Heard:
    """The learner's planner in the kit: what it raised, what it returned that is no plan, how often it asked the model."""

    def __init__(self, planner: Any, asked: Callable[[], int]) -> None:
        self.planner, self.asked = planner, asked
        self.most, self.returned, self.raised = 0, list[Any](), list[Exception]()

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Any:
        """Ask the learner's planner."""
        before = self.asked()
        try:
            came = self.planner.plan(goal, board, tools)
        except Exception as error:
            if not isinstance(error, PlanError) or self.asked() == before:  # the model's bad answers may go out
                self.raised.append(error)
            raise
        finally:
            self.most = max(self.most, self.asked() - before)
        self.returned.append(came)
        return came

    def judge(self, trial: Trial) -> None:
        """Each question to the planner gives a plan, and takes one question to the model at most."""
        for error in self.raised:
            if not isinstance(error, ValueError):
                raise Raised(error)
            wanted = f"the model's plan where the rules have none; {type(error).__name__} went out: {error}"
            trial.wrong(wanted, "Who asks the rules catches their ValueError: it says that no rule applies.")
        for came in self.returned:
            rule = "A planner returns a plan, the rules' or the model's."
            trial.want(isinstance(came, Plan), f"a Plan from each call of `plan`, not {shown(came)}", rule)
        rule = "What is wrong with an answer, the run writes on the board, and asks again."
        trial.want(self.most <= 1, f"one question to the model for each call of `plan`, not {self.most}", rule)


def _arithmetic(out_of_order: bool) -> list[Any]:
    """The arithmetic tools; where `out_of_order`, multiply is."""

    def multiply(a: float, b: float) -> float:
        """Multiply a by b."""
        raise RuntimeError("multiply is out of order")

    return [tool(multiply) if one.name == "multiply" and out_of_order else one for one in arithmetic.TOOLS]


def _scenes() -> list[dict[str, Any]]:
    """What the model says to each goal; before it has read what it must have read, it chats."""
    scenes = []
    for goal, read, steps in PLANS:
        written = [
            {
                "id": id,
                "description": "",
                "tool": name,
                "params": {"a": a, "b": b},
                "depends_on": [one[6:-8] for one in (a, b) if isinstance(one, str)],
                "success_criteria": None,
            }
            for id, name, a, b in steps
        ]
        plan = {"goal": goal, "steps": written, "rollback": [], "answer": None, "complete": True}
        when = {"says": [f"Goal: {goal}", *([read] if read else [])]}
        scenes.append({"name": goal, "when": when, "reply": {"json": plan}})
        if read:
            scenes.append(_scene(f"chats about {goal}", {"says": [f"Goal: {goal}"], "never": [read]}, "Sure, I will."))
    return scenes
