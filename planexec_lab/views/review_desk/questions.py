"""What the desk asks: to approve a plan, a gate or an undo; what became of a step in doubt; more budget. No widgets here.

Each question has the words above its fields, the fields, and the buttons. `typed` is what stands in the fields, by label.
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
    """What a paused run asks. Raises `ValueError` for a run that asks nothing."""
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
    """Whether, or how, a run goes on.

    Args:
        draft: the plan, and what is done.
        figure: what is asked about, as a table.
        gate: what the decision names, where it is not about the plan.
    """

    buttons = BUTTONS
    fields: Mapping[str, str]  # what each field is for, by label

    def __init__(self, draft: Draft, figure: Figure, gate: str | None = None) -> None:
        self.draft, self.figure, self.gate = draft, figure, gate
        self.fields = {"Comment": "why you reject the plan, or what the planner should change"}

    def words(self) -> str:
        """What stands above the fields."""
        raise NotImplementedError

    def status(self, typed: Typed) -> str:
        """How it stands and what the answers mean, which a screen reader reads out when it changes."""
        raise NotImplementedError

    def allows(self, choice: Answer, typed: Typed) -> bool:
        """Whether it may be answered so now: a no, and the wish for a change, take a comment."""
        return choice == "approve" or bool(typed["Comment"])

    def warning(self) -> str:
        """What is asked once more before a yes that nothing takes back; "" where there is nothing to ask."""
        return ""

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """What goes with the answer, beside the comment."""
        return {}


class Approval(Question):
    """Whether the plan of a draft is approved; it may be edited before."""

    def __init__(self, draft: Draft) -> None:
        super().__init__(draft, text.figure(draft))
        later = "ask me about each; a number allows so many new steps without asking"
        self.fields = {**self.fields, "Later plans": later}

    def words(self) -> str:
        """The goal, and what the plan does; its steps have rows of their own."""
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
        """Whether it may be answered so now; only a valid plan can be approved."""
        fit = not self.draft.problems and _is_number(typed["Later plans"])
        return super().allows(choice, typed) and (choice != "approve" or fit)

    def warning(self) -> str:
        """The steps that nothing takes back."""
        return summary.warning(self.draft)

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """The plan as it was edited, and what later plans may do."""
        if choice != "approve":
            return {}
        later = typed["Later plans"]
        return {"plan": self.draft.plan if self.draft.edited else None, "grant": Grant(int(later)) if later else None}


class Gate(Question):
    """Whether a step behind a gate may start. Nothing can be edited: the plan is approved, and this is its next step.

    Args:
        draft: the plan of the run.
        stand: the board of the run that waits, which may be inside a step.
        gate: what the decision names.
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
        """What a yes means."""
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
    """Whether a call that takes something back may be made."""

    def words(self) -> str:
        """The call, what it is given, and what is taken back after it."""
        *later, undo = self.at[Rollback].left
        params = undo.call.params if undo.call else {}
        wanted = {one.step for one in references.find(params)} | {undo.label}
        given = {id: result for id, result in self.at[WorkDone].results_for(undo).items() if id in wanted}
        coming = [text.undo(one) for one in reversed(later)]
        why = self.at.paused.why if self.at.paused else ""
        called = f"<p>{call_in_full(undo.call.tool, params) if undo.call else visible(f'The run inside {why}.')}</p>"
        return self.title(f"The run waits before {self.name}.") + called + _given_and_coming(given, coming)

    def status(self, typed: Typed) -> str:
        """What a yes and a no mean."""
        return _means(f"{self.name} is made when you approve; a no leaves it out, and the rollback goes on.", typed)

    def warning(self) -> str:
        """Nothing: this is what takes back."""
        return ""


