"""Checks for lesson 07, the human in the loop."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from itertools import starmap
from typing import Any

from planexec_lab import views
from planexec_lab.worlds import deploy
from planexec_lite import (
    Board,
    Decision,
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    ScriptedReviewer,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
)
from planexec_lite.plan import Call
from planexec_lite.run.events import Event, Paused, PlanProposed, Question, Reviewed, StepDone, StepFailed, StepStarted

from exercises.checker.checks import said
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise, raising

LETTERS = "ABCDEF"


class _Plan(Plan):
    """A plan whose repr is one line."""

    def __repr__(self) -> str:
        return f"<plan {'; '.join(map(_short, self.steps))}>"


def _short(step: Any) -> str:
    more = [word for word, there in (("gate", step.gate), ("undo", step.undo)) if there]
    more += [f"effects={step.effects}"] if step.effects else []
    return f"{step.id} {step.tool or 'no tool'}" + (f" ({', '.join(more)})" if more else "")


def _plan(*steps: str | dict[str, Any], goal: str = "Invite the guests") -> _Plan:
    """Make a chain of steps, each given as a tool name or a dict; steps without an id are numbered from 1."""
    listed: list[dict[str, Any]] = []
    for number, step in enumerate(steps, 1):
        asked = {"tool": step} if isinstance(step, str) else step
        listed.append({"id": str(number), "depends_on": [one["id"] for one in listed[-1:]]} | asked)
    return _Plan.model_validate({"goal": goal, "steps": listed})


@exercise("07.1")
def survives(trial: Trial, still_approved: Any) -> None:
    """The letters of the texts that are the approved plan, as a string such as "ABF"."""
    plan = Plan.parse(deploy.PLAN)
    trial.given("still_approved", still_approved)
    wanted = 'letters from A to F, as in `still_approved = "ABF"`, or "" for none'
    letters = said.names(trial, still_approved, LETTERS, wanted, "Write your prediction as the letters of the texts.")
    rules = data("07.1")["rules"]
    for letter, text in _retyped().items():
        same = Plan.parse(text).hash == plan.hash
        wanted = f"whether plan {letter} has the approved hash"
        trial.want((letter in letters) == same, wanted, rules[letter])


def _retyped() -> dict[str, str]:
    """Return the six texts of the exercise."""
    data = json.loads(deploy.PLAN)

    def text(steps: list[dict[str, Any]]) -> str:
        return json.dumps(data | {"steps": steps})

    def but(id: int, **changed: Any) -> str:
        return text([step | changed if step["id"] == id else step for step in data["steps"]])

    return {
        "A": json.dumps(data, sort_keys=True, indent=8),
        "B": text([step | {"id": str(step["id"])} for step in data["steps"]]),
        "C": but(3, description="Backup production database."),
        "D": text([*data["steps"][2:3], *data["steps"][:2], *data["steps"][3:]]),
        "E": text([step | {"retries": 0, "gate": False} for step in data["steps"]]),
        "F": but(6, depends_on=[5, 3]),
    }


class _Log(list[Event]):
    """Events whose repr is a short summary."""

    def __repr__(self) -> str:
        return f"<events: {'; '.join(map(_told, self))}>"


def _told(event: Event) -> str:
    match event:
        case PlanProposed(plan=Plan() as plan):
            gates = [step.id for step in plan.steps if step.gate]
            return f"plan {plan.hash[:4]}{' with a gate before ' + ', '.join(gates) if gates else ''}"
        case Reviewed():
            of = f"step {event.step}" if event.step else f"plan {event.plan_hash[:4]}"
            return f"{event.by}: {event.verdict} {of}{', edited' if event.plan else ''}"
        case StepStarted():
            return f"step {event.step} starts"
        case StepDone():
            return f"step {event.step} done"
        case Paused():
            return "pause"
    return type(event).__name__


@exercise("07.2")
def audited(trial: Trial, audit: Any) -> None:
    """The ids of the steps that started without an approval of the current plan, or without an approval at their own gate."""
    given = data("07.2")
    plans = {name: _plan(*steps) for name, steps in given["plans"].items()}
    for rule, rows in given["cases"].items():
        for record, *right in rows:
            events = [event for part in record.split(", ") for event in _recorded(part, plans)]
            came = trial.call(audit, _Log(events))
            fits = isinstance(came, (list, tuple, set)) and all(isinstance(id, str) for id in came)
            trial.want(fits, "a list of step ids", "Return the ids of the steps that started without permission.")
            trial.want(sorted(came) == right, f"{right or '[]: every start was allowed'}", rule)
    run = _gated_run()
    came = trial.call(audit, _Log(run.events))
    trial.want(
        not came, "[]: the kit asked twice and received two approvals", "Report only starts without an approval."
    )


def _recorded(part: str, plans: Mapping[str, Plan]) -> list[Event]:
    """Return the events of a part of a record: "new first", "approve gated 2" (its gate before step 2), "start 1 2"."""
    word, *names = part.split()
    match word:
        case "new":
            return [PlanProposed(0.0, plans[names[0]])]
        case "start":
            return [event for id in names for event in (StepStarted(0.0, id), StepDone(0.0, id, "ok"))]
        case "fail":
            return [StepStarted(0.0, names[0]), StepFailed(0.0, names[0], "no answer")]
    plan, step = plans[names[0]], " ".join(names[1:]) or None
    edited = plan if word in ("edit", "refuse") else None
    verdict: Any = {"edit": "approve", "refuse": "reject"}.get(word, word)
    asked = Question("gate", {}, step=step) if step else Question("approval", {}, plan=plan)
    return [Paused(0.0, asked), Reviewed(0.0, verdict, plan.hash, "Ada", "because", step, edited, of=asked.digest)]


class _Post:
    """A toolbox for inviting guests, and a record of its calls."""

    def __init__(self) -> None:
        self.done: list[str] = []

        def acts(name: str) -> Callable[[], str]:
            def act() -> str:
                self.done.append(name)
                if name == "print":
                    raise OSError("the printer is out of paper")
                return name

            act.__name__, act.__doc__ = name, f"To {name} something."
            return act

        kinds: list[tuple[str, Any]] = [("look", "none"), ("save", "idempotent"), ("print", "none")]
        kinds += [("send", "once"), ("book", "once"), ("cancel", "idempotent")]
        self.tools = Toolbox([Tool(acts(name), effects=effects) for name, effects in kinds])

    def agent(self, plans: Sequence[Plan], reviewer: Any) -> PlannerExecutor:
        """Return a new agent whose planner gives one plan after the other, then repeats the last plan."""
        self.done.clear()
        left = list(plans)
        planner = RulePlanner(lambda goal: left.pop(0) if len(left) > 1 else left[0])
        policy = Policy(replan="failure", max_replans=1)
        return PlannerExecutor(planner, ToolExecutor(self.tools), reviewer, workers=Simulated(), policy=policy)


def _gated_run() -> Run:
    """Return a run of two steps, the second with a gate, and two approvals by a person."""
    plan = _plan("look", {"tool": "send", "gate": True})
    return _Post().agent([plan], ScriptedReviewer(["approve", "approve"])).run(plan.goal)


@exercise("07.3")
def asks(trial: Trial, desk: Any) -> None:
    """A reviewer that asks a person: silence leaves the run paused, an approval covers one hash, and a gate asks every time."""
    post, plan = _Post(), _plan("look", "send")
    person = _Person(None, Decision("approve", by="Ada"))
    reviewer = _Desk(trial, trial.call(desk, person))
    agent = post.agent([plan], reviewer)
    run = agent.run(plan.goal)
    rule = "Silence is not approval. A reviewer without a decision returns None, and the run stays paused."
    trial.want(run.status == "paused" and not post.done, f"a run that waits; this run has {_did(post)}", rule)
    trial.show(views.board, run)
    run = agent.run(plan.goal)
    wanted = f"a second run that finishes with Ada's approval; {person} was asked {_times(person)}"
    trial.want(
        run.status == "finished" and len(person.asked) == 2,
        wanted,
        "Don't store silence as an answer; ask again in the next run.",
    )
    run = agent.run(plan.goal)
    rule = "This exact plan is already approved, so don't ask again."
    wanted = f"a third run without a question; {person} was asked {_times(person)}"
    trial.want(run.status == "finished" and len(person.asked) == 2, wanted, rule)
    _asks_anew(trial, desk, post)
    _remembers(trial, desk, post)
    _asks_after_a_rejection(trial, desk, post)
    error = ConnectionError("no line to the desk")
    question = _Question("approval", {}, plan=plan)
    trial.lets_through(error, trial.call(desk, raising(error)), question, run.board, post.tools)


def _asks_after_a_rejection(trial: Trial, desk: Any, post: _Post) -> None:
    """Check that only approvals are kept: a person can change their mind about a rejected plan."""
    plan, verdicts = _plan("look", "send"), ("reject", "change")
    for verdict in verdicts:
        person = _Person(Decision(verdict, by="Ada"), Decision("approve", by="Ada"))
        reviewer = _Desk(trial, trial.call(desk, person))
        for _ in verdicts:
            run = post.agent([plan], reviewer).run(plan.goal)
        wanted = f"a second run that finishes with Ada's approval; {person} was asked {_times(person)}"
        rule = "Don't ask twice about an approved plan, but ask about any other plan, also about a rejected one."
        trial.want(run.status == "finished" and len(person.asked) == 2, wanted, rule)


def _remembers(trial: Trial, desk: Any, post: _Post) -> None:
    """Check that the desk asks about neither of two approved plans again."""
    plans = _plan("look", "send"), _plan("look", "save")
    person, other = _Person(*[Decision("approve", by="Ada")] * 2), _Person(None)
    reviewer = _Desk(trial, trial.call(desk, person))
    for plan in (*plans, *plans):
        run = post.agent([plan], reviewer).run(plan.goal)
        rule = "Approving a second plan does not cancel the first approval."
        wanted = f"four runs that finish, with two questions in all; this run is {run.status}"
        trial.want(run.status == "finished" and len(person.asked) <= 2, f"{wanted}, after {_times(person)}", rule)
    run = post.agent([plans[0]], _Desk(trial, trial.call(desk, other))).run(plans[0].goal)
    wanted = f"a run that waits at a second desk; {other} was asked {_times(other)}"
    trial.want(run.status == "paused", wanted, "The person at the second desk has not answered yet.")
    for more in ({"retries": 1}, {"timeout": 60.0}, {"gate": True}):
        person = _Person(Decision("approve", by="Ada"), None)
        reviewer = _Desk(trial, trial.call(desk, person))
        for plan in (_plan("look", "save"), _plan("look", {"tool": "save"} | more)):
            run = post.agent([plan], reviewer).run(plan.goal)
        wanted = f"two questions: the plans differ in {next(iter(more))}; {person} was asked {_times(person)}"
        trial.want(
            len(person.asked) == 2 and "save" not in post.done,
            wanted,
            "An approval covers one hash, and so every field.",
        )


def _asks_anew(trial: Trial, desk: Any, post: _Post) -> None:
    """Check that the desk asks again about a replan, about a plan with another description, and at a gate."""
    harmless, other = _plan("look", "print"), _plan("look", {"id": "2b", "tool": "send"})
    person = _Person(Decision("approve", by="Ada"), Decision("reject", by="Ada"))
    run = post.agent([harmless, other], _Desk(trial, trial.call(desk, person))).run(harmless.goal)
    rule = "A replan has another hash, so the first approval does not cover it."
    wanted = f"two questions, and nothing sent; {person} was asked {_times(person)}, and the run has {_did(post)}"
    trial.want(len(person.asked) == 2 and "send" not in post.done and run.status == "stopped", wanted, rule)
    person = _Person(Decision("approve", by="Ada"), None)
    reviewer = _Desk(trial, trial.call(desk, person))
    alike = (f"to guest {number}" for number in range(10**5))  # both hashes start with the same two digits
    first = _plan("look", {"tool": "send", "description": "to all"}).hash
    twin = next(more for more in alike if _plan("look", {"tool": "send", "description": more}).hash[:2] == first[:2])
    for more in ("to all", twin):
        plan = _plan("look", {"tool": "send", "description": more})
        run = post.agent([plan], reviewer).run(plan.goal)
    wanted = f"two questions: the plans differ in a description; {person} was asked {_times(person)}"
    trial.want(
        run.status == "paused" and len(person.asked) == 2, wanted, "An approval covers one hash, and so every word."
    )
    plan = _plan("look", {"tool": "send", "gate": True})
    person = _Person(Decision("approve", by="Ada"), None, Decision("reject", by="Ada"), Decision("approve", by="Ada"))
    agent = post.agent([plan], _Desk(trial, trial.call(desk, person)))
    run = agent.run(plan.goal)
    wanted = f"a run that waits before step 2, with look done; this run is {run.status} and has {_did(post)}"
    rule = "Approving the plan does not open a gate: the gate asks again, with the results so far."
    trial.want(run.status == "paused" and post.done == ["look"] and len(person.asked) == 2, wanted, rule)
    for status in ("stopped", "finished"):
        run = agent.run(plan.goal)
        wanted = f"a run that asks at its gate and is then {status}; this run is {run.status} and has {_did(post)}"
        trial.want(run.status == status, wanted, "A decision at a gate counts only once, so don't store it.")
    trial.want(len(person.asked) == 4, f"a question at each gate, not only {_times(person)}", rule)


class _Question(Question):
    """A question whose repr is short."""

    def __repr__(self) -> str:
        return f"<{self}{'' if self.plan is None else f' of {self.plan!r}'}>"


class _Person:
    """A person who answers from a list; `asked` records the questions."""

    def __init__(self, *answers: Decision | None) -> None:
        self.answers, self.asked = answers, list[Question]()

    def __call__(self, question: Question) -> Decision | None:
        self.asked.append(question)
        return self.answers[len(self.asked) - 1] if len(self.asked) <= len(self.answers) else None

    def __repr__(self) -> str:
        words = [answer.verdict if answer else "silence" for answer in self.answers]
        return f"the person with the answers {', '.join(words)}"


class _Desk:
    """The learner's reviewer in the kit, with checks of its decisions."""

    def __init__(self, trial: Trial, review: Any) -> None:
        self.trial, self.decide = trial, review
        trial.want(callable(review), "a function, as in `return review`", "`desk` must return a reviewer.")

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision | None:
        """Ask the learner's reviewer."""
        shown = {field.name: getattr(question, field.name) for field in fields(question)}
        if (plan := question.plan) is not None:
            shown["plan"] = _Plan(**{name: getattr(plan, name) for name in Plan.model_fields})
        came: Any = self.trial.call(self.decide, _Question(**shown), board, tools)
        fits = came is None or isinstance(came, Decision)
        self.trial.want(fits, "a Decision, or None", "A reviewer returns a decision, or None to leave the run paused.")
        decision: Decision | None = came
        return decision


