"""The genuine OpenAI client talks to the script: sync and async, on httpx2 and on legacy httpx."""

import json
import subprocess
import sys
from typing import Any

import httpx
import httpx2
import openai
import pytest

from mock_llm import MockLLM
from mock_llm.engine import CallLog
from tests.core.ending import to_its_end

SYSTEM = {"role": "system", "content": "You write plans, as JSON.\nRole: planner\n"}
ASK: dict[str, Any] = {
    "model": "gpt-4.1",
    "messages": [SYSTEM, {"role": "user", "content": "Compute 12 * 4 + 5"}],
    "response_format": {"type": "json_object"},
    "temperature": 0,
}
PLAN = {"goal": "12 * 4 + 5", "steps": [{"id": "1", "tool": "multiply"}]}
SCENES: list[dict[str, Any]] = [
    {
        "name": "plan the sum",
        "when": {"system": "Role: planner", "says": "12 * 4 + 5", "format": "json"},
        "reply": {"json": PLAN, "latency": 1.5, "usage": {"input": 412, "output": 180}},
    },
    {"name": "greet", "when": {"says": "hello"}, "reply": {"text": "Good day to you, dear caller."}},
    {"name": "decline", "when": {"says": "rm -rf"}, "reply": {"refusal": "I won't delete that."}},
]


def say(text: str, **options: Any) -> dict[str, Any]:
    return {"model": "any-name", "messages": [{"role": "user", "content": text}], **options}


@pytest.fixture
def llm() -> MockLLM:
    return MockLLM(SCENES)


def test_the_latency_is_reported_and_not_slept() -> None:
    llm = MockLLM([{"name": "slow", "reply": {"text": "at last", "latency": 3600}}])
    reply = to_its_end(lambda: llm.client(timeout=600).chat.completions.with_raw_response.create(**say("hello")))
    assert reply.headers["openai-processing-ms"] == "3600000"
    assert reply.headers["x-request-id"].startswith("req_")
    assert reply.headers["x-ratelimit-remaining-requests"] == "9999"
    assert reply.elapsed.total_seconds() < 3600


def test_plain_clients_of_both_http_libraries_work_over_the_transport(llm: MockLLM) -> None:
    url = "http://anywhere/v1/chat/completions"
    other = MockLLM(SCENES).transport(httpx)
    with httpx2.Client(transport=llm.transport()) as new, httpx.Client(transport=other) as legacy:
        answers = [new.post(url, json=ASK), legacy.post(url, json=ASK)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
    assert json.loads(answers[0].json()["choices"][0]["message"]["content"]) == PLAN


def test_no_key_is_needed_and_the_environment_does_not_redirect_the_client(
    llm: MockLLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert llm.client().chat.completions.create(**say("hello")).choices[0].message.content


def test_an_http_client_of_ones_own_is_refused(llm: MockLLM) -> None:
    with pytest.raises(TypeError, match=r"llm\.transport"):
        llm.client(http_client=httpx2.Client())


def test_usage_is_estimated_as_characters_by_four_when_not_stated(llm: MockLLM) -> None:
    usage = llm.client().chat.completions.create(**say("hello")).usage
    assert usage is not None
    assert (usage.prompt_tokens, usage.completion_tokens) == (2, 8)  # 5 and 29 characters


def test_an_unscripted_request_is_refused_once_and_not_retried(llm: MockLLM) -> None:
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        llm.client(max_retries=3).chat.completions.create(**say("good morning"))
    assert len(llm.calls) == 1
    body = caught.value.body
    assert isinstance(body, dict)
    assert set(body) == {"message", "type", "param", "code"}
    assert (body["type"], body["code"]) == ("mock_llm_error", "no_scene_fits")


def test_models_are_listed_and_unknown_routes_are_404_in_the_apis_shape(llm: MockLLM) -> None:
    client = llm.client()
    assert [model.id for model in client.models.list()] == ["mock-llm"]
    assert client.models.retrieve("gpt-4.1").id == "gpt-4.1"
    assert len(llm.calls) == 0
    for path in ("/nowhere", "/conversations", "/conversations/conv_1/messages"):
        with pytest.raises(openai.NotFoundError, match=rf"Invalid URL \(GET /v1{path}\)"):
            client.get(path, cast_to=object)
    for ask in (
        lambda: client.embeddings.create(model="x", input="hello"),
        lambda: client.responses.compact(model="gpt-5.4", input="hello"),
        lambda: client.responses.cancel("resp_1"),
        client.files.list,
    ):
        with pytest.raises(openai.NotFoundError, match="is not supported by mock_llm"):
            ask()


def test_calls_print_as_the_same_table_every_time(llm: MockLLM) -> None:
    client = llm.client()
    client.chat.completions.create(**ASK)
    with pytest.raises(openai.UnprocessableEntityError):
        client.chat.completions.create(**say("good morning"))
    assert str(llm.calls).splitlines() == [
        "#  system                scene               in  out  seconds  reply",
        '0  You write plans, as…  plan the sum       412  180     1.50  {"goal": "12 * 4 + 5", "steps": [{"id": "1", "t…',
        "1  -                     422 no_scene_fits    0    0     0.00  mock_llm has no scene for this request: no inst…",
    ]
    first, second = llm.calls
    assert (first.scene, first.latency, first.error) == ("plan the sum", 1.5, None)
    assert first.request == ASK
    assert second.error is not None
    assert llm.calls[-1] == second
    assert str(llm.calls[:1]).splitlines()[1].startswith("0  You write")
    with pytest.raises(IndexError, match="there is no call 5: the log has 2 calls"):
        llm.calls[5]
    with pytest.raises(IndexError, match="there is no call -1: the log has no call"):
        MockLLM(SCENES).explain(-1)


def test_the_log_keeps_the_newest_calls_and_the_names_of_all_scenes(llm: MockLLM) -> None:
    log = CallLog(size=2)
    for text in ("hello", "hello", "rm -rf", "rm -rf"):
        llm.client().chat.completions.create(**say(text))
        log.append(llm.calls[-1])
    assert [(call.index, call.scene) for call in log.calls] == [(2, "decline"), (3, "decline")]
    assert log.used == {"greet", "decline"}


def test_assert_all_used_names_the_scenes_that_answered_nothing(llm: MockLLM) -> None:
    llm.client().chat.completions.create(**say("hello"))
    with pytest.raises(AssertionError, match=r"2 of 3 scenes answered no call") as caught:
        llm.assert_all_used()
    assert "'plan the sum'" in str(caught.value)
    assert "greet" not in str(caught.value)
    llm.client().chat.completions.create(**say("rm -rf"))
    llm.client().chat.completions.create(**ASK)
    llm.assert_all_used()


def test_importing_the_package_loads_no_client() -> None:
    check = (
        "import sys, mock_llm; loaded = {'openai', 'httpx', 'httpx2', 'pydantic', 'planexec_lite', 'jsonschema'};"
        "sys.exit(str(loaded & set(sys.modules)) if loaded & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
