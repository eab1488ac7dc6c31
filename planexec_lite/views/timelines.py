"""Several runs one above the other, on one axis of time: one plan under two rules, or with more and more slots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planexec_lite.run import Run
from planexec_lite.views.bars import bars
from planexec_lite.views.chart import draw
from planexec_lite.views.figure import Figure
from planexec_lite.views.notes import notes
from planexec_lite.views.panel import critical_words, idle_words, panel_of, rows, short_words, spoken
from planexec_lite.views.words import clean, fit_columns, listed, seconds

MOST_COLUMNS = 50


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
    paths: dict[str, list[str]] = {}
    for name, run in named:
        found = bars(run)
        panel = panel_of(run, found, {}, end)._replace(heading=_heading(name, run, end, least))
        here, idle, path = notes(run, found), idle_words(panel, end), critical_words(run, panel, end)
        paths.setdefault(path.rpartition(", ")[0], []).append(name)
        text += [panel.heading, *rows(panel, {}, end), *idle, *here, *([f"Thick outline: {path}."] if path else [])]
        alt.append(f"{panel.heading}. {'; '.join(spoken(found, run))}. {' '.join([*idle, *here])}".strip())
        panels.append(panel)
        below += [f"{name}: {note}" for note in here]
    svg, bare = draw(title, panels, below, end)
    said = [f"Thick outline, {listed(names)}: {path}." for path, names in paths.items() if path]
    said += ["Dotted: idle."] if any(lane.idle for panel in panels for lane in panel.lanes) else []
    caption = " ".join([*said, *short_words([bar for short in bare for bar in short])])
    return Figure(title, "\n".join(text), f"Timelines: {title}. {' '.join(alt)}", caption, 720, svg=svg)


def _heading(name: str, run: Run, end: float, least: float) -> str:
    if run.status != "finished":
        return f"{name}: {run.status} after {seconds(run.makespan, end)}"
    more = run.makespan - least
    return f"{name}: {seconds(run.makespan, end)}" + (f", {seconds(more, end)} longer" if more > end / 1000 else "")


def _comparison(runs: Sequence[tuple[str, Run]], end: float, least: float) -> str:
    """The shortest run beside the longest, in words."""
    if any(run.status != "finished" for _, run in runs):
        return "; ".join(f"{name}: {run.status} after {seconds(run.makespan, end)}" for name, run in runs)
    if end - least <= end / 1000:
        return f"{listed(name for name, _ in runs)}: {'each ' if len(runs) > 1 else ''}{seconds(end)}"
    quick = min(runs, key=lambda named: named[1].makespan)[0]
    slow = max(runs, key=lambda named: named[1].makespan)[0]
    return f"{quick}: {seconds(least, end)}; {slow}: {seconds(end)}, {end / least:.3g} times as long"
