"""The error that all parts of a script raise."""


class ScriptError(ValueError):
    """A script is invalid: lists every problem with file, line, field and fix."""
