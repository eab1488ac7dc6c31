"""The label of a bar in a timeline: as much as fits, inside the bar or to the right of it."""

from __future__ import annotations

from planexec_lab.views.drawing.text_fitting import fit, whole, width, wrap
from planexec_lab.views.drawing.theme import SMALL
from planexec_lab.views.timeline_drawing.bars import BESIDE, BY_VERDICT, INTERRUPTED, WAITED, Bar

WORDS = {
    "done": "✓",
    "failed": "✗\u00a0failed",
    "invalid": "✗\u00a0invalid",
    "running": "▸\u00a0running",
}
WORDS |= {kind.done: kind.sign for kind in BESIDE}
WORDS |= {BY_VERDICT: "✗\u00a0failed by\u00a0verdict"}
WORDS |= {INTERRUPTED: "✗\u00a0interrupted", WAITED: "…\u00a0paused"}
WORDS |= {verdict: f"✗\u00a0{verdict}" for verdict in ("retry", "modify", "replan")}
GOOD = ("done", *(kind.done for kind in BESIDE))
LEAST = 50.0


def label(bar: Bar, name: str, inside: float, beside: float, rows: int = 1) -> tuple[list[str], bool]:
    """Return the lines to write at `bar`, and whether they go inside.

    In order of preference: everything inside; without the mark of a done step; everything to the right; the name
    shortened; the id and the state; the id. A planner's label drops its reason before it is shortened. There is room for
    `rows` lines inside, and for `inside` and `beside` pixels.
    """
    if bar.step is None:
        id, name, mark = "", bar.what or "planning", "" if bar.state == "done" else WORDS[bar.state]
    else:
        id, name, mark = fit(bar.step, 60, SMALL), "" if bar.what else name, WORDS[bar.state]
    again = f"{id} try {bar.attempt}" if bar.attempt > 1 else id
    full = _joined(again, name, mark)
    for words in (full, _joined(again, name)) if bar.state in GOOD else (full,):
        lines = wrap(words, inside, SMALL)
        if len(lines) <= rows and whole(words, inside, SMALL):
            return [line.strip() for line in lines], True
    if width(full, SMALL) <= beside:
        return [full], False
    if bar.step is None:
        name = name.partition(" after ")[0]
        if width(brief := _joined(name, mark), SMALL) <= max(inside, beside):
            return [brief], width(brief, SMALL) <= inside
    for room, within in ((inside, True), (beside, False)):
        left = room - width(_joined(again, " ", mark), SMALL)
        if left >= LEAST:
            return [_joined(again, fit(name, left, SMALL), mark)], within
    if bar.state == BY_VERDICT:
        lines = [line.strip() for line in wrap(_joined(id, mark), inside + 10, SMALL)]
        if len(lines) <= rows and lines[-1] == "by\u00a0verdict":
            return lines, True
    # a short text can use the padding of its bar: 10 pixels more than the room inside
    briefer = [_joined(again, mark), _joined(id, mark), _joined(id, mark[:1]), *([id] if bar.state in GOOD else [])]
    for words in briefer:
        for room, within in ((inside + 10, True), (beside, False)):
            if words and width(words, SMALL) <= room:
                return [words], within
    return [], False


def _joined(id: str, *words: str) -> str:
    """The mark of a state is never alone on a line."""
    return " ".join(part for part in (id, "\u00a0".join(word for word in words if word)) if part)
