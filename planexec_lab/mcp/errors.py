"""What can go wrong with a server, in words for whoever reads a step's failure."""

from __future__ import annotations


class ToolFailedError(RuntimeError):
    """The server carried out the call, or tried to, and says that it failed: in its own words.

    As with a tool that raises an error, what it says is believed: a call that may be made once was not made.
    """


class ServerGoneError(ConnectionError):
    """The server could not be started or reached, or it ended or closed the connection while it was to answer."""


class ToolsChangedError(RuntimeError):
    """The server no longer lists what was pinned: nothing of it is called until somebody has looked at it."""

    no_retry = True  # looking again changes nothing; a person does
