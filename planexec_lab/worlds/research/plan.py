"""The plan for the article's goal, and one that walks into the trap, in the article's own shape (`tool`, `input`, integer ids)."""

from pathlib import Path

from planexec_lab.worlds.files import stored_plan

PLAN, GOAL = stored_plan(__file__)
TRAP_PLAN = Path(__file__).with_name("trap_plan.json").read_text("utf-8").rstrip()
