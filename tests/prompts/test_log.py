"""The request log: each request is in it with what came of it, and no key is."""

import base64
import gzip
import json
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI, OpenAI

from mock_llm import MockLLM
from planexec_lab import connect
from planexec_lab.prompts import Registry, RegistryError, answer_reading, log_table, secrets
from planexec_lab.worlds import arithmetic
from planexec_lite import Inline, PlannerExecutor, ToolExecutor
from planexec_lite.roles.planners import INSTRUCTIONS
from tests.model.test_echoes import ECHOES
from tests.model.test_echoes import KEY as ECHOED

KEY = "sk-a-key-that-nobody-may-see"
ASKED: list[Any] = [{"role": "user", "content": "hello"}]


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
        assert ask(client).choices[0].message.content == "hello"
    assert ask(plain).choices[0].message.content == "hello"  # it stays as it is, and open
    (one,) = registry.log()
    assert (one.prompt, one.version, one.status) == ("greeting", 1, "answered")
    assert (one.path, one.model, one.answer, one.finish_reason) == ("/v1/chat/completions", "gpt-4o", "hello", "stop")
    assert (one.input_tokens, one.output_tokens, one.cost) == (1000, 100, pytest.approx(0.0035))
    assert one.request == {"model": "gpt-4o", "messages": ASKED}
    assert log_table(registry.log()).splitlines()[1].split() == "greeting 1 gpt-4o 1 1 1,000 100 0.0035".split()
    client = registry.logged(client_of({"text": "one two three", "usage": {"input": 5, "output": 3}}))
    stream = ask(client, stream=True, stream_options={"include_usage": True})
    assert registry.log()[-1].status == "no answer"
    assert "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices) == "one two three"
    one = registry.log()[-1]
    assert (one.status, one.answer, one.finish_reason, one.input_tokens) == ("answered", "one two three", "stop", 5)


def test_an_answer_that_the_caller_or_its_limit_ends_is_cut_off(registry: Registry) -> None:
    stream = ask(registry.logged(client_of({"text": "one two three four five"})), stream=True)
    next(chunk for chunk in stream if chunk.choices[0].delta.content)
    stream.close()
    ask(registry.logged(client_of({"text": "one two", "finish_reason": "length"})))
    left, limited = registry.log()
    assert (left.status, left.error) == ("cut off", "the caller broke off")
    assert left.answer
    assert "one two three four five".startswith(left.answer)
    assert (limited.status, limited.answer, limited.finish_reason) == ("cut off", "one two", "length")
    ask(registry.logged(client_of({"text": f"it is {KEY[:-3]}", "finish_reason": "length"})))
    assert registry.log()[-1].answer == "it is [key]", "a secret that is cut off too"


def test_each_try_of_a_request_is_logged(registry: Registry) -> None:
    client = registry.logged(client_of({"text": "at last", "faults": ["rate_limit", {"status": 503}]}, max_retries=2))
    with ThreadPoolExecutor(4) as threads:
        assert {answer_of(client), *threads.map(lambda _: answer_of(client), range(8))} == {"at last"}
    assert [one.error[:8] for one in registry.log()][:3] == ["HTTP 429", "HTTP 503", ""]
    assert Counter(one.status for one in registry.log()) == {"failed": 18, "answered": 9}
    gone = registry.logged(OpenAI(base_url="http://127.0.0.1:9/v1", api_key=KEY, max_retries=1))
    with pytest.raises(openai.APIConnectionError):
        ask(gone)
    assert [(one.status, one.error.partition(":")[0]) for one in registry.log()[-2:]] == [
        ("failed", "ConnectError")
    ] * 2


def test_the_planner_s_requests_are_logged_under_its_version(registry: Registry) -> None:
    registry.save("planner", INSTRUCTIONS)
    registry.save("planner", INSTRUCTIONS + "\n- Be brief.")
    registry.release("planner", 2, "production")
    planner = registry.planner(connect("arithmetic"), "production")
    run = PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS)).run(arithmetic.GOAL)
    assert run.status == "finished"
    (one,) = registry.log("planner", 2)
    assert one.request["messages"][0]["content"].endswith("- Be brief.")
    assert one.input_tokens == run.usage.input_tokens
    assert registry.log("planner", 1) == registry.log("other") == []
    streaming = registry.planner(connect("arithmetic"), 1, stream=True)
    run = PlannerExecutor(streaming, ToolExecutor(arithmetic.TOOLS), workers=Inline()).run(arithmetic.GOAL)
    assert run.status == "finished"
    assert registry.log("planner", 1)[0].status == "answered"
    registry.save("planner", "Plan with {tools}.")
    with pytest.raises(ValueError, match=r"the field \{step\} is missing"):
        registry.planner(connect("arithmetic"))
    for client in (None, object(), AsyncOpenAI(api_key=KEY)):
        with pytest.raises(TypeError, match="a genuine openai"):
            registry.logged(client)


# Over a wire


