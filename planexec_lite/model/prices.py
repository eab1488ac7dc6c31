"""Prices of model calls: one dated table. Edit it when prices change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from planexec_lite.meter import ModelCall


class Price(NamedTuple):
    """US dollars for a million tokens, read and written."""

    read: float
    written: float


AS_OF = "2025-06"
PRICES: dict[str, Price] = {
    "gpt-4o": Price(2.50, 10.00),
    "gpt-4o-mini": Price(0.15, 0.60),
}


def cost(calls: Iterable[ModelCall], prices: Mapping[str, Price] = PRICES) -> float:
    """Return what `calls` cost, in US dollars. Raises `KeyError` for a model without a price."""
    total = 0.0
    for call in calls:
        if call.model not in prices:
            raise KeyError(
                f"no price for the model {call.model!r}; add it: prices.PRICES[{call.model!r}] = Price(…, …)"
            )
        price = prices[call.model]
        total += (call.input_tokens * price.read + call.output_tokens * price.written) / 1_000_000
    return total
