"""The request log: each request is in it with what came of it, and no text is."""

import gzip
import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from mock_llm import MockLLM
from planexec_lab import connect
from planexec_lab.prompts import Registry, RegistryError, log_table
from planexec_lab.worlds import arithmetic
from planexec_lite import Inline, PlannerExecutor, ToolExecutor
from planexec_lite.roles.planners import INSTRUCTIONS

KEY = "sk-a-key-that-nobody-may-see"
ASKED: list[Any] = [{"role": "user", "content": f"hello, my key is {KEY}"}]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "prompts.db")


def client_of(reply: dict[str, Any], **options: Any) -> OpenAI:
    return MockLLM([{"name": "one", "reply": reply}]).client(**{"max_retries": 0, "api_key": KEY, **options})


def ask(client: OpenAI, **options: Any) -> Any:
    return client.chat.completions.create(model="gpt-4o", messages=ASKED, **options)


def answer_of(client: OpenAI) -> Any:
    return ask(client).choices[0].message.content


def test_answers_and_streams_are_logged_with_version_tokens_and_cost(registry: Registry) -> None:
    version = registry.save("greeting", "Be kind.")
    plain = client_of({"text": "hello", "usage": {"input": 1000, "output": 100}})
    with registry.logged(plain, version) as client:
        assert answer_of(client) == "hello"
    assert answer_of(plain) == "hello"  # it stays as it is, and open
    (one,) = registry.log()
    assert (one.prompt, one.version, one.model, one.status) == ("greeting", 1, "gpt-4o", "answered")
    assert (one.input_tokens, one.output_tokens, one.cost) == (1000, 100, pytest.approx(0.0035))
    assert log_table(registry.log()).splitlines()[1].split() == "greeting 1 gpt-4o 1 1 1,000 100 0.0035".split()
    client = registry.logged(client_of({"text": "one two three", "usage": {"input": 5, "output": 3}}))
    stream = ask(client, stream=True, stream_options={"include_usage": True})
    assert registry.log()[-1].status == "no answer"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices) == "one two three"
    one = registry.log()[-1]
    assert (one.status, one.input_tokens, one.output_tokens) == ("answered", 5, 3)


def test_an_answer_that_the_caller_or_its_limit_ends_is_cut_off(registry: Registry) -> None:
    stream = ask(registry.logged(client_of({"text": "one two three four five"})), stream=True)
    next(chunk for chunk in stream if chunk.choices[0].delta.content)
    stream.close()
    ask(registry.logged(client_of({"text": "one two", "finish_reason": "length"})))
    left, limited = registry.log()
    assert (left.status, left.error) == ("cut off", "the caller broke off")
    assert (limited.status, limited.error) == ("cut off", "")


def test_each_try_of_a_request_is_logged(registry: Registry) -> None:
    client = registry.logged(client_of({"text": "at last", "faults": ["rate_limit", {"status": 503}]}, max_retries=2))
    with ThreadPoolExecutor(4) as threads:
        assert {answer_of(client), *threads.map(lambda _: answer_of(client), range(8))} == {"at last"}
    assert [one.error for one in registry.log()][:3] == ["HTTP 429", "HTTP 503", ""]
    assert Counter(one.status for one in registry.log()) == {"failed": 18, "answered": 9}
    gone = registry.logged(OpenAI(base_url="http://127.0.0.1:9/v1", api_key=KEY, max_retries=1))
    with pytest.raises(openai.APIConnectionError):
        ask(gone)
    assert [(one.status, one.error) for one in registry.log()[-2:]] == [("failed", "ConnectError")] * 2


