"""The review of a plan by a person: a desk that one cell shows and the next one reads, and a scripted twin for nobody there.

`draft`, `fields`, `marks`, `presence`, `verdict` and `script` know no widgets; `widget`, `rows` and `form` are the desk.
Read `draft`, `marks`, `rows`, `answer`, then `widget`, which puts them together, and `opening`.
"""

from planexec_lite.views.review_desk.opening import desk
from planexec_lite.views.review_desk.script import ScriptError
from planexec_lite.views.review_desk.undecided import NobodyThere, NotDecided
from planexec_lite.views.review_desk.widget import Review

__all__ = ["NobodyThere", "NotDecided", "Review", "ScriptError", "desk"]
