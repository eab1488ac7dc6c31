"""Recorded endpoints and cassettes become scripts that give the same answers; keys are passed on and never written."""

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from mock_llm import MockLLM
from mock_llm.__main__ import main
from mock_llm.api import endpoint
from mock_llm.authoring.recording import NotRecorded, Recording
from mock_llm.serve import serve
from mock_llm.types import HttpRequest, HttpResponse
from tests.mock_llm.asking import outputs, user
from tests.mock_llm.test_fuzz import ITEMS
from tests.mock_llm.test_items import OFFERED, SQL
from tests.mock_llm.test_wire import SCENES, completion, response
from tests.rounds import rounds

pytestmark = pytest.mark.slow

LOOPBACK = True


def content(client: openai.OpenAI, body: dict[str, Any]) -> Any:
    return client.chat.completions.create(**body).choices[0].message.content


@contextmanager
def recording(real: MockLLM, out: Path) -> Iterator[tuple[openai.OpenAI, MockLLM, list[str]]]:
    """A client whose requests pass through a recorder to the real endpoint; the recorder, and its notes."""
    recorder, notes = MockLLM(), list[str]()
    with real.serve() as endpoint:
        recorder.record(endpoint, out, notes.append)
        with recorder.serve() as here, openai.OpenAI(api_key="sk-secret", base_url=here, max_retries=0) as client:
            yield client, recorder, notes


def test_continued_responses_are_recorded(tmp_path: Path) -> None:
    out = tmp_path / "lesson.yaml"

    def talk(client: openai.OpenAI) -> str:
        first = client.responses.create(**response("call"))
        second = client.responses.create(**response("call", input=outputs(first), previous_response_id=first.id))
        return str(second.output_text)

    with recording(MockLLM(SCENES), out) as (client, _, notes):
        assert talk(client) == "Both are added."
        with pytest.raises(openai.BadRequestError):
            client.responses.create(**response("call", input="more", previous_response_id="resp_of_yesterday"))
        assert notes == [], "an error of the endpoint is passed on, and is no answer"
        kept = client.conversations.create().id
        client.responses.create(**response("talk", conversation=kept))
    assert notes[-1].endswith("it is part of a conversation that only the endpoint knows")
    assert talk(MockLLM.load(out).client()) == "Both are added."


def test_requests_with_the_same_last_message_get_scenes_of_their_own(tmp_path: Path) -> None:
    """Two agents with other instructions, and two conversations with another middle, ask in the same words."""
    out = tmp_path / "lesson.yaml"
    before: list[list[dict[str, str]]] = [
        *([{"role": "system", "content": f"You are {who}.\nBe brief."}] for who in ("a cook", "a pilot")),
        *([user("begin"), {"role": "assistant", "content": answer}] for answer in ("left", "right")),
    ]
    asked = [[*messages, user("go on")] for messages in before]

    def scene(n: int) -> dict[str, Any]:
        return {"name": str(n), "when": {"counter": "all", "turn": n}, "reply": {"text": f"answer {n}"}}

    with recording(MockLLM([scene(n) for n in range(1, 5)]), out) as (client, _, notes):
        answers = [content(client, {"model": "m", "messages": messages}) for messages in asked]
    assert (answers, notes) == ([f"answer {n}" for n in range(1, 5)], [])
    again = MockLLM.load(out).client()
    replayed = [content(again, {"model": "m", "messages": messages}) for messages in reversed(asked)]
    assert replayed == answers[::-1]


