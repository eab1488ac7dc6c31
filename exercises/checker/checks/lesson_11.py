"""Checks for lesson 11, one loop with many names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import openai.resources.chat.completions  # noqa: F401  (imported before the time limit of a check starts)
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
from planexec_lite.model.asking import model_for
from planexec_lite.run.events import Event, PlanProposed, StepFailed
from planexec_lite.tools.references import resolve

from exercises.checker import drawn
from exercises.checker.checks import said
from exercises.checker.data import data
from exercises.checker.exercise import Raised, Trial, cut, exercise, raising
from exercises.hunts import listings

ON_PAPER = ("ReAct", "plan-and-execute", "planner-executor", "ReWOO")
CALLS = (
    "A one-step planner is asked for every step and once more. A model that runs a step is asked before and after "
    "the call. A solver adds one call."
)
NEAR = 0.2  # allowed relative error of an estimate


@exercise("11.1")
def on_paper(trial: Trial, calls: Any, seconds: Any, dollars: Any) -> None:
    """For the four variations, in order: the number of calls, the seconds, and the dollars."""
    rows = [_ran(name, "research") for name in ON_PAPER]
    ran = [(one.figures.calls, one.figures.seconds, one.figures.dollars) for one in rows]
    rules = (
        ("calls", 0.0, CALLS),
        (
            "seconds",
            NEAR,
            "In a chain all seconds add up, including those of model calls. Of parallel chains, only the longest "
            "counts.",
        ),
        ("dollars", NEAR, "For each model: calls × (tokens read × price + tokens written × price)."),
    )
    for place, ((name, near, rule), given) in enumerate(zip(rules, (calls, seconds, dollars), strict=True)):
        form = f"four numbers, for {', '.join(ON_PAPER)}"
        trial.given(name, given)
        known = isinstance(given, dict) and set(given) == set(ON_PAPER)
        ordered = [given[one] for one in ON_PAPER] if known else given
        numbers = said.numbers(
            trial, ordered, len(ON_PAPER), form, "Write one number for each variation, in this order."
        )
        for variation, number, figures in zip(ON_PAPER, numbers, ran, strict=True):
            within = ", within 20 %" if near else ""
            wanted = f"the {name} of a run of {variation}{within}"
            trial.want(abs(number - figures[place]) <= near * figures[place], wanted, rule)
    trial.show(race, rows)


@cache
def _ran(variation: str, task: str, faults: Faults | None = None) -> Row:
    """Return a row of the scoreboard, cached."""
    return row(variation, task, faults)


GOAL = "Mail a comparison of the rents of Lisbon and Split"
STEPS: Sequence[dict[str, Any]] = data("11.2")["steps"]
LOCKED = "the outbox is locked; unlock it first"
OPEN = "The outbox is open."
SILENT = "the land registry did not answer"
BROKEN = "the scales are out of order"
QUIET = "the outbox returns None"


class _Office:
    """A world with at most one problem: `trouble` is one of the three messages, or empty; QUIET: a tool returns None."""

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

    def mail(self, text: str) -> str | None:
        """Mail a text."""
        if self.trouble == LOCKED:
            raise PermissionError(LOCKED)
        self.log.append("mail")
        return f"sent: {text}" if self.trouble != QUIET else None

    def unlock(self) -> str:
        """Unlock the outbox."""
        self.trouble = ""
        return OPEN


class _Head:
    """The model: it writes a plan, and runs a step if its messages contain the task and the necessary results."""

    def __init__(self) -> None:
        self.plans = 0
        self.asked: list[Request] = []

    def reply(self, request: Request) -> Reply:
        """Answer a request."""
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
    """Return the step whose description is part of the text."""
    return next((step for step in STEPS if step["description"] in text), None)


@exercise("11.2")
def no_name(trial: Trial, rescue: Any) -> None:
    """An agent that asks its planner once, and asks a model only about steps whose call failed."""
    run, office, head = _sent(trial, rescue, "", "no problem")
    trial.show(views.timeline, run)
    trial.want(head.plans == 1, "one question to the planner", "The planner writes the whole plan at once.")
    trial.want(not head.asked, "no question about a step", "While no call fails, only tools are called.")
    trial.want(run.status == "finished", "a finished run", "Without a problem, the plan works.")
    _orderly(trial, run, office)
    trial.want(6.0 <= run.makespan <= 8.0, "at most 8 seconds: 2 for the plan, 3 for both cities in parallel, 3 for the rest",
               "Use the `workers` argument, so that independent steps run in parallel.")  # fmt: skip
    for trouble, failed in ((LOCKED, STEPS[3]), (SILENT, STEPS[1])):
        run, office, head = _sent(trial, rescue, trouble, trouble)
        _rescued(trial, run, office, head, trouble, failed)
    run, office, head = _sent(trial, rescue, BROKEN, f"{BROKEN}, permanently")
    trial.want(
        run.status == "failed",
        "a failed run",
        "If the model fails too, the step fails. Don't turn a failure into a result.",
    )
    trial.want("mail" not in office.log, "no mail", "Steps that depend on a failed step must not start.")
    trial.want(head.plans == 1, "one question to the planner", "The planner is not asked again, even if a step fails.")
    run, office, head = _sent(trial, rescue, QUIET, "`mail` returns None")
    rule = "A call that returns None has not failed."
    trial.want(not head.asked and run.status == "finished", "a finished run, and no question about a step", rule)


def _rescued(trial: Trial, run: Run, office: _Office, head: _Head, trouble: str, failed: Mapping[str, Any]) -> None:
    """Judge a run in which one call failed."""
    trial.want(
        head.plans == 1,
        "one question to the planner",
        "The plan is correct: let a model fix the failed call instead of planning again.",
    )
    trial.want(head.asked, f"a question about step {failed['id']}", "Pass a step whose call failed to a model.")
    texts = list(map(_text, head.asked))
    trial.want(all(_named(text) == failed for text in texts), f"questions only about step {failed['id']}, with its description",
               "The model needs the description of the failed step, and no other steps.")  # fmt: skip
    trial.want(
        trouble in texts[0],
        f"a first question that contains {trouble!r}",
        "Without the error, the model would repeat the same call.",
    )
    trial.want(
        "unlock" in head.asked[0].tools,
        "all tools offered to the model",
        "The model might need a tool other than the step's own.",
    )
    model, cheap = head.asked[0].model, model_for("executor")
    trial.want(model == cheap, f"{cheap} for the question about the step", "Use the cheap model for steps.", model)
    last = failed["id"] == "4"
    trial.want(run.status == "finished" and (not last or "mail" in office.log), "a finished run, with the mail sent",
               "Send the model the results of the step's dependencies, and use its final answer as the step's result.")  # fmt: skip
    _orderly(trial, run, office)


def _orderly(trial: Trial, run: Run, office: _Office) -> None:
    wanted = ["compare", "fetch Lisbon", "fetch Split", "mail"]
    trial.want(
        sorted(office.log) == wanted,
        "one successful call for each step of the plan",
        "Don't repeat finished work.",
    )
    answer = "sent: rents of Lisbon: 700 and rents of Split: 650"
    trial.want(run.answer == answer, f"the answer {answer!r}", "Return a step's result word for word.")


def _sent(trial: Trial, rescue: Any, trouble: str, told: str) -> tuple[Run, _Office, _Head]:
    """Run the agent in an office with this problem."""
    office, head = _Office(trouble), _Head()
    with MockLLM([{"name": "the office", "reply": {"python": head.reply}}]).client() as client:
        agent = trial.call(rescue, client, office.tools, Simulated(4))
        trial.want(
            isinstance(agent, PlannerExecutor),
            "a `PlannerExecutor`",
            "Return an agent made from the client, the tools and the workers.",
        )
        try:
            run = agent.run(GOAL)
        except Exception as error:
            raise Raised(error) from error
    trial.called = f"rescue(client, tools, workers).run({GOAL!r}); {told}"
    failures = [event.error for event in run.events if isinstance(event, StepFailed | PlanProposed) and event.error]
    trial.came = cut(f"{run.status}; done: {', '.join(office.log) or 'nothing'}; questions to the planner: {head.plans}, "
                     f"about steps: {len(head.asked)}{''.join(f'; {error}' for error in failures[:1])}")  # fmt: skip
    return run, office, head


class _Case(NamedTuple):
    """A run, whether it reached its goal, and otherwise which half was at fault."""

    events: list[Event]
    reached: bool
    calm: Callable[[Any], bool]
    fault: str | None
    rule: str


class _Record(list[Event]):
    """A run's events; the repr lists plans and failures."""

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
    """A world to write, stamp and post a letter; `down` names a tool that fails, `idle` a tool that does nothing."""

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
        """Post the stamped letter to a city: Graz or Linz."""
        if city not in ("Graz", "Linz"):
            raise ValueError(f"no mail is delivered to {city}")
        if self.idle != "stamp" and set(self.done) != {"write", "stamp"}:
            raise RuntimeError("there is no stamped letter")
        return self._do("post", city)

    @property
    def reached(self) -> bool:
        """Return whether Ann has the letter."""
        return self.done == {"write": "Ann", "stamp": "yes", "post": "Graz"}


