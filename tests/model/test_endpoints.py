"""Endpoints of many kinds with the real client: missing fields, refusals, text around an answer, endless answers."""

import json
import math
import time
from collections.abc import Callable, Iterator
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
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.model.answer import Answer, AnswerError, Reading, ToolCall, spoken
from planexec_lite.model.asking import Bounds, ask, ask_streaming
from planexec_lite.run.events import Judged, PlanProposed, StepDone

ASKED = [{"role": "system", "content": "rules"}, {"role": "user", "content": "?"}]
STEP: dict[str, Any] = {"id": "1", "tool": "look", "params": {}, "description": "", "depends_on": []}
STEP["success_criteria"] = None
PLAN = json.dumps({"goal": "g", "steps": [STEP], "rollback": [], "answer": None, "complete": True})
USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
Body = str | dict[str, Any] | httpx2.SyncByteStream


@tool(effects="none")
def look() -> str:
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


def delta(content: Any, finish_reason: str | None = None, **more: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}], **more}


def streams(*sent: Any) -> openai.OpenAI:
    return client(lambda request: chunks(*sent))


def always(body: Body, **options: Any) -> openai.OpenAI:
    return client(lambda request: response(body, **options))


def planned(asked: openai.OpenAI, *, stream: bool = False, **options: Any) -> Run:
    agent = PlannerExecutor(LLMPlanner(asked, "m", stream=stream), ToolExecutor(TOOLS), **options)
    return agent.run("g")


ODD_USAGE: dict[str, tuple[Any, tuple[int | None, int | None]]] = {
    "missing": (..., (None, None)),
    "null inside": ({"prompt_tokens": None, "completion_tokens": None}, (None, None)),
    "partial": ({"prompt_tokens": 3}, (3, None)),
    "text": ({"prompt_tokens": "3", "completion_tokens": "2"}, (None, None)),
    "negative": ({"prompt_tokens": -1, "completion_tokens": 2}, (None, 2)),
    "no whole number": ({"prompt_tokens": 1.5, "completion_tokens": True}, (None, None)),
    "without end": ({"prompt_tokens": 10**400, "completion_tokens": 2}, (None, 2)),
    "whole": (USAGE, (3, 2)),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ODD_USAGE)
def test_odd_usage_is_estimated_with_a_note_and_the_run_ends(kind: str, stream: bool, journal: Journal) -> None:
    usage, (read, written) = ODD_USAGE[kind]
    more = {} if usage is ... else {"usage": usage}
    whole = {"choices": completion()["choices"], **more}
    streamed = chunks({"choices": None, **more}, delta(PLAN, **more), delta(None, "stop"), {"choices": [], **more})
    asked = client(lambda request: streamed if stream else response(whole))
    run = planned(asked, stream=stream, journal=journal)
    (call,) = run.board.calls
    assert run.status == "finished"
    assert 200 < call.input_tokens < 1_000 if read is None else call.input_tokens == read
    assert call.output_tokens == (math.ceil(len(PLAN) / 4) if written is None else written)
    noted = "the endpoint reports no tokens; the characters give an estimate"
    assert (noted in call.note) == (kind != "whole")
    assert journal.load(1).status == "finished"
    assert any(noted in line for line in sentences(run)) == (kind != "whole")


def test_estimated_tokens_use_up_a_budget() -> None:
    body = {"choices": completion(PLAN.replace("true", "false"))["choices"]}
    policy = Policy(budget=Budget(tokens=100), over_budget="stop")
    run = PlannerExecutor(LLMPlanner(always(body), "m", horizon=1), ToolExecutor(TOOLS), policy=policy).run("g")
    assert (run.status, "of 100 tokens" in run.reason) == ("stopped", True)


