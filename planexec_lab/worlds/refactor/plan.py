"""The plan of the article: seven tasks with success criteria."""

from planexec_lab.worlds.files import stored_plan

PLAN, GOAL = stored_plan(__file__)
