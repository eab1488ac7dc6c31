"""Lesson 07, the human in the loop: what its exercises are judged by."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from exercises.checks import said
from exercises.exercise import Trial, exercise
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
from planexec_lite.events import Event, Paused, PlanProposed, Reviewed, StepDone, StepStarted
from planexec_lite.plan import Call

LETTERS = "ABCDEF"


class _Plan(Plan):
    """A plan whose text is one line."""

    def __repr__(self) -> str:
        return f"<plan {'; '.join(map(_short, self.steps))}>"


def _short(step: Any) -> str:
    more = [word for word, there in (("gate", step.gate), ("undo", step.undo)) if there]
    more += [f"effects={step.effects}"] if step.effects else []
    return f"{step.id} {step.tool or 'no tool'}" + (f" ({', '.join(more)})" if more else "")


def _plan(*steps: str | dict[str, Any], goal: str = "Invite the guests") -> _Plan:
    """A chain of steps, each the name of a tool or a dict; numbered from 1 where a dict names no id."""
    listed: list[dict[str, Any]] = []
    for number, step in enumerate(steps, 1):
        asked = {"tool": step} if isinstance(step, str) else step
        listed.append({"id": str(number), "depends_on": [one["id"] for one in listed[-1:]]} | asked)
    return _Plan.model_validate({"goal": goal, "steps": listed})


@exercise(
    "07.1",
    nudge="The hash is taken of the canonical JSON: it knows what a plan says, and not how somebody typed it. It does not "
    "know either what you would call the same.",
    question="For each letter: when the text has been read into a `Plan`, does any field of any step differ? And is the "
    "order of a list part of what a plan says?",
    learned="A hash may ask once too often, and never once too seldom: that is the side on which an approval has to err.",
)
def survives(trial: Trial, still_approved: Any) -> None:
    """The letters of the texts that are the approved plan, as one text such as "ABF"."""
    plan = Plan.parse(deploy.PLAN)
    trial.given("still_approved", still_approved)
    wanted = 'letters from A to F, as in `still_approved = "ABF"`, or "" for none'
    letters = said.names(trial, still_approved, LETTERS, wanted, "A prediction names the texts.")
    rules = {
        "A": "Spaces and the order of the keys are how JSON is typed. The plan that is read is the same.",
        "B": "An id is a text: the integer becomes one when the plan is read.",
        "C": "The words are what the reviewer has read. Other words are another plan.",
        "D": "The order of the steps says who goes first when slots are short: it is part of the plan.",
        "E": "A default that is written out says nothing new.",
        "F": "A list is compared in its order. Two plans may mean the same and still be two texts to read.",
    }
    for letter, text in _retyped().items():
        same = Plan.parse(text).hash == plan.hash
        wanted = f"whether text {letter}, read as a plan, has the hash that was approved"
        trial.want((letter in letters) == same, wanted, rules[letter])


def _retyped() -> dict[str, str]:
    """The six texts of the exercise."""
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
    """Events whose text is what happened, in a few words."""

    def __repr__(self) -> str:
        return f"<events: {'; '.join(map(_told, self))}>"


def _told(event: Event) -> str:
    match event:
        case PlanProposed(plan=Plan() as plan):
            gates = [step.id for step in plan.steps if step.gate]
            return f"plan {plan.hash[:4]}{' with a gate before ' + ', '.join(gates) if gates else ''}"
        case Reviewed():
            of = f"step {event.step}" if event.step else f"plan {event.plan_hash[:4]}"
            return f"{event.by}: {event.verdict} {of}{', which they edited' if event.plan else ''}"
        case StepStarted():
            return f"step {event.step} starts"
        case StepDone():
            return f"step {event.step} done"
        case Paused():
            return "pause"
    return type(event).__name__


@exercise(
    "07.2",
    nudge="Go through the events once and remember three things: the plan that counts, the hashes that somebody approved, "
    "and the gates that are open.",
    question="Which event changes the plan besides the planner's? Which of the three memories does a new plan empty, and "
    "which does it leave alone?",
    learned="If the record holds plans, decisions and starts in order, anybody can check afterwards who allowed what.",
)
def audited(trial: Trial, audit: Any) -> None:
    """The ids of the steps that started without a yes: to the plan that counted then, and to their own gate."""
    first, second = _plan("look", "save"), _plan({"id": "1b", "tool": "look"}, {"id": "2b", "tool": "send"})
    gated = _plan("look", {"tool": "send", "gate": True})
    again = _plan("look", {"tool": "send", "gate": True}, "save")
    of_plan, of_hash = "A step runs on a yes to the plan that counts now.", "An approval is of a hash."
    own = "A gate is asked about by itself: a yes to the plan does not open it."
    cases: list[tuple[list[Event], list[str], str]] = [
        ([_new(first), _yes(first), *_starts("1", "2")], [], of_plan),
        ([_new(first), *_starts("1", "2")[:-1]], ["1", "2"], of_plan),
        ([_new(first), *_starts("1"), _yes(first), *_starts("2")], ["1"], "A yes that comes later allows what is later."),
        ([_new(first), _says("reject", first), *_starts("1")], ["1"], "A no is a decision too."),
        ([_new(first), _says("change", first), _new(second), *_starts("1b")], ["1b"], "To ask for a change is no yes."),
        ([_new(first), _yes(first), *_starts("1"), _new(second), *_starts("1b", "2b")], ["1b", "2b"], of_hash),
        ([_new(first), _new(second), _yes(first), *_starts("1b")], ["1b"], "The answer was about the plan before."),
        ([_new(first), _yes(first), _new(second), _new(first), *_starts("1", "2")], [], of_hash),
        ([_new(first), _edit(second), *_starts("1b", "2b")], [], "Who edits approves what they made of it."),
        ([_new(gated), _yes(gated), *_starts("1", "2")], ["2"], own),
        ([_new(gated), _yes(gated), *_starts("1"), _open(gated, "2"), *_starts("2")], [], own),
        ([_new(gated), _yes(gated), *_starts("1"), _open(gated, "1"), *_starts("2")], ["2"], own),
        ([_new(gated), _yes(gated), *_starts("1"), _says("reject", gated, "2"), *_starts("2")], ["2"], "A no opens nothing."),
        ([_new(first), _edit(gated), *_starts("1", "2")], ["2"], "An edited plan counts from then on, with its gates."),
        ([_new(gated), _yes(gated), _open(gated, "2"), _new(again), _yes(again), *_starts("1", "2")], ["2"],
         "A new plan closes every gate again."),
        ([_new(first), _yes(first), _open(first, "2"), _edit(gated), *_starts("1", "2")], ["2"],
         "A new plan closes every gate again, an edited one too."),
        ([_new(gated), _open(gated, "2"), *_starts("1", "2")], ["1", "2"], "A yes at a gate is about that step, not the plan."),
        ([_new(first), _yes(first), _new(second), _says("reject", second), _new(first), *_starts("1")], [],
         "A no to one plan says nothing of another."),
    ]  # fmt: skip
    for events, right, rule in cases:
        came = trial.call(audit, _Log(events))
        fits = isinstance(came, (list, tuple, set)) and all(isinstance(id, str) for id in came)
        trial.want(fits, "a list of step ids", "What was not allowed is named by its id.")
        trial.want(sorted(came) == right, f"{right or 'nothing: all was allowed'}", rule)
    run = _gated_run()
    came = trial.call(audit, _Log(run.events))
    trial.want(not came, "nothing: the kit asked, twice, and was told yes", "No start without a yes.")


def _new(plan: Plan) -> Event:
    return PlanProposed(0.0, plan)


def _yes(plan: Plan) -> Event:
    return Reviewed(0.0, "approve", plan.hash, "Ada")


def _says(verdict: Any, plan: Plan, step: str | None = None) -> Event:
    return Reviewed(0.0, verdict, plan.hash, "Ada", "because", step)


def _open(plan: Plan, step: str) -> Event:
    return Reviewed(0.0, "approve", plan.hash, "Ada", step=step)


def _edit(plan: Plan) -> Event:
    return Reviewed(0.0, "approve", plan.hash, "Ada", plan=plan)


def _starts(*ids: str) -> list[Event]:
    return [event for id in ids for event in (StepStarted(0.0, id), StepDone(0.0, id, "ok"))]


class _Post:
    """A toolbox to invite guests with, and what was done with it."""

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
        """A new agent, whose planner gives one plan after the other, and the last one again and again."""
        self.done.clear()
        left = list(plans)
        planner = RulePlanner(lambda goal: left.pop(0) if len(left) > 1 else left[0])
        policy = Policy(replan="failure", max_replans=1)
        return PlannerExecutor(planner, ToolExecutor(self.tools), reviewer, workers=Simulated(), policy=policy)


def _gated_run() -> Run:
    """A run of two steps, the second behind a gate; a person has said yes twice."""
    plan = _plan("look", {"tool": "send", "gate": True})
    return _Post().agent([plan], ScriptedReviewer(["approve", "approve"])).run(plan.goal)


@exercise(
    "07.3",
    nudge="Three mistakes: what a yes is remembered under, what silence means, and what a yes to the plan says about a "
    "gate in it.",
    question="What changes when the planner plans the rest again: the goal, or the hash? And what does `None` from a "
    "reviewer mean to the loop?",
    learned="Nobody who is silent has agreed; a yes is remembered under what was said yes to; a gate asks anew.",
)
def asks(trial: Trial, desk: Any) -> None:
    """A reviewer that asks a person: silence leaves the run paused, a yes is of one hash, and a gate asks each time."""
    post, plan = _Post(), _plan("look", "send")
    person = _Person(None, Decision("approve", by="Ada"))
    reviewer = _Desk(trial, trial.call(desk, person))
    agent = post.agent([plan], reviewer)
    run = agent.run(plan.goal)
    rule = "Silence is no yes. A reviewer without a decision returns None, and the run stays paused."
    trial.want(run.status == "paused" and not post.done, f"a run that waits, not one that has {_did(post)}", rule)
    trial.show(views.board, run)
    run = agent.run(plan.goal)
    wanted = f"a second run that finishes with Ada's yes; {person} was asked {_times(person)}"
    trial.want(run.status == "finished" and len(person.asked) == 2, wanted, "Silence is not kept as an answer.")
    run = agent.run(plan.goal)
    rule = "The very same plan was approved already: nobody is asked about it twice."
    wanted = f"a third run without a question; {person} was asked {_times(person)}"
    trial.want(run.status == "finished" and len(person.asked) == 2, wanted, rule)
    _asks_anew(trial, desk, post)
    _remembers(trial, desk, post)


def _remembers(trial: Trial, desk: Any, post: _Post) -> None:
    """Of two plans that were approved, neither is asked about again."""
    plans = _plan("look", "send"), _plan("look", "save")
    person, other = _Person(*[Decision("approve", by="Ada")] * 2), _Person(None)
    reviewer = _Desk(trial, trial.call(desk, person))
    for plan in (*plans, *plans):
        run = post.agent([plan], reviewer).run(plan.goal)
        rule = "Whoever looks at another plan has not forgotten the first."
        wanted = f"runs that finish, one after the other, with two questions in all; this one is {run.status}"
        trial.want(
            run.status == "finished" and len(person.asked) <= 2, f"{wanted}, and it was asked {_times(person)}", rule
        )
    run = post.agent([plans[0]], _Desk(trial, trial.call(desk, other))).run(plans[0].goal)
    wanted = f"a run that waits at a second desk; {other} was asked {_times(other)}"
    trial.want(run.status == "paused", wanted, "Another person at another desk has said nothing yet.")
    for more in ({"retries": 1}, {"timeout": 60.0}, {"gate": True}):
        person = _Person(Decision("approve", by="Ada"), None)
        reviewer = _Desk(trial, trial.call(desk, person))
        for plan in (_plan("look", "save"), _plan("look", {"tool": "save"} | more)):
            run = post.agent([plan], reviewer).run(plan.goal)
        wanted = f"two questions: the plans differ in {next(iter(more))}; {person} was asked {_times(person)}"
        trial.want(
            len(person.asked) == 2 and "save" not in post.done, wanted, "A yes is of a hash: it covers every field."
        )


def _asks_anew(trial: Trial, desk: Any, post: _Post) -> None:
    """A plan that comes after a failure, a plan with the same tools, and a gate."""
    harmless, other = _plan("look", "print"), _plan("look", {"id": "2b", "tool": "send"})
    person = _Person(Decision("approve", by="Ada"), Decision("reject", by="Ada"))
    run = post.agent([harmless, other], _Desk(trial, trial.call(desk, person))).run(harmless.goal)
    rule = "A replan has another hash, and the yes was not to that plan."
    wanted = f"two questions, and nothing sent; {person} was asked {_times(person)}, and the run has {_did(post)}"
    trial.want(len(person.asked) == 2 and "send" not in post.done and run.status == "stopped", wanted, rule)
    person = _Person(Decision("approve", by="Ada"), None)
    reviewer = _Desk(trial, trial.call(desk, person))
    alike = (f"to guest {number}" for number in range(10**5))  # the first two digits of its hash are those of the other
    first = _plan("look", {"tool": "send", "description": "to all"}).hash
    twin = next(more for more in alike if _plan("look", {"tool": "send", "description": more}).hash[:2] == first[:2])
    for more in ("to all", twin):
        plan = _plan("look", {"tool": "send", "description": more})
        run = post.agent([plan], reviewer).run(plan.goal)
    wanted = f"two questions: the plans differ in a description; {person} was asked {_times(person)}"
    trial.want(run.status == "paused" and len(person.asked) == 2, wanted, "A yes is of a hash: it covers every word.")
    plan = _plan("look", {"tool": "send", "gate": True})
    person = _Person(Decision("approve", by="Ada"), None, Decision("reject", by="Ada"), Decision("approve", by="Ada"))
    agent = post.agent([plan], _Desk(trial, trial.call(desk, person)))
    run = agent.run(plan.goal)
    wanted = f"a run that waits before step 2, with look done; it is {run.status} and has {_did(post)}"
    rule = "A yes to the plan opens no gate: the gate asks again, with the results so far."
    trial.want(run.status == "paused" and post.done == ["look"] and len(person.asked) == 2, wanted, rule)
    for status in ("stopped", "finished"):
        run = agent.run(plan.goal)
        wanted = f"a run that asks at its gate and is then {status}; it is {run.status}, and has {_did(post)}"
        trial.want(run.status == status, wanted, "What is said at a gate is about that moment, and not kept.")
    trial.want(len(person.asked) == 4, f"a question at each gate, not {_times(person)} in all", rule)


class _Person:
    """Answers from a list; what they were asked about stands in `asked`."""

    def __init__(self, *answers: Decision | None) -> None:
        self.answers, self.asked = answers, list[Plan]()

    def __call__(self, plan: Plan) -> Decision | None:
        self.asked.append(plan)
        return self.answers[len(self.asked) - 1] if len(self.asked) <= len(self.answers) else None

    def __repr__(self) -> str:
        words = [answer.verdict if answer else "silence" for answer in self.answers]
        return f"the person who says {', '.join(words)}"


class _Desk:
    """The learner's reviewer in the kit: its plans in one line, and its decisions looked at."""

    def __init__(self, trial: Trial, review: Any) -> None:
        self.trial, self.decide = trial, review
        trial.want(callable(review), "a function, as in `return review`", "A desk gives a reviewer.")

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Ask the learner's reviewer."""
        came: Any = self.trial.call(
            self.decide, _Plan(**{name: getattr(plan, name) for name in Plan.model_fields}), board, tools
        )
        fits = came is None or isinstance(came, Decision)
        self.trial.want(fits, "a Decision, or None", "A reviewer decides, or leaves it to a person.")
        decision: Decision | None = came
        return decision


