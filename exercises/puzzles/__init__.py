"""Thirteen puzzles: change a line of a plan, run the cell, and look at the picture.

``puzzle(1, plan)`` runs the plan on the kit, draws the run, and prints the result and the expected result;
``solved()`` shows which puzzles you have solved.

Read `notation` (plans as text), `workshop` (the world in which jobs need each other), `attempt` (a puzzle, and one
answer with its run), `rules` (the requirements for answers), `collection` (the puzzles, as data), then `verdict`.
"""

from exercises.puzzles.verdict import puzzle, solved

__all__ = ["puzzle", "solved"]
