"""An arena: plans that pass every check of the kit but do harm in a world, and your checks that should stop them.

``see(1)`` runs the first of our plans and reports its harm. ``submit("deploy", steps)`` runs your plan.
``defend(my_check)`` tries your check on all our plans, harmful and harmless, and shows the next harmful plan that passes.
``twins()`` runs one plan in two worlds that no check of plans can distinguish.

Read `worlds` (the harm, measured from files, rows and messages), `plans` (our plans, as data), then `verbs`.
"""

from exercises.arena.plans import step, upstream
from exercises.arena.verbs import defend, see, submit, twins

__all__ = ["defend", "see", "step", "submit", "twins", "upstream"]