class Endpoint(BaseHTTPRequestHandler):
    """Repeats the request, or gives the answer that the request asks for; JSON is gzipped."""

    def do_POST(self) -> None:
        asked = self.rfile.read(int(self.headers["content-length"])).decode()
        kind, _, key = self.headers["authorization"].partition(" ")
        if "echo" in asked:
            headers = {"set-cookie": "session=A-COOKIE-OF-THEIRS; SameSite=Lax", "x-internal": "A-HEADER-OF-THEIRS"}
            words = [*self.headers.values(), self.path, asked, *headers.values()]
            self.say(json.dumps({"choices": [{"message": {"content": " ".join(words)}}]}), **headers)
        else:  # what the request asks for, with the password of the address, and what was sent as cookie and token, put in
            told = json.loads(json.loads(asked)["messages"][0]["content"])
            password = base64.b64decode(key).decode().partition(":")[2] if kind == "Basic" else key
            sent = {"PASSWORD": password, "TOKEN": self.headers.get("x-token", ""), "PATH": self.path}
            sent["COOKIE"] = self.headers.get("cookie", "").rpartition("=")[2]
            for name, value in sent.items():
                told["say"] = told["say"].replace(name, value)
            self.say(**told)

    def say(self, say: str, status: int = 200, **headers: str) -> None:
        body = say.encode()
        if say and "content-type" not in headers:
            body, headers = (
                gzip.compress(body),
                {**headers, "content-type": "application/json", "content-encoding": "gzip"},
            )
        self.send_response(status)
        for name, value in (headers | {"content-length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def check_file(registry: Registry, *secrets: str) -> None:
    whole = b"".join(path.read_bytes() for path in registry.path.parent.iterdir())
    assert [secret for secret in secrets if secret.encode() in whole] == []


def told(client: OpenAI, stream: bool = False, **wanted: Any) -> Any:
    """The endpoint's answer to a request that contains this answer."""
    asked: list[Any] = [{"role": "user", "content": json.dumps(wanted)}]
    answer: Any = client.chat.completions.create(model="gpt-4o", messages=asked, stream=stream)
    return list(answer) if stream else answer


def test_whatever_lets_somebody_in_stays_out_of_the_file(registry: Registry, address: str) -> None:
    headers = {"Cookie": "theme=dark; session=a-session", "X-Token": "a-token-of-ours"}
    options: Any = {"default_headers": headers, "default_query": {"sig": "a+b/c=d efg", "api-version": "2026-11-25"}}
    base = address.replace("//", "//joe:pass-word@")
    client = registry.logged(OpenAI(base_url=base, api_key=KEY, max_retries=0, **options))
    with pytest.raises(openai.AuthenticationError):
        told(client, say=json.dumps({"error": {"message": "PASSWORD, COOKIE, TOKEN, PATH, 2026-11-25"}}), status=401)
    (logged,) = registry.log()
    address_part = "/v1/chat/completions?sig=[key]&api-version=2026-11-25"
    assert logged.error == f"HTTP 401: [key], [key], [key], {address_part}, 2026-11-25"
    check_file(registry, "pass-word", "a-session", "a-token-of-ours", "a+b/c=d", "a%2Bb")


SECRET = "A-secret-77"
PLACES: dict[str, dict[str, Any]] = {  # where it is -> the client's options, and the body's
    "a header of any name": {"default_headers": {"X-Pass": SECRET}},
    "a header beside others": {"default_headers": {"Forwarded": f"for=me; by={SECRET}"}},
    "a query string": {"default_query": {"anything": SECRET}},
    "the path before v1": {"base_url": f"/{SECRET}/v1"},
    "the path after v1": {"base_url": f"/v1/{SECRET}/openai"},
    "a field": {"extra_body": {"api_key": SECRET}},
    "a field in camel case": {"extra_body": {"clientSecret": SECRET}},
    "a field of a field": {"extra_body": {"options": [{"credentials": {"name": "me", "value": [SECRET]}}]}},
    "headers in the body": {"extra_body": {"tools": [{"type": "mcp", "headers": {"X-Any": SECRET}}]}},
    "a field with quotes": {"extra_body": {"password": f'{SECRET}"\\ñ'}},
    "the arguments of a call": {"extra_body": {"arguments": json.dumps({"token": SECRET})}},
    "an address": {"extra_body": {"url": f"https://x.invalid/a?b=c&token={SECRET}"}},
    "the name in an address": {"extra_body": {"url": f"https://me:{SECRET}@x.invalid/a"}},
}


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_removed_wherever_it_was_sent(place: str, registry: Registry, address: str) -> None:
    options = dict(PLACES[place])
    extra = options.pop("extra_body", {})
    base = address.removesuffix("/v1") + options.pop("base_url", "/v1")
    client = registry.logged(OpenAI(base_url=base, api_key=KEY, max_retries=0, **options))
    asked: list[Any] = [{"role": "user", "content": f"echo {KEY}"}]
    answer = client.chat.completions.create(model="gpt-4o", messages=asked, extra_body=extra)
    assert SECRET in answer.choices[0].message.content
    (one,) = registry.log()
    assert (one.model, one.request["messages"][0]["content"], one.status) == ("gpt-4o", "echo [key]", "answered")
    assert "[key]" in one.answer
    assert one.path in ("/v1/chat/completions", "/chat/completions")
    check_file(registry, SECRET, KEY, "Bearer", "A-COOKIE-OF-THEIRS", "A-HEADER-OF-THEIRS")


@pytest.mark.parametrize("kind", ECHOES)
def test_an_echo_of_a_key_is_removed_from_answers_and_errors(kind: str, registry: Registry, address: str) -> None:
    words = f"the key '{ECHOES[kind]}', is wrong"
    client = registry.logged(OpenAI(base_url=address, api_key=ECHOED, max_retries=0))
    told(client, say=json.dumps({"choices": [{"message": {"content": words}}]}))
    for body in (words, json.dumps({"error": {"message": words}})):
        with pytest.raises(openai.AuthenticationError):
            told(client, say=body, status=401)
    answered, *refused = registry.log()
    assert answered.answer.startswith("the key '[key]")
    assert all("'[key]" in one.error for one in refused)
    check_file(registry, ECHOES[kind])


def test_what_only_sounds_like_a_secret_is_kept(registry: Registry) -> None:
    properties = {"token": {"type": "string"}, "author": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["token"]}
    tools: list[Any] = [{"type": "function", "function": {"name": "look", "parameters": schema}}]
    options: Any = {"max_tokens": 5, "prompt_cache_key": "lesson", "metadata": {"author": "me"}, "store": True}
    ask(registry.logged(client_of({"text": "hello"})), tools=tools, extra_body=options)
    assert registry.log()[0].request == {"model": "gpt-4o", "messages": ASKED, "tools": tools, **options}
    body = {"headers": {"Accept": "application/json"}, "content": '{"key": "a word", "token": "{step_1_result}"}'}
    assert secrets.without({"text": "application/json: a word"}, secrets.of_body(body))["text"].endswith(": a word")
    assert secrets.without(body["headers"], secrets.of_body(body)) == body["headers"]


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        ("use Authorization: Bearer abc123def", "use Authorization: Bearer [key]"),
        ("my API key: abc12345xx please", "my API key: [key] please"),
        ("the password is hunter22x.", "the password is [key]"),
        ("call it with sk-proj-abcdefghijkl123", "call it with [key]"),
        ("a bearer of bad news", "a bearer of bad news"),
        ("the token count is 12345678", "the token count is 12345678"),
        ("token: {step_1_result}", "token: {step_1_result}"),
        ("the API key is unknown", "the API key is unknown"),
    ],
)
def test_a_secret_in_a_sentence_or_a_field_of_its_name_is_removed(text: str, logged: str) -> None:
    assert secrets.without({"content": text}, []) == {"content": logged}
    for name in "passcode openaikey account_key connectionString dsn otp pin access_code clientSecret".split():
        assert secrets.without({"arguments": {name: "abc 123"}}, []) == {"arguments": {name: "[key]"}}


