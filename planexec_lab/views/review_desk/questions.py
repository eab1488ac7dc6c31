"""The questions of the desk: approve a plan, a gate or an undo; say whether a step in doubt was done; grant more budget.

Each question has a text, fields and buttons, and no widgets. `typed` has the contents of the fields, by label.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.visible import call, visible, written
from planexec_lab.views.drawing.wording import count, value
from planexec_lab.views.review_desk import summary, text
from planexec_lab.views.review_desk.draft import Draft, Row
from planexec_lab.views.review_desk.looks import bullets, call_in_full
from planexec_lite import references
from planexec_lite.assembly import Board
from planexec_lite.capabilities.budget import in_words
from planexec_lite.capabilities.rollback import Rollback
from planexec_lite.capabilities.undo import WorkDone
from planexec_lite.decisions import Answer, innermost, usable
from planexec_lite.events import Grant, gate_in_words
from planexec_lite.meter import Budget
from planexec_lite.run import Run
from planexec_lite.tools import Toolbox

Typed = Mapping[str, str]
BUTTONS: dict[Answer, str] = {"approve": "Approve", "reject": "Reject", "change": "Ask for changes"}
AT_DOUBT: dict[Answer, str] = {"done": "It was done", "not done": "It was not done", "roll back": "Roll back"}
AT_BUDGET: dict[Answer, str] = {"approve": "Grant more", "reject": "Stop", "roll back": "Roll back"}
WANTED = " Reject and Ask for changes need a comment."


def question_of(run: Run, toolbox: Toolbox) -> Question:
    """The question of a paused run. Raises `ValueError` if the run asks nothing."""
    board, inner = run.board, innermost(run).board
    paused, waits = board.paused, inner.paused
    if paused is None or waits is None:
        raise ValueError(f"this run does not wait for a decision: it is {run.status}")
    draft = Draft.of_run(run, toolbox)
    if waits.reason == "doubt":
        around = "" if inner is board else str(paused.step)
        return Doubt(draft, inner, around or str(paused.gate), around)
    if paused.gate is None:
        return Approval(draft)
    if waits.reason == "budget":
        return More(draft, board, paused.gate, waits.short)
    return (Undo if paused.reason == "undo" else Gate)(draft, board, paused.gate)


class Question:
    """A question about whether or how a run continues.

    Args:
        draft: the plan and its done steps.
        figure: the subject of the question, as a table.
        gate: the step or call that the decision names, if it is not about the plan.
    """

    buttons = BUTTONS
    fields: Mapping[str, str]  # what each field is for, by label

    def __init__(self, draft: Draft, figure: Figure, gate: str | None = None) -> None:
        self.draft, self.figure, self.gate = draft, figure, gate
        self.fields = {"Comment": "why you reject the plan, or what the planner should change"}

    def words(self) -> str:
        """The text above the fields."""
        raise NotImplementedError

    def status(self, typed: Typed) -> str:
        """The state and the meaning of the answers; a screen reader reads it out when it changes."""
        raise NotImplementedError

    def allows(self, choice: Answer, typed: Typed) -> bool:
        """Whether this answer is allowed now; to reject or to ask for a change needs a comment."""
        return choice == "approve" or bool(typed["Comment"])

    def warning(self) -> str:
        """The second question before a yes that can't be undone; "" if none is needed."""
        return ""

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """The parts of the decision apart from the comment."""
        return {}


