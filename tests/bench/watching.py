"""A large run that a live board follows, beside the same run alone; what the board sends; how soon the player answers."""

from __future__ import annotations

from statistics import median

from planexec_lab import views
from planexec_lite import Run, Simulated
from planexec_lite.agent import Watch
from planexec_lite.plan import Plan
from tests.bench import ours
from tests.bench.plans import SHAPES, TOOLS, text_of
from tests.bench.timing import Row, ratio, real, rounds
from tests.views.comms import messages, weight

MOST_SENT = 200.0  # kB in a whole run
MOST_SECONDS = 0.2  # from a press to the answer of the player
MOST_SLOWER = 2.0  # times the run alone, which takes some 20 ms: the first and the last state are drawn in any case


def measure(steps: int, times: int) -> list[Row]:
    """Rows for a chain and a fan-out of so many steps, in rounds."""
    rows = []
    for shape in ("chain", "fan-out"):
        plan = ours.fit(text_of(SHAPES[shape], steps), TOOLS)
        run = followed(plan, None)
        screens = iter([views.live() for _ in range(times + 1)])  # shown before the run begins
        with messages() as sent:
            each = {"watched": lambda: followed(plan, next(screens)), "alone": lambda: followed(plan, None)}  # noqa: B023
            taken = rounds(each, times)  # processor time: what drawing costs the run, on a busy machine too
            most = weight(sent) / (times + 1) / 1000
        slower = ratio(taken["watched"], taken["alone"])
        long = [median(taken[name]) * 1000 for name in ("watched", "alone")]
        rows += [
            Row(f"{shape}: a run with a live board, beside it alone", *long, "ms", MOST_SLOWER, slower),
            Row(f"{shape}: all that the live board sends, beside the most", most, MOST_SENT, "kB", 1.0),
            Row(f"{shape}: the player answers, beside the most", answer(run, times), MOST_SECONDS, "s", 1.0),
        ]
    return rows


def followed(plan: Plan, screen: Watch | None) -> Run:
    """The run of a fit plan, with or without a live board."""
    return ours.alone(plan, TOOLS, Simulated(4), screen)


def answer(run: Run, times: int) -> float:
    """Seconds from a new number in the player to the last message that answers it, in the middle of the run."""
    player, middle = views.player(run), len(run.events) // 2
    numbers = iter(range(middle, middle + times + 1))
    with messages():
        taken = rounds({"player": lambda: setattr(player.number, "value", next(numbers))}, times, real)
    return median(taken["player"])
