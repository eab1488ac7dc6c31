"""The plan of the article: collect logs, inspect the failing branch, summarize the root cause, propose a patch."""

from planexec_lab.worlds.files import stored_plan

PLAN, GOAL = stored_plan(__file__)