class Approval(Question):
    """Whether to approve the plan of a draft, with or without edits."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft, text.figure(draft))
        later = "ask me about each; a number allows that many new steps without asking"
        self.fields = {**self.fields, "Later plans": later}

    def words(self) -> str:
        """The goal and a summary of the plan; its steps are in rows."""
        return summary.head(self.draft)

    def status(self, typed: Typed) -> str:
        """Whether the plan is valid, and its problems."""
        draft, steps = self.draft, count(len(self.draft.rows), "step")
        if draft.problems:
            places = (f"step {visible(one.step)}" if one.step is not None else "plan" for one in draft.problems)
            lines = [f"{where}: {visible(one.message)}" for where, one in zip(places, draft.problems, strict=True)]
            return bullets(f"{steps}, {count(len(draft.problems), 'problem')}: the plan can't be approved yet.", lines)
        if not _is_number(typed["Later plans"]):
            return "<p>“Later plans” takes a number of steps, or nothing: the plan can't be approved yet.</p>"
        stand = f"{steps}, valid, {'edited by you' if draft.edited else 'as the planner wrote it'}."
        return f"<p>{stand}{'' if typed['Comment'] else WANTED}</p>"

    def allows(self, choice: Answer, typed: Typed) -> bool:
        """Whether this answer is allowed now; only a valid plan can be approved."""
        fit = not self.draft.problems and _is_number(typed["Later plans"])
        return super().allows(choice, typed) and (choice != "approve" or fit)

    def warning(self) -> str:
        """The steps that can't be undone."""
        return summary.warning(self.draft)

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """The edited plan, and the grant for later plans."""
        if choice != "approve":
            return {}
        later = typed["Later plans"]
        return {"plan": self.draft.plan if self.draft.edited else None, "grant": Grant(int(later)) if later else None}


class Gate(Question):
    """Whether the step of a gate can start. Its plan is approved already, so there are no edits.

    Args:
        draft: the plan of the run.
        stand: the board of the waiting run, which can be a nested run.
        gate: the step that the decision names.
    """

    def __init__(self, draft: Draft, stand: Board, gate: str) -> None:
        super().__init__(draft, text.standing(stand, draft.toolbox), gate)
        self.at, self.name = stand, gate_in_words(gate)
        self.step = "" if stand.paused is None else str(stand.paused.step)
        self.own = Draft.of(stand.plan, draft.toolbox, models=draft.models, model_chooses=draft.model_chooses)

    def words(self) -> str:
        """The step, what it is given, and the steps behind it."""
        return self.title(f"The run waits before {self.name}.") + self.in_its_place()

    def status(self, typed: Typed) -> str:
        """The meaning of a yes."""
        return _means(f"{self.name} starts when you approve; the yes opens this gate alone.", typed)

    def warning(self) -> str:
        """The step, if nothing takes it back."""
        return summary.warning(self.own, self.step)

    def title(self, sentence: str) -> str:
        """The goal, and why the run waits."""
        return f"{summary.title(self.draft.received.goal)}<p>{escape(sentence)}</p>"

    def in_its_place(self) -> str:
        """The step, what it is given, and the steps behind it."""
        rows = {row.id: row for row in self.own.rows}
        given = {id: self.at.results[id] for id in rows[self.step].step["depends_on"] if id in self.at.results}
        behind = {self.step}
        for _ in rows:  # directly or through others
            behind |= {id for id, row in rows.items() if behind & set(row.step["depends_on"])}
        coming = [_name_and_call(row) for id, row in rows.items() if id in behind - {self.step}]
        return summary.step(self.own, rows[self.step]) + _given_and_coming(given, coming)


class Undo(Gate):
    """Whether an undo can be called."""

    def words(self) -> str:
        """The call, its arguments, and the undos after it."""
        *later, undo = self.at[Rollback].left
        params = undo.call.params if undo.call else {}
        wanted = {one.step for one in references.find(params)} | {undo.label}
        given = {id: result for id, result in self.at[WorkDone].results_for(undo).items() if id in wanted}
        coming = [text.undo(one) for one in reversed(later)]
        why = self.at.paused.why if self.at.paused else ""
        called = f"<p>{call_in_full(undo.call.tool, params) if undo.call else visible(f'The run inside {why}.')}</p>"
        return self.title(f"The run waits before {self.name}.") + called + _given_and_coming(given, coming)

    def status(self, typed: Typed) -> str:
        """The meaning of a yes and a no."""
        return _means(
            f"{self.name} is called if you approve; if you reject, the rollback skips it and continues.", typed
        )

    def warning(self) -> str:
        """Nothing, because this call is an undo itself."""
        return ""