def test_the_command_records_until_it_is_interrupted(tmp_path: Path) -> None:
    out = tmp_path / "lesson.yaml"
    with MockLLM(SCENES).serve() as endpoint:
        command = [sys.executable, "-m", "mock_llm", "record", "--to", endpoint, "--out", str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            here = process.stdout.readline().split(" at ")[1].split()[0]
            with openai.OpenAI(api_key="x", base_url=here) as through:
                through.chat.completions.create(**completion("talk"))
            process.send_signal(signal.SIGTERM)
        assert process.returncode == 0
    assert [scene.name for scene in MockLLM.load(out).scenes] == ["1: talk"]


def test_an_endpoint_that_does_not_answer_is_named(tmp_path: Path) -> None:
    recorder = MockLLM()
    recorder.record("http://127.0.0.1:9/v1", tmp_path / "lesson.yaml")
    with pytest.raises(openai.InternalServerError, match=r":9/v1/chat/completions did not answer"):
        recorder.client(max_retries=0).chat.completions.create(**completion("talk"))
    assert not (tmp_path / "lesson.yaml").exists()


def test_a_recording_is_continued_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "lesson.yaml"
    for word in ("talk", "total"):
        with recording(MockLLM(SCENES), out) as (client, recorder, notes):
            said = [content(client, completion(word)) for _ in range(2)]
            assert said == [content(MockLLM.load(out).client(), completion(word))] * 2
            with pytest.raises(openai.UnprocessableEntityError, match="no scene for this request"):
                client.chat.completions.create(**completion("unscripted"))
            assert [model.id for model in client.models.list()] == ["mock-llm"]
        assert notes == []
    assert [scene.name for scene in MockLLM.load(out).scenes] == ["1: talk", "2: total"]
    assert recorder.calls[0].scene == "2: total"
    assert "sk-secret" not in out.read_text(encoding="utf-8")

    def foreign(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, {"content-type": "application/json"}, (b'{"choices": "none"}',))

    notes, recorder = [], MockLLM()
    with serve(foreign) as endpoint:
        recorder.record(endpoint, out, notes.append)
        with recorder.serve() as here, openai.OpenAI(api_key="x", base_url=here) as client:
            client.chat.completions.create(**completion("talk", temperature=3))
            client.chat.completions.create(**completion("talk"))
            client.embeddings.create(model="m", input="x", encoding_format="float")
    assert [note.split("\n")[0].partition(": ")[2][:45] for note in notes] == [
        "mock_llm refuses this request: Invalid 'tempe",
        "the response can't be read: TypeError(\"string",
        "it is not a request to a model",
    ]


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="{}"), min_size=1, max_size=20)
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | TEXTS, st.lists, max_leaves=4)
USES = st.builds(dict, tool=st.just("look"), arguments=st.dictionaries(TEXTS, VALUES, max_size=2))
USES |= st.builds(dict, tool=st.just("sql"), arguments=TEXTS)
REPLIES = st.builds(dict, text=TEXTS) | st.builds(dict, refusal=TEXTS)
REPLIES |= st.fixed_dictionaries({"calls": st.lists(USES, min_size=1, max_size=3)}, optional={"text": TEXTS})
ENDS = st.sampled_from(["stop", "length", "content_filter"])
GO: Any = {"model": "m", "messages": [user("go")]}
LOOK: Any = {"name": "look", "parameters": {"type": "object", "properties": {}}}
SUMMARY = {"reasoning": {"summary": "auto"}, "context_management": [{"type": "compaction"}]}
ASKED_FOR = "file_search_call.results code_interpreter_call.outputs web_search_call.action.sources".split()
WIRES: dict[str, Any] = {
    "chat/completions": {**GO, "tools": [{"type": "function", "function": LOOK}, {"type": "custom", "custom": SQL}]},
    "responses": {"model": "m", "input": "go", **SUMMARY, "include": ASKED_FOR}
    | {"tools": [{"type": "function", "strict": False, **LOOK}, SQL, *OFFERED.values()]},
    "messages": {**GO, "max_tokens": 9_999, "thinking": {"type": "adaptive", "display": "summarized"}}
    | {"tools": [{"name": "look", "input_schema": LOOK["parameters"]}]},
}


LOOKED: Any = {"reply": {"calls": [{"tool": "look", "arguments": {}}]}, "end": "stop", "reasoning": "x", "item": {}}


