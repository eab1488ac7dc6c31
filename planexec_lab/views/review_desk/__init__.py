"""The review of a plan: one cell shows a desk, the next cell reads its decision; in tests a script replaces the person.

In the order of reading: `draft` (a plan under review, as values), `marks` and `summary` (remarks about it), `questions`
(each question, and when an answer is allowed), `form`, `rows` and `widget` (the desk).
"""

from planexec_lab.views.review_desk.opening import desk
from planexec_lab.views.review_desk.presence import NobodyThere, NotDecided
from planexec_lab.views.review_desk.script import ScriptError
from planexec_lab.views.review_desk.widget import Review

__all__ = ["NobodyThere", "NotDecided", "Review", "ScriptError", "desk"]
