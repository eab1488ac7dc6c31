"""Questions and decisions: what a paused run asks a person, and what the person answers.

A question contains its whole subject, so that a person can decide without looking anywhere else. A decision names the
digest of the question that it answers, and no other question accepts it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Literal, get_args

from planexec_lite.meter import Budget
from planexec_lite.plan import Plan
from planexec_lite.plan.data import as_words
from planexec_lite.tools import text_of

Verb = Literal["approve", "reject", "change", "done", "not done", "roll back"]


@dataclass(frozen=True)
class ExactCall:
    """A call with its resolved arguments, as a tool would receive them.

    A step without a tool has `words` instead, and `params` are the results that it uses, by step id.
    """

    tool: str | None
    params: dict[str, Any]
    words: str = ""

    def __str__(self) -> str:
        if self.tool is not None:
            return f"{self.tool}({text_of(self.params)})"
        return f"{self.words}, given {text_of(self.params)}" if self.params else self.words


@dataclass(frozen=True)
class Question:
    """What a run asks a person.

    Args:
        kind: "approval" of a plan, a "gate" before a step, a "call" that a model chose, a step in "doubt", an "undo", or
            more "budget". A capability can ask questions of its own kind.
        verdicts: the possible verdicts, and what each of them does, in one sentence.
        why: why the run asks, in one sentence.
        step: the step, or the label of the undo as in `UndoStarted`; None if the question is about the plan or the
            budget.
        plan: the plan to approve.
        call: the call to allow, or the call that might have been made.
        amounts: the parts of the budget that are used up, and how much was used.
        number: the number of this question in its run, from 1. A question about a further attempt has another number.
        path: the steps around the run that asks, the outermost first; () if the run itself asks.
        run: the `Run.uid` of the run that was asked; "" inside an event.
    """

    kind: str
    verdicts: dict[str, str]
    why: str = ""
    step: str | None = None
    plan: Plan | None = None
    call: ExactCall | None = None
    amounts: dict[str, str] = field(default_factory=dict)
    number: int = 0
    path: tuple[str, ...] = ()
    run: str = field(default="", repr=False, compare=False)

    @property
    def digest(self) -> str:
        """32 hexadecimal digits that depend on the subject, the reason, the number and the path."""
        plan = None if self.plan is None else self.plan.hash
        call = None if self.call is None else [self.call.tool, self.call.params, self.call.words]
        parts = [self.kind, self.why, self.step, plan, call, self.amounts, self.number, self.path]
        return sha256(text_of(parts).encode(errors="replace")).hexdigest()[:32]

    @property
    def own_step(self) -> str | None:
        """The step of the run that asks, or of the outermost run around it; the label of an undo; None for the plan."""
        return self.path[0] if self.path else self.step

    @property
    def about(self) -> str:
        """The subject as a phrase: "the plan", "step 3", "the undo of step 3", "step a inside step 1"."""
        if self.step is None:
            subject = "the plan" if self.plan is not None else f"the {self.kind}"
        else:
            subject = undo_in_words(self.step) if self.kind == "undo" else f"step {self.step}"
        return f"{subject}{self._inside}"

    @property
    def _inside(self) -> str:
        return "".join(f" inside step {step_id}" for step_id in reversed(self.path))

    def decide(
        self, verdict: Verb, by: str = "reviewer", comment: str = "", **more: Any
    ) -> Decision:
        """Return a decision about this question. `more` are further fields of `Decision`, such as an edited `plan`."""
        return Decision(verdict, by, comment, of=self.digest, run=self.run, **more)

    def inside(self, step: str) -> Question:
        """Return this question as the run around it asks it, whose step `step` waits for the answer."""
        return replace(self, path=(step, *self.path))

    @property
    def from_inside(self) -> Question:
        """This question as the nested run itself asks it."""
        return replace(self, path=self.path[1:])

    def __str__(self) -> str:
        phrase = _PHRASES.get(self.kind, f"the {self.kind} of {{about}}")
        used = f"{', '.join(self.amounts.values())} used" if self.amounts else ""
        why = used or ("" if self.kind == "doubt" else self.why)
        return phrase.format(about=self.about, inside=self._inside) + (f": {why}" if why else "")


_PHRASES = {
    "approval": "approval{inside}",
    "repeat": "the gate of {about}",
    "call": "the gate of {about}",
    "undo": "a yes to {about}",
    "doubt": "your answer: was {about} done?",
    "budget": "more budget{inside}",
}


@dataclass(frozen=True)
class Grant:
    """Bounds within which later plans can run without another approval.

    A plan is within the bounds if it has at most `new_steps` new steps, none of them has a gate, and it keeps the
    rollback of the approved plan. A step is new if it differs from all steps of the approved plan. New steps use tools of
    the approved plan. A call with effects, of a tool that declares nothing, of an undo, or of the rollback must be one that
    the approved plan makes. A step with effects "once", or with a destructive tool, must be unchanged and not tried
    before. All its direct and indirect dependencies must be unchanged too, because otherwise its inputs would differ.
    """

    new_steps: int = 0

    def __post_init__(self) -> None:
        if type(self.new_steps) is not int or self.new_steps < 0:
            raise ValueError(
                f"new_steps={self.new_steps!r}: a grant is for zero or more new steps"
            )


@dataclass(frozen=True)
class Decision:
    """A person's or a rule's answer to a `Question`. `Question.decide` makes one.

    Args:
        verdict: one of `Question.verdicts`: "approve" or "reject"; "change", which asks the planner for another plan;
            "done" or "not done" for a step in doubt; "roll back".
        by: the name of the reviewer.
        comment: the reason for a rejection, or the change that the planner should make.
        plan: with "approve", the reviewer's edited plan. It is checked again, and the approval covers its hash.
        grant: with "approve", bounds within which later plans need no new approval.
        of: the digest of the question that this decision answers. "": the question of the run that is passed to
            `resume`.
        result: with "done", the result of the step.
        budget: with "approve", the amounts to add to the budget.
        run: the `Run.uid` of the run that asked; "": not stated.

    Raises `ValueError` for an unknown verdict, for text that can't be saved, for an edited plan, a grant or a budget
    without "approve", and for a result without "done".
    """

    verdict: Verb
    by: str = "reviewer"
    comment: str = ""
    plan: Plan | None = None
    grant: Grant | None = None
    of: str = ""
    result: Any = None
    budget: Budget | None = None
    run: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.verdict not in get_args(Verb):
            known = ", ".join(map(repr, get_args(Verb)))
            raise ValueError(f"verdict={self.verdict!r}: a reviewer says one of {known}")
        if not isinstance(self.plan, Plan | None) or not isinstance(self.grant, Grant | None):
            raise ValueError(
                "plan is a Plan or None, and grant a Grant or None; Plan.parse reads a plan"
            )
        if not isinstance(self.budget, Budget | None):
            raise ValueError(
                "budget is a Budget or None: Budget(tokens=2_000) grants 2,000 tokens more"
            )
        with_approval = (self.plan, self.grant, self.budget)
        if self.verdict != "approve" and any(given is not None for given in with_approval):
            raise ValueError(
                f"verdict={self.verdict!r}: an edited plan, a grant and a budget go with 'approve'"
            )
        if self.verdict != "done" and self.result is not None:
            raise ValueError(f"verdict={self.verdict!r}: a result goes with 'done'")
        as_words(self.by, "by")
        as_words(self.comment, "comment")


def undo_in_words(label: str) -> str:
    """Return the name of an undo: "the undo of step 3", "call 1 of the plan's rollback", "call 1 of the rollback
    inside step 3".
    """
    around, _, last = label.rpartition("/")
    listed = last.removeprefix("rollback ")
    if listed == last:
        return f"the undo of step {label}"
    return (
        f"call {listed} of the rollback inside step {around}"
        if around
        else f"call {listed} of the plan's rollback"
    )