@rounds(200)
@example(**LOOKED, full=False, path="messages", stream=False)
@given(
    reply=REPLIES,
    end=ENDS,
    reasoning=TEXTS,
    item=ITEMS,
    full=st.booleans(),
    path=st.sampled_from(list(WIRES)),
    stream=st.booleans(),
)
def test_an_answer_that_was_recorded_is_given_again(
    reply: Any, end: str, reasoning: str, item: Any, full: bool, path: str, stream: bool, tmp_path_factory: Any
) -> None:
    claude = path == "messages"
    if claude and (end == "content_filter" or any(use["tool"] == "sql" for use in reply.get("calls", ()))):
        return
    more: dict[str, Any] = {"reasoning": reasoning} if full and path != "chat/completions" else {}
    more |= {"items": [item]} if full and path == "responses" else {}
    more |= {"usage": {"input": 50, "output": 20, "cached": 40, "reasoning": 5}} if full else {}
    body = WIRES[path] | {"stream": stream}
    body |= {"stream_options": {"include_usage": True}} if stream and path == "chat/completions" else {}
    headers = {"anthropic-version": "2026-10-21"} if claude else {}
    request = HttpRequest("POST", f"/v1/{path}", headers, json.dumps(body).encode())
    answer = MockLLM([{"name": "one", "reply": {**reply, **more, "finish_reason": end}}]).respond(request)
    out = tmp_path_factory.mktemp("recorded") / "a.yaml"
    asked = endpoint(f"/v1/{path}", headers)
    assert asked is not None
    Recording(out).add(asked, body, answer.body)
    assert MockLLM.load(out).respond(request).body == answer.body


DELTAS: list[dict[str, Any]] = [
    {"role": "assistant", "content": None},
    {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "add", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": '{"total": 5}'}}]},
]
CHUNKS = [{"choices": [{"index": 0, "delta": delta}]} for delta in DELTAS]
CHUNKS.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
CHUNKS.append({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 8}})
STREAMED = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS)


def interaction(path: str, request: Any, answer: Any, status: int = 200) -> dict[str, Any]:
    """An interaction as pytest-recording writes it."""
    headers = {"Accept": ["application/json"], "Host": ["api.openai.com"], "authorization": ["Bearer sk-secret"]}
    body = json.dumps(request) if isinstance(request, dict) else request
    string = json.dumps(answer) if isinstance(answer, dict) else answer
    return {
        "request": {"body": body, "headers": headers, "method": "POST", "uri": f"https://api.openai.com/v1/{path}"},
        "response": {
            "body": {"string": string},
            "headers": {"Content-Type": ["application/json"], "Set-Cookie": ["a=b"]},
            "status": {"code": status, "message": "OK"},
        },
    }


PARALLEL = {
    "index 0 for all": [[(0, "a", '{"total": 5}')], [(0, "b", '{"total": 6}')]],
    "no index": [[(None, "a", '{"total": 5}')], [(None, "b", '{"total": 6}')]],
    "in pieces": [[(0, "a", ""), (1, "b", "")], [(1, None, '{"total": 6}'), (0, None, '{"total"')], [(0, "", ": 5}")]],
}