class Doubt(Gate):
    """Whether an interrupted step was done, and its result; the step is in the run or in a run inside the step `around`."""

    buttons = AT_DOUBT

    def __init__(self, draft: Draft, stand: Board, gate: str, around: str) -> None:
        super().__init__(draft, stand, gate)
        self.name = f"step {self.step} of the run inside step {around}" if around else f"step {self.step}"
        result = "what it gave, if it was done: a text, or JSON"
        self.fields = {"Result": result, "Comment": "how you know it; the run keeps it with the answer"}

    def words(self) -> str:
        """The step, what it is given, and the steps behind it."""
        return self.title(f"The run was interrupted while {self.name} was running. Was it done?") + self.in_its_place()

    def status(self, typed: Typed) -> str:
        """The meaning of the answers."""
        fault = self._fault(typed)
        done = f"not yet: {fault}" if fault else f"its result counts as {value(_result(typed))}"
        lines = [
            f"It was done: {done}.",
            "It was not done: it is carried out again.",
            "Roll back: completed steps are undone.",
        ]
        return bullets("Find out in the world what became of it, then answer.", map(visible, lines))

    def allows(self, choice: Answer, typed: Typed) -> bool:
        """Whether this answer is allowed now; a done step needs a result that its dependents can use."""
        return choice != "done" or not self._fault(typed)

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """The result of what was done."""
        return {"result": _result(typed)} if choice == "done" else {}

    def _fault(self, typed: Typed) -> str:
        """Why the entered result can't be used; "" if it can."""
        try:
            usable(self.at, self.step, _result(typed))
        except ValueError as problem:
            return str(problem).partition("; say what")[0]
        return ""


class More(Question):
    """Whether the budget of the run, or of a run inside a step, is raised."""

    buttons = AT_BUDGET

    def __init__(self, draft: Draft, stand: Board, gate: str, short: Mapping[str, str]) -> None:
        super().__init__(draft, text.standing(stand, draft.toolbox), gate)
        self.short = short  # the exhausted parts of the budget, with their amounts
        more = {_label(name): f"a number; {used} used" for name, used in short.items()}
        self.fields = {**more, "Comment": "why; the run keeps it with the answer"}

    def words(self) -> str:
        """Of what the budget is used up."""
        whose = "The budget" if self.gate == "budget" else f"The budget of the run inside step {self.gate}"
        return summary.title(self.draft.received.goal) + bullets(f"{whose} is used up:", self.short.values())

    def status(self, typed: Typed) -> str:
        """The meaning of the answers."""
        more = self._more(typed)
        extra = ", ".join(in_words(name, amount) for name, amount in more.bounds.items()) if more is not None else ""
        granted = f"the run gets {extra} more" if extra else "not yet; every field takes a number above zero"
        lines = [
            f"Grant more: {granted}.",
            "Stop: the run ends here, and what was done stays.",
            "Roll back: completed steps are undone.",
        ]
        return bullets("More of it, or an end:", lines)

    def allows(self, choice: Answer, typed: Typed) -> bool:
        """Whether this answer is allowed now; every exhausted part needs a grant."""
        return choice != "approve" or self._more(typed) is not None

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """How much more."""
        return {"budget": self._more(typed)} if choice == "approve" else {}

    def _more(self, typed: Typed) -> Budget | None:
        """The contents of the fields; None unless each is a number above zero."""
        amounts: dict[str, Any] = {}
        try:
            for name in self.short:
                text = typed[_label(name)]
                amounts[name] = float(text) if name in ("dollars", "seconds") else int(text.replace(",", ""))
            return Budget(**amounts) if all(amount > 0 for amount in amounts.values()) else None
        except ValueError:
            return None


def _is_number(text: str) -> bool:
    """Whether the text is a number of steps or empty."""
    return not text or (text.isascii() and text.isdigit() and len(text) < 6)


def _result(typed: Typed) -> Any:
    text = typed["Result"]
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _label(name: str) -> str:
    return f"More {name.replace('_', ' ')}"


def _means(sentence: str, typed: Typed) -> str:
    return f"<p>{escape(sentence[0].upper() + sentence[1:])}{'' if typed['Comment'] else WANTED}</p>"


def _given_and_coming(given: Mapping[str, Any], coming: Sequence[str]) -> str:
    """The whole text, so that a yes covers everything."""
    lines = [f"step {id} gave {written(result)}" for id, result in given.items()]
    return bullets("It is given:", lines) + bullets("What comes next:", coming)


def _name_and_call(row: Row) -> str:
    name, called = visible(row.step["description"]), call(row.step["tool"], row.step["params"])
    return f"{visible(row.id)} {name}: {called}" if name else f"{visible(row.id)} {called}"
