"""Endpoints of many makes, asked by the genuine client: what they leave out, refuse, put around an answer, or never end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import openai
import pytest

from planexec_lab.views.narration import sentences
from planexec_lite import (
    Budget,
    Journal,
    LLMEvaluator,
    LLMPlanner,
    Plan,
    PlannerExecutor,
    Policy,
    ReActExecutor,
    Run,
    Simulated,
    Step,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.assembly import Board
from planexec_lite.events import Judged, PlanProposed, StepDone
from planexec_lite.meter import InContext, JobContext, Meter
from planexec_lite.model.answer import Answer, AnswerError, Reading, ToolCall, spoken
from planexec_lite.model.asking import Bounds, ask, ask_streaming
from planexec_lite.roles.telling import Summary

ASKED = [{"role": "system", "content": "rules"}, {"role": "user", "content": "?"}]
STEP: dict[str, Any] = {
    "id": "1",
    "tool": "look",
    "params": {},
    "description": "",
    "depends_on": [],
    "success_criteria": None,
}
PLAN = json.dumps({"goal": "g", "steps": [STEP], "rollback": [], "answer": None, "complete": True})
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
Body = str | dict[str, Any] | httpx2.SyncByteStream


@tool(effects="none")
def look() -> str:
    """Look."""
    return "seen"


TOOLS = Toolbox([look])


def client(respond: Callable[[dict[str, Any]], httpx2.Response], **options: Any) -> openai.OpenAI:
    transport = httpx2.MockTransport(lambda request: respond(json.loads(request.content)))
    given = {"api_key": "none", "base_url": "http://endpoint.invalid/v1", "max_retries": 0, "timeout": 5, **options}
    return openai.OpenAI(http_client=httpx2.Client(transport=transport), **given)


def response(body: Body, status: int = 200, kind: str = "application/json") -> httpx2.Response:
    if isinstance(body, httpx2.SyncByteStream):
        return httpx2.Response(status, headers={"content-type": kind}, stream=body)
    text = body if isinstance(body, str) else json.dumps(body)
    return httpx2.Response(status, headers={"content-type": kind}, content=text.encode())


def completion(content: Any = PLAN, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": USAGE, **more}


def chunks(*sent: Any) -> httpx2.Response:
    lines = [f"data: {json.dumps(one)}\n\n" for one in sent]
    return response("".join([*lines, "data: [DONE]\n\n"]), kind="text/event-stream")


def delta(content: str | None, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}], **more}


def always(body: Body, **options: Any) -> openai.OpenAI:
    return client(lambda request: response(body, **options))


def planned(asked: openai.OpenAI, **options: Any) -> Run:
    stream = options.pop("stream", False)
    agent = PlannerExecutor(LLMPlanner(asked, "m", stream=stream), ToolExecutor(TOOLS), **options)
    return agent.run("g")


def calls_of(run: Run) -> list[Any]:
    return [call for event in run.events for call in getattr(event, "calls", ())]


# usage

ODD_USAGE = [
    ("missing", ..., (0, 0)),
    ("null", None, (0, 0)),
    ("empty", {}, (0, 0)),
    ("null inside", {"prompt_tokens": None, "completion_tokens": None}, (0, 0)),
    ("a total only", {"total_tokens": 5}, (0, 0)),
    ("partial", {"prompt_tokens": 3}, (3, 0)),
    ("text", {"prompt_tokens": "3", "completion_tokens": "2"}, (0, 0)),
    ("negative", {"prompt_tokens": -1, "completion_tokens": 2}, (0, 2)),
    ("no whole number", {"prompt_tokens": 1.5, "completion_tokens": True}, (0, 0)),
    ("no object", "3 tokens", (0, 0)),
    ("without end", {"prompt_tokens": 10**400, "completion_tokens": 2}, (0, 2)),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("usage", "tokens"), [one[1:] for one in ODD_USAGE], ids=[one[0] for one in ODD_USAGE])
def test_odd_usage_is_unknown_and_a_journalled_run_ends(usage: Any, tokens: Any, stream: bool, tmp_path: Path) -> None:
    more = {} if usage is ... else {"usage": usage}
    whole = completion(**more) if more else {"choices": completion()["choices"]}
    streamed = chunks({"choices": None, **more}, delta(PLAN, **more), delta(None, "stop"), {"choices": [], **more})
    run = planned(
        client(lambda request: streamed if stream else response(whole)), stream=stream, journal=Journal(tmp_path / "j")
    )
    (call,) = calls_of(run)
    assert (run.status, call.input_tokens, call.output_tokens) == ("finished", *tokens)
    assert call.note == "the endpoint reports no tokens"
    assert Journal(tmp_path / "j").load(1).status == "finished"
    assert any("the endpoint reports no tokens" in line for line in sentences(run))


def test_tokens_that_are_reported_need_no_note() -> None:
    run = planned(always(completion()))
    assert [(call.input_tokens, call.output_tokens, call.note) for call in calls_of(run)] == [(3, 2, "")]
    assert not any("tokens" in line for line in sentences(run))


@pytest.mark.parametrize("header", ["soon", "-5", "nan", "inf", "1e999", ""])
def test_odd_processing_times_are_measured_instead(header: str) -> None:
    answer = response(completion())
    answer.headers["openai-processing-ms"] = header
    assert 0 <= planned(client(lambda request: answer), workers=Simulated()).makespan < 5


# response_format

REFUSALS = {
    "400": (400, {"error": {"message": "This response_format type is unavailable now", "param": None}}),
    "400 with a code": (400, {"error": {"message": "Invalid 'response_format.type'", "param": "response_format"}}),
    "a parameter alone": (400, {"error": {"message": "Unsupported parameter", "param": "response_format"}}),
    "422 with details": (
        422,
        {"detail": [{"loc": ["body", "response_format", "type"], "msg": "Input should be text"}]},
    ),
    "501": (501, {"error": "structured outputs are not implemented"}),
    "200 with an error": (200, {"error": {"message": "json_schema is not supported by this model"}}),
    "plain text": (415, "unknown field json_schema"),
}


def refusing(refusal: tuple[int, Any], seen: list[dict[str, Any]]) -> openai.OpenAI:
    def respond(request: dict[str, Any]) -> httpx2.Response:
        seen.append(request)
        status, body = refusal
        if "response_format" in request:
            return response(body, status)
        return chunks(delta(PLAN), delta(None, "stop", usage=USAGE)) if "stream" in request else response(completion())

    return client(respond)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("refusal", REFUSALS)
def test_an_endpoint_without_json_schema_gets_the_schema_in_the_prompt(refusal: str, stream: bool) -> None:
    seen: list[dict[str, Any]] = []
    asked = refusing(REFUSALS[refusal], seen)
    run = planned(asked, stream=stream, policy=Policy(max_repairs=0))
    assert run.status == "finished", run.reason
    assert ["response_format" in request for request in seen] == [True, False]
    assert ['"depends_on"' in request["messages"][0]["content"] for request in seen] == [False, True]
    (note,) = [line for line in sentences(run) if "the endpoint rejects json_schema" in line]
    assert "the schema is in the prompt" in note
    seen.clear()
    assert planned(asked, stream=stream).status == "finished"
    assert len(seen) == 1, "the client's endpoint is known now"
    other: list[dict[str, Any]] = []
    planned(refusing(REFUSALS[refusal], other))
    assert other[0]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("status", [400, 422])
def test_where_no_way_helps_the_endpoints_words_are_told(status: int) -> None:
    words = {"detail": [{"loc": ["body", "response_format"], "msg": "no format is taken here"}]}
    run = planned(always(words, status=status), policy=Policy(max_repairs=0))
    assert "no format is taken here" in str(run.reason)


def test_an_error_about_something_else_is_not_asked_again() -> None:
    seen: list[dict[str, Any]] = []

    def respond(request: dict[str, Any]) -> httpx2.Response:
        seen.append(request)
        return response({"detail": "the prompt is too long"}, 422)

    run = planned(client(respond), policy=Policy(max_repairs=0))
    assert len(seen) == 1
    assert "the prompt is too long" in str(run.reason)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "unknown", "param": "stream_options"}}),
        (422, {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}),
        (400, {"error": {"message": "Unrecognized argument: 'stream_options'"}}),
    ],
)
def test_a_parameter_that_an_endpoint_rejects_is_left_out(status: int, body: dict[str, Any]) -> None:
    def respond(request: dict[str, Any]) -> httpx2.Response:
        if "stream_options" in request:
            return response(body, status)
        return chunks(delta(PLAN), delta(None, "stop"))

    assert planned(client(respond), stream=True).status == "finished"


def test_a_verdict_may_stand_in_a_fence_and_behind_thoughts() -> None:
    verdict = json.dumps({"verdict": "accept", "reason": "seen", "task": None, "rejects": None})
    asked = always(completion(f"<think>hm</think>```json\n{verdict}\n```<|im_end|>"))
    judged = Plan.parse([{**STEP, "success_criteria": "it is seen"}])
    run = execute(judged, ToolExecutor(TOOLS), evaluator=LLMEvaluator(asked, "m"))
    assert [event.reason for event in run.events if isinstance(event, Judged)] == ["seen"]


# what is around an answer

AROUND = [
    ("<think>\nThey want {a plan}.\n</think>\n\n" + PLAN, PLAN),
    ("They want it.\n</think>\n" + PLAN, PLAN),
    (PLAN + "<|im_end|>", PLAN),
    ("<think>never ends", ""),
    ('{"text": "a\\n</think>\\nb"}', '{"text": "a\\n</think>\\nb"}'),
    ("a < b", "a < b"),
    ("<b>bold</b>", "<b>bold</b>"),
]


@pytest.mark.parametrize(("said", "answer"), AROUND, ids=range(len(AROUND)))
def test_thoughts_and_end_marks_are_no_part_of_an_answer(said: str, answer: str) -> None:
    assert spoken(said) == answer
    asked = client(
        lambda request: (
            chunks(*[delta(letter) for letter in said], delta(None, "stop"))
            if request.get("stream")
            else response(completion(said))
        )
    )
    assert ask(asked, "m", ASKED).text == answer
    *pieces, last = ask_streaming(asked, "m", ASKED)
    assert isinstance(last, Answer)
    assert last.text == answer
    assert not said.startswith("<") or pieces == []


def test_thoughts_and_end_marks_are_found_in_time() -> None:
    reading, began = Reading(), time.perf_counter()
    assert not any(reading.add(delta(piece)) for piece in ["<think>", *["a < b, "] * 20_000])
    assert spoken("\n" * 100_000 + "x") == "\n" * 100_000 + "x"
    assert spoken("<|a|> " * 10_000 + "x") == "<|a|> " * 10_000 + "x"
    assert time.perf_counter() - began < 5


def test_no_step_starts_from_the_thoughts_of_a_model() -> None:
    draft = PLAN.replace("look", "draft")
    said = [*f"<think>{draft}</think>\n", *PLAN]
    asked = client(lambda request: chunks(*[delta(letter) for letter in said], delta(None, "stop")))
    run = planned(asked, stream=True, workers=Simulated())
    assert (run.status, "StepProposed" in {type(event).__name__ for event in run.events}) == ("finished", False)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [{"message": {"content": PLAN}}]},
        {"choices": [{"message": {"content": PLAN, "tool_calls": None, "refusal": None}, "finish_reason": None}]},
    ],
    ids=["no reason", "nulls"],
)
def test_a_whole_answer_may_lack_what_nobody_reads(body: dict[str, Any]) -> None:
    assert planned(always(body)).status == "finished"


def test_a_whole_answer_may_come_as_a_stream_and_a_stream_as_a_whole() -> None:
    assert planned(always(completion()), stream=True).status == "finished"
    streamed = client(lambda request: chunks(delta(PLAN[:9]), delta(PLAN[9:]), delta(None, "stop")))
    assert planned(streamed).status == "finished"


def test_a_tool_call_may_lack_an_id() -> None:
    call = {"function": {"name": "look", "arguments": '{"a": 1}'}}
    answer = {"choices": [{"message": {"tool_calls": [call]}}]}
    (asked,) = ask(always(answer), "m", ASKED).tool_calls
    assert asked == ToolCall("call_0", "look", '{"a": 1}')


def test_a_tool_call_may_come_in_pieces() -> None:
    first = {"index": 1, "id": "c", "function": {"name": "look", "arguments": '{"a"'}}
    second = {"index": 1, "id": None, "function": {"name": "look", "arguments": ": 1}"}}
    other = {"index": 0, "id": "b", "function": {"name": "look", "arguments": "{}"}}
    sent = [{"choices": [{"delta": {"tool_calls": calls}}]} for calls in ([first], [second, other])]
    answer = list(ask_streaming(client(lambda request: chunks(*sent, delta(None, "tool_calls"))), "m", ASKED))[-1]
    assert isinstance(answer, Answer)
    assert answer.tool_calls == (ToolCall("b", "look", "{}"), ToolCall("c", "look", '{"a": 1}'))


# an answer that is none

NONE = [
    ("no choices", {"choices": []}, "sent no answer"),
    ("null choices", {"choices": None, "usage": USAGE}, "sent no answer"),
    ("null message", {"choices": [{"message": None, "finish_reason": "stop"}]}, "sent no answer"),
    ("an error object", {"error": {"message": "model 'm' is not loaded"}}, "model 'm' is not loaded"),
    ("an error text", {"error": "overloaded"}, "overloaded"),
    ("an error beside choices", {"error": {"code": 502, "message": "upstream"}, "choices": []}, "upstream"),
    ("an error in a choice", {"choices": [{"error": {"message": "provider is down"}}]}, "provider is down"),
    ("details", {"detail": "Not Found"}, "Not Found"),
    ("another shape", {"choices": [{"message": "Hello"}]}, "the shape of a chat completion"),
    ("content in parts", {"choices": [{"message": {"content": [1]}}]}, "the shape of a chat completion"),
    ("a page", "<html><title>Welcome</title></html>", "<title>Welcome</title>"),
    ("plain text", "upstream connect error", "upstream connect error"),
    ("nothing", "", "it is empty"),
    ("a list", "[1]", "not a JSON object"),
    ("half a body", '{"choices": [{"message"', "not a JSON object"),
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("body", "words"), [one[1:] for one in NONE], ids=[one[0] for one in NONE])
def test_an_answer_that_is_none_is_told_in_the_endpoints_words(body: Any, words: str, stream: bool) -> None:
    kind = "application/json" if isinstance(body, dict) else "text/html"
    run = planned(always(body, kind=kind), stream=stream, policy=Policy(max_repairs=0))
    (failed,) = [event for event in run.events if (isinstance(event, PlanProposed) and event.error is not None)]
    assert failed.error.startswith("AnswerError: ")
    assert words in failed.error
    assert "; " in failed.error, "it says what to do"


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ([], "sent no answer"),
        ([{"choices": [], "usage": None}], "sent no answer"),
        ([delta("{"), {"error": {"message": "out of memory"}}], "out of memory"),
    ],
    ids=["nothing", "usage alone", "an error in the middle"],
)
def test_a_stream_that_is_no_answer_is_told_in_the_endpoints_words(sent: list[Any], words: str) -> None:
    with pytest.raises(AnswerError, match=words):
        list(ask_streaming(client(lambda request: chunks(*sent)), "m", ASKED))


def test_a_stream_may_be_written_in_every_way_that_its_standard_allows() -> None:
    first, last = json.dumps(delta("a")), json.dumps(delta("b", "stop"))
    for end in ("\n", "\r\n"):
        text = f": hello{end}event: message{end}data:{first}{end}{end}id: 2{end}data: {last}{end}{end}data:[DONE]{end}{end}"
        asked = always(text, kind="text/event-stream; charset=utf-8")
        assert list(ask_streaming(asked, "m", ASKED))[-1] == Answer("ab", None, "stop")


# an answer without end


class Endless(httpx2.SyncByteStream):
    def __init__(self, part: bytes, pause: float) -> None:
        self.part, self.pause, self.count = part, pause, 0

    def __iter__(self) -> Iterator[bytes]:
        while True:
            time.sleep(self.pause)
            self.count += 1
            yield self.part


TALK = f"data: {json.dumps(delta('word '))}\n\n".encode()
STREAM = "text/event-stream"
ENDLESS = [
    ("words", TALK, STREAM),
    ("keep-alives", b": ping\n\n", STREAM),
    ("empty chunks", b'data: {"choices": []}\n\n', STREAM),
    ("a line without end", b"data: xxxx", STREAM),
    ("a body that drips", b" ", "application/json"),
]


@pytest.mark.parametrize(("part", "kind"), [one[1:] for one in ENDLESS], ids=[one[0] for one in ENDLESS])
@pytest.mark.parametrize("policy", [{"deadline": 0.3}, {"budget": Budget(seconds=0.3)}], ids=["deadline", "budget"])
def test_every_role_stops_reading_when_the_runs_time_is_over(part: bytes, kind: str, policy: dict[str, Any]) -> None:
    asked, began = client(lambda request: response(Endless(part, 0.01), kind=kind)), time.perf_counter()
    runs = [planned(asked, stream=stream, policy=Policy(max_repairs=0, **policy)) for stream in (False, True)]
    plan = Plan.parse({"goal": "g", "steps": [{"id": "1", "description": "Look"}]})
    runs.append(execute(plan, ReActExecutor(asked, TOOLS, "m"), policy=Policy(**policy)))
    judged = Plan.parse([{**STEP, "success_criteria": "it is seen"}])
    runs.append(execute(judged, ToolExecutor(TOOLS), evaluator=LLMEvaluator(asked, "m"), policy=Policy(**policy)))
    assert time.perf_counter() - began < 8
    for run in runs:
        assert any("TimeoutError" in str(event) for event in run.events), run.events
        assert run.status in ("stopped", "failed", "paused") or isinstance(run.events[-4], StepDone)


def test_a_summary_stops_when_the_time_of_its_job_is_over() -> None:
    asked = client(lambda request: response(Endless(b" ", 0.01)))
    with Meter(), pytest.raises(TimeoutError, match="not finished after"):
        InContext(Summary(asked, "m"), JobContext(limit=0.3))("a long text")


def test_a_stream_is_bounded_without_a_deadline() -> None:
    endless = Endless(TALK, 0.0)
    answer = list(ask_streaming(client(lambda request: response(endless, kind=STREAM)), "m", ASKED, None, Bounds(50)))[
        -1
    ]
    assert isinstance(answer, Answer)
    assert (answer.finish_reason, len(answer.text)) == ("length", 50 * 32)
    assert endless.count < 400


def test_a_whole_answer_is_bounded_without_a_deadline() -> None:
    asked = always(completion("word " * 10_000))
    answer = ask(asked, "m", ASKED, bounds=Bounds(50))
    assert (answer.finish_reason, len(answer.text)) == ("length", 50 * 32)
    with pytest.raises(AnswerError, match="far longer than max_tokens allows"):
        ask(client(lambda request: response(Endless(b"x" * 1000, 0.0))), "m", ASKED, bounds=Bounds(50))


def test_a_virtual_clock_cuts_no_scripted_answer_off() -> None:
    answer = response(completion())
    answer.headers["openai-processing-ms"] = "9000"
    run = planned(client(lambda request: answer), workers=Simulated(), policy=Policy(deadline=5))
    assert (run.status, run.makespan) == ("stopped", 9.0)
    assert any(isinstance(event, PlanProposed) for event in run.events)


def test_a_judge_is_not_asked_when_no_time_is_left() -> None:
    evaluator = LLMEvaluator(always(completion()), "m")
    with Meter() as meter, pytest.raises(TimeoutError, match="no time is left to ask a model"):
        InContext(evaluator.evaluate, JobContext(limit=0.0))(
            Step(id="1", tool="look", success_criteria="seen"), "seen", Board()
        )
    assert meter.calls == ()


@pytest.mark.parametrize("after", ["silence", "a request to try later"])
def test_a_deadline_holds_before_the_endpoint_has_answered_at_all(after: str) -> None:
    released = Event()

    def respond(request: dict[str, Any]) -> httpx2.Response:
        if after == "silence":
            released.wait(60)
        return httpx2.Response(429, headers={"retry-after": "60"}, json={"error": {"message": "later"}})

    try:
        run = planned(client(respond, max_retries=2), policy=Policy(deadline=0.3))
        assert (run.status, released.is_set()) == ("stopped", False)
    finally:
        released.set()
