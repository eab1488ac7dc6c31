"""Seconds and input tokens of a scripted model: one rule for every role and every scene.

A scene can state its own latency, and its input tokens are estimated from the messages alone. A comparison of two ways of working
would then measure the script. Here both follow from the request: everything in it is read, tools and schemas too, and an answer
takes a first delay and then its tokens. The figures are in `scoreboard.assumptions`, the prices in `model.prices`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from planexec_lab.scoreboard.assumptions import seconds_of, tokens_in
from planexec_lab.worlds.minds import Mind, script

if TYPE_CHECKING:
    from openai import OpenAI

    from mock_llm import MockLLM


def paced(llm: MockLLM) -> OpenAI:
    """Return a client of the scripted model that answers at the pace of `PACES`; its own latencies do not count."""
    from mock_llm import MockLLM

    class Paced(MockLLM):
        def respond(self, request: Any) -> Any:
            response = llm.respond(request)
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

    return Paced().client()


def client_of(mind: Mind) -> OpenAI:
    """Return a client of a model with this mind and its pace, for every role and for every value of ``PLANEXEC_LLM``."""
    return paced(script(mind))
