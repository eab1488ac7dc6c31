"""What an entry of a journal can be, and errors about those that can't be read."""

from __future__ import annotations

import re
from typing import TypeGuard

UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError)
"""The errors of an event that is damaged: it is no JSON, it is no event, or it can't have happened."""


def is_uid(uid: object) -> TypeGuard[str]:
    """Whether `uid` is the id that a journal gives to a run: 32 hexadecimal digits."""
    return isinstance(uid, str) and re.fullmatch("[0-9a-f]{32}", uid) is not None


def described(problem: BaseException) -> str:
    """Return the type of an error and at most 200 characters of its text."""
    text = " ".join(str(problem).split())
    return f"{type(problem).__name__}: {text[:200]}{'…' if len(text) > 200 else ''}"