@pytest.mark.parametrize("kind", PARALLEL)
def test_parallel_calls_of_a_stream_stay_apart(kind: str, tmp_path: Path) -> None:
    sent = []
    for pieces in PARALLEL[kind]:
        calls = [
            {"index": index, "id": id, "function": {"name": "add" if id else None, "arguments": arguments}}
            for index, id, arguments in pieces
        ]
        sent.append({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in [*sent, CHUNKS[-2]]).encode()
    asked = endpoint("/v1/chat/completions", {})
    assert asked is not None
    _, answer = Recording(tmp_path / "a.yaml").add(asked, completion("call"), body)
    assert [call.arguments for call in answer.choices[0].calls] == ['{"total": 5}', '{"total": 6}']


def test_what_a_script_would_lose_is_kept_or_refused(tmp_path: Path) -> None:
    asked, recording = endpoint("/v1/chat/completions", {}), Recording(tmp_path / "a.yaml")
    assert asked is not None
    twice = {"id": "a", "type": "function", "function": {"name": "add", "arguments": '{"total": 5, "total": 6}'}}
    answer = {"choices": [{"message": {"content": None, "tool_calls": [twice]}, "finish_reason": "tool_calls"}]}
    recording.add(asked, completion("call"), json.dumps(answer).encode())
    assert '{"total": 5, "total": 6}' in (tmp_path / "a.yaml").read_text(encoding="utf-8")
    spoken = {
        "choices": [{"message": {"content": None, "audio": {"id": "a", "data": "aGk="}}, "finish_reason": "stop"}]
    }
    with pytest.raises(NotRecorded, match="answers with audio can't be recorded"):
        recording.add(asked, completion("total"), json.dumps(spoken).encode())


def test_cassettes_become_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    real = MockLLM(SCENES).client()
    spoken = json.loads(real.responses.create(**response("talk")).model_dump_json())
    written = json.loads(real.chat.completions.create(**completion("total")).model_dump_json())
    compressed = gzip.compress(json.dumps(spoken).encode())
    parsed = interaction("chat/completions", completion("total"), {})
    parsed["request"]["parsed_body"] = json.loads(parsed["request"].pop("body"))
    parsed["response"] |= {"parsed_body": written, "body": None}
    interactions = [
        interaction("responses", json.dumps(response("talk")).encode(), compressed),
        interaction("chat/completions", completion("call", stream=True), STREAMED),
        parsed,
        interaction("chat/completions", completion("silently"), {"error": {"message": "slow down"}}, 429),
        interaction("embeddings", {"model": "m", "input": "x"}, {"data": []}),
        interaction("chat/completions", completion("refuse"), "<html>"),
        interaction("chat/completions", "not JSON", written),
        parsed,
        interaction("chat/completions", completion("total"), json.loads(json.dumps(written).replace("53", "54"))),
        "no interaction",
        {"request": parsed["request"]},
    ]
    cassette, lists, out = (tmp_path / name for name in ("test_one.yaml", "two.yaml.gz", "script.yaml"))
    cassette.write_text(yaml.safe_dump({"interactions": interactions, "version": 1}), encoding="utf-8")
    thoughts = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "of the real service"}
    asked = [{"role": "user", "content": "begin"}, thoughts, {"role": "user", "content": "filter"}]
    pair = interaction("responses", response("filter", input=asked), spoken)
    listed = {"requests": [pair["request"], parsed["request"]], "responses": [pair["response"]]}
    lists.write_bytes(gzip.compress(yaml.safe_dump(listed).encode()))

    assert main(["import", str(cassette), str(lists), "--out", str(out)]) == 0
    *notes, last = capsys.readouterr().out.splitlines()
    assert last == f"4 new scenes in {out}"
    assert [note.removeprefix("test_one.yaml, interaction ")[:45] for note in notes] == [
        "4: the status is 429; add a fault to a scene ",
        "5: POST /v1/embeddings is not a request to a ",
        "6: the stream has no choices",
        "7: it can't be read: JSONDecodeError('Expecti",
        "9: scene '3: total' has another answer to the",
        "10: its request or its response is missing",
        "11: its request or its response is missing",
        "two.yaml.gz, interaction 2: its request or it",
    ]
    assert "sk-secret" not in out.read_text(encoding="utf-8")
    again = MockLLM.load(out).client()
    assert again.responses.create(**response("talk")).output_text == spoken["output"][0]["content"][0]["text"]
    answer = again.chat.completions.create(**completion("call"))
    assert answer.choices[0].message.tool_calls is not None
    assert answer.choices[0].message.tool_calls[0].function.arguments == '{"total": 5}'  # type: ignore[union-attr]
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (7, 8)
    assert content(again, completion("total")) == '{"total": 53}'


@pytest.mark.parametrize("text", ["interactions: 5", "[1, 2]", "a: [", "!!python/name:os.system", "\x00", "- &a [*a]"])
def test_a_file_that_is_not_a_cassette_is_refused(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(text, encoding="utf-8")
    assert main(["import", str(path), "--out", str(tmp_path / "out.yaml")]) == 1
    assert "other.yaml: not a cassette" in capsys.readouterr().err
    assert main(["import", str(tmp_path / "missing.yaml"), "--out", str(tmp_path / "out.yaml")]) == 2
    assert not (tmp_path / "out.yaml").exists()