def _plan(*steps: tuple[str, str], city: str = "Graz", to: str = "Ann", mark: str = "") -> Any:
    """Make a plan from pairs: a tool, and the tools it depends on ("write+stamp")."""
    params = {"write": {"to": to}, "stamp": {}, "post": {"city": city}}
    return [
        {"id": f"{name}{mark}", "tool": name, "params": params.get(name, {}),
         "depends_on": [f"{one}{mark}" for one in before.split("+") if one]}
        for name, before in steps
    ]  # fmt: skip


RIGHT = (("write", ""), ("stamp", "write"), ("post", "stamp"))


class _Written:
    """A planner that returns these plans one after the other, then repeats the last plan."""

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
    """Return the case of ReWOO on the scoreboard's deploy task."""
    task = tasks()["deploy"]

    def calm(plan: Plan) -> bool:
        world = task.world()
        run = execute(plan, ToolExecutor(world.tools), workers=Simulated(4))
        return run.status == "finished" and task.reached(world, run)

    one = _ran("ReWOO", "deploy", faults)
    return _Case(one.run.events, one.reached, calm, fault, rule)


def _cases() -> Iterator[_Case]:
    """Yield runs of both worlds."""
    late, early = _plan(*RIGHT), _plan(("post", ""), *RIGHT[:2])
    unknown = _plan(*RIGHT, ("fax", ""))
    world = "In a world without failures this plan reaches the goal, so the plan is correct."
    known = "The plan fails even in a world without failures, so the plan is wrong."
    fine = "The run reached its goal: it recovered from the failures."
    yield _scored(None, fine, Faults())
    yield _letter("execution", world, _Letter(down="stamp"), late)
    yield _letter("plan", known, _Letter(), _plan(*RIGHT, city="Atlantis"))
    yield _letter("plan", known, _Letter(), early)
    yield _scored("execution", world, Faults("flaky tool", 0.3, 1))
    yield _scored(
        "plan",
        "A run can finish without reaching its goal: here the plan left a step out.",
        Faults("wrong first plan", 1.0, 0),
    )
    yield _letter(
        "plan",
        "An invalid plan is a planning fault; no plan ran that you could test.",
        _Letter(),
        unknown,
    )
    yield _letter(None, fine, _Letter(), unknown, late)
    yield _letter(
        "execution",
        "The first plan was invalid and never ran; the plan that ran is correct.",
        _Letter(down="post"),
        unknown,
        late,
    )
    yield _scored("execution", world, Faults("late surprise", 1.0, 3))
    yield _letter(
        "execution",
        "The plan is correct, but a tool reported success without doing anything.",
        _Letter(idle="stamp"),
        late,
    )
    yield _letter(
        "plan",
        "Both halves failed here; but the plan fails even with working tools.",
        _Letter(down="stamp"),
        _plan(*RIGHT, to="Ben"),
    )
    again = _plan(*RIGHT, mark="2", city="Linz")
    yield _letter("plan", "Test the last plan that ran.", _Letter(down="stamp"), late, again, replan=True)
    again = _plan(*RIGHT, mark="2")
    first = _plan(*RIGHT, city="Atlantis")
    rule = "The last plan was invalid and did not run. Test the last plan that ran."
    yield _letter("execution", rule, _Letter(down="stamp"), late, unknown, replan=True)
    yield _letter(None, fine, _Letter(), first, again, replan=True)
    yield _letter("execution", "Test the last plan that ran.", _Closed(), first, again, replan=True)