def test_a_streamed_text_may_hold_any_character(registry: Registry, address: str) -> None:
    text = "one\u2028two\x85three\x0bfour"
    parts: list[Any] = [{"delta": {"content": text}}, {"delta": {}, "finish_reason": "stop"}]
    lines = [json.dumps({"choices": [{"index": 0, **part}]}, ensure_ascii=False) for part in parts]
    client = registry.logged(OpenAI(base_url=address, api_key=KEY, max_retries=0))
    body = "".join(f"data: {line}\r\n\r\n" for line in [*lines, "[DONE]"])
    told(client, stream=True, say=body, **{"content-type": "text/event-stream"})
    assert (registry.log()[0].answer, registry.log()[0].status) == (text, "answered")


def test_odd_answers_reach_caller_and_log(registry: Registry, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = registry.logged(OpenAI(base_url=address, api_key=KEY, max_retries=0))
    with pytest.raises(openai.APIStatusError):
        told(client, say="", status=304)
    told(client, say=json.dumps({"choices": []}), **{"openai-processing-ms": "\u00b2"})
    told(client, say=json.dumps({"choices": []}), **{"openai-processing-ms": "9" * 400})
    moved, odd, huge = registry.log()
    assert (moved.status, moved.error) == ("failed", "HTTP 304: ")
    assert odd.status == huge.status == "answered"
    assert max(odd.seconds, huge.seconds) < 60
    monkeypatch.setattr(answer_reading, "read", lambda *_: 1 / 0)  # a body that no reader foresaw
    assert told(client, say=json.dumps({"choices": []})).choices == []
    assert (registry.log()[-1].status, "ZeroDivisionError" in registry.log()[-1].error) == ("failed", True)


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
    for name in ("-wal", "-shm"):
        Path(f"{registry.path}{name}").unlink(missing_ok=True)
    with pytest.warns(UserWarning, match="request 1 was answered, and that is not in the log"):
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "one two"
