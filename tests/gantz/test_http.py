"""A request reaches the fixed server with each value encoded for its place, and its answer is bounded."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
import yaml

from planexec_lab import gantz
from planexec_lite.tools import Tool, ToolError
from tests.gantz.test_script import hostile

URL = "/a/{{x}}/b?q={{x}}&c=1#{{x}}"
BODY = '{"text": "say \\"{{x}}\\"", "value": {{x}}, "list": {{l}}, "{{x}}": {{n}}}'


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self.server.requests.append((self.command, self.path, dict(self.headers), sent))  # type: ignore[attr-defined]
        status, headers, body = self.server.answer  # type: ignore[attr-defined]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        for part in body:
            self.wfile.write(part)
            self.wfile.flush()
            sleep(0.0 if len(body) == 1 else 0.2)

    do_GET = do_POST  # noqa: N815

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture
def server() -> Iterator[Any]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as there:
        there.requests, there.answer = [], (200, {}, [b'{"items": [{"name": "a"}]}'])  # type: ignore[attr-defined]
        Thread(target=there.serve_forever, daemon=True).start()
        yield there
        there.shutdown()


def tool(server: Any, folder: Path, **http: Any) -> Tool:
    kinds = {"x": "string", "n": "integer", "l": "array", "u": "string"}
    used = [{"name": name, "type": kind} for name, kind in kinds.items() if f"{{{{{name}}}}}" in json.dumps(http)]
    request = {"url": f"http://127.0.0.1:{server.server_port}/", **http}
    request["url"] = request["url"].replace("SERVER", f"http://127.0.0.1:{server.server_port}")
    data = {"tools": [{"name": "ask", "parameters": used, "http": request}]}
    (folder / "gantz.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return gantz.load(folder / "gantz.yaml", env={"TOKEN": "t0k"})["ask"]


def test_hostile_values_stay_in_their_place(server: Any, tmp_path: Path) -> None:
    ask = tool(server, tmp_path, method="POST", url="SERVER" + URL, body=BODY)
    short = [one for one in hostile(100)[1:] if len(one) < 4000]
    for value in (*short, "../b", "a/b", "?q=1", "#", "%2e%2e", "\r\nHost: evil", "//evil"):
        assert ask.call({"x": value, "n": 3, "l": [value]})["status"] == 200
        method, path, headers, body = server.requests.pop()
        there = urlsplit(path)
        assert (method, headers["Host"]) == ("POST", f"127.0.0.1:{server.server_port}")
        assert [unquote(part, errors="strict") for part in there.path.split("/")] == ["", "a", value, "b"]
        assert parse_qsl(there.query, keep_blank_values=True) == [("q", value), ("c", "1")]
        assert json.loads(body) == {"text": f'say "{value}"', "value": value, "list": [value], value: 3}
        assert headers["Content-Type"] == "application/json"
    for value in ("", ".", "..", "a\0b", "\ud800"):
        with pytest.raises(ToolError):
            ask.call({"x": value, "n": 1, "l": []})
    assert server.requests == []


def test_a_header_takes_plain_text_and_variables_of_the_loader(server: Any, tmp_path: Path) -> None:
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Name": "<{{x}}>"}
    ask = tool(server, tmp_path, headers=headers, extract_json="items[0].name")
    assert ask.call({"x": "a b"}) == {"status": 200, "body": "a"}
    assert server.requests[0][2]["Authorization"] == "Bearer t0k"
    assert server.requests[0][2]["X-Name"] == "<a b>"
    for value in ("a\r\nb", "ä", "a\x7f"):
        with pytest.raises(ToolError, match="printable ASCII"):
            ask.call({"x": value})
    with pytest.raises(gantz.ManifestError, match="a value can't choose the header host"):
        tool(server, tmp_path, headers={"host": "{{x}}"})
    with pytest.raises(gantz.ManifestError, match="Invalid IPv6 URL"):
        tool(server, tmp_path, url="http://[::1/")
    with pytest.raises(gantz.ManifestError, match="the variable SECRET is not set; give it by env="):
        tool(server, tmp_path, headers={"A": "$SECRET"})
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("answer", "http", "error", "why"),
    [
        ((404, {}, [b"no such part"]), {}, RuntimeError, "answered 404 Not Found: no such part"),
        ((302, {"Location": "/elsewhere"}, [b""]), {}, RuntimeError, "answered 302"),
        ((200, {}, [b"[1]"]), {"extract_json": "a.b"}, RuntimeError, r"the answer has no part 'a.b'; it is: \[1\]"),
        ((200, {}, [b"x" * 5_100_000]), {}, RuntimeError, "more than 5,000,000 bytes"),
        ((200, {}, [b"x"] * 9), {"timeout": "300ms"}, TimeoutError, "took longer than 0.3 s"),
        ((500, {}, [b"x"] * 9), {"timeout": "300ms"}, TimeoutError, "took longer than 0.3 s"),
    ],
)
def test_what_is_no_answer_fails_the_call(
    answer: Any, http: dict[str, Any], error: type[Exception], why: str, server: Any, tmp_path: Path
) -> None:
    server.answer = answer
    with pytest.raises(error, match=why):
        tool(server, tmp_path, **http).call({})
    assert len(server.requests) == 1
    server.shutdown()
    server.server_close()
    with pytest.raises(RuntimeError, match=r"127\.0\.0\.1:\d+ can't be read"):
        tool(server, tmp_path).call({})
