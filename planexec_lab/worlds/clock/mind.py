"""The knowledge about the time: there is a clock."""

from collections.abc import Sequence

from planexec_lab.worlds.minds import Act, Answer, Expectation, Later, Seen


class ClockMind:
    """Reads the clock and reports its time to a user in the same time zone."""

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return what comes next after what was seen."""
        read = [one.result for one in seen if not one.failed]
        return Answer(f"It is {read[-1]}.") if read else Act("I will read the clock.", "current_time")

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return what is taken for granted: nothing."""
        return Expectation(later)
