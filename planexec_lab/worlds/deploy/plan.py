"""The plan of the article, in the article's own shape (`action`, `params`, integer ids)."""

from planexec_lab.worlds.files import stored_plan

PLAN, GOAL = stored_plan(__file__)
