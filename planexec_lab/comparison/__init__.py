"""When planning wins, and when it loses: the advice of the sources, each row of it as two runs on the same model.

1. `pace`: how long a model takes and what it reads, by one rule and the same for both sides.
2. `sides`: the two ways of working, and what is counted of them.
3. `trials`: a function for each case, which carries out both sides of a task of the scoreboard.
4. `advice`: all rows of the sources' tables, each with its case, and the table of verdicts.

What follows from the structure is how often a model is called, what it has to read and write for that, and what can
run at the same time. One mind answers on both sides (`worlds.minds`); three cases take a world's scene file instead, and say
so. Paces (`scoreboard.assumptions`), prices and the tools' seconds are assumed, and the same for both sides.
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
