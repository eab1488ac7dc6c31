"""The scoreboard's assumptions: the speed of each model. Prices are those of `model.prices`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from planexec_lite.meter import ModelCall
from planexec_lite.model.asking import DEFAULT_MODELS
from planexec_lite.model.prices import AS_OF, PRICES, cost


class Pace(NamedTuple):
    """How long a model takes: seconds before its first token, and for each token that it writes."""

    first: float
    token: float


STRONG, CHEAP = DEFAULT_MODELS["planner"], DEFAULT_MODELS["executor"]
PACES: dict[str, Pace] = {STRONG: Pace(0.6, 0.02), CHEAP: Pace(0.3, 0.01)}
CHARACTERS_PER_TOKEN = 4
SLOTS = 4


def tokens_in(text: str) -> int:
    """How many tokens a text has."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def seconds_of(model: str, tokens: int) -> float:
    """Seconds of `model` for an answer with this number of tokens; a model without a pace is as fast as the strong model."""
    pace = PACES.get(model, PACES[STRONG])
    return round(pace.first + pace.token * tokens, 3)


def dollars(calls: Iterable[ModelCall]) -> float:
    """Cost of `calls` in US dollars; a model without a price costs as much as the strong model."""
    every = list(calls)
    return cost(every, {call.model: PRICES.get(call.model, PRICES[STRONG]) for call in every})


def in_words() -> str:
    """The assumptions, a line each."""
    lines = [
        "Every model is scripted, and knows the way as far as it can be known: it never decides badly by itself.",
        "Where a result alone tells what comes next (trail, bisect, flights), a plan takes results for granted: this log has the "
        "cause, a version passes, the traveller says yes.",
        "An executor does what its task names and no more, and tries again what fails.",
        *(
            f"{name} takes {pace.first:g} s, and {pace.token:g} s for each token that it writes; a million tokens read cost "
            f"${PRICES[name].read:g}, written ${PRICES[name].written:g} ({AS_OF})."
            for name, pace in PACES.items()
        ),
        f"A token is {CHARACTERS_PER_TOKEN} characters. Up to {SLOTS} steps run at once; tools take the seconds that they declare.",
        "A tool call is wasted if it failed or was undone. A step that failed without a call "
        "is none; nor is a call whose result stands and led nowhere.",
    ]
    return "\n".join(lines)