def test_the_planner_s_requests_are_logged_under_its_version(registry: Registry) -> None:
    registry.save("planner", INSTRUCTIONS)
    registry.save("planner", INSTRUCTIONS + "\n- Be brief.")
    registry.release("planner", 2, "production")
    planner = registry.planner(connect("arithmetic"), "production")
    run = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS)).run(arithmetic.GOAL)
    assert run.status == "finished"
    (one,) = registry.log()
    assert (one.prompt, one.version, one.input_tokens) == ("planner", 2, run.usage.input_tokens)
    streaming = registry.planner(connect("arithmetic"), 1, stream=True)
    run = PlannerExecutor(streaming, ToolExecutor(arithmetic.TOOLS), workers=Inline()).run(arithmetic.GOAL)
    assert run.status == "finished"
    assert (registry.log()[-1].version, registry.log()[-1].status) == (1, "answered")
    registry.save("planner", "Plan with {tools}.")
    with pytest.raises(ValueError, match=r"the field \{step\} is missing"):
        registry.planner(connect("arithmetic"))
    for client in (None, object(), AsyncOpenAI(api_key=KEY)):
        with pytest.raises(TypeError, match="a genuine openai"):
            registry.logged(client)


WORDS = f"the key {KEY} is wrong"
JSON = {"content-type": "application/json"}
ANSWERS = {  # the endpoint's answer -> the log's outcome and error
    "an error": (401, json.dumps({"error": {"message": WORDS}}), JSON, "failed", "HTTP 401"),
    "an error that is no JSON": (500, WORDS, {}, "failed", "HTTP 500"),
    "an error with status 200": (200, json.dumps({"error": {"message": WORDS}}), JSON, "failed", "ReportedError"),
    "no answer at all": (304, "", {}, "failed", "HTTP 304"),
    "a text that is no JSON": (200, WORDS, JSON, "failed", "AnswerError"),
    "an answer without choices": (200, json.dumps({"choices": []}), JSON, "answered", ""),
    "an echo": (200, json.dumps({"choices": [{"message": {"content": WORDS}}]}), JSON, "answered", ""),
    "a stream that ends early": (
        200, f'data: {{"choices": [{{"delta": {{"content": "{WORDS}"}}}}]}}\n\n',
        {"content-type": "text/event-stream"}, "cut off", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ANSWERS)
def test_no_text_of_a_request_or_an_answer_is_in_the_file(kind: str, packed: bool, registry: Registry) -> None:
    status, text, headers, outcome, error = ANSWERS[kind]
    body = gzip.compress(text.encode()) if packed else text.encode()
    headers = {**headers, **({"content-encoding": "gzip"} if packed else {}), "set-cookie": f"session={KEY}"}
    transport = httpx.MockTransport(lambda request: httpx.Response(status, headers=headers, content=body))
    client = registry.logged(
        OpenAI(
            base_url=f"http://x.invalid/{KEY}/v1",
            api_key=KEY,
            max_retries=0,
            default_headers={"X-Pass": KEY},
            http_client=httpx.Client(transport=transport),
        )
    )
    with suppress(openai.APIError):
        client.chat.completions.with_raw_response.create(
            model="gpt-4o", messages=ASKED, extra_body={"password": KEY}, stream="stream" in kind
        ).http_response.read()
    (one,) = registry.log()
    assert (one.status, one.error) == (outcome, error)
    assert KEY.encode() not in b"".join(path.read_bytes() for path in registry.path.parent.iterdir())


def test_what_can_not_be_logged_is_not_sent(tmp_path: Path) -> None:
    (tmp_path / "p.db").write_text("somebody's diary, and no database at all")
    llm = MockLLM([{"name": "one", "reply": {"text": "hello"}}])
    with pytest.raises(RegistryError, match="is not an SQLite file"):
        ask(Registry(tmp_path / "p.db").logged(llm.client(max_retries=0)))
    assert len(llm.calls) == 0


def test_an_answer_that_can_not_be_logged_is_given_with_a_warning(registry: Registry) -> None:
    client = registry.logged(client_of({"text": "one two"}))
    stream = ask(client, stream=True)
    registry.path.write_bytes(b"overwritten by somebody " * 100)
    with pytest.warns(UserWarning, match="request 1 was answered, and that is not in the log"):
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "one two"
