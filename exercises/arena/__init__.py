"""An arena: plans that pass every check of the kit and do harm in a real world, and checks that are to stop them.

``see(1)`` carries out the first of our plans and says what harm it did. ``submit("deploy", steps)`` carries out yours.
``defend(my_check)`` tries your check on all of ours, harmful and harmless, and shows the next one that gets past it.
``twins()`` carries out one plan in two worlds, and no check of plans can tell them apart.

Read `worlds` (what counts as harm, measured from files, rows and messages), `plans` (ours, as data), then `verbs`.
"""

from exercises.arena.plans import step, upstream
from exercises.arena.verbs import defend, see, submit, twins

__all__ = ["defend", "see", "step", "submit", "twins", "upstream"]
