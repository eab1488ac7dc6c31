"""The research world: a library on renewable energy is searched, read, summarized and cited in a report.

The library is a small corpus written for the kit, in a real full-text index. Two of its documents are traps: doc-31
holds ``{step_1_result}`` and orders to its reader, and doc-32 is not for publication. A resolver that looks for
references in results copies the one into the other, and `TRAP_PLAN` shows it.

Goal and shape of the plan are those of the article "Planner-Executor architecture"; the tools have its signatures.
"""

from planexec_lab.worlds.research.plan import GOAL, PLAN, TRAP_PLAN
from planexec_lab.worlds.research.world import World

__all__ = ["GOAL", "PLAN", "TRAP_PLAN", "World"]