REFUSALS = {
    "400": (400, {"error": {"message": "This response_format type is unavailable now", "param": None}}),
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


@pytest.mark.parametrize(
    ("detail", "requests"),
    [([{"loc": ["body", "response_format"], "msg": "no format is taken"}], 2), ("the prompt is too long", 1)],
)
@pytest.mark.parametrize("status", [400, 422])
def test_the_endpoints_error_is_the_reason_if_no_other_way_helps(detail: Any, requests: int, status: int) -> None:
    seen: list[dict[str, Any]] = []

    def respond(request: dict[str, Any]) -> httpx2.Response:
        seen.append(request)
        return response({"detail": detail}, status)

    run = planned(client(respond), policy=Policy(max_repairs=0))
    assert len(seen) == requests
    assert ("no format is taken" if requests == 2 else detail) in str(run.reason)


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


@pytest.mark.parametrize("task", [["look"], 5, {"a": 1}])
def test_a_verdict_counts_even_if_its_task_is_not_text(task: Any) -> None:
    verdict = json.dumps({"verdict": "replan", "reason": "dark", "task": task, "rejects": None})
    run = execute(JUDGED, ToolExecutor(TOOLS), evaluator=LLMEvaluator(always(completion(verdict)), "m"))
    assert [(event.verdict, event.error) for event in run.events if isinstance(event, Judged)] == [("replan", None)]


def test_a_verdict_that_names_a_field_twice_is_none() -> None:
    verdict = '{"verdict": "accept", "verdict": "replan", "reason": "dark", "task": null, "rejects": null}'
    run = execute(JUDGED, ToolExecutor(TOOLS), evaluator=LLMEvaluator(always(completion(verdict)), "m"))
    (error,) = [event.error for event in run.events if isinstance(event, Judged)]
    assert "'verdict' occurs twice" in str(error)


AROUND = {
    "<think>\nThey want {a plan}.\n</think>\n\n" + PLAN: PLAN,
    "They want it.\n</think>\n" + PLAN: PLAN,
    PLAN + "<|im_end|>": PLAN,
    "<think>never ends": "",
    "<thinking>Which tool?</thinking>" + PLAN: PLAN,
    "<seed:think>Which?</seed:think>\n" + PLAN: PLAN,
    "[THINK]Which?[/THINK]" + PLAN: PLAN,
    "◁think▷Which?◁/think▷" + PLAN: PLAN,
    "<|channel|>analysis<|message|>Which?<|end|><|start|>assistant<|channel|>final<|message|>"
    + PLAN
    + "<|return|>": PLAN,
    "<thought>a</reasoning> b": "",
    '{"text": "a\\n</think>\\nb"}': '{"text": "a\\n</think>\\nb"}',
    "The log has </think> in it.": "The log has </think> in it.",
    '```json\n{"text": "</think> x"}\n```': '```json\n{"text": "</think> x"}\n```',
    "a < b": "a < b",
    "<b>bold</b>": "<b>bold</b>",
}


@pytest.mark.parametrize("said", AROUND)
def test_thoughts_and_end_marks_are_removed(said: str) -> None:
    assert spoken(said) == ask(always(completion(said)), "m", ASKED).text == AROUND[said]
    *pieces, last = ask_streaming(streams(*map(delta, said), delta(None, "stop")), "m", ASKED)
    assert isinstance(last, Answer)
    assert last.text == AROUND[said]
    assert not said.startswith("<") or pieces == []


def test_thoughts_and_end_marks_are_found_in_time() -> None:
    reading, began = Reading(), time.perf_counter()
    assert not any(reading.add(delta(piece)) for piece in ["<think>", *["a < b, "] * 20_000])
    assert spoken("\n" * 100_000 + "x") == "\n" * 100_000 + "x"
    assert spoken("<|a|> " * 10_000 + "x") == "<|a|> " * 10_000 + "x"
    assert time.perf_counter() - began < 5


def test_no_step_starts_from_a_models_thoughts() -> None:
    draft = PLAN.replace("look", "draft")
    said = f"<think>{draft}</think>\n{PLAN}"
    run = planned(streams(*map(delta, said), delta(None, "stop")), stream=True, workers=Simulated())
    assert run.status == "finished"
    assert "StepProposed" not in {type(event).__name__ for event in run.events}


def test_optional_fields_can_be_missing_and_streams_are_optional() -> None:
    nulls = {"content": PLAN, "tool_calls": None, "refusal": None}
    for message in ({"message": {"content": PLAN}}, {"message": nulls, "finish_reason": None}):
        assert planned(always({"choices": [message]})).status == "finished"
    assert planned(always(completion()), stream=True).status == "finished"
    assert planned(streams(delta(PLAN[:9]), delta(PLAN[9:]), delta(None, "stop"))).status == "finished"


def piece(index: int | None, name: str | None, arguments: Any, id: str | None = None, **more: Any) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}, **more}


