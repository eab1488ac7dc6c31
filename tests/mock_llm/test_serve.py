"""The same engine over loopback HTTP: genuine clients, raw sockets, hostile bytes, a graceful end."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM
from mock_llm.serve import server
from tests.core.ending import to_its_end
from tests.mock_llm import strictly
from tests.mock_llm.test_wire import SCENES, completion, response
from tests.rounds import rounds

pytestmark = pytest.mark.slow

LOOPBACK = True
SCRIPT = [*SCENES, {"name": "late", "when": {"last": "late"}, "reply": {"fault": "timeout"}}]


@pytest.fixture(scope="module")
def llm() -> MockLLM:
    return MockLLM(SCRIPT)


@pytest.fixture(scope="module")
def base_url(llm: MockLLM) -> Iterator[str]:
    with llm.serve() as url:
        yield url


HEAD = ("Host: 127.0.0.1:80", "Content-Type: application/json")
CHUNKED = (*HEAD, "Transfer-Encoding: chunked")


def say(base_url: str, sent: bytes) -> bytes:
    """Return the bytes that a raw client receives until the server closes."""
    where = urlsplit(base_url)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=600) as raw:
        raw.sendall(sent)
        raw.shutdown(socket.SHUT_WR)
        got = b""
        with contextlib.suppress(ConnectionError):
            while piece := raw.recv(65536):
                got += piece
    return got


def post(body: bytes, *headers: str, path: str = "/v1/chat/completions", version: str = "HTTP/1.1") -> bytes:
    lines = [f"POST {path} {version}", *HEAD, f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def raw(*headers: str, body: bytes = b"") -> bytes:
    return "\r\n".join(["POST /v1/chat/completions HTTP/1.1", *headers, "", ""]).encode() + body


def test_every_answer_is_the_same_as_in_process(llm: MockLLM, base_url: str) -> None:
    other = MockLLM(llm.scenes)
    with httpx2.Client() as over_http, httpx2.Client(transport=other.transport()) as in_process:
        for word in ("talk", "total", "call", "refuse", "unscripted"):
            for stream in (False, True):
                for path, body in (("chat/completions", completion(word)), ("responses", response(word))):
                    sent = {**body, "stream": stream}
                    one = over_http.post(f"{base_url}/{path}", json=sent)
                    two = in_process.post(f"http://anywhere/v1/{path}", json=sent)
                    assert (one.status_code, one.content) == (two.status_code, two.content)
                    assert one.headers["x-request-id"] == two.headers["x-request-id"]
                    strictly.check(one.status_code, one.headers["content-type"], one.content)


def test_a_connection_serves_two_requests_and_one_of_http_1_0_ends(base_url: str) -> None:
    got = say(base_url, 2 * post(json.dumps(completion("talk")).encode()))
    assert [got.count(part) for part in (b"HTTP/1.1 200 OK", b'"chat.completion"')] == [2, 2]
    got = say(base_url, post(json.dumps(completion("talk", stream=True)).encode(), version="HTTP/1.0"))
    head, body = got.split(b"\r\n\r\n", 1)
    assert b"chunked" not in head.lower()
    assert body.endswith(b"data: [DONE]\n\n")


HOSTILE: list[tuple[bytes, int]] = [
    (b"hello\r\n\r\n", 400),
    (b"GET /v1/models HTTP/9.9\r\n\r\n", 505),
    (b"GET /v1/models HTTP/x\r\n\r\n", 400),
    (b"BREW /v1/models HTTP/1.1\r\n\r\n", 501),
    (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 414),
    (b"GET / HTTP/1.1\r\nA: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n" + b"".join(b"H%d: x\r\n" % n for n in range(200)) + b"\r\n", 431),
    (raw(*HEAD, "Content-Length: many"), 400),
    (raw(*HEAD, "Content-Length: -5"), 400),
    (raw(*HEAD, "Content-Length: 50", body=b"{}"), 400),
    (raw(*HEAD, "Content-Length: 99999999999999999999", body=b"{}"), 413),
    (raw(*HEAD, "Content-Length: 2", "Content-Length: 3", body=b"{}"), 400),
    (raw(*CHUNKED, "Content-Length: 2", body=b"2\r\n{}\r\n0\r\n\r\n"), 400),
    (raw(*HEAD, "Transfer-Encoding: xchunked", body=b"2\r\n{}\r\n0\r\n\r\n"), 400),
    (raw(*HEAD, "Transfer-Encoding: gzip, chunked", body=b"2\r\n{}\r\n0\r\n\r\n"), 400),
    *((raw(*CHUNKED, body=size + b"\r\n{}\r\n0\r\n\r\n"), 400) for size in (b"zz", b"0x2", b"+2", b"0_2", b"-2", b"")),
    (raw(*CHUNKED, body=b"fffffffff\r\n"), 413),
    (raw(*CHUNKED, body=b"f" * 100 + b"\r\n"), 413),
    (raw(*CHUNKED, body=b"9\r\n{}"), 400),
    (raw(*CHUNKED, body=b"1\r\n[\r\n" * 99_999 + b"0\r\n\r\n"), 400),
    (raw(HEAD[0], "Content-Length: 2", body=b"{}"), 415),
    *(
        (raw(HEAD[0], f"Content-Type: {kind}", "Content-Length: 2", body=b"{}"), 415)
        for kind in ("text/plain", "a", "")
    ),
    (raw(HEAD[1], "Content-Length: 2", body=b"{}"), 400),
    (raw("Host: evil.example:80", HEAD[1], "Content-Length: 2", body=b"{}"), 421),
    (raw("Host: 127.0.0.1.evil.example", HEAD[1], "Content-Length: 2", body=b"{}"), 421),
    (b"GET /v1/models HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
    (raw("Host: 127.0.0.1", "Host: b", HEAD[1], "Content-Length: 2", body=b"{}"), 400),
    (raw(*HEAD, "X-A : b", "Content-Length: 2", body=b"{}"), 400),
    (post('{"model": "gpt-4o"}'.encode("utf-16")), 400),
    (post(b"not json"), 400),
    (post(b"[" * 100_000), 400),
    (post(b""), 400),
    (post(b"{}", path="/v1/nowhere"), 404),
]


def test_a_large_refused_body_gets_its_answer_and_costs_linear_time(base_url: str) -> None:
    chunks = (b"40\r\n" + b"x" * 64 + b"\r\n") * 80_000 + b"0\r\n\r\n"
    began = time.perf_counter()
    assert say(base_url, raw("Host: x", CHUNKED[1], CHUNKED[2], body=chunks)).startswith(b"HTTP/1.1 421 ")
    assert time.perf_counter() - began < 8


@pytest.mark.parametrize("host", ["LOCALHOST:5", "[::1]", "127.1.2.3", None])
def test_all_names_of_this_machine_are_answered(base_url: str, host: str | None) -> None:
    body = json.dumps(completion("talk")).encode()
    head = [f"Host: {host}"] if host else []
    sent = raw(*head, HEAD[1] + "; charset=utf-8", f"Content-Length: {len(body)}", body=body)
    assert b" 200 OK" in say(base_url, sent if host else sent.replace(b"HTTP/1.1", b"HTTP/1.0"))


@pytest.mark.parametrize(("sent", "status"), HOSTILE, ids=lambda value: str(value) if isinstance(value, int) else None)
def test_hostile_requests_get_a_shaped_error_and_the_server_lives(base_url: str, sent: bytes, status: int) -> None:
    got = say(base_url, sent)
    head, body = got.split(b"\r\n\r\n", 1)
    assert int(head.split()[1]) == status
    strictly.check_error(json.loads(body))
    assert b"200 OK" in say(base_url, post(json.dumps(completion("talk")).encode()))


@rounds(40)
@given(sent=st.binary(max_size=80) | st.binary(max_size=40).map(lambda body: post(body)))
def test_any_bytes_leave_the_server_alive(base_url: str, sent: bytes) -> None:
    got = say(base_url, sent)
    assert got == b"" or got.startswith(b"HTTP/1.")
    assert b"200 OK" in say(base_url, b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n")


def test_a_body_at_the_limit_passes_and_one_above_is_refused(base_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = json.dumps(completion("talk")).encode()
    monkeypatch.setattr(server, "LARGEST_BODY", len(body))
    assert b"200 OK" in say(base_url, post(body))
    assert say(base_url, post(body + b" ")).startswith(b"HTTP/1.1 413 ")


def test_the_end_waits_for_no_idle_and_no_held_connection() -> None:
    llm = MockLLM(SCRIPT)
    before = set(threading.enumerate())

    def serve() -> tuple[Any, socket.socket, socket.socket]:
        with llm.serve() as url:
            where = urlsplit(url)
            idle = socket.create_connection((where.hostname or "", where.port or 0), timeout=600)
            held = socket.create_connection((where.hostname or "", where.port or 0), timeout=600)
            held.sendall(post(json.dumps(completion("late")).encode()))
            while not llm.calls:
                time.sleep(0.01)
        return where, idle, held

    where, idle, held = to_its_end(serve)
    assert idle.recv(10) == b""
    assert held.recv(10) == b""
    idle.close()
    held.close()
    for thread in set(threading.enumerate()) - before:
        to_its_end(thread.join)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((where.hostname or "", where.port or 0), timeout=600)


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "mock_llm", *arguments]


HELLO = "scenes:\n- name: greet\n  reply: {text: hello}\n"


@pytest.mark.parametrize(
    ("text", "status", "told"),
    [("scenes:\n- nam: x\n", 1, "bad.yaml:2: unknown field 'nam'"), (None, 2, "No such file"), (HELLO, 2, "in use")],
)
def test_the_command_says_what_is_wrong_with_a_script_or_its_port(
    tmp_path: Path, base_url: str, text: str | None, status: int, told: str
) -> None:
    port = str(urlsplit(base_url).port)
    script = tmp_path / "bad.yaml"
    if text is not None:
        script.write_text(text)
    done = subprocess.run(command("serve", str(script), "--port", port), capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_client_that_waits_for_continue_is_told_at_once(base_url: str) -> None:
    where = urlsplit(base_url)
    sent = post(json.dumps(completion("talk")).encode(), "Expect: 100-continue")
    head, body = sent.split(b"\r\n\r\n", 1)
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=10) as raw:
        raw.sendall(head + b"\r\n\r\n")
        assert raw.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        raw.sendall(body)
        assert raw.recv(1000).startswith(b"HTTP/1.1 200 OK")


HERE = ["http://localhost:3000", "http://127.0.0.1", "https://[::1]:8443"]
ELSEWHERE = ["https://example.com", "null", "http://localhost.example.com", "http://127.0.0.1.a"]


@pytest.mark.parametrize("page", [*HERE, *ELSEWHERE])
def test_a_page_of_this_machine_may_ask_and_read_and_another_may_not(base_url: str, page: str) -> None:
    asked = {"origin": page, "access-control-request-headers": "authorization,content-type"}
    with httpx2.Client() as one:
        before = one.options(f"{base_url}/chat/completions", headers=asked)
        answer = one.post(f"{base_url}/chat/completions", json=completion("talk"), headers={"origin": page})
    assert (before.status_code, answer.status_code) == (204, 200)
    allowed = {name: value for name, value in before.headers.items() if name.startswith("access-control")}
    if page in HERE:
        assert allowed["access-control-allow-headers"] == "authorization,content-type"
        assert "POST" in allowed["access-control-allow-methods"]
        assert allowed["access-control-allow-origin"] == page == answer.headers["access-control-allow-origin"]
    else:
        assert allowed == {}
        assert "access-control-allow-origin" not in answer.headers


def test_the_command_prints_refusals_and_reads_a_changed_script_again(tmp_path: Path) -> None:
    script = tmp_path / "hello.yaml"
    script.write_text(HELLO)
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    with subprocess.Popen(command("serve", str(script)), stdout=subprocess.PIPE, text=True, env=environment) as served:
        assert served.stdout is not None
        url = served.stdout.readline().split()[-1]
        with openai.OpenAI(api_key="none", base_url=url, max_retries=0) as client:
            with pytest.raises(openai.BadRequestError):
                client.chat.completions.create(**completion("x", temperature=9))
            assert served.stdout.readline() == "POST /v1/chat/completions: 400\n"
            assert "Expected a value <= 2, but got 9 instead." in served.stdout.readline()
            assert "[mock_llm]" in served.stdout.readline()
            script.write_text(HELLO.replace("hello", "good day"))
            assert served.stdout.readline() == "1 scenes read again\n"
            assert client.chat.completions.create(**completion("x")).choices[0].message.content == "good day"
            script.write_text("scenes:\n- nam: x\n")
            assert "the previous one stays in use" in served.stdout.readline()
            assert "hello.yaml:2: unknown field 'nam'" in served.stdout.readline()
            assert client.chat.completions.create(**completion("x")).choices[0].message.content == "good day"
        served.send_signal(signal.SIGTERM)
        assert served.stdout.read().endswith("3 calls answered\n")
    assert served.returncode == 0


def test_only_this_machine_is_let_in_unless_told_otherwise(llm: MockLLM) -> None:
    with llm.serve() as url:
        assert url.startswith("http://127.0.0.1:")
    with llm.serve(host="0.0.0.0") as url:
        assert url.startswith("http://0.0.0.0:")


def test_an_error_of_the_server_itself_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with server.serve(lambda request: 1 // 0) as url, pytest.raises(httpx2.HTTPError):  # type: ignore[arg-type, return-value]
        httpx2.get(f"{url}/models", trust_env=False)
    assert "ZeroDivisionError" in capfd.readouterr().err
