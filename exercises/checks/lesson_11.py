"""Lesson 11, one loop, many names: what its exercises are judged by."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import openai.resources.chat.completions  # noqa: F401  (what a check needs is there before its clock starts)

from exercises import listings
from exercises.checks import said
from exercises.exercise import Raised, Trial, cut, exercise
from mock_llm import MockLLM
from mock_llm.script import Reply, ToolUse
from mock_llm.types import Request
from planexec_lab import variations, views
from planexec_lab.scoreboard import Faults, KnownWay, Row, Task, calls_in, race, row, tasks
from planexec_lab.scoreboard import model as scripted_model
from planexec_lite import (
    Plan,
    PlannerExecutor,
    Policy,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.events import Event, PlanProposed, StepFailed
from planexec_lite.model.asking import model_for
from planexec_lite.references import resolve

ON_PAPER = ("ReAct", "plan-and-execute", "planner-executor", "ReWOO")
CALLS = (
    "A horizon of one asks for every step, and once more; who carries out a step is asked before the call and behind it; a "
    "solver is one more."
)
NEAR = 0.2  # how far an estimate may be from the run, as a part of it


@exercise(
    "11.1",
    nudge="Write a line for each variation: who is asked, how often, and what the questions read and write. Only then the "
    "seconds: what waits for what? Two questions about one step wait for each other; three steps side by side do not.",
    question="How often is a planner asked that sees one step ahead, until it says that all is done? And how often a model "
    "that carries out a step: does it stop when it has called the tool?",
    learned="Calls follow from the horizon and from who carries out; seconds from the longest chain, if anything runs side by "
    "side; money from who is asked. None of the three needs a run.",
    seconds=20.0,
)
def on_paper(trial: Trial, calls: Any, seconds: Any, dollars: Any) -> None:
    """Four calls, four seconds and four dollars, each in the order of the four variations."""
    rows = [_ran(name, "research") for name in ON_PAPER]
    ran = [(one.figures.calls, one.figures.seconds, one.figures.dollars) for one in rows]
    rules = (
        ("calls", 0.0, CALLS),
        (
            "seconds",
            NEAR,
            "In a chain all seconds add up, those of questions too; of what runs side by side the longest chain counts.",
        ),
        ("dollars", NEAR, "Calls × (tokens read × price + tokens written × price), for each model apart."),
    )
    for place, ((name, near, rule), given) in enumerate(zip(rules, (calls, seconds, dollars), strict=True)):
        form = f"four numbers, for {', '.join(ON_PAPER)}"
        trial.given(name, given)
        known = isinstance(given, dict) and set(given) == set(ON_PAPER)
        ordered = [given[one] for one in ON_PAPER] if known else given
        numbers = said.numbers(trial, ordered, len(ON_PAPER), form, "One number for each variation, in this order.")
        for variation, number, figures in zip(ON_PAPER, numbers, ran, strict=True):
            within = ", within a fifth" if near else ""
            wanted = f"the {name} of a run of {variation}{within}"
            trial.want(abs(number - figures[place]) <= near * figures[place], wanted, rule)
    trial.show(race, rows)


@cache
def _ran(variation: str, task: str, faults: Faults | None = None) -> Row:
    """A row of the scoreboard, which no answer can change."""
    return row(variation, task, faults)


GOAL = "Mail a comparison of the rents of Lisbon and Split"
STEPS = (
    {"id": "1", "description": "Fetch the rents of Lisbon", "tool": "fetch", "params": {"city": "Lisbon"}},
    {"id": "2", "description": "Fetch the rents of Split", "tool": "fetch", "params": {"city": "Split"}},
    {"id": "3", "description": "Compare both", "tool": "compare", "depends_on": ["1", "2"],
     "params": {"first": "{step_1_result}", "second": "{step_2_result}"}},
    {"id": "4", "description": "Mail what came of it", "tool": "mail", "params": {"text": "{step_3_result}"}, "depends_on": ["3"]},
)  # fmt: skip
LOCKED = "the outbox is locked; unlock it first"
OPEN = "The outbox is open."
SILENT = "the land registry did not answer"
BROKEN = "the scales are out of order"


class _Office:
    """A world in which something may be in the way: `trouble` is one of the three messages, or empty."""

    def __init__(self, trouble: str = "") -> None:
        self.trouble, self.log = trouble, list[str]()
        latency = {"fetch": 3.0, "compare": 2.0, "mail": 1.0, "unlock": 1.0}
        self.tools = Toolbox(
            Tool(getattr(self, name), latency=seconds, effects="none") for name, seconds in latency.items()
        )

    def fetch(self, city: str) -> str:
        """Fetch the rents of a city."""
        if self.trouble == SILENT and city == "Split":
            self.trouble = ""
            raise ConnectionError(SILENT)
        self.log.append(f"fetch {city}")
        return f"rents of {city}: {400 + 50 * len(city)}"

    def compare(self, first: str, second: str) -> str:
        """Compare two texts."""
        if self.trouble == BROKEN:
            raise RuntimeError(BROKEN)
        self.log.append("compare")
        return f"{first} and {second}"

    def mail(self, text: str) -> str:
        """Mail a text."""
        if self.trouble == LOCKED:
            raise PermissionError(LOCKED)
        self.log.append("mail")
        return f"sent: {text}"

    def unlock(self) -> str:
        """Unlock the outbox."""
        self.trouble = ""
        return OPEN


class _Head:
    """The model: it has a plan, and carries out a step as far as it is told what there is to do, and what with."""

    def __init__(self) -> None:
        self.plans = 0
        self.asked: list[Request] = []

    def reply(self, request: Request) -> Reply:
        """The answer to a request."""
        if request.schema is not None:
            self.plans += 1
            steps = [{"depends_on": [], "success_criteria": None, **step} for step in STEPS]
            return Reply(
                json={"goal": GOAL, "steps": steps, "rollback": [], "answer": None, "complete": True}, latency=2.0
            )
        self.asked.append(request)
        return self._work(request, _text(request))

    def _work(self, request: Request, text: str) -> Reply:
        step = _named(text)
        if step is None:
            return Reply(text="Which step is meant?")
        observed = [turn.text for turn in request.conversation if turn.role == "tool"]
        if LOCKED in text and "unlock" not in request.called:
            can = "unlock" in request.tools
            return (
                Reply(calls=[ToolUse("unlock")]) if can else Reply(text="The outbox is locked, and I can't unlock it.")
            )
        if observed and "Error" not in observed[-1] and observed[-1] != OPEN:
            return Reply(text=observed[-1])
        if step["tool"] not in request.tools:
            return Reply(text=f"I have no tool {step['tool']}.")
        office = _Office()
        done = {one["id"]: _done(office, one) for one in STEPS[:2]}
        done["3"] = office.compare(done["1"], done["2"])
        unknown = [id for id in step.get("depends_on", ()) if done[id] not in text]
        if unknown:
            return Reply(text=f"I was not told what came of step {unknown[0]}.")
        return Reply(calls=[ToolUse(step["tool"], resolve(step["params"], done))])


def _done(office: _Office, step: Mapping[str, Any]) -> str:
    return str(getattr(office, step["tool"])(**step["params"]))


def _text(request: Request) -> str:
    return "\n".join(turn.text for turn in request.messages)


def _named(text: str) -> Mapping[str, Any] | None:
    """The step whose description stands in a text."""
    return next((step for step in STEPS if step["description"] in text), None)


@exercise(
    "11.2",
    nudge="The planner and the loop stay. What is new is who carries out a step: somebody who first does what a "
    "`ToolExecutor` does, and asks a `ReActExecutor` when that raises. An executor needs `tools` and `execute(step, inputs)`.",
    question="A `ReActExecutor` shows its model the step's own tool and no other, and reads the step's description. Which copy "
    "of the step do you hand to it?",
    learned="A name more for the same loop: no model where the plan holds, one where it does not, and the planner never again. "
    "Between ReWOO and ReAct there is room for whatever you need.",
    seconds=20.0,
)
def no_name(trial: Trial, rescue: Any) -> None:
    """An agent that asks its planner once, and a model about nothing but the steps whose call failed."""
    run, office, head = _sent(trial, rescue, "", "nothing in the way")
    trial.show(views.timeline, run)
    trial.want(head.plans == 1, "one question to the planner", "The planner writes the whole plan.")
    trial.want(
        not head.asked, "no question about a step", "Where the plan holds, tools are called, and no model is asked."
    )
    trial.want(run.status == "finished", "a finished run", "The plan is carried out.")
    _orderly(trial, run, office)
    trial.want(6.0 <= run.makespan <= 8.0, "8 seconds at the most: 2 for the plan, 3 for both cities side by side, 3 more",
               "Steps run on the workers that are handed in, side by side where the plan allows.")  # fmt: skip
    for trouble, failed in ((LOCKED, STEPS[3]), (SILENT, STEPS[1])):
        run, office, head = _sent(trial, rescue, trouble, trouble)
        _rescued(trial, run, office, head, trouble, failed)
    run, office, head = _sent(trial, rescue, BROKEN, f"{BROKEN}, for good")
    trial.want(
        run.status == "failed", "a failed run", "What nobody could carry out has failed: a failure is no result."
    )
    trial.want("mail" not in office.log, "no mail", "What depends on a failed step is not begun.")


def _rescued(trial: Trial, run: Run, office: _Office, head: _Head, trouble: str, failed: Mapping[str, Any]) -> None:
    """Judge a run in which one call failed."""
    trial.want(
        head.plans == 1,
        "one question to the planner",
        "The plan is right: a model mends the one call, nobody plans again.",
    )
    trial.want(head.asked, f"a question about step {failed['id']}", "A step whose call failed goes to a model.")
    texts = list(map(_text, head.asked))
    trial.want(all(_named(text) == failed for text in texts), f"questions about step {failed['id']} only, by its description",
               "A model carries out what failed, and is told what the step is for.")  # fmt: skip
    trial.want(
        trouble in texts[0], f"a first question that says {trouble!r}", "Who is not told the error makes it again."
    )
    trial.want(
        "unlock" in head.asked[0].tools,
        "all tools offered to the model",
        "What helps may be another tool than the step's own.",
    )
    model = head.asked[0].model
    trial.want(
        model == model_for("executor"),
        f"{model_for('executor')} asked about the step, not {model}",
        "A step goes to the cheap model.",
    )
    last = failed["id"] == "4"
    trial.want(run.status == "finished" and (not last or "mail" in office.log), "a finished run, with the mail sent",
               "The model is told the results that the step waits for, and its last word is the step's result.")  # fmt: skip
    _orderly(trial, run, office)


def _orderly(trial: Trial, run: Run, office: _Office) -> None:
    wanted = ["compare", "fetch Lisbon", "fetch Split", "mail"]
    trial.want(
        sorted(office.log) == wanted,
        "each tool of the plan called once with success",
        "What is done is not done again.",
    )
    answer = "sent: rents of Lisbon: 700 and rents of Split: 650"
    trial.want(
        run.answer == answer, f"the answer {answer!r}", "The result of a step is what came of it, word for word."
    )


def _sent(trial: Trial, rescue: Any, trouble: str, told: str) -> tuple[Run, _Office, _Head]:
    """A run of the agent in an office with some trouble."""
    office, head = _Office(trouble), _Head()
    with MockLLM([{"name": "the office", "reply": {"python": head.reply}}]).client() as client:
        agent = trial.call(rescue, client, office.tools, Simulated(4))
        trial.want(
            isinstance(agent, PlannerExecutor),
            "a `PlannerExecutor`",
            "A variation is an agent, made of a client, tools and workers.",
        )
        try:
            run = agent.run(GOAL)
        except Exception as error:
            raise Raised(error) from error
    trial.called = f"rescue(client, tools, workers).run({GOAL!r}); {told}"
    failures = [event.error for event in run.events if isinstance(event, StepFailed | PlanProposed) and event.error]
    trial.came = cut(f"{run.status}; done: {', '.join(office.log) or 'nothing'}; questions to the planner: {head.plans}, about "
                     f"steps: {len(head.asked)}{''.join(f'; {error}' for error in failures[:1])}")  # fmt: skip
    return run, office, head


class _Case(NamedTuple):
    """A run, whether its goal was reached, and whose fault it was if not."""

    events: list[Event]
    reached: bool
    calm: Callable[[Any], bool]
    fault: str | None
    rule: str


class _Record(list[Event]):
    """The events of a run; its text says which plans came, and what failed."""

    def __repr__(self) -> str:
        told = []
        for event in self:
            if isinstance(event, StepFailed) or (isinstance(event, PlanProposed) and event.error is not None):
                told.append((event.error or "")[:50])
            elif isinstance(event, PlanProposed):
                problems = ", ".join(problem.code for problem in event.problems)
                told.append(f"plan of {len(event.plan.steps)} steps" if event.plan else "no plan")
                told[-1] += f" ({problems})" if problems else ""
        return f"<{len(self)} events: {'; '.join(told)}>"


class _Letter:
    """A world in which a letter is written, stamped and posted; `down` names a tool that fails, `idle` one that does nothing."""

    def __init__(self, down: str = "", idle: str = "") -> None:
        self.down, self.idle, self.done = down, idle, dict[str, str]()
        self.tools = Toolbox(
            Tool(getattr(self, name), latency=1.0, effects="none") for name in ("write", "stamp", "post")
        )

    def _do(self, name: str, word: str) -> str:
        if self.down == name:
            raise ConnectionError(f"{name} did not answer")
        if self.idle != name:
            self.done[name] = word
        return f"{name}: done"

    def write(self, to: str) -> str:
        """Write a letter to a person."""
        return self._do("write", to)

    def stamp(self) -> str:
        """Put a stamp on the letter."""
        return self._do("stamp", "yes")

    def post(self, city: str) -> str:
        """Post the letter, which is there and has a stamp, to a city: Graz or Linz."""
        if city not in ("Graz", "Linz"):
            raise ValueError(f"there is no post to {city}")
        if self.idle != "stamp" and set(self.done) != {"write", "stamp"}:
            raise RuntimeError("no letter with a stamp is there")
        return self._do("post", city)

    @property
    def reached(self) -> bool:
        """Whether Ann has the letter."""
        return self.done == {"write": "Ann", "stamp": "yes", "post": "Graz"}


def _plan(*steps: tuple[str, str], city: str = "Graz", to: str = "Ann", mark: str = "") -> Any:
    """Steps as pairs, a tool and the tools that it waits for ("write+stamp")."""
    params = {"write": {"to": to}, "stamp": {}, "post": {"city": city}}
    return [
        {"id": f"{name}{mark}", "tool": name, "params": params.get(name, {}),
         "depends_on": [f"{one}{mark}" for one in before.split("+") if one]}
        for name, before in steps
    ]  # fmt: skip


RIGHT = (("write", ""), ("stamp", "write"), ("post", "stamp"))


class _Written:
    """A planner that hands out these plans, one after the other; the last one again and again."""

    def __init__(self, *plans: Any) -> None:
        self.plans = list(plans)

    def plan(self, goal: str, board: Any, tools: Toolbox) -> Plan:
        plan = self.plans.pop(0) if len(self.plans) > 1 else self.plans[0]
        return Plan.parse({"goal": goal, "steps": plan})


def _letter(fault: str | None, rule: str, world: _Letter, *plans: Any, replan: bool = False) -> _Case:
    def calm(plan: Plan) -> bool:
        fresh = _Letter()
        execute(plan, ToolExecutor(fresh.tools), workers=Simulated(1))
        return fresh.reached

    policy = Policy(replan="failure", max_replans=1) if replan else Policy()
    hands = ToolExecutor(world.tools)
    run = PlannerExecutor(_Written(*plans), hands, workers=Simulated(1), policy=policy).run("Ann in Graz has a letter")
    return _Case(run.events, world.reached, calm, fault, rule)


def _scored(fault: str | None, rule: str, faults: Faults) -> _Case:
    """ReWOO deploys, on the scoreboard."""
    task = tasks()["deploy"]

    def calm(plan: Plan) -> bool:
        world = task.world()
        run = execute(plan, ToolExecutor(world.tools), workers=Simulated(4))
        return run.status == "finished" and task.reached(world, run)

    one = _ran("ReWOO", "deploy", faults)
    return _Case(one.run.events, one.reached, calm, fault, rule)


def _cases() -> Iterator[_Case]:
    """Runs of both worlds."""
    late, early = _plan(*RIGHT), _plan(("post", ""), *RIGHT[:2])
    unknown = _plan(*RIGHT, ("fax", ""))
    world = "In a calm world this very plan reaches the goal: nobody could have planned it better."
    known = "In a calm world the plan fails as well: what was wrong with it could be known when it was written."
    fine = "The goal was reached: what went wrong on the way was mended."
    yield _scored(None, fine, Faults())
    yield _letter("execution", world, _Letter(down="stamp"), late)
    yield _letter("plan", known, _Letter(), _plan(*RIGHT, city="Atlantis"))
    yield _letter("plan", known, _Letter(), early)
    yield _scored("execution", world, Faults("flaky tool", 0.3, 1))
    yield _scored(
        "plan",
        "A run may be finished, and its goal not reached: the plan left something out.",
        Faults("wrong first plan", 1.0, 0),
    )
    yield _letter(
        "plan",
        "A plan that nobody could carry out is a planning fault, and there is nothing to try again.",
        _Letter(),
        unknown,
    )
    yield _letter(None, fine, _Letter(), unknown, late)
    yield _letter(
        "execution",
        "The first plan had problems and was never carried out; the one that was is right.",
        _Letter(down="post"),
        unknown,
        late,
    )
    yield _scored("execution", world, Faults("late surprise", 1.0, 3))
    yield _letter(
        "execution",
        "A tool may say that it is done, and have done nothing: the plan is right.",
        _Letter(idle="stamp"),
        late,
    )
    yield _letter(
        "plan",
        "Both were at fault; with good tools the plan fails all the same.",
        _Letter(down="stamp"),
        _plan(*RIGHT, to="Ben"),
    )
    again = _plan(*RIGHT, mark="2", city="Linz")
    yield _letter(
        "plan", "What counts is the last plan that was carried out.", _Letter(down="stamp"), late, again, replan=True
    )
    again = _plan(*RIGHT, mark="2")
    first = _plan(*RIGHT, city="Atlantis")
    yield _letter(None, fine, _Letter(), first, again, replan=True)
    yield _letter(
        "execution", "What counts is the last plan that was carried out.", _Closed(), first, again, replan=True
    )


class _Closed(_Letter):
    """A world in which the post to Graz is closed."""

    def post(self, city: str) -> str:
        """Post the letter, which is there and has a stamp, to a city: Graz or Linz."""
        if city == "Graz":
            raise ConnectionError("the post is closed")
        return super().post(city)


@exercise(
    "11.3",
    nudge="The world that failed can't tell you whose fault it was: both may have gone wrong there. A world in which nothing "
    "fails can tell.",
    question="Which of the plans in the record was carried out at all? And what is there to try again where none was?",
    learned="Try the same plan where nothing goes wrong: what fails there too is the planner's, and planning again helps; the rest "
    "is the world's, and trying again helps.",
    seconds=20.0,
)
def whose_fault(trial: Trial, fault: Any) -> None:
    """None where the goal was reached; otherwise "plan" or "execution"."""
    for case in _cases():
        tried: list[Any] = []

        def calm(plan: Any, case: _Case = case, tried: list[Any] = tried) -> bool:
            """Whether the plan reaches the goal in a world in which nothing fails."""
            tried.append(plan)
            if not isinstance(plan, Plan):
                raise TypeError(f"calm takes a plan, not {plan!r}")
            return case.calm(plan)

        came = trial.call(fault, _Record(case.events), case.reached, calm)
        trial.want(came in (None, "plan", "execution"), 'None, "plan" or "execution"', "There are three answers.")
        trial.want(came == case.fault, repr(case.fault), case.rule)


@exercise(
    "11.4",
    nudge="Go through each listing three times: once with a plan that is listed in an odd order, once with a step that fails, once "
    "with a result that holds odd words. Say aloud what each name holds.",
    question="The head of each listing says what holds. For each of its sentences: which line sees to it? And which line would be "
    "the first to notice if it did not hold?",
    learned="A defect is a line, a kind, and a run that fails because of it. What you can't make fail is a matter of taste: say so "
    "in a review, or leave it out.",
    seconds=20.0,
)
def whole_listing(trial: Trial, tickets: Any, release: Any, report: Any) -> None:
    """For each listing every defect in it, by its kind and a line at which it stands, and nothing else."""
    form = 'kinds and lines, such as {"unknown tool": 12, "no bound": 7}'
    for name, given in zip(listings.NAMES, (tickets, release, report), strict=True):
        one = listings.listing(name)
        trial.given(name, given)
        pairs = list(_pairs(trial, given, form))
        for line, kind in pairs:
            trial.want(kind in listings.KINDS, form, f"{kind!r} is none of the kinds that `kinds()` lists.")
            there = any(defect.kind == kind for defect in one.defects)
            rule = {
                True: f"It is in this listing, but line {line} does not do it.",
                False: "No run fails because of it: whoever says that there is a defect shows one.",
            }
            trial.want((line, kind) in one.accepted, f"no {kind!r} in line {line}", rule[there])
        missed = [defect for defect in one.defects if defect.kind not in [kind for _, kind in pairs]]
        if missed:
            seen = listings.evidence(one.source, missed[0])
            trial.want(not seen, f"{len(one.defects)} defects in all; of one that is not named a run says: {seen}",
                       "A review that leaves out a defect has not read the line.")  # fmt: skip


def _pairs(trial: Trial, given: Any, form: str) -> Iterator[tuple[int, str]]:
    """Lines and kinds, in whatever way they were written down: by kind, by line, or as pairs."""
    rule = "A defect is named by its kind and a line."
    items = list(given.items()) if isinstance(given, dict) else said.listed(trial, given, form, rule)
    for item in items:
        trial.want(isinstance(item, Sequence) and len(item) == 2, form, rule)
        first, second = map(_several, item)
        for one in first:
            for other in second:
                line, kind = (other, one) if isinstance(one, str) else (one, other)
                trial.want(type(line) is int and isinstance(kind, str), form, rule)
                yield line, " ".join(kind.casefold().split())


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, Collection) and not isinstance(value, str) else [value]


PAGES = (1, 2, 4, 8, 12, 16)
BOTH = ("ReAct", "plan-and-execute")


@exercise(
    "11.5",
    nudge="Each question sends all that its model has to know. Which events end a job of a model, a plan or a step? Add up what "
    "their calls have read, in the order of the events.",
    question="ReAct asks once for each page and once more, and question number k carries k pages. What is the sum for 4 pages, "
    "and for 16? And what does the second executor of a plan know of the first page?",
    learned="A conversation that goes on is read again with each question, so its tokens grow faster than its steps; a task that "
    "sees only what it waits for costs the same, wherever it stands.",
    seconds=20.0,
)
def conversation(trial: Trial, grows: Any, times: Any) -> None:
    """The tokens read so far after each question of a run, and how much more sixteen pages cost than four."""
    lines: dict[str, dict[int, float]] = {}
    for variation in BOTH:
        for pages in PAGES:
            events = list(_file_read(variation, pages))
            came = trial.call(grows, _Record(events))
            trial.called = f"grows(the events of {variation} with {pages} {'page' if pages == 1 else 'pages'})"
            read = [call.input_tokens for _, call in calls_in(events)]
            form = f"{len(read)} numbers, one for each question to a model"
            rule = "Whoever is asked counts: the planner, and the model that carries out a task, before its call and behind it."
            found = said.numbers(trial, came, len(read), form, rule)
            trial.want(
                found[-1] == sum(read),
                "all tokens that were read, and none that were written, as the last number",
                "The last number is what the run has read altogether.",
            )
            trial.want(found == list(accumulate(read)), "each number the sum of all questions so far",
                       "A running total: it says what was read up to this question.")  # fmt: skip
            lines.setdefault(variation, {})[pages] = found[-1]
    trial.show(views.curves, lines, "The same pages: whose tokens grow with the square?", across="pages", up="tokens")
    trial.given("times", times)
    known = isinstance(times, dict) and set(times) == set(BOTH)
    ordered = [times[one] for one in BOTH] if known else times
    form = f"two numbers, for {' and '.join(BOTH)}"
    for name, number in zip(
        BOTH, said.numbers(trial, ordered, 2, form, "One number for each variation, in this order."), strict=True
    ):
        factor = lines[name][16] / lines[name][4]
        rule = "Add up all questions of a run: ReAct's get longer with each page, a task's do not."
        trial.want(abs(number - factor) <= factor / 10, f"the factor of {name}, within a tenth", rule)


@cache
def _file_read(variation: str, pages: int) -> tuple[Event, ...]:
    """The events of a run that reads a file, page by page, each step waiting for the one before; its end is left out."""

    def read_page(number: int) -> str:
        """Read a page of the file."""
        return f"Page {number}: " + "what stands there is of some length, and somebody reads it. " * 4

    steps = [
        {"id": str(number), "description": f"Read page {number}", "tool": "read_page", "params": {"number": number}}
        | ({"depends_on": [str(number - 1)]} if number > 1 else {})
        for number in range(1, pages + 1)
    ]
    plan = Plan.parse({"goal": f"Read the file of {pages} pages", "steps": steps})
    task = Task("file", plan, KnownWay(plan), object, lambda world, run: run.status == "finished")
    tools = Toolbox([Tool(read_page, latency=1.0, effects="none")])
    with scripted_model(task).client() as client:
        return tuple(variations.VARIATIONS[variation](client, tools, Simulated(1)).run(plan.goal).events[:-1])
