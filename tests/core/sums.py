"""Two tools that calculate, a plan of two steps with them, and a client whose answers are a list."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

from planexec_lite import PlannerExecutor, Toolbox, tool
from tests.core.agents import agent_for
from tests.recorded.recording import HeardResponse

GOAL = "What is 12 * 4 + 5?"


@tool(effects="none")
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


@tool(effects="none")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOLS = Toolbox([multiply, add])
FIRST = {"id": "1", "tool": "multiply", "params": {"a": 12, "b": 4}}
SECOND = {"id": "2", "tool": "add", "params": {"a": "{step_1_result}", "b": 5}, "depends_on": ["1"]}


class FakeClient:
    """Returns the answers of a list, one for each request, and keeps the requests; an exception is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, Any]] = []
        create = SimpleNamespace(create=self._create)
        self.chat = SimpleNamespace(completions=SimpleNamespace(with_streaming_response=create))

    def _create(self, **options: Any) -> Any:
        self.requests.append(options)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        fields = {"content": None, "refusal": None, "finish_reason": "stop", **(answer if "content" in answer else {})}
        if "content" not in answer:
            fields["content"] = answer["text"] if set(answer) == {"text"} else json.dumps(answer)
        message = {"content": fields["content"], "refusal": fields["refusal"]}
        choice = {"message": message, "finish_reason": fields["finish_reason"]}
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        body = json.dumps({"choices": [choice], "usage": usage}).encode()
        return HeardResponse(body, {"openai-processing-ms": "1500"})

    def sent(self, request: int) -> str:
        """The messages of a request as one text."""
        return "\n".join(message["content"] for message in self.requests[request]["messages"])


def agent(planner: Any, **options: Any) -> PlannerExecutor:
    return agent_for(TOOLS, planner, **options)
