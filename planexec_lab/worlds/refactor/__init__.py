"""The refactor world: a small shop on the web whose users have sessions, to be moved to JSON Web Tokens.

Its folder holds a real Python package with five endpoints and its own unit tests, which run in a process of their own.
The tools read and change these files. Updating the endpoints leaves three of them answering 401: they take the header
``Authorization`` for the token and forget that ``Bearer`` stands before it. Only the updated tests show that, one step
later, and `fix_token_header` mends it.

The plan is the one of the code refactoring agent in "Planner-Executor Pattern". The tests run what the files say: when
a real model writes a file here, its code runs on this machine.
"""

from planexec_lab.worlds.refactor.plan import GOAL, PLAN
from planexec_lab.worlds.refactor.world import World

__all__ = ["GOAL", "PLAN", "World"]