def _did(post: _Post) -> str:
    return f"done {', '.join(post.done)}" if post.done else "done nothing"


def _times(person: _Person) -> str:
    return f"{len(person.asked)} time{'s' if len(person.asked) != 1 else ''}"


@exercise("07.4")
def policed(trial: Trial, policy: Any) -> None:
    """A Decision or None: stop plans with a dangerous step without a gate, and let harmless plans run."""
    given, post = data("07.4"), _Post()
    for rule, rows in given["dangerous"].items():
        for ids, *steps in rows:
            _is_stopped(trial, policy, post, _plan(*steps), ids.split(), rule)
    bare = next(iter(given["dangerous"])) + " The plan's rollback does not count as its undo."
    sends = _plan("look", "send").model_copy(update={"rollback": (Call(tool="cancel", params={}),)})
    _is_stopped(trial, policy, post, sends, ["2"], bare)
    free = "If you stop harmless plans, people learn to click Approve without reading."
    for plan in starmap(_plan, given["harmless"]):
        run = post.agent([plan], _Policy(trial, policy)).run(plan.goal)
        wanted = f"a run that finishes without a question; this run is {run.status}: {run.reason}"
        trial.want(run.status == "finished", wanted, free)
    for plan in starmap(_plan, given["gated"]):
        agent = post.agent([plan], _Policy(trial, policy))
        run = agent.run(plan.goal)
        if not trial.figures:
            trial.show(views.board, run)
        asked = run.question
        wanted = f"a run that waits at the gate of step 2; this run is {run.status}: {run.reason}"
        rule = "Accept a plan whose dangerous step has its own gate, but let only a person open that gate."
        trial.want(asked is not None and (asked.kind, asked.step) == ("gate", "2"), wanted, rule)
        run = agent.resume(run, Decision("approve", by="Ada"))
        trial.want(run.status == "finished", f"a run that finishes after Ada's approval, not: {run.reason}", free)
    plan, later = _plan("look", "print"), _plan("look", {"id": "2b", "tool": "send"})
    post.agent([plan, later], _Policy(trial, policy)).run(plan.goal)
    trial.want(post.done[:2] == ["look", "print"], "a run that starts with look and print", free)
    trial.want(
        "send" not in post.done, "nothing sent: the second plan is dangerous", "Check every plan, including replans."
    )
    plan, later = _plan("look", "print"), _plan("look", {"id": "2b", "tool": "save"})
    run = post.agent([plan, later], _Policy(trial, policy)).run(plan.goal)
    wanted = f"a run that finishes without a question after a harmless replan; this run is {run.status}: {run.reason}"
    trial.want(run.status == "finished", wanted, free)


