"""Errors of a server, with messages for a step's failure."""

from __future__ import annotations


class ToolFailedError(RuntimeError):
    """The server reports that the call failed, with its message. The report does not prove that nothing was done."""


class ServerGoneError(ConnectionError):
    """The server could not be started or reached, or it ended or closed the connection while it was to answer."""


class ToolsChangedError(RuntimeError):
    """The server's tools differ from the pinned tools: none is called until a person has reviewed them."""

    no_retry = True  # looking again changes nothing; a person does