class _Closed(_Letter):
    """A world in which mail to Graz fails."""

    def post(self, city: str) -> str:
        """Post the stamped letter to a city: Graz or Linz."""
        if city == "Graz":
            raise ConnectionError("mail to Graz is suspended")
        return super().post(city)


@exercise("11.3")
def whose_fault(trial: Trial, fault: Any) -> None:
    """None if the run reached its goal; otherwise "plan" or "execution"."""
    for case in _cases():
        tried: list[Any] = []

        def calm(plan: Any, case: _Case = case, tried: list[Any] = tried) -> bool:
            """Return whether the plan reaches the goal in a world without failures."""
            tried.append(plan)
            if not isinstance(plan, Plan):
                raise TypeError(f"calm takes a plan, not {plan!r}")
            return case.calm(plan)

        trial.wanted = repr(case.fault)
        came = trial.call(fault, _Record(case.events), case.reached, calm)
        trial.want(
            came in (None, "plan", "execution"), 'None, "plan" or "execution"', "Return one of these three values."
        )
        trial.want(came == case.fault, repr(case.fault), case.rule)
    error = IndexError("the new world has no letters")
    trial.lets_through(error, fault, _Record(case.events), False, raising(error))


@exercise("11.4")
def whole_listing(trial: Trial, tickets: Any, release: Any, report: Any) -> None:
    """For each listing, exactly its defects, each with its kind and a line where it occurs."""
    form = 'kinds and lines, such as {"unknown tool": 12, "no bound": 7}'
    for name, given in zip(listings.NAMES, (tickets, release, report), strict=True):
        one = listings.listing(name)
        trial.given(name, given)
        pairs = list(_pairs(trial, given, form))
        for line, kind in pairs:
            trial.want(kind in listings.KINDS, form, f"`kinds()` does not list {kind!r}.")
            there = any(defect.kind == kind for defect in one.defects)
            rule = {
                True: f"This listing has such a defect, but not in line {line}.",
                False: "No run fails because of this line.",
            }
            came = f"{kind!r} in line {line} of {name}"
            trial.want((line, kind) in one.accepted, "only defects that make a run fail", rule[there], came)
        missed = [defect for defect in one.defects if not any(_names(defect, one, *pair) for pair in pairs)]
        if missed:
            seen = listings.evidence(one.source, missed[0])
            came = f"{name}: {len(one.defects) - len(missed)} of {len(one.defects)} defects named"
            trial.head, trial.called = "called", f"a run of {name} that shows a missing defect: {seen}"
            trial.want(not seen, "every defect that makes a run fail", "Your review misses a defect.", came)


