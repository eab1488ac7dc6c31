"""What may be declared about a tool, beside the function that it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypedDict

Effects = Literal["none", "idempotent", "unknown", "once"]
"""What a call does to the world: nothing; the same, however often it is repeated; not declared; must run at most once."""

_FROM_BEST = ("none", "idempotent", "unknown", "once")


def worst(effects: Iterable[Effects]) -> Effects:
    """Return the effects that do most harm when they are repeated; "none" where there are none."""
    return max(effects, key=_FROM_BEST.index, default="none")


class Declared(TypedDict, total=False):
    """What may be declared about any tool; `Tool` says what it means."""

    latency: float | Callable[..., float]
    effects: Effects
    uses: str | Iterable[str]
    destructive: bool | None
    price: float | None
    retry_on: Iterable[type[Exception]] | None
    json_text: bool


class Options(Declared, total=False):
    """The options of `Tool` and `tool`."""

    name: str | None
