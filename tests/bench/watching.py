"""A large run that a live board follows, beside the same run alone; what the board sends; how soon the player answers."""

from __future__ import annotations

from functools import partial
from statistics import median

from planexec_lab import views
from planexec_lite import Run, Simulated
from tests.bench.plans import alone, text_of, valid
from tests.bench.timing import Row, beside, real, rounds
from tests.views.comms import messages, weight

MOST_SENT = 200.0  # kB in a whole run
MOST_SECONDS = 0.2  # from a press to the answer of the player
MOST_SLOWER = 2.0  # times the run alone, which takes some 20 ms: the first and the last state are drawn in any case


def measure(steps: int, times: int) -> list[Row]:
    """Rows for a chain and a fan-out of so many steps, in rounds."""
    rows = []
    for shape in ("chain", "fan-out"):
        plan = valid(text_of(shape, steps))
        run = alone(plan, Simulated(4))
        screens = iter([views.live() for _ in range(times + 1)])  # shown before the run begins
        watched = partial(lambda plan, screens: alone(plan, Simulated(4), next(screens)), plan, screens)
        with messages() as sent:
            each = {"watched": watched, "alone": partial(alone, plan, Simulated(4))}
            taken = rounds(each, times)  # processor time: what drawing costs the run, on a busy machine too
            most = weight(sent) / (times + 1) / 1000
        rows += [
            beside(f"{shape}: a run with a live board", taken, "watched", "alone", 1e3, "ms", most=MOST_SLOWER),
            Row(f"{shape}: all that the live board sends, beside the most", most, MOST_SENT, "kB", 1.0),
            Row(f"{shape}: the player answers, beside the most", answer(run, times), MOST_SECONDS, "s", 1.0),
        ]
    return rows


def answer(run: Run, times: int) -> float:
    """Seconds from a new number in the player to the last message that answers it, in the middle of the run."""
    player, middle = views.player(run), len(run.events) // 2
    numbers = iter(range(middle, middle + times + 1))
    with messages():
        taken = rounds({"player": lambda: setattr(player.number, "value", next(numbers))}, times, real)
    return median(taken["player"])