OSLO, ROME = '{"city": "Oslo"}', '{"city": "Rome"}'
CALLS: dict[str, tuple[list[list[dict[str, Any]]], list[tuple[str, str]]]] = {
    "an object without ids": ([[{"function": {"name": "look", "arguments": OSLO}}]], [("look", OSLO)]),
    "pieces, the second index first": (
        [[piece(1, "look", '{"city"', "c")], [piece(1, "look", ': "Oslo"}'), piece(0, "now", "{}", "b")]],
        [("now", "{}"), ("look", OSLO)],
    ),
    "index 0 for all, other ids": (
        [[piece(0, "look", OSLO, "a")], [piece(0, "look", ROME, "b")]],
        [("look", OSLO), ("look", ROME)],
    ),
    "index 0 for all, in one object": (
        [[piece(0, "look", OSLO), piece(0, "look", ROME), piece(0, "now", ""), piece(0, "now", "")]],
        [("look", OSLO), ("look", ROME), ("now", ""), ("now", "")],
    ),
    "index 0 for all, without ids": (
        [[piece(0, "now", "")], [piece(0, "look", OSLO)], [piece(0, "look", ROME)]],
        [("now", ""), ("look", OSLO), ("look", ROME)],
    ),
    "one id for all": (
        [[piece(0, "look", OSLO, "a")], [piece(0, "look", ROME, "a")]],
        [("look", OSLO), ("look", ROME)],
    ),
    "no index": (
        [[piece(None, "look", OSLO, "a")], [piece(None, "look", ROME, "b")]],
        [("look", OSLO), ("look", ROME)],
    ),
    "the id and the name in each piece": (
        [[piece(0, "look", "", "a")], [piece(0, "look", OSLO[:5], "a")], [piece(0, "look", OSLO[5:], "a")]],
        [("look", OSLO)],
    ),
    "a last piece without arguments": ([[piece(0, "look", OSLO, "a")], [piece(0, "look", "", "a")]], [("look", OSLO)]),
    "arguments as an object": ([[piece(0, "look", {"city": "Oslo"}, "a")]], [("look", OSLO)]),
}


@pytest.mark.parametrize("kind", CALLS)
def test_each_tool_call_is_read_in_whatever_pieces_it_comes(kind: str) -> None:
    pieces, expected = CALLS[kind]
    sent = [{"choices": [{"delta": {"tool_calls": some}}]} for some in pieces]
    answer = list(ask_streaming(streams(*sent, delta(None, "tool_calls")), "m", ASKED))[-1]
    assert isinstance(answer, Answer)
    assert [(call.name, call.arguments) for call in answer.tool_calls] == expected
    assert len({call.id for call in answer.tool_calls}) == len(expected), "the results are found by the ids"


def test_an_older_function_call_is_a_tool_call() -> None:
    answer: Any = {"choices": [{"message": {"function_call": {"name": "look", "arguments": OSLO}}}]}
    assert ask(always(answer), "m", ASKED).tool_calls == (ToolCall("call_0", "look", OSLO),)
    message = answer["choices"][0]["message"]
    message |= {"tool_calls": [{"function": message["function_call"]}]}
    assert ask(always(answer), "m", ASKED).tool_calls == (ToolCall("call_0", "look", OSLO),)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


THOUGHT = {"type": "thinking", "thinking": [text("Which tool?")]}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("content", [[THOUGHT, text(PLAN)], [text(PLAN[:9]), THOUGHT, {"text": PLAN[9:]}]])
def test_the_text_of_a_content_in_parts_is_read(content: list[Any], stream: bool) -> None:
    asked = (
        streams(*(delta([part]) for part in content), delta(None, "stop")) if stream else always(completion(content))
    )
    assert planned(asked, stream=stream).status == "finished"


