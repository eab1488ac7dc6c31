"""The refactor world: a small web shop moves from sessions to JSON Web Tokens.

Its folder holds a real Python package with five endpoints and unit tests, which run in a separate process. The tools read and
change these files. After the update three endpoints answer 401: they use the whole ``Authorization`` header as the token and
forget the prefix ``Bearer``. Only the updated tests show the fault, one step later, and `fix_token_header` fixes it.

The plan is that of the code refactoring agent in "Planner-Executor Pattern". The tests execute the files: code that a real model
writes here runs on this machine.
"""

from planexec_lab.worlds.refactor.plan import GOAL, PLAN
from planexec_lab.worlds.refactor.sham import EMPTY_TESTS
from planexec_lab.worlds.refactor.world import World

__all__ = ["EMPTY_TESTS", "GOAL", "PLAN", "World"]
