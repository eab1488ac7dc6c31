"""When planning wins, and when it loses: the advice of the sources, each row of it as two runs on the same model.

1. `pace`: how long a model takes and what it reads, by one rule and the same for both sides.
2. `sides`: the two ways of working, and what is counted of them.
3. `made`: which tools were really called, read off the events.
4. `planned` and `unplanned`: the cases, each a function that carries out both sides.
5. `advice`: all rows of the sources' tables, each with its case, and the table of verdicts.

What follows from the structure is how often a model is called, what it has to read and write for that, and what can
run at the same time. What is the script's word each case says (`Case.scripted`). One mind answers on both sides
(`scenarios.minds`); three cases take a world's scene file instead, and say so. Paces (`scoreboard.assumptions`), prices
and the tools' seconds are assumed, and the same for both sides.
"""

from planexec_lite.comparison.advice import ADVICE, BEYOND, Advice, Row, as_figure, as_text, cases, reasons
from planexec_lite.comparison.made import Made, made
from planexec_lite.comparison.pace import client_of
from planexec_lite.comparison.sides import Case, Side, react, stepwise, whole

__all__ = [
    "ADVICE",
    "BEYOND",
    "Advice",
    "Case",
    "Made",
    "Row",
    "Side",
    "as_figure",
    "as_text",
    "cases",
    "client_of",
    "made",
    "react",
    "reasons",
    "stepwise",
    "whole",
]
