"""Interview practice: the cards, a quiz made from them, and the whiteboard drill."""

from typing import Any

__all__ = ["show"]


def __getattr__(name: str) -> Any:
    """Load `show` when it is asked for, because `cards` is a command too."""
    if name != "show":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from exercises.interview.cards import show

    return show
