"""The scoreboard's assumptions: the speed of each model, and a scripted model at this speed. Prices are those of `model.prices`.

A scene can state its own latency, and its input tokens are estimated from the messages alone. A comparison of two ways of working
would then measure the script. With `Paced`, both follow from the request: everything in it is read, tools and schemas too, and an
answer takes a first delay and then its tokens.
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from mock_llm import MockLLM
from planexec_lite.meter import ModelCall
from planexec_lite.model.asking import DEFAULT_MODELS
from planexec_lite.model.prices import PRICES, cost


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


class Paced(MockLLM):
    """A scripted model that answers at the pace of `PACES`; the latencies of its scenes do not count."""

    def __init__(self, llm: MockLLM) -> None:
        super().__init__()
        self.llm = llm

    def respond(self, request: Any) -> Any:
        """Answer as `llm` does, with the tokens of the whole request and the seconds of the answer."""
        response = self.llm.respond(request)
        if response.status != 200:
            return response
        body = json.loads(response.body)
        usage = body["usage"]
        usage["prompt_tokens"] = tokens_in(request.body.decode())
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
        milliseconds = round(1000 * seconds_of(body["model"], usage["completion_tokens"]))
        headers = response.headers | {"openai-processing-ms": str(milliseconds)}
        whole = json.dumps(body).encode()
        if "content-length" in headers:
            headers["content-length"] = str(len(whole))
        return replace(response, headers=headers, chunks=(whole,))
