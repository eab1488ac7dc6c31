"""Interview practice: the cards, a quiz made from them, and the whiteboard drill."""

from exercises.interview.cards import show

__all__ = ["show"]
