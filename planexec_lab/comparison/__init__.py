"""When planning wins and when it loses: each row of the sources' advice as two runs on the same model.

1. `pace`: a model's seconds and tokens per answer, by the same rule for both sides.
2. `sides`: the two ways of working, and their counts.
3. `trials`: a function for each case, which runs both sides of a scoreboard task.
4. `advice`: all rows of the sources' tables with their cases, and the table of verdicts.

Three results follow from the structure: the number of model calls, the tokens read and written, and the work that runs at the
same time. The same mind answers on both sides (`worlds.minds`); three cases use a world's scene file instead and state it.
Paces (`scoreboard.assumptions`), prices and the tools' seconds are assumptions, equal for both sides.
"""

from planexec_lab.comparison.advice import ADVICE, Advice, Row, as_figure, cases
from planexec_lab.comparison.pace import client_of
from planexec_lab.comparison.sides import Case, Side, react, stepwise, whole

__all__ = [
    "ADVICE",
    "Advice",
    "Case",
    "Row",
    "Side",
    "as_figure",
    "cases",
    "client_of",
    "react",
    "stepwise",
    "whole",
]
