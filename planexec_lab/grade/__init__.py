"""Grades a plan against a gold plan, and compares two planners by their numbers.

>>> from planexec_lite import Plan
>>> from planexec_lab.grade import grade
>>> gold = Plan.parse('[{"id": 1, "tool": "backup"}, {"id": 2, "tool": "migrate", "depends_on": [1]}]')
>>> turned = Plan.parse('[{"id": 1, "tool": "migrate"}, {"id": 2, "tool": "backup", "depends_on": [1]}]')
>>> one = grade(turned, gold)
>>> one.valid, one.tool_f1, one.order_kept
(True, 1.0, 0.0)

Read in this order: `matching` (pairs of equal steps), `grading` (the numbers of one plan), `paired` (two planners). A grade
measures the distance from a plan that is known to be good; another plan can be good too.
"""

from planexec_lab.grade.grading import Grade, grade
from planexec_lab.grade.paired import Paired, paired

__all__ = ["Grade", "Paired", "grade", "paired"]