class Doubt(Gate):
    """What became of a step that was cut off, in the run or in a run inside the step `around`; and what it gave."""

    buttons = AT_DOUBT

    def __init__(self, draft: Draft, stand: Board, gate: str, around: str) -> None:
        super().__init__(draft, stand, gate)
        self.name = f"step {self.step} of the run inside step {around}" if around else f"step {self.step}"
        result = "what it gave, if it was done: a text, or JSON"
        self.fields = {"Result": result, "Comment": "how you know it; the run keeps it with the answer"}

    def words(self) -> str:
        """The step, what it is given, and the steps behind it."""
        return self.title(f"The run was left while {self.name} was under way. Was it done?") + self.in_its_place()

    def status(self, typed: Typed) -> str:
        """What the answers mean."""
        fault = self._fault(typed)
        done = f"not yet: {fault}" if fault else f"its result counts as {value(_result(typed))}"
        lines = [
            f"It was done: {done}.",
            "It was not done: it is carried out again.",
            "Roll back: what was done is taken back.",
        ]
        return bullets("Find out in the world what became of it, then answer.", map(visible, lines))

    def allows(self, choice: Answer, typed: Typed) -> bool:
        """Whether it may be answered so now: what was done has a result that the steps behind it can use."""
        return choice != "done" or not self._fault(typed)

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """The result of what was done."""
        return {"result": _result(typed)} if choice == "done" else {}

    def _fault(self, typed: Typed) -> str:
        """Why the result that stands there can't be used; "" where it can."""
        try:
            usable(self.at, self.step, _result(typed))
        except ValueError as problem:
            return str(problem).partition("; say what")[0]
        return ""


class More(Question):
    """Whether more may be used of what the budget of the run, or of a run inside a step, had."""

    buttons = AT_BUDGET

    def __init__(self, draft: Draft, stand: Board, gate: str, short: Mapping[str, str]) -> None:
        super().__init__(draft, text.standing(stand, draft.toolbox), gate)
        self.short = short  # what is used up, and how much of it, in words
        more = {_label(name): f"a number; {used} used" for name, used in short.items()}
        self.fields = {**more, "Comment": "why; the run keeps it with the answer"}

    def words(self) -> str:
        """Of what the budget is used up."""
        whose = "The budget" if self.gate == "budget" else f"The budget of the run inside step {self.gate}"
        return summary.title(self.draft.received.goal) + bullets(f"{whose} is used up:", self.short.values())

    def status(self, typed: Typed) -> str:
        """What the answers mean."""
        more = self._more(typed)
        extra = ", ".join(in_words(name, amount) for name, amount in more.bounds.items()) if more is not None else ""
        lines = [
            f"Grant more: it may use {extra} more."
            if extra
            else "Grant more: not yet; every field takes a number above zero.",
            "Stop: the run ends here, and what was done stays.",
            "Roll back: what was done is taken back.",
        ]
        return bullets("More of it, or an end:", lines)

    def allows(self, choice: Answer, typed: Typed) -> bool:
        """Whether it may be answered so now: more is granted of all that is used up."""
        return choice != "approve" or self._more(typed) is not None

    def said(self, choice: Answer, typed: Typed) -> dict[str, Any]:
        """How much more."""
        return {"budget": self._more(typed)} if choice == "approve" else {}

    def _more(self, typed: Typed) -> Budget | None:
        """What stands in the fields; None where it is not a number above zero in each."""
        amounts: dict[str, Any] = {}
        try:
            for name in self.short:
                text = typed[_label(name)]
                amounts[name] = float(text) if name in ("dollars", "seconds") else int(text.replace(",", ""))
            return Budget(**amounts) if all(amount > 0 for amount in amounts.values()) else None
        except ValueError:
            return None


def _is_number(text: str) -> bool:
    """Whether a number of steps stands there, or nothing."""
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
    """All of it: before a yes nothing is left out."""
    lines = [f"step {id} gave {written(result)}" for id, result in given.items()]
    return bullets("It is given:", lines) + bullets("What comes next:", coming)


def _name_and_call(row: Row) -> str:
    name, called = visible(row.step["description"]), call(row.step["tool"], row.step["params"])
    return f"{visible(row.id)} {name}: {called}" if name else f"{visible(row.id)} {called}"
