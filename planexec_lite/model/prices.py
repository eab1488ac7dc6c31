"""Prices of model calls: one dated table. Edit it when prices change.

A price is a fact about one day. `AS_OF` is the oldest date in the table, so no row is older. A conclusion about cost should
hold for more than one price of a cached token: none, half, a tenth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from planexec_lite.meter import ModelCall


class Price(NamedTuple):
    """US dollars for a million tokens: read, written, and read again from the provider's cache.

    `cached` is None if it is not known. Writing to a cache can cost extra; that is not in the table.
    """

    read: float
    written: float
    cached: float | None = None


AS_OF = "2026-08"
PRICES: dict[str, Price] = {
    # The kit's default models: github.com/simonw/llm-prices, data/openai.json at 723ef0bd, 2026-08-05.
    "gpt-4o": Price(2.50, 10.00, 1.25),
    "gpt-4o-mini": Price(0.15, 0.60, 0.075),
    # platform.claude.com/docs/en/models, read 2026-11-29; the page has no date, and the models are of September 2026.
    "claude-opus-5-5": Price(4.00, 20.00, 0.20),
    "claude-sonnet-5-5": Price(2.00, 10.00, 0.20),
    # Second-hand, two sources agree: notes of TheKrush/PromptFuel 1.0.24 (2026-10-27); apidog.com/blog/gpt-6-1-terra-pricing.
    "gpt-6.1-terra": Price(1.00, 5.00, 0.05),
}


def cost(calls: Iterable[ModelCall], prices: Mapping[str, Price] = PRICES) -> float:
    """Return what `calls` cost, in US dollars, when no token is cached. Raises `KeyError` for a model without a price."""
    total = 0.0
    for call in calls:
        if call.model not in prices:
            raise KeyError(
                f"no price for the model {call.model!r}; add it: prices.PRICES[{call.model!r}] = Price(…, …)"
            )
        price = prices[call.model]
        total += (call.input_tokens * price.read + call.output_tokens * price.written) / 1_000_000
    return total
