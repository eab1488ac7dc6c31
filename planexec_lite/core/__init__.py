"""The kernel of the pattern: how the next event is decided. What it decides about is in `planexec_lite.capabilities`."""

from planexec_lite.core.decide import HOLD, WAIT, Answer, Guard, Rule, Signal, after_retries, decide, when_idle

__all__ = ["HOLD", "WAIT", "Answer", "Guard", "Rule", "Signal", "after_retries", "decide", "when_idle"]
