"""From a run to the figure of its timeline, or of several runs one above the other on one axis of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planexec_lab.views.drawing.figure import Figure
from planexec_lab.views.drawing.text_fitting import clean, fit_columns
from planexec_lab.views.drawing.wording import listed, seconds
from planexec_lab.views.timeline_drawing import in_words
from planexec_lab.views.timeline_drawing import prediction as forecast
from planexec_lab.views.timeline_drawing.chart import Panel, draw
from planexec_lab.views.timeline_drawing.model import Timeline
from planexec_lite.run import Run

MOST_COLUMNS = 50


def timeline(run: Run, *, predicted: Mapping[str, float] | None = None) -> Figure:
    """Draw the work of a run over time: a lane for each slot, and lanes for the planner and the evaluator.

    The times are those of the workers; on the virtual clock of `Simulated` they are the same in every run. A slot without a
    step is idle.

    Args:
        run: a run, ended or not.
        predicted: predicted start times in seconds by step id. They are drawn as brackets below the bars, and the text
            states the difference.

    Raises `ValueError` for the predicted start of a step that the run does not have, or a start before zero.
    """
    shown = Timeline.of(run, predicted)
    end = shown.end
    title = _finding(shown)
    below = in_words.notes(shown)
    below += forecast.differences(shown.predicted, shown.actual, run.makespan)
    svg, (unlabelled,) = draw(title, [Panel(shown)], below, end)
    path, idle = in_words.critical_path(shown, end), in_words.idle(shown, end)
    key = [*([f"Thick outline: {path}."] if path else []), *(["Dotted: idle."] if idle else [])]
    key += ["Brackets: when each step was predicted."] if shown.predicted else []
    caption = " ".join([*key, *in_words.too_short(unlabelled)])
    text = "\n".join([title, *in_words.rows(shown, end), *idle, *below, *([caption] if caption else [])])
    alt = f"Timeline: {title}. {in_words.spoken(shown)}. {' '.join([*idle, *below])}".strip()
    return Figure(title, text, alt, caption, 720, svg=svg)


def timelines(runs: Mapping[str, Run], title: str | None = None) -> Figure:
    """Draw several runs one above the other on one axis of time, such as one plan under two rules.

    Args:
        runs: what each is called, and the run, ended or not; at least one.
        title: the finding; by default one is worded from the times.

    Raises `ValueError` where there is no run.
    """
    if not runs:
        raise ValueError('timelines: there is no run to draw; pass {"what it is called": run, …}')
    named = [(fit_columns(clean(name), MOST_COLUMNS), run) for name, run in runs.items()]
    end = max(run.makespan for _, run in named)
    least = min((run.makespan for _, run in named if run.status == "finished"), default=end)
    title = clean(title) if title is not None else _comparison(named, end, least)
    panels, below, text, alt = [], [], [title], []
    names_by_path: dict[str, list[str]] = {}
    for name, run in named:
        panel = Panel(Timeline.of(run), _heading(name, run, end, least))
        notes, idle = in_words.notes(panel.shown), in_words.idle(panel.shown, end)
        path = in_words.critical_path(panel.shown, end)
        # a path that several runs share is named once, without its share of each run's length
        names_by_path.setdefault(path.rpartition(", ")[0], []).append(name)
        text += [panel.heading, *in_words.rows(panel.shown, end), *idle, *notes]
        text += [f"Thick outline: {path}."] if path else []
        alt.append(f"{panel.heading}. {in_words.spoken(panel.shown)}. {' '.join([*idle, *notes])}".strip())
        panels.append(panel)
        below += [f"{name}: {note}" for note in notes]
    svg, unlabelled = draw(title, panels, below, end)
    key = [f"Thick outline, {listed(names)}: {path}." for path, names in names_by_path.items() if path]
    key += ["Dotted: idle."] if any(lane.idle for panel in panels for lane in panel.shown.lanes) else []
    caption = " ".join([*key, *in_words.too_short([bar for bars in unlabelled for bar in bars])])
    return Figure(title, "\n".join(text), f"Timelines: {title}. {' '.join(alt)}", caption, 720, svg=svg)


def _finding(shown: Timeline) -> str:
    """The title: with a prediction, the difference; for an unfinished run, its progress."""
    if shown.predicted and shown.run.status == "finished":
        return clean(forecast.finding(shown.predicted, shown.actual, shown.run.makespan))
    return in_words.finding(shown)


def _heading(name: str, run: Run, end: float, least: float) -> str:
    if run.status != "finished":
        return f"{name}: {run.status} after {seconds(run.makespan, end)}"
    more = run.makespan - least
    return f"{name}: {seconds(run.makespan, end)}" + (f", {seconds(more, end)} longer" if more > end / 1000 else "")


def _comparison(runs: Sequence[tuple[str, Run]], end: float, least: float) -> str:
    """A comparison of the shortest and the longest run."""
    if any(run.status != "finished" for _, run in runs):
        return "; ".join(f"{name}: {run.status} after {seconds(run.makespan, end)}" for name, run in runs)
    if end - least <= end / 1000:
        return f"{listed(name for name, _ in runs)}: {'each ' if len(runs) > 1 else ''}{seconds(end)}"
    quick = min(runs, key=lambda named: named[1].makespan)[0]
    slow = max(runs, key=lambda named: named[1].makespan)[0]
    return f"{quick}: {seconds(least, end)}; {slow}: {seconds(end)}, {end / least:.3g} times as long"
