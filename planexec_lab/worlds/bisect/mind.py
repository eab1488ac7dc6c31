"""The knowledge about a bisection: test the middle of the remaining versions."""

from collections.abc import Sequence

from planexec_lab.worlds.bisect.world import VERSIONS
from planexec_lab.worlds.minds import Act, Answer, Expectation, Later, Seen


class BisectMind:
    """Halves the versions between the last that passes and the first that fails.

    Whether the middle passes is unknown. A planner that plans ahead has to assume one result: that it passes.
    """

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return what comes next after what was seen."""
        passes, fails, marked = 1, VERSIONS, None
        for one in seen:
            if one.failed:
                return Answer(f"I can't go on: {one.result}")
            version = one.params["version"]
            if one.tool == "mark_version":
                marked = version
            elif one.result["passes"]:
                passes = max(passes, version)
            else:
                fails = min(fails, version)
        if fails - passes == 1 and marked == fails:
            return Answer(f"Version {fails} broke.")
        if fails - passes == 1:
            return Act(f"Version {passes} passes.", "mark_version", {"version": fails})
        middle = (passes + fails) // 2
        return Act(f"It is between {passes} and {fails}.", "test_version", {"version": middle})

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return what is taken for granted: a version passes."""
        assumed = {"passes": True}
        return Expectation(assumed, assumed) if act.tool == "test_version" else Expectation(later)
