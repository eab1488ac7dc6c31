"""The knowledge about a release: the plan, and a rollback if production does not answer."""

from collections.abc import Sequence

from planexec_lab.worlds.deploy.plan import PLAN
from planexec_lab.worlds.minds import Act, Answer, PlanMind, Seen
from planexec_lite.tools import Toolbox


class ReleaseMind(PlanMind):
    """Says step by step what the plan says; when a check fails, what its rollback says, and then that it was rolled back."""

    def __init__(self, tools: Toolbox) -> None:
        super().__init__(PLAN, tools, "v2.3.1 is in production.")

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return what comes next after what was seen."""
        failed = [place for place, one in enumerate(seen) if one.failed]
        if not failed:
            return super().next(seen)
        since = [one.tool for one in seen[failed[0] :] if not one.failed]
        for call in self.plan.rollback:
            if call.tool not in since:
                return Act(f"It failed; I will call {call.tool}.", call.tool, call.params)
        return Answer("It failed, and was rolled back.")
