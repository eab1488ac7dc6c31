"""The review of a plan by a person: a desk that one cell shows and the next one reads, and a scripted twin for nobody there.

In the order of reading: `draft` (a plan under review, as values), `marks` and `summary` (what is said about it), `questions`
(what is asked, and when it may be answered), `form`, `rows` and `widget` (the desk), `fence` (the one place that waits).
"""

from planexec_lab.views.review_desk.opening import desk
from planexec_lab.views.review_desk.presence import NobodyThere, NotDecided
from planexec_lab.views.review_desk.script import ScriptError
from planexec_lab.views.review_desk.widget import Review

__all__ = ["NobodyThere", "NotDecided", "Review", "ScriptError", "desk"]
