"""One sentence for each event."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, assert_never, get_args

from planexec_lab.views.drawing.text_fitting import aligned, clean, fit_columns
from planexec_lab.views.drawing.wording import count, name_of, seconds, value
from planexec_lite.capabilities.budget import in_words
from planexec_lite.run import Run
from planexec_lite.run import events as e

LONG = 200  # columns of a result, an error or a comment
WHY = {
    "first": "the planner is asked for a plan", "repair": "the planner is asked to repair its plan",
    "horizon": "the planner is asked what comes next", "failure": "the planner is asked again, after a failure",
    "news": "the planner is asked again, after news", "step": "the planner is asked again, after a step",
    "stall": "the planner is asked again, because nothing else can be done",
}  # fmt: skip


def sentences(run: Run) -> list[str]:
    """Return one sentence for each event of `run`, in order."""
    names: dict[str, str] = {}
    narration = []
    for event in run.events:
        if isinstance(event, e.PlanProposed | e.Reviewed) and event.plan is not None:
            names |= {step.id: name_of(step) for step in event.plan.steps}
        elif isinstance(event, e.StepProposed):
            names[event.step.id] = name_of(event.step)
        narration.append(sentence(event, names))
    return narration


def sentence(event: e.Event, names: Mapping[str, str]) -> str:
    """Return what happened in one sentence, with the notes of its model calls; `names` says what the steps are called, by id."""
    notes = dict.fromkeys(call.note for call in getattr(event, "calls", ()) if call.note)
    return _sentence(event, names) + "".join(f" ({_brief(note)})" for note in notes)


def _sentence(event: e.Event, names: Mapping[str, str]) -> str:
    match event:
        case e.RunStarted():
            return "the run starts" + _after(event.goal)
        case e.PlanStarted():
            return WHY.get(event.reason, "the planner is asked")
        case e.StepProposed():
            return f"the planner, still writing, puts down step {event.step.id}: {name_of(event.step)}"
        case e.PlanProposed():
            if event.error is not None:
                return f"the planner fails: {_brief(event.error)}"
            if event.plan is None or event.problems:
                return f"the plan is invalid: {_brief('; '.join(map(str, event.problems)) or 'it is not a plan')}"
            return f"a plan of {count(len(event.plan.steps), 'step')} is there"
        case e.Reviewed():
            if event.verdict in ("done", "not done"):
                gave = f", and gave {_brief(value(event.result))}" if event.verdict == "done" else ""
                return f"{clean(event.by)}: {event.about} was {event.verdict}{gave}{_after(event.comment)}"
            if event.budget is not None:
                more = ", ".join(in_words(name, amount) for name, amount in event.budget.bounds.items())
                return f"{clean(event.by)} grants {more} more{_after(event.comment)}"
            s = "" if event.by in ("you", "I", "we") else "s"
            verdict = f"ask{s} for changes to" if event.verdict == "change" else event.verdict + s
            return f"{clean(event.by)} {verdict} {clean(event.about)}{_after(event.comment)}"
        case e.StepStarted():
            again = f", try {event.attempt} of {event.attempts}" if event.attempt > 1 else ""
            called = names.get(event.step)
            return f"step {event.step} starts{again}" + (f": {called}" if called else "")
        case e.StepDone():
            return f"step {event.step} gives {_brief(value(event.result))}"
        case e.StepFailed():
            return f"step {event.step} fails: {_brief(event.error)}"
        case e.StepLate():
            what = event.error if event.error is not None else value(event.result)
            return f"step {event.step} ends after its timeout: {_brief(what)}; its result does not count"
        case e.Requeued():
            what = "the planner" if event.step is None else f"step {event.step}"
            cancelled = event.reason == "cancelled"
            return f"{what} is cancelled before it began, and waits again" if cancelled else f"{what} is interrupted"
        case e.StepInDoubt():
            return f"step {event.step} is interrupted"
        case e.BackoffStarted():
            return f"step {event.step} waits for {seconds(event.seconds)} before it is tried again"
        case e.BackoffEnded():
            return f"step {event.step} has waited"
        case e.StepBlocked():
            return f"step {event.step} fails: {_brief(event.error)}"
        case e.StepPaused():
            return f"step {event.step} pauses for {_brief(event.question)}"
        case e.StepSkipped():
            return f"step {event.step} is skipped: {_brief(event.reason)}"
        case e.RollbackStarted():
            kept = f", back to step {event.to}" if event.to is not None else ""
            return f"the run is rolled back{kept}: {_brief(event.reason)}"
        case e.UndoStarted():
            if event.call is None:
                return f"the run inside step {event.step} is rolled back"
            return f"{e.undo_in_words(event.step)} is called: {_brief(event.call)}"
        case e.UndoPaused():
            return f"{e.undo_in_words(event.step)} pauses for {_brief(event.question)}"
        case e.UndoLeft():
            return f"{e.undo_in_words(event.step)} is not called: {_brief(event.reason)}"
        case e.OuterKnown():
            return "the run learns which calls the runs around it made"
        case e.UndoDone():
            return f"{e.undo_in_words(event.step)} gives {_brief(value(event.result))}"
        case e.UndoFailed():
            return f"{e.undo_in_words(event.step)} fails: {_brief(event.error)}"
        case e.JudgeStarted():
            return f"the evaluator is asked about step {event.step}"
        case e.Judged():
            if event.error is not None:
                return f"the evaluator gives no verdict on step {event.step}: {_brief(event.error)}"
            return f"the evaluator says {event.verdict} of step {event.step}" + _after(event.reason)
        case e.NewsReceived():
            return f"news from outside: {_brief(event.text)}"
        case e.Inside():
            return f"inside step {event.step}: {_inside(event.event)}"
        case e.Paused():
            return f"the run pauses for {_brief(event.question)}"
        case e.Ended():
            ends = "the run has finished" if event.status == "finished" else f"the run ends, {event.status}"
            return f"{ends}: {_brief(event.reason)}"
        case _:
            assert_never(event)


def trace(run: Run) -> str:
    """Return the whole run as text: number, time and sentence of every event."""
    rows = [
        [f"  {number}", seconds(event.at, run.makespan), words]
        for number, (event, words) in enumerate(zip(run.events, sentences(run), strict=True), 1)
    ]
    return "\n".join([f"{count(len(rows), 'event')} of a run, {run.status}", *(aligned(rows) if rows else [])])


def _inside(event: Any) -> str:
    match event:
        case e.Thought():
            return f"it thinks: {_brief(event.text)}"
        case e.Action():
            return f"it calls {clean(event.tool)} with {_brief(value(event.params))}"
        case e.Observation():
            return f"it {'receives an error' if event.error else 'sees'}: {_brief(event.text)}"
        case {"event": str(kind)}:
            return f"a nested run: {clean(kind)}"
        case _ if isinstance(event, get_args(e.Event)):
            with suppress(Exception):  # a tool can emit an event whose fields have other types
                return sentence(event, {})
    return _brief(value(event))


def _after(text: str) -> str:
    return f": {_brief(text)}" if text else ""


def _brief(text: object) -> str:
    return fit_columns(clean(text), LONG)
