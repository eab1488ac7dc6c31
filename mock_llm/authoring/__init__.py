"""Tools for script authors: `linter` finds scenes that can't answer, and `recorder` writes a script from a real
endpoint.
"""

from .linter import check
from .recorder import Recorder

__all__ = ["Recorder", "check"]
