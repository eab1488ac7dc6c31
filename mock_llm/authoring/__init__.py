"""Tools for script authors: `linter` finds scenes that can't answer, `recorder` writes a script from a real endpoint,
and `cassettes` from the recordings of vcrpy. Both use `recording`, which makes scenes of requests and `answers`.
"""

from .cassettes import import_cassettes
from .linter import check
from .recorder import Recorder

__all__ = ["Recorder", "check", "import_cassettes"]