class _Policy(_Desk):
    """The learner's policy in the kit; it must not edit anything but gates."""

    def review(self, question: Question, board: Board, tools: Toolbox) -> Decision | None:
        """Ask the learner's policy."""
        decision = super().review(question, board, tools)
        if decision is not None and decision.plan is not None and question.plan is not None:
            same = _ungated(decision.plan) == _ungated(question.plan)
            rule = "Adding a gate must not change the step itself."
            self.trial.want(same, "the same plan with added gates and no other change", rule)
        return decision


def _ungated(plan: Plan) -> Plan:
    """Return the plan without its gates."""
    return plan.changed(steps=tuple(step.model_copy(update={"gate": False}) for step in plan.steps))


def _is_stopped(trial: Trial, policy: Any, post: _Post, plan: Plan, ids: list[str], rule: str) -> None:
    """Check that no dangerous step starts unless a person opens its gate, and that no other step has an added gate."""
    agent = post.agent([plan], _Policy(trial, policy))
    run = agent.run(plan.goal)
    gates = [*ids, *(step.id for step in plan.steps if step.gate)]
    opened = list[str]()
    while (asked := run.question) is not None and asked.step is not None:
        wanted = f"no gate before step {asked.step}, which is harmless"
        trial.want(asked.step in gates, wanted, "Put gates only before steps that can't be undone.")
        opened.append(asked.step)
        run = agent.resume(run, Decision("approve", by="Ada"))
    begun = {event.step for event in run.events if isinstance(event, StepStarted) and event.step in ids} - {*opened}
    wanted = f"a run in which step {' and step '.join(ids)} starts only after a person's approval"
    trial.want(not begun, wanted, rule)
    reviews = run.board.reviews
    if reviews and reviews[-1].verdict != "approve":
        words = re.findall(r"[\w-]+", reviews[-1].comment)
        named = all(id in words for id in ids)
        rule = "If you stop the plan, name the steps that caused this, and not every step."
        every = len(plan.steps) > 3 and all(step.id in words for step in plan.steps)
        trial.want(named and not every, f"a comment that names step {' and step '.join(ids)}", rule)
