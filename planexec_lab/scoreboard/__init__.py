"""The scoreboard: every variation on the same tasks, on the scripted model and a virtual clock.

>>> from planexec_lab.scoreboard import row
>>> row("ReWOO", "deploy").figures.calls, row("ReAct", "deploy").figures.calls
(2, 9)

Read in this order: `faults`; `ways` (the knowledge about a task: a plan, or a mind that chooses the next step); `tasks` (the
goals, and the check of each world); `script` (the model with this knowledge); `rows`; `measure` (the counts from the events);
`tables`. `assumptions` has the speed of the models. `planexec_lab.comparison` tests advice on the same tasks.
"""

from planexec_lab.scoreboard import assumptions, published
from planexec_lab.scoreboard.faults import KINDS, Faults, Kind
from planexec_lab.scoreboard.measure import Figures, calls_in, figures
from planexec_lab.scoreboard.rows import Row, row, rows, sweep
from planexec_lab.scoreboard.script import model
from planexec_lab.scoreboard.tables import goals, race, robustness, settings
from planexec_lab.scoreboard.tasks import Task, tasks
from planexec_lab.scoreboard.ways import KnownWay

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
