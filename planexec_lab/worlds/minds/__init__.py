"""One mind, several roles: a scripted model that answers with a whole plan, a step, or a call.

In a comparison of two ways of working, the script should not decide the outcome. So the same rule answers in every role:
`Mind.next` chooses the next call from the results so far. For a step or a call the model answers with that. For a whole plan it
continues with *expected* results: an unknown result is a reference, and an assumption becomes the step's criterion, so that a
surprise is noticed (`as_expected`). `scoreboard.scripted_model` is another model, for all request forms of the famous variations:
it can know a plan instead of a mind, writes no criteria, and can plan wrong on request.

1. `mind`: the mind. 2. `ahead`: the steps that it would plan. 3. `known_plan`: a mind that knows its plan. 4. `told`: the results
in a request. 5. `roles`: the model. 6. `requests`: which words of a request change the plan. 7. `scripted`: the model of a world's
own planner, which reads the requests that it knows and says which it doesn't.
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
