"""One mind, several roles: a scripted model that knows what to do next, asked for a whole plan, a step, or a call.

Who compares two ways of working must not let the script decide. So one rule answers in every role: `Mind.next` says what comes
next, given what was seen. Asked for one step or one call, the model gives just that. Asked for a whole plan, it goes on from what
it *expects* to see: a result that nobody can know is a reference, and what it takes for granted becomes the step's criterion,
so that a surprise is noticed (`as_expected`). `scoreboard.script` is another model, for every form in which the famous variations
ask: it may know a plan instead of a mind, writes no criteria, and can be made to plan wrong.

1. `mind`: what a mind is. 2. `ahead`: the steps that it would plan. 3. `known_plan`: one that knows a plan. 4. `told`: what a
request says was seen. 5. `roles`: the model.
"""

from planexec_lab.worlds.minds.ahead import ahead
from planexec_lab.worlds.minds.known_plan import PlanMind
from planexec_lab.worlds.minds.mind import EXPECTED, Act, Answer, Expectation, Later, Mind, Seen, as_expected
from planexec_lab.worlds.minds.roles import script
from planexec_lab.worlds.minds.told import Entry, call_in, entries_in, observed, value_of

__all__ = [
    "EXPECTED",
    "Act",
    "Answer",
    "Entry",
    "Expectation",
    "Later",
    "Mind",
    "PlanMind",
    "Seen",
    "ahead",
    "as_expected",
    "call_in",
    "entries_in",
    "observed",
    "script",
    "value_of",
]
