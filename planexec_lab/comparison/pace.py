"""How long a scripted model takes, and how much it reads: one rule for every role and every scene.

A scene may say how long its answer takes, and how much it reads is estimated from the messages alone. Between two ways of working
that would be the script's word. Here both follow from what is sent: everything in the request is read, tools and schemas too,
and an answer takes a first moment and then its tokens. The figures stand in `scoreboard.assumptions`, what calls cost in
`model.prices`.
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
    """Return a client of the model that has this mind, at its pace, in whatever role it is asked, whatever ``PLANEXEC_LLM`` is."""
    return paced(script(mind))
