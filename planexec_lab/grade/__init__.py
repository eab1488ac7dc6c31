"""Grades a plan against a gold plan, and a planner over a data set.

>>> from planexec_lite import Plan
>>> from planexec_lab.grade import grade
>>> gold = Plan.parse('[{"id": 1, "tool": "backup"}, {"id": 2, "tool": "migrate", "depends_on": [1]}]')
>>> turned = Plan.parse('[{"id": 1, "tool": "migrate"}, {"id": 2, "tool": "backup", "depends_on": [1]}]')
>>> one = grade(turned, gold)
>>> one.valid, one.tool_f1, one.order_kept
(True, 1.0, 0.0)

Read in this order: `matching` (pairs of equal steps), `grading` (the numbers of one plan), `paired` (two planners),
`dataset`, `answers` and `report` (a planner over a data set, ``python -m planexec_lab.grade``). A grade measures the
distance from a plan that is known to be good; another plan can be good too.
"""

from planexec_lab.grade.answers import Answered, answered
from planexec_lab.grade.dataset import GoldRow, gold_rows, written
from planexec_lab.grade.grading import METRICS, Cost, Grade, grade
from planexec_lab.grade.paired import Paired, paired
from planexec_lab.grade.report import Graded, compared

__all__ = [
    "METRICS", "Answered", "Cost", "GoldRow", "Grade", "Graded", "Paired", "answered", "compared",
    "gold_rows", "grade", "paired", "written",
]  # fmt: skip
