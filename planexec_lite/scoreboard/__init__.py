"""The scoreboard: every variation on the same tasks, on the scripted model and a virtual clock.

>>> from planexec_lite.scoreboard import row
>>> row("ReWOO", "deploy").figures.calls, row("ReAct", "deploy").figures.calls
(2, 9)

Read in this order: `faults`; `ways` (what is known of a way: a plan, or a mind that says what is next); `tasks` (the
goals, and how each world is looked up); `script` (the model that knows the way); `rows`; `measure` (what is counted in the
events); `tables`. `assumptions` says how fast a model is said to be. `planexec_lite.comparison` tries advice on the same tasks.
"""

from planexec_lite.scoreboard import assumptions, published
from planexec_lite.scoreboard.faults import KINDS, Faults, Kind
from planexec_lite.scoreboard.measure import Figures, calls_in, figures
from planexec_lite.scoreboard.rows import Row, row, rows, sweep
from planexec_lite.scoreboard.script import model
from planexec_lite.scoreboard.tables import goals, race, robustness, settings
from planexec_lite.scoreboard.tasks import Task, tasks
from planexec_lite.scoreboard.ways import KnownWay

__all__ = [
    "KINDS",
    "Faults",
    "Figures",
    "Kind",
    "KnownWay",
    "Row",
    "Task",
    "assumptions",
    "calls_in",
    "figures",
    "goals",
    "model",
    "published",
    "race",
    "robustness",
    "row",
    "rows",
    "settings",
    "sweep",
    "tasks",
]
