"""The kernel: how the next event is decided, and the rules of a plain run. `planexec_lite.capabilities` adds all other rules."""

from planexec_lite.core.decide import HOLD, WAIT, Answer, Guard, Rule, Signal, after_retries, decide, when_idle

__all__ = ["HOLD", "WAIT", "Answer", "Guard", "Rule", "Signal", "after_retries", "decide", "when_idle"]
