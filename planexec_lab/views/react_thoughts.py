"""The inside of a ReAct executor's steps: thoughts, calls and observations."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.table import Row, table
from planexec_lab.views.drawing.text_fitting import clean
from planexec_lab.views.drawing.theme import TURNS, Look
from planexec_lab.views.drawing.wording import count
from planexec_lite.run import Run
from planexec_lite.run import events as e

HEAD = ("step", "event", "words")


def thoughts(run: Run, step: str | int | None = None) -> Figure:
    """Show thought, action and observation in the order in which they happened, step by step.

    Args:
        run: a run whose executor thinks aloud, as `ReActExecutor` does.
        step: the id of one step; by default all.

    Raises `ValueError` for a step that the run does not know.
    """
    only = None if step is None else str(step)
    if only is not None and only not in run.board.steps:
        raise ValueError(f"there is no step {only!r} in this run; there are: {', '.join(run.board.steps) or 'none'}")
    turns_by_try, others = _inside(run, only)
    rows: list[Row] = []
    for (id, number), events in turns_by_try.items():
        name = id if number < 2 else f"{id}, try {number}"
        turns = enumerate(map(_turn, events))
        rows += [Row(["" if place else name, "", words], look) for place, (look, words) in turns]
    caption = f"Not shown: {count(others, 'other event')} inside the steps." if others else ""
    return table(_finding(turns_by_try, only), HEAD, rows, caption, columns=110, lines=3)


def _inside(run: Run, only: str | None) -> tuple[dict[tuple[str, int], list[e.Inner]], int]:
    """Thoughts, calls and observations by step and attempt, and the number of other events."""
    turns_by_try: dict[tuple[str, int], list[e.Inner]] = {}
    tries: Counter[str] = Counter()
    others = 0
    for event in run.events:
        if isinstance(event, e.StepStarted):
            tries[event.step] += 1
        elif isinstance(event, e.Inside) and only in (None, event.step):
            if isinstance(event.event, e.Inner):
                turns_by_try.setdefault((event.step, tries[event.step]), []).append(event.event)
            else:
                others += 1
    return turns_by_try, others


def _turn(event: e.Inner) -> tuple[Look, str]:
    match event:
        case e.Thought():
            return TURNS["thought"], clean(event.text)
        case e.Action():
            params = event.params if isinstance(event.params, dict) else {"": event.params}
            given = (f"{name}={json.dumps(param, ensure_ascii=False, default=str)}" for name, param in params.items())
            return TURNS["action"], clean(f"{event.tool}({', '.join(given)})")
        case _:
            return TURNS["error" if event.error else "observation"], clean(event.text)


def _finding(turns_by_try: Mapping[tuple[str, int], Sequence[e.Inner]], only: str | None) -> str:
    steps = list(dict.fromkeys(step for step, _ in turns_by_try))
    if not steps:
        return f"{'The executor' if only is None else f'Step {only}'} thought nothing aloud"
    events = [event for some in turns_by_try.values() for event in some]
    kinds = [type(event) for event in events]
    errors = sum(isinstance(event, e.Observation) and event.error for event in events)
    where = f"Step {steps[0]}" if len(steps) == 1 else count(len(steps), "step")
    finding = f"{where}: {count(kinds.count(e.Thought), 'thought')}, {count(kinds.count(e.Action), 'call')}"
    return f"{finding}, {count(errors, 'error')} shown to the model" if errors else finding
