"""A person decides about a question: one cell shows a desk, the next reads its decision; in tests a script replaces the person.

In the order of reading: `draft` (a plan under review, as values), `marks` and `summary` (remarks about it), `questions`
(any question, its fields, and its possible decisions), `text` (the question in text and in HTML), `form`, `rows` and `widget`.
"""

from planexec_lab.views.review_desk.opening import desk
from planexec_lab.views.review_desk.presence import NobodyThere, NotDecided
from planexec_lab.views.review_desk.script import ScriptError
from planexec_lab.views.review_desk.widget import Review

__all__ = ["NobodyThere", "NotDecided", "Review", "ScriptError", "desk"]