def _did(post: _Post) -> str:
    return f"done {', '.join(post.done)}" if post.done else "done nothing"


def _times(person: _Person) -> str:
    return f"{len(person.asked)} time{'s' if len(person.asked) != 1 else ''}"


@exercise(
    "07.4",
    nudge="Collect the steps that stop a plan; everything else follows. `plan.effects(tools)` knows what a step does, also "
    "where it names no tool or claims to be harmless.",
    question="Which three things does a step need to be on your list? And when your rule is asked at a gate, which of its "
    "answers would open that gate?",
    learned="A rule reads every plan and never gets tired; people are asked at the few places where only they can say yes.",
)
def policed(trial: Trial, policy: Any) -> None:
    """A Decision or None: plans with a dangerous step outside a gate don't get through, harmless ones are not held up."""
    undo, post = {"tool": "cancel", "params": {}}, _Post()
    bare = "A step that happens once and has no undo needs a gate of its own."
    for plan, ids, rule in [
        (_plan("look", "send"), ["2"], bare),
        (_plan("look", {"tool": "send", "effects": "none"}), ["2"], "A step can't be more harmless than its tool."),
        (_plan({"tool": "look", "effects": "once"}), ["1"], "A step may be more careful than its tool: believe it."),
        (_plan("look", {"tool": None, "description": "Tell them"}), ["2"], "Without a tool it may do the worst."),
        (_plan({"tool": "look", "gate": True}, "send"), ["2"], bare + " One further up asks too early."),
        (_plan("look", {"tool": "book", "undo": undo}, {"id": "9", "tool": "book"}), ["9"], bare),
        (_plan({"tool": "send", "gate": True}, {"id": "5b", "tool": "send"}, "save", "send"), ["5b", "4"], bare),
        (
            _plan("look", "send").model_copy(update={"rollback": (Call(**undo),)}),
            ["2"],
            bare + " A rollback is for the plan.",
        ),
    ]:
        _is_stopped(trial, policy, post, plan, ids, rule)
    free = "Who stops harmless plans teaches people to press Approve."
    for plan in (_plan("look", "save", "look"), _plan({"tool": "book", "undo": undo}, "save")):
        run = post.agent([plan], _Policy(trial, policy)).run(plan.goal)
        wanted = f"a run that finishes without a question; it is {run.status}: {run.reason}"
        trial.want(run.status == "finished", wanted, free)
    undoable = {"tool": "book", "gate": True, "undo": undo}
    for plan in (_plan("look", {"tool": "send", "gate": True}, "save"), _plan("look", undoable)):
        agent = post.agent([plan], _Policy(trial, policy))
        run = agent.run(plan.goal)
        if not trial.figures:
            trial.show(views.board, run)
        paused = run.board.paused
        wanted = f"a run that waits at the gate of step 2; it is {run.status}: {run.reason}"
        rule = "A step behind its own gate may pass; the gate is for a person to open."
        trial.want(paused is not None and (paused.reason, paused.step) == ("gate", "2"), wanted, rule)
        run = agent.resume(run, Decision("approve", by="Ada"))
        trial.want(run.status == "finished", f"a run that finishes with Ada's yes, not: {run.reason}", free)
    plan, later = _plan("look", "print"), _plan("look", {"id": "2b", "tool": "send"})
    post.agent([plan, later], _Policy(trial, policy)).run(plan.goal)
    trial.want(post.done[:2] == ["look", "print"], "a run that begins with look and print", free)
    trial.want("send" not in post.done, "nothing sent: the second plan was not so harmless", "Every plan is read anew.")
    plan, later = _plan("look", "print"), _plan("look", {"id": "2b", "tool": "save"})
    run = post.agent([plan, later], _Policy(trial, policy)).run(plan.goal)
    wanted = f"a run that finishes without a question after a replan as harmless; it is {run.status}: {run.reason}"
    trial.want(run.status == "finished", wanted, free)


