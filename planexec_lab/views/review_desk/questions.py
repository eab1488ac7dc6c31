"""A question at the desk, drawn from its data alone: nothing here depends on the kind of a question. No widgets.

`typed` has the contents of the fields, by label.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from planexec_lab.views.drawing.visible import visible, written
from planexec_lab.views.drawing.wording import count
from planexec_lab.views.review_desk import summary
from planexec_lab.views.review_desk.draft import Draft
from planexec_lab.views.review_desk.looks import bullets
from planexec_lite.core.questions import Verb
from planexec_lite.meter import Budget
from planexec_lite.plan import Plan
from planexec_lite.run import Run
from planexec_lite.run.decisions import usable
from planexec_lite.run.events import Decision, Grant, Question
from planexec_lite.tools import Toolbox

Typed = Mapping[str, str]
LABELS: dict[Verb, str] = {  # in the order of the buttons
    "approve": "Approve", "done": "It was done", "not done": "It was not done",
    "reject": "Reject", "change": "Ask for changes", "roll back": "Roll back",
}  # fmt: skip
OF_AMOUNTS: dict[Verb, str] = {"approve": "Grant more", "reject": "Stop"}
WITHOUT_RUN = {
    "approve": "Exactly this plan can be carried out.",
    "reject": "The plan is not carried out.",
    "change": "The planner writes another plan, after your comment.",
}


@dataclass
class Sheet:
    """A question, with the edits of the reviewer.

    Args:
        question: the question.
        draft: the plan that it is about, or a plan of one step that makes its call; see `Draft.about`.
        run: the run that asks, which can be a nested run; None: it is not known.
    """

    question: Question
    draft: Draft
    run: Run | None = None

    @classmethod
    def of_plan(cls, plan: Plan, toolbox: Toolbox) -> Sheet:
        """The question about a plan that no run has asked about.

        Its decision answers the first question of a run, if that question is about exactly this plan.
        """
        question = Question("approval", WITHOUT_RUN, plan=plan, number=1)
        return cls(question, Draft.about(question, toolbox))

    @classmethod
    def of_run(cls, run: Run, toolbox: Toolbox) -> Sheet:
        """The question of a paused run. Raises `ValueError` if the run asks nothing."""
        if (question := run.question) is None:
            raise ValueError(f"this run does not wait for a decision: it is {run.status}")
        asking = _asking(run, question.path)
        return cls(question, Draft.about(question, toolbox, asking), asking)

    @property
    def editable(self) -> bool:
        """Whether the reviewer can edit the plan. The plan of a nested run can't be edited from outside."""
        return self.question.plan is not None and not self.question.path

    @property
    def labels(self) -> dict[Verb, str]:
        """The label of the button of each verdict."""
        labels = LABELS | OF_AMOUNTS if self.question.amounts else LABELS
        return {verdict: label for verdict, label in labels.items() if verdict in self.question.verdicts}

    @property
    def fields(self) -> dict[str, str]:
        """What each field is for, by label."""
        fields = {_label(name): f"a number; {used} used" for name, used in self.question.amounts.items()}
        if "done" in self.question.verdicts:
            fields["Result"] = "what it gave, if it was done: a text, or JSON"
        fields["Comment"] = "why, or what should change; the run keeps it"
        if self.question.plan is not None:
            fields["Later plans"] = "ask me about each; a number allows that many new steps without asking"
        return fields

    def answers(self, typed: Typed, by: str) -> dict[Verb, Decision | str]:
        """For each verdict, the decision that its button makes now, or the reason why it can't be made yet."""
        answers: dict[Verb, Decision | str] = {}
        for verdict in self.labels:
            try:
                given = self._given(verdict, typed)
                answers[verdict] = self.question.decide(verdict, by, typed["Comment"], **given)
            except ValueError as reason:
                answers[verdict] = str(reason)
        return answers

    def status(self, answers: Mapping[Verb, Decision | str]) -> str:
        """What each verdict does, and what is still missing; a screen reader reads it out when it changes."""
        lines = []
        for verdict, answer in answers.items():
            more = [f"Not yet: {answer}"] if isinstance(answer, str) else summary.with_it(answer, self.question.plan)
            lines.append(" ".join([f"{self.labels[verdict]}: {self.question.verdicts[verdict]}", *more]))
        return bullets("", lines)

    def details(self) -> list[str]:
        """What is beside a plan or a call: the call beside a plan, the inputs of a step without a tool, the used-up amounts."""
        question, lines = self.question, []
        if question.plan is not None:
            lines += summary.amounts(self.draft, self.run)
        if question.call is not None and question.plan is not None:
            lines.append(f"The call: {visible(question.call)}")
        elif question.call is not None and question.call.tool is None:
            inputs = question.call.params.items()
            lines = [f"It is given the result of step {visible(id)}: {written(result)}" for id, result in inputs]
        return lines + [f"{visible(used)} used" for used in question.amounts.values()]

    def _given(self, verdict: Verb, typed: Typed) -> dict[str, Any]:
        """The fields of the decision. Raises `ValueError` with the reason why it can't be made yet."""
        if verdict in ("reject", "change") and not typed["Comment"]:
            raise ValueError("write a comment first.")
        if verdict == "done":
            return {"result": self._result(typed["Result"])}
        if verdict != "approve":
            return {}
        if self.editable and (problems := self.draft.problems):
            raise ValueError("\n".join([f"{count(len(problems), 'problem')}:", *map(visible, problems)]))
        plan = self.draft.plan if self.editable and self.draft.edited else None
        grant = _grant(typed.get("Later plans", ""))
        return {"plan": plan, "grant": grant, "budget": _budget(self.question.amounts, typed)}

    def _result(self, text: str) -> Any:
        """The result in a field, if the steps that depend on it can use it."""
        try:
            result = json.loads(text) if text else None
        except ValueError:
            result = text
        if self.run is None:
            return result
        try:
            return usable(self.run.board, self.question.step or "", result)
        except ValueError as problem:
            raise ValueError(str(problem).partition("; say what")[0]) from None


def _asking(run: Run, path: Iterable[str]) -> Run | None:
    """The run that asks; None if its reported events are not a complete run."""
    for id in path:
        try:
            run = run.inside(id)
        except (ValueError, LookupError):
            return None
    return run


def _grant(text: str) -> Grant | None:
    if text and not (text.isascii() and text.isdigit() and len(text) < 6):
        raise ValueError("“Later plans” takes a number of steps, or nothing.")
    return Grant(int(text)) if text else None


def _budget(names: Collection[str], typed: Typed) -> Budget | None:
    if not names:
        return None
    amounts: dict[str, Any] = {}
    try:
        for name in names:
            text = typed[_label(name)]
            amounts[name] = float(text) if name in ("dollars", "seconds") else int(text.replace(",", ""))
        more = Budget(**amounts)
    except ValueError:
        more = Budget()
    if not all(more.bounds.get(name) for name in names):
        raise ValueError("each field “More …” takes a number above zero.")
    return more


def _label(name: str) -> str:
    return f"More {name.replace('_', ' ')}"
