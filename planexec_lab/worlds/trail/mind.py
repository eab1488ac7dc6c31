"""The knowledge about a trail: read the next log until a log has the cause."""

import re
from collections.abc import Sequence

from planexec_lab.worlds.minds import Act, Answer, Expectation, Later, Seen
from planexec_lab.worlds.trail.world import START

_NEXT = re.compile(r"Go on in (\w+\.log)\.")
_CAUSE = re.compile(r"Cause: (.+)\.$")


class TrailMind:
    """Reads the log that the previous log named, and writes down the cause when a log has it.

    A planner that plans ahead does not know the log after the next, and assumes that the next log has the cause.
    """

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return what comes next after what was seen."""
        name, cause, written = START, None, None
        for one in seen:
            if one.failed:
                return Answer(f"I can't go on: {one.result}")
            if one.tool == "write_cause":
                written = one.params["cause"]
                continue
            line = one.result["line"]
            if one.result["stopped"]:
                named = _CAUSE.search(line)
                cause = named[1] if named else line  # of a line that is not there yet, no part can be named
            elif onward := _NEXT.search(line):
                name = onward[1]
        if cause is not None and written == cause:
            return Answer(f"It is written down: {cause}.")
        if cause is not None:
            return Act("I will write the cause down.", "write_cause", {"cause": cause})
        return Act(f"I will read {name}.", "read_log", {"name": name})

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return what is taken for granted: the next log says the cause."""
        assumed = {"stopped": True}
        return Expectation({"line": later["line"]} | assumed, assumed) if act.tool == "read_log" else Expectation(later)
