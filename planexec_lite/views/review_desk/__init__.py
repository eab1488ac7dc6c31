"""The review of a plan by a person: a widget, waiting for its decision in a cell, and a scripted twin for nobody there.

`draft`, `fields`, `marks` and `presence` are pure and know no widgets; `desk`, `rows` and `form` are the widget.
"""

from planexec_lite.views.review_desk.asking import NobodyThere, review
from planexec_lite.views.review_desk.desk import NotDecided, Review
from planexec_lite.views.review_desk.script import ScriptError

__all__ = ["NobodyThere", "NotDecided", "Review", "ScriptError", "review"]
