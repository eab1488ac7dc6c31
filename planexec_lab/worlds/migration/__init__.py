"""The migration world: a shop's real database gets a new schema.

Its folder holds a SQLite database with twelve customers and twenty orders. E-mail addresses are in a separate table; in the
new schema they are a column of customers. `SCRIPT` moves them. `HASTY_SCRIPT` also makes every address unique and skips
duplicates: customers 1 and 3 share an address, so row 3 loses it without an error. Only a test on a copy shows the loss in
advance. `BROKEN_SCRIPT` has a syntax error.

The plan, the step that deletes the production database and the order in which the ReAct
agent acts are those of "The Planner-Executor pattern explained".
"""

from planexec_lab.worlds.migration.agent import agent
from planexec_lab.worlds.migration.mind import MigrationMind
from planexec_lab.worlds.migration.plan import (
    DANGEROUS_PLAN,
    GOAL,
    PLAN,
    REACT_ORDER,
    plan_with,
)
from planexec_lab.worlds.migration.scripts import BROKEN_SCRIPT, HASTY_SCRIPT, SCRIPT
from planexec_lab.worlds.migration.world import World

__all__ = [
    "BROKEN_SCRIPT",
    "DANGEROUS_PLAN",
    "GOAL",
    "HASTY_SCRIPT",
    "PLAN",
    "REACT_ORDER",
    "SCRIPT",
    "MigrationMind",
    "World",
    "agent",
    "plan_with",
]
