"""The kitchen world: a three-course dinner for eight, with as many line cooks as there are slots, and one oven.

The head chef plans and never picks up a knife; the line cooks follow the tickets and never decide the menu. The picture
is that of "The Planner-Executor Pattern: How Smart AI Teams Split the Work". The state is real: chopping empties the
pantry, a roast keeps the oven until it is plated, and a world made with ``World(leeks=0)`` can't cook the first plan.
"""

from planexec_lab.worlds.kitchen.plan import GOAL, PLAN
from planexec_lab.worlds.kitchen.world import World

__all__ = ["GOAL", "PLAN", "World"]
