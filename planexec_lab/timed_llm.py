"""A scripted model whose streams report when each chunk arrives, so that a plan's steps can start while it is written."""

import json
from dataclasses import replace
from typing import Any

from mock_llm import MockLLM


class TimedLLM(MockLLM):
    """A `MockLLM` that adds `timings` to the chunks of a chat stream, as llama.cpp's server does.

    The scene's latency is divided evenly: the first chunk arrives at once, the one with the finish reason after the whole
    latency. No time passes.
    """

    def respond(self, request: Any) -> Any:
        """Answer as `MockLLM` does, and add the arrival times of the chunks, in milliseconds since the start."""
        response = super().respond(request)
        milliseconds = int(response.headers["openai-processing-ms"])
        if (
            not milliseconds
            or response.delay
            or not response.chunks
            or b'"chat.completion.chunk"' not in response.chunks[0]
        ):
            return response
        options = json.loads(request.body).get("stream_options") or {}
        last = response.whole - 2 - bool(options.get("include_usage"))  # then come the usage, if asked for, and [DONE]
        chunks = (
            _timed(chunk, n, round(milliseconds * n / last, 3)) for n, chunk in enumerate(response.chunks[: last + 1])
        )
        return replace(response, chunks=(*chunks, *response.chunks[last + 1 :]))


def _timed(chunk: bytes, number: int, milliseconds: float) -> bytes:
    whole = chunk.removesuffix(b"}\n\n")
    if whole == chunk or b'"choices"' not in chunk:  # a scripted fault broke it
        return chunk
    return whole + f',"timings":{{"predicted_n":{number},"predicted_ms":{milliseconds}}}}}\n\n'.encode()
