"""The sequence of a run: who said what to whom, time flowing down. Planner and executor never talk to each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from planexec_lite.run import Run
from planexec_lite.views import theme
from planexec_lite.views.canvas import Box, Canvas
from planexec_lite.views.figure import Figure
from planexec_lite.views.messages import ROLES, Message, abridged, messages
from planexec_lite.views.theme import MARGIN, SMALL, TITLE
from planexec_lite.views.words import clean, fit, fit_columns, listed, seconds, table, width, wrap_to

MOST = 40
ROW, HEAD = 26.0, 24.0
BOX, BESIDE = 76.0, 96.0  # the width of a name; the distance of two roles that don't talk to each other
TIMES = ("never", "once", "twice")


def sequence(run: Run, title: str | None = None) -> Figure:
    """Draw what planner, executor, evaluator and people outside said to the board, and it to them.

    All talk goes through the board, as structured messages. Long runs are shortened in the middle, to 40 lines.

    Args:
        run: a run, ended or not.
        title: the finding; by default it says how often each role was asked.
    """
    return draw(run, title)[0]


def draw(run: Run, title: str | None = None) -> tuple[Figure, Canvas]:
    """Return the figure, and the canvas that it was drawn on."""
    said = messages(run)
    title = clean(title) if title is not None else _finding(said)
    first, left_out, last = abridged(said, MOST)
    more = f"… {left_out} more messages"
    rows = [_row(message, run.makespan) for message in (*first, *last)]
    lines = table(rows) if rows else []
    if left_out:
        lines.insert(len(first), f"  {more}")
    caption = "Solid: asked or told. Dashed: answered; ✗ marks failures and refusals." if said else ""
    caption += f" {run.status.capitalize()}: {fit_columns(clean(run.reason), 160)}." if run.reason else ""
    text = "\n".join([title, *lines, *([caption.strip()] if caption else [])])
    alt = f"Sequence of messages: {title}. " + "; ".join(
        f"{message.sender} to {message.receiver}: {fit_columns(message.words, 60)}" for message in first[:8]
    )
    canvas, wide, high = _sketch(title, [*first, *([more] if left_out else []), *last], run.makespan)
    return Figure(title, text, alt, caption.strip(), wide, svg=canvas.svg(wide, high)), canvas


def _row(message: Message, longest: float) -> list[str]:
    way = f"{message.sender} → {message.receiver}"
    return [f"  {seconds(message.at, longest)}", way, fit_columns(message.words, 90)]


def _finding(said: Sequence[Message]) -> str:
    asked = {role: sum(message.receiver == role for message in said) for role in ROLES if role != "board"}
    times = [f"the {role} {TIMES[n] if n < 3 else f'{n} times'}" for role, n in asked.items() if n]
    told = [message for message in said if message.sender == "outside" and message.words.startswith("news")]
    news = f"; news came {TIMES[len(told)] if len(told) < 3 else f'{len(told)} times'}" if told else ""
    return f"The board asked {listed(times)}{news}" if times else "Nobody has said anything yet"


def _sketch(title: str, shown: Sequence[Message | str], longest: float) -> tuple[Canvas, int, int]:
    canvas, top = Canvas(), float(MARGIN + TITLE)
    across = 440.0
    for words in wrap_to(title, theme.WIDEST - 2 * MARGIN, TITLE, 3, bold=True):
        canvas.text(MARGIN, top, words, size=TITLE, bold=words)
        across = max(across, 2 * MARGIN + width(words, TITLE, bold=True))
        top += 20.0
    said = [message for message in shown if isinstance(message, Message)]
    taking_part = {role for message in said for role in (message.sender, message.receiver)}
    roles = [role for role in ROLES if role in taking_part]
    times = [seconds(message.at, longest) for message in said]
    begin = MARGIN + max((width(time, SMALL) for time in times), default=0.0) + 12 + BOX / 2
    at = _places(roles, begin)
    bottom = top + HEAD + ROW * len(shown) + 8
    for role, x in at.items():
        canvas.line(f"M{x:g} {top + HEAD:g}V{bottom:g}", ink=theme.LINE, thick=1, dashed=True)
        box = Box(x - BOX / 2, top, BOX, HEAD, role)
        canvas.box(box, fill=theme.WHITE, ink=theme.LINE)
        canvas.text(x, top + 16, role, bold=role, anchor="middle")
    previous, y = "", top + HEAD + 4
    for message in shown:
        y += ROW
        if isinstance(message, str):
            canvas.text(at["board"], y - 6, message, ink=theme.MUTED, anchor="middle", halo=True)
            continue
        time = seconds(message.at, longest)
        if time != previous:
            canvas.text(MARGIN, y + 4, time, ink=theme.MUTED)
        _arrow(canvas, message, at[message.sender], at[message.receiver], y)
        previous = time
    across = max([across, *(x + BOX / 2 + MARGIN for x in at.values())])
    return canvas, min(int(across), theme.WIDEST), int(bottom + (14 if said else -14))


def _places(roles: Sequence[str], begin: float) -> dict[str, float]:
    """Where the lifelines stand: neighbours of the board get what room there is, others stand close together."""
    room = theme.WIDEST - MARGIN - BOX / 2 - begin
    talk = [("board" in pair) for pair in pairwise(roles)]
    wide = min((room - BESIDE * talk.count(False)) / max(talk.count(True), 1), 300.0)
    ways = accumulate((wide if talks else BESIDE for talks in talk), initial=begin)
    return {role: round(x, 1) for role, x in zip(roles, ways, strict=False)}


def _arrow(canvas: Canvas, message: Message, start: float, end: float, y: float) -> None:
    ink = theme.ALARM if message.bad else theme.TEXT
    back = end < start
    tip = end + 6 if back else end - 6
    canvas.line(f"M{start:g} {y:g}H{tip:g}", ink=ink, thick=1.25, dashed=message.answer)
    canvas.head(end, y, ink=ink, left=back)
    words = fit(message.words, abs(end - start) - 16, SMALL)
    canvas.text(min(start, end) + 8, y - 6, words, ink=ink, halo=True)
