"""The one error of a script, from whichever part of it."""


class ScriptError(ValueError):
    """A script that can't be used: every fault in it, with file, line, field and the mend."""
