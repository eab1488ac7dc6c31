"""Twelve puzzles: change a line of a plan, run the cell, and look at the picture.

``puzzle(1, plan)`` carries the plan out on the kit, draws that run, and says what is reached and what is wanted;
``solved()`` shows which puzzles were right.

Read `notation` (a plan in a few words), `workshop` (the world in which jobs need each other), `attempt` (a puzzle, and one
answer to it with its run), `rules` (what can be wanted of an answer), `twelve` (the puzzles, as data), then `verdict`.
"""

from exercises.puzzles.verdict import puzzle, solved

__all__ = ["puzzle", "solved"]