class _Policy(_Desk):
    """The learner's policy in the kit: what it edits are gates."""

    def review(self, plan: Plan, board: Board, tools: Toolbox) -> Decision | None:
        """Ask the learner's policy."""
        decision = super().review(plan, board, tools)
        if decision is not None and decision.plan is not None:
            same = _ungated(decision.plan) == _ungated(plan)
            rule = "A gate lets a person say yes to the very step that was planned."
            self.trial.want(same, "the same plan with gates put in, and nothing else changed", rule)
        return decision


def _ungated(plan: Plan) -> Plan:
    """The plan without its gates."""
    return plan.changed(steps=tuple(step.model_copy(update={"gate": False}) for step in plan.steps))


def _is_stopped(trial: Trial, policy: Any, post: _Post, plan: Plan, ids: list[str], rule: str) -> None:
    """No dangerous step begins, though a person opens the other gates; and none of those is a gate too many."""
    agent = post.agent([plan], _Policy(trial, policy))
    run = agent.run(plan.goal)
    gates = [*ids, *(step.id for step in plan.steps if step.gate)]
    opened = list[str]()
    while (paused := run.board.paused) is not None and paused.step is not None:
        wanted = f"no gate before step {paused.step}, which is harmless"
        trial.want(paused.step in gates, wanted, "Gates belong before what can't be taken back, and nowhere else.")
        opened.append(paused.step)
        run = agent.resume(run, Decision("approve", by="Ada"))
    begun = {event.step for event in run.events if isinstance(event, StepStarted) and event.step in ids} - {*opened}
    wanted = f"a run in which step {' and step '.join(ids)} does not begin before a person has said yes to it"
    trial.want(not begun, wanted, rule)
    reviews = run.board.reviews
    if reviews and reviews[-1].verdict != "approve":
        words = re.findall(r"[\w-]+", reviews[-1].comment)
        named = all(id in words for id in ids)
        trial.want(named, f"a comment that names step {' and step '.join(ids)}", "Who stops a plan says where.")