IMAGE, CUSTOM = {"type": "image_url"}, {"id": "c", "type": "custom", "custom": {"name": "run_sql", "input": "drop"}}
OTHER: dict[str, tuple[Any, str]] = {
    "a part of another kind": ({"message": {"content": [text(PLAN), IMAGE]}}, "a part of the kind 'image_url'"),
    "a call of another kind": ({"message": {"content": PLAN, "tool_calls": [CUSTOM]}}, "run_sql"),
    "a call beside the plan": (
        {"message": {"content": PLAN, "tool_calls": [piece(0, "look", "{}")]}},
        "a tool call (look)",
    ),
    "a plan in a call": ({"message": {"tool_calls": [piece(0, "plan", PLAN)]}}, "a tool call (plan)"),
    "only thoughts": ({"message": {"content": "", "reasoning_content": PLAN}}, "sent only its thoughts"),
    "thoughts in parts": ({"message": {"content": [THOUGHT]}}, "sent only its thoughts"),
    "thoughts before nothing": ({"message": {"content": "<think>never ends"}}, "sent only its thoughts"),
    "nothing": ({"message": {"content": ""}}, "the answer is empty"),
    "a stream without a reason": ({"delta": {"content": PLAN}}, "its stream ended without a finish_reason"),
    "an empty reason": ({"delta": {"content": PLAN}, "finish_reason": ""}, "its stream ended without a finish_reason"),
    "a reason of a failure": ({"delta": {"content": PLAN}, "finish_reason": "abort"}, "gives the reason 'abort'"),
    "a reason of a pause": ({"message": {"content": PLAN}, "finish_reason": "pause_turn"}, "the reason 'pause_turn'"),
    "an unknown reason": ({"delta": {"content": PLAN}, "finish_reason": "Failed"}, "gives the reason 'failed'"),
    "another limit": ({"message": {"content": PLAN}, "finish_reason": "token_limit"}, "2,048 tokens (max_tokens)"),
    "another filter": ({"message": {"content": PLAN}, "finish_reason": "guardrail_intervened"}, "content filter"),
    "a reason of calls": (
        {"message": {"content": PLAN}, "finish_reason": "tool_calls"},
        "'tool_calls' and sent no call",
    ),
    "the older reason": ({"delta": {"content": PLAN}, "finish_reason": "function_call"}, "and sent no call"),
    "a limit": ({"delta": {"content": PLAN}, "finish_reason": "length"}, "2,048 tokens (max_tokens)"),
}


@pytest.mark.parametrize("what", OTHER)
def test_an_answer_that_is_not_only_the_plan_is_named(what: str) -> None:
    choice, words = OTHER[what]
    stream = "delta" in choice
    sent = {"choices": [choice], "usage": USAGE}
    asked = streams(sent) if stream else always(sent)
    run = planned(asked, stream=stream, policy=Policy(max_repairs=0))
    assert words in str(run.reason)
    assert "max_tokens" in str(run.reason) or what != "a limit"
    assert "base_url" not in str(run.reason)


@pytest.mark.parametrize(
    ("reasons", "words"),
    [
        (["length", "stop"], "2,048 tokens (max_tokens)"),
        (["stop", "MAX_TOKENS"], "2,048 tokens (max_tokens)"),
        (["abort", "stop", None], "gives the reason 'abort'"),
        (["SAFETY", "tool_calls"], "content filter"),
    ],
)
def test_a_reason_for_an_early_end_counts_before_and_after_others(reasons: list[str | None], words: str) -> None:
    asked = streams(delta(PLAN), *(delta(None, reason) for reason in reasons))
    assert words in planned(asked, stream=True, policy=Policy(max_repairs=0)).reason


@pytest.mark.parametrize(
    "reasons", [["None", "stop"], ["IN_PROGRESS", "FinishReason.STOP"], ["FINISH_REASON_STOP"], ["</s>"]]
)
def test_other_words_for_a_whole_answer_end_it(reasons: list[str]) -> None:
    asked = streams(delta(PLAN), *(delta(None, reason) for reason in reasons))
    run = planned(asked, stream=True, policy=Policy(max_repairs=0))
    assert len(run.results) == len(run.plan.steps) > 0, run.reason


