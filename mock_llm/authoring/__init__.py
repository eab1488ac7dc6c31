"""Tools for a script's author: `linter` finds scenes that can't answer, `recorder` writes a script from a real endpoint."""

from .linter import check
from .recorder import Recorder

__all__ = ["Recorder", "check"]
