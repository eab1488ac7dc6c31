"""The scoreboard: every variation on the same tasks, on the scripted model and a virtual clock.

>>> from planexec_lab.scoreboard import row
>>> row("ReWOO", "deploy").figures.calls, row("ReAct", "deploy").figures.calls
(2, 9)

Read in this order: `faults`; `knowledge` (what the scripted model knows about a task: a plan, or a mind that chooses the next
step); `tasks` (the goals, and the check of each world); `scripted_model` (the model with this knowledge); `figures` (the counts
from the events); `trials` (the harness); `tables`. `assumptions` has the speed of the models.

When does planning win? `advised` has each row of the sources' advice with a case of `advice_cases`: two agents with one mind and
one pace try the same task, and `comparing` names the better side. Three results follow from the structure: the number of model
calls, the tokens read and written, and the work that runs at the same time. Paces, prices and the tools' seconds are assumptions,
equal for both sides.
"""

from planexec_lab.scoreboard import assumptions
from planexec_lab.scoreboard.advised import ADVICE, Advice, Verdict, tried
from planexec_lab.scoreboard.comparing import Case
from planexec_lab.scoreboard.faults import Faults, Kind
from planexec_lab.scoreboard.figures import Figures, calls_in, figures
from planexec_lab.scoreboard.knowledge import KnownWay
from planexec_lab.scoreboard.scripted_model import model
from planexec_lab.scoreboard.tables import advice, race, settings
from planexec_lab.scoreboard.tasks import Task, tasks
from planexec_lab.scoreboard.trials import Row, row, rows

__all__ = [
    "ADVICE",
    "Advice",
    "Case",
    "Faults",
    "Figures",
    "Kind",
    "KnownWay",
    "Row",
    "Task",
    "Verdict",
    "advice",
    "assumptions",
    "calls_in",
    "figures",
    "model",
    "race",
    "row",
    "rows",
    "settings",
    "tasks",
    "tried",
]