def _names(defect: Any, listing: Any, line: int, kind: str) -> bool:
    """Return whether a line and a kind name the defect; another kind can fit it as well if no defect has this kind."""
    own = any(other.kind == kind for other in listing.defects)
    return bool(kind == defect.kind if own else line in defect.lines and (line, kind) in listing.accepted)


def _pairs(trial: Trial, given: Any, form: str) -> Iterator[tuple[int, str]]:
    """Yield lines and kinds from any form of the answer: by kind, by line, or as pairs."""
    rule = "Name each defect by its kind and a line."
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


@exercise("11.5")
def conversation(trial: Trial, grows: Any, times: Any) -> None:
    """The running total of input tokens after each question, and the cost of the long file divided by that of the short one."""
    lines: dict[str, dict[int, float]] = {}
    file = drawn.drawn("11.5")
    for variation in BOTH:
        for pages in sorted({*PAGES, *file.values()}):
            events = list(_file_read(variation, pages))
            came = trial.call(grows, _Record(events))
            trial.called = f"grows(the events of {variation} with {pages} {'page' if pages == 1 else 'pages'})"
            read = [call.input_tokens for _, call in calls_in(events)]
            form = f"{len(read)} numbers, one for each question to a model"
            rule = "Count every model call: the planner's, and for each task the calls before and after its tool call."
            found = said.numbers(trial, came, len(read), form, rule)
            trial.want(
                found[-1] == sum(read),
                "the sum of all input tokens, without output tokens, as the last number",
                "The last number is the run's total of input tokens.",
            )
            trial.want(found == list(accumulate(read)), "each number the sum over all questions so far",
                       "Return a running total: the input tokens up to and including this question.")  # fmt: skip
            lines.setdefault(variation, {})[pages] = found[-1]
    trial.show(
        views.curves,
        lines,
        "The same pages: which variation's tokens grow with the square?",
        across="pages",
        up="tokens",
    )
    trial.given("times", times)
    known = isinstance(times, dict) and set(times) == set(BOTH)
    ordered = [times[one] for one in BOTH] if known else times
    form = f"two numbers, for {' and '.join(BOTH)}"
    for name, number in zip(
        BOTH, said.numbers(trial, ordered, 2, form, "Write one number for each variation, in this order."), strict=True
    ):
        factor = lines[name][file["long"]] / lines[name][file["short"]]
        rule = "Add up all questions of a run: ReAct's questions get longer with each page, a task's do not."
        trial.want(abs(number - factor) <= factor / 10, f"the factor of {name}, within 10 %", rule)


@cache
def _file_read(variation: str, pages: int) -> tuple[Event, ...]:
    """Return the events, without the last, of a run that reads a file page by page, each step depending on the previous step."""

    def read_page(number: int) -> str:
        """Read a page of the file."""
        return f"Page {number}: " + "this page has several words, and the agent reads all of it. " * 4

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
