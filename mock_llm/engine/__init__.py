"""From a request to an answer: `selection` has the rules, `matching` compares, and `rendering` builds the answer.

`explanation` gives the reasons, and `calls` is the log. The engine knows nothing about HTTP, and only `counters` has
state.
"""

from .calls import Call, CallLog, Calls
from .counters import Counters
from .explanation import Explanation, explain, offered, snippet
from .matching import Match, best_matches, match, occurs
from .rendering import input_tokens
from .selection import answer

__all__ = [
    "Call",
    "CallLog",
    "Calls",
    "Counters",
    "Explanation",
    "Match",
    "answer",
    "best_matches",
    "explain",
    "input_tokens",
    "match",
    "occurs",
    "offered",
    "snippet",
]
