"""The support world: an order was paid and never arrived, and the logs of four services have the reason.

Its folder holds real log files (checkout, payment, fulfilment, mail), the settings of the services, and an archive with the
decisive ten minutes of one log, which were rotated away. The tools read only collected logs: following order A-1034 leads to a
gap, and only the archive closes it.

The goal is the example of the support team in "What is Planner-Executor Pattern?".
"""

from planexec_lab.worlds.support.mind import AuditMind
from planexec_lab.worlds.support.plan import GOAL, PLAN
from planexec_lab.worlds.support.world import World

__all__ = ["GOAL", "PLAN", "AuditMind", "World"]