@pytest.mark.parametrize("stream", [False, True])
def test_several_choices_are_an_error_and_are_not_mixed(stream: bool) -> None:
    both = [{**completion()["choices"][0], "index": index} for index in (0, 1)]
    pieces = [{"choices": [{"index": index, "delta": {"content": PLAN}}]} for index in (0, 1)]
    asked = streams(*pieces, delta(None, "stop")) if stream else always({"choices": both})
    run = planned(asked, stream=stream, policy=Policy(max_repairs=0))
    assert "the endpoint sent more than one choice" in run.reason


NONE: dict[str, tuple[Any, str]] = {
    "no choices": ({"choices": []}, "sent no answer"),
    "null message": ({"choices": [{"message": None, "finish_reason": "stop"}]}, "sent no answer"),
    "an error object": ({"error": {"message": "model 'm' is not loaded"}}, "model 'm' is not loaded"),
    "an error beside choices": ({"error": {"code": 502, "message": "upstream"}, "choices": []}, "upstream"),
    "an error in a choice": ({"choices": [{"error": {"message": "provider is down"}}]}, "provider is down"),
    "an error beside a message": (
        {"choices": [{"message": {"content": "a"}, "error": {"message": "down"}}]},
        "error (down)",
    ),
    "images": ({"choices": [{"message": {"content": "a", "images": [{"url": "b"}]}}]}, "images ("),
    "audio": ({"choices": [{"message": {"content": "a", "audio": {"id": "b"}}}]}, "audio ("),
    "details": ({"detail": "Not Found"}, "Not Found"),
    "another shape": ({"choices": [{"message": "Hello"}]}, "the shape of a chat completion"),
    "content in parts": ({"choices": [{"message": {"content": [1]}}]}, "the shape of a chat completion"),
    "a page": ("<html><title>Welcome</title></html>", "<title>Welcome</title>"),
    "nothing": ("", "it is empty"),
    "a list": ("[1]", "not a JSON object"),
    "a name twice": ('{"choices": [{"message": {"content": "a", "content": "b"}}]}', "'content' occurs twice"),
    "half a body": ('{"choices": [{"message"', "not a JSON object"),
    "a stream of nothing": ([], "sent no answer"),
    "a stream with an error": ([delta("{"), {"error": {"message": "out of memory"}}], "out of memory"),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("what", NONE)
def test_a_response_without_an_answer_is_reported_in_its_words(what: str, stream: bool) -> None:
    body, words = NONE[what]
    kind = "application/json" if isinstance(body, dict) else "text/html"
    asked = streams(*body) if isinstance(body, list) else always(body, kind=kind)
    run = planned(asked, stream=stream, policy=Policy(max_repairs=0))
    (failed,) = [event for event in run.events if isinstance(event, PlanProposed) and event.error is not None]
    assert failed.error.startswith(("AnswerError: ", "ReportedError: "))
    assert words in failed.error
    assert "; " in failed.error, "it says what to do"


def test_all_valid_forms_of_a_stream_are_read() -> None:
    first, last = json.dumps(delta("a")), json.dumps(delta("b", "stop"))
    for end in ("\n", "\r\n"):
        text = f": hello{end}event: message{end}data:{first}{end}{end}id: 2{end}data: {last}{end}{end}data:[DONE]{end}{end}"
        asked = always(text, kind="text/event-stream; charset=utf-8")
        assert list(ask_streaming(asked, "m", ASKED))[-1] == Answer("ab", None, "stop")


@pytest.mark.parametrize("reason", ["max_tokens", "model_length", "LENGTH"])
def test_a_truncated_or_filtered_answer_is_not_a_result(reason: str) -> None:
    body = completion("The first half")
    body["choices"][0]["finish_reason"] = "content_filter"
    with pytest.raises(AnswerError, match="content filter"):
        ask(always(body), "m", ASKED)
    body["choices"][0]["finish_reason"] = reason
    assert ask(always(body), "m", ASKED).finish_reason == "length"
    run = execute(Plan.parse(["look"]), ReActExecutor(always(body), TOOLS, max_iterations=1))
    assert "was cut off" in run.reason


@pytest.mark.parametrize("said", ["max_tokens and json_schema are fine", "x" * 200_000])
def test_a_models_words_are_not_read_as_an_error(said: str) -> None:
    requests: list[Any] = []

    def respond(request: dict[str, Any]) -> httpx2.Response:
        requests.append(request)
        return response(said)

    with pytest.raises(AnswerError):
        ask(client(respond), "m", ASKED, {"type": "object"}, Bounds(max_tokens=10))
    assert len(requests) == 1


def test_a_key_that_an_endpoint_repeats_reaches_no_journal(journal: Journal) -> None:
    key = "sk-proj-Zq8Lm3Vb7/x2Kd9Wc4Rt6Yp1"
    words = {"error": {"message": f"none such: the key '{key}', is wrong"}}
    answers = response(words, 401), response(words), response(words["error"]["message"]), chunks({"choices": []}, words)
    for answer in answers:
        for api_key in (key, "none"):
            asked = client(lambda request, answer=answer: answer, api_key=api_key)  # type: ignore[misc]
            run = planned(asked, stream=answer is answers[-1], journal=journal if api_key == key else None)
            reason = str(run.reason)
            assert ("[key]" in reason, "none such" in reason) == (api_key == key, True)
    stored = b"".join(path.read_bytes() for path in journal.path.parent.iterdir() if path.is_file())
    assert key.encode() not in stored


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
ENDLESS = {
    "words": (TALK, STREAM),
    "keep-alives": (b": ping\n\n", STREAM),
    "empty chunks": (b'data: {"choices": []}\n\n', STREAM),
    "a line without end": (b"data: xxxx", STREAM),
    "a body that drips": (b" ", "application/json"),
}
JUDGED = Plan.parse([{**STEP, "success_criteria": "it is seen"}])


def endless(what: str) -> openai.OpenAI:
    part, kind = ENDLESS[what]
    return client(lambda request: response(Endless(part, 0.01), kind=kind))


@pytest.mark.parametrize("what", ENDLESS)
def test_a_planner_stops_reading_at_the_deadline(what: str) -> None:
    began = time.perf_counter()
    for stream in (False, True):
        run = planned(endless(what), stream=stream, policy=Policy(max_repairs=0, deadline=0.3))
        assert run.status in ("stopped", "failed")
        assert any("TimeoutError" in str(event) for event in run.events), run.events
    assert time.perf_counter() - began < 8


@pytest.mark.parametrize(
    "policy", [Policy(deadline=0.3), Policy(budget=Budget(seconds=0.3))], ids=["deadline", "budget"]
)
def test_executors_and_judges_stop_reading_at_the_deadline(policy: Policy) -> None:
    asked, began = endless("a body that drips"), time.perf_counter()
    runs = [
        execute(Plan.parse([{"id": "1", "description": "Look"}]), ReActExecutor(asked, TOOLS, "m"), policy=policy),
        execute(JUDGED, ToolExecutor(TOOLS), evaluator=LLMEvaluator(asked, "m"), policy=policy),
    ]
    assert time.perf_counter() - began < 8
    for run in runs:
        assert any("TimeoutError" in str(event) for event in run.events), run.events
        assert run.status in ("stopped", "failed", "paused") or isinstance(run.events[-4], StepDone)


def test_an_answer_is_bounded_without_a_deadline() -> None:
    talk = Endless(TALK, 0.0)
    answer = list(ask_streaming(always(talk, kind=STREAM), "m", ASKED, None, Bounds(50)))[-1]
    assert isinstance(answer, Answer)
    assert (answer.finish_reason, len(answer.text)) == ("length", 50 * 32)
    assert talk.count < 400
    asked = always(completion("word " * 10_000))
    answer = ask(asked, "m", ASKED, bounds=Bounds(50))
    assert (answer.finish_reason, len(answer.text)) == ("length", 50 * 32)
    with pytest.raises(AnswerError, match="far longer than max_tokens allows"):
        ask(always(Endless(b"x" * 1000, 0.0)), "m", ASKED, bounds=Bounds(50))


@pytest.mark.parametrize("after", ["silence", "a request to try later"])
def test_a_deadline_applies_before_the_endpoint_answers(after: str) -> None:
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
