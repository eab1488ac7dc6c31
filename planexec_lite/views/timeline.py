"""The timeline of a run: one lane a slot, one bar a try of a step; waiting shows as space. Drawn by `chart`."""

from __future__ import annotations

from math import fsum

from planexec_lite.run import Run
from planexec_lite.views import predicted as forecast
from planexec_lite.views.bars import JUDGING, Bar, bars
from planexec_lite.views.chart import draw
from planexec_lite.views.figure import Figure
from planexec_lite.views.notes import notes
from planexec_lite.views.panel import critical_words, idle_words, panel_of, rows, short_words, spoken
from planexec_lite.views.predicted import Predicted
from planexec_lite.views.words import clean, count, seconds


def timeline(run: Run, title: str | None = None, *, predicted: Predicted | None = None) -> Figure:
    """Draw who was busy when: the steps of a run in lanes, the planner and the evaluator in lanes of their own.

    The times are those of the workers: on the virtual clock of `Simulated` they are the same in every run. The time in
    which a slot carried out no step is its idle time.

    Args:
        run: a run, ended or not.
        title: the finding; by default one is worded from the times.
        predicted: what was thought beforehand: another run of the same plan, such as one on the virtual clock; or start
            times in seconds by step id. It is drawn as brackets below the bars, and the difference is said in words.

    Raises `ValueError` for the predicted start of a step that the run does not have, or a start before zero.
    """
    found = bars(run)
    thought = {} if predicted is None else forecast.predict(predicted, run)
    end = max([run.makespan, *(span.end for span in thought.values())])
    panel = panel_of(run, found, thought, end)
    if title is None and predicted is not None and thought and run.status == "finished":
        title = forecast.finding(predicted, run)
    title = clean(title) if title is not None else _finding(run, found)
    below = notes(run, found) + ([] if predicted is None else forecast.differences(predicted, run))
    svg, bare = draw(title, [panel], below, end)
    path = critical_words(run, panel, end)
    idle = idle_words(panel, end)
    said = [*([f"Thick outline: {path}."] if path else []), *(["Dotted: idle."] if idle else [])]
    said += ["Brackets: when each step was predicted."] if thought else []
    caption = " ".join([*said, *short_words(bare[0])])
    text = "\n".join([title, *rows(panel, thought, end), *idle, *below, *([caption] if caption else [])])
    alt = f"Timeline: {title}. {'; '.join(spoken(found, run))}. {' '.join([*idle, *below])}".strip()
    return Figure(title, text, alt, caption, 720, svg=svg)


def _finding(run: Run, found: list[Bar]) -> str:
    whole = run.makespan
    work = fsum(bar.end - bar.start for bar in found)
    planning = fsum(bar.end - bar.start for bar in found if bar.step is None)
    done = len(run.results)
    if run.status == "finished":
        steps = f"{count(done, 'step')} in {seconds(whole)}"
        judging = fsum(bar.end - bar.start for bar in found if bar.what == JUDGING)
        others = [f"{seconds(time)}{{}} {what}" for time, what in ((planning, "planning"), (judging, JUDGING)) if time]
        steps += f", {' and '.join(others)}".format(" of it", "") if others else ""
        if not whole:
            return f"{count(done, 'step')}, none of which takes any time"
        if work - whole > whole / 1000:
            return f"{steps}; one after the other they would take {seconds(work, whole)}"
        return f"{steps}, one after the other" if done > 1 and not others else steps
    stand = f"{done} of {count(len(run.plan.steps), 'step')} done"
    if run.board.failed:
        id = next(iter(run.board.failed))
        at = max(bar.end for bar in found if bar.step == id)
        return f"Step {id} failed at {seconds(at)}; {stand}"
    return f"{run.status.capitalize()} at {seconds(whole)}: {stand}"
