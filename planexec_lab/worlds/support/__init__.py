"""The support world: an order was paid for and never arrived, and four services have written down why.

Its folder holds real log files (checkout, payment, fulfilment, mail), the settings of the services, and an archive into
which the interesting ten minutes of one log were rotated away. The tools read only what was collected: who follows the
order A-1034 finds a gap, and only the archive closes it.

The goal is the example of the support team in "What is Planner-Executor Pattern?".
"""

from planexec_lab.worlds.support.mind import AuditMind
from planexec_lab.worlds.support.plan import GOAL, PLAN
from planexec_lab.worlds.support.world import World

__all__ = ["GOAL", "PLAN", "AuditMind", "World"]
