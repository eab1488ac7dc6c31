"""The head chef's plan: fourteen tickets, 170 minutes of work, and a tart that waits until the roast leaves the oven."""

from planexec_lab.worlds.files import stored_plan

PLAN, GOAL = stored_plan(__file__)
