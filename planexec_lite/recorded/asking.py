"""The planner asked at a temperature, with a rule of its instructions left out: what a recording varies.

The kit's planner asks at temperature 0, so it gets one answer. A distribution needs a temperature, and a seed for each
answer. The rules are the lines of the planner's own instructions; leaving one out changes nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from planexec_lite.model import read_answer
from planexec_lite.planning import LLMPlanner
from planexec_lite.recorded.transcript import RecordedAnswer, digest, replay
from planexec_lite.tools import Toolbox

RULES: dict[str, str] = {
    "ids": "Give every step an id",
    "references": "To use the result of step 1",
    "dependencies": "depends_on lists",
    "criteria": "success_criteria says",
    "JSON alone": "Answer with JSON alone",
    "verify": "Verify:",
    "failure": "Say what may fail:",
    "span": "Write the whole plan",
}
"""The rules of the planner's instructions: a name, and how the rule begins there."""


def without(instructions: str, rule: str) -> str:
    """Return the instructions with one rule left out. Raises `ValueError` when they do not hold it exactly once."""
    left, times = re.subn(rf"^- {re.escape(RULES[rule])}.*(?:\n  .*)*\n?", "", instructions, flags=re.MULTILINE)
    if times != 1:
        raise ValueError(f"the rule {rule!r} (- {RULES[rule]} …) stands {times} times in the instructions, not once")
    return left.rstrip("\n")


class PlannerWithout(LLMPlanner):
    """The kit's planner, with one rule of its instructions left out; None: none."""

    def __init__(self, client: Any, left_out: str | None, **options: Any) -> None:
        super().__init__(client, **options)
        self.left_out = left_out

    def instructions(self, tools: Toolbox) -> str:
        """The system prompt without the rule."""
        whole = super().instructions(tools)
        return whole if self.left_out is None else without(whole, self.left_out)


class Sampling:
    """An openai client that passes questions on at a temperature and with a seed, and keeps what was said.

    Args:
        client: an `openai.OpenAI` client of a real endpoint.
        temperature: above 0.
        seed: of the first answer; each further one has the next.
        schema: whether the response format is passed on.
        earlier: the first answers, where they were recorded already; they are not asked for again.
    """

    def __init__(
        self, client: Any, temperature: float, seed: int, schema: bool = True, earlier: Sequence[RecordedAnswer] = ()
    ) -> None:
        self._client = client
        self._temperature = temperature
        self._seed = seed
        self._schema = schema
        self._earlier = list(earlier)
        self._heard = replay(earlier).client() if earlier else None
        self.answers: list[RecordedAnswer] = []
        create = SimpleNamespace(create=self._create)
        self.chat = SimpleNamespace(completions=SimpleNamespace(with_streaming_response=create))

    def _create(self, **options: Any) -> Any:
        if self._heard and len(self.answers) < len(self._earlier):
            self.answers.append(self._earlier[len(self.answers)])
            return self._heard.chat.completions.with_streaming_response.create(**options)
        seed = self._seed + len(self.answers)
        options |= {"temperature": self._temperature, "seed": seed}
        if not self._schema:
            options.pop("response_format", None)
        heard = hear(self._client, options)
        answer, tokens = read_answer(heard.body)
        asked = digest(options["messages"])
        self.answers.append(RecordedAnswer(answer.text, answer.finish_reason, *tokens, seed, asked))
        return heard


class HeardResponse:
    """A response that was read already, as the kit's model layer reads one from an openai client."""

    def __init__(self, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.body = body
        self.headers = dict(headers or {})

    def __enter__(self) -> HeardResponse:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def iter_bytes(self) -> Iterator[bytes]:
        """Yield the body in one piece."""
        yield self.body


def hear(client: Any, options: dict[str, Any]) -> HeardResponse:
    """Put a question to `client` and read the response to its end."""
    with client.chat.completions.with_streaming_response.create(**options) as response:
        return HeardResponse(b"".join(response.iter_bytes()), response.headers)
