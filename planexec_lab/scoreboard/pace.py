"""Seconds and input tokens of a scripted model: one rule for every role and every scene.

A scene can state its own latency, and its input tokens are estimated from the messages alone. A comparison of two ways of working
would then measure the script. Here both follow from the request: everything in it is read, tools and schemas too, and an answer
takes a first delay and then its tokens. The figures are in `assumptions`, the prices in `model.prices`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from mock_llm import MockLLM
from planexec_lab.scoreboard.assumptions import seconds_of, tokens_in


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
