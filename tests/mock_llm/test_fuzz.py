"""Any script that loads gives any request a valid answer, a shaped error, or the fault that it orders; never a traceback."""

from __future__ import annotations

import json
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st

from mock_llm import MockLLM, ScriptError
from mock_llm.types import HttpRequest
from mock_llm.types.faults import Kind
from tests.mock_llm import strictly
from tests.mock_llm.test_wire import completion, response
from tests.rounds import rounds

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda part: st.lists(part, max_size=2) | st.dictionaries(st.text(max_size=3), part, max_size=2),
    max_leaves=4,
)
ITEM = {
    "web_search_call": {"action": {"type": "search", "query": "x"}},
    "file_search_call": {"queries": ["x"]},
    "code_interpreter_call": {"code": "1 + 1", "container_id": "cntr_1"},
    "mcp_list_tools": {"server_label": "s", "tools": []},
    "mcp_call": {"name": "n", "server_label": "s", "arguments": "{}"},
    "mcp_approval_request": {"name": "n", "server_label": "s", "arguments": "{}"},
    "image_generation_call": {"result": "aGVsbG8=", "output_format": "png", "size": "1024x1024"},
    "local_shell_call": {"action": {"type": "exec", "command": ["ls"], "env": {}}},
    "shell_call": {"action": {"commands": ["ls -a", "pwd"]}},
    "apply_patch_call": {"operation": {"type": "create_file", "path": "a.txt", "diff": "+one\n"}},
    "computer_call": {"action": {"type": "click", "button": "left", "x": 1, "y": 2}},
    "compaction": {},
}
ITEMS = st.sampled_from([{"type": kind, **fields} for kind, fields in ITEM.items()])
USES = st.fixed_dictionaries(
    {"tool": st.sampled_from(["add", "add", "none"])}, optional={"arguments": st.just({"total": 1}) | VALUES}
)
FAULTS = st.sampled_from(get_args(Kind)) | st.fixed_dictionaries(
    {"kind": st.sampled_from(["dropped", "ended_early", "bad_chunk", "error_event"]), "after": st.integers(0, 30)}
)
EXTRAS: dict[str, Any] = {
    "fault": FAULTS,
    "faults": st.lists(FAULTS, min_size=1, max_size=2),
    "latency": st.floats(0, 9),
    "usage": st.fixed_dictionaries(
        {}, optional=dict.fromkeys(("input", "output", "cached", "reasoning"), st.integers(0, 99))
    ),
    "reasoning": st.text(max_size=20),
    "items": st.lists(ITEMS, min_size=1, max_size=2),
    "finish_reason": st.sampled_from(["stop", "length", "content_filter"]),
    "broken": st.booleans(),
}
TEXT = st.text(max_size=30) | st.sampled_from(["{{n}}", "a {{n}} b", '{"total": 5}', "{{n|json}}"])
SPEECH = st.one_of(
    st.fixed_dictionaries({"text": TEXT}, optional={"calls": st.lists(USES, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"json": VALUES | st.just({"total": 53})}),
    st.fixed_dictionaries({"calls": st.lists(USES, min_size=1, max_size=3)}),
    st.fixed_dictionaries({"refusal": TEXT}),
    st.fixed_dictionaries({"fault": FAULTS}),
    st.fixed_dictionaries({"python": VALUES.map(lambda value: lambda _: value)}),
)
REPLIES = st.one_of(SPEECH, st.lists(SPEECH, min_size=1, max_size=3).map(lambda parts: {"choices": parts}))
WHENS = st.fixed_dictionaries(
    {"find": st.just({"n": "."})},
    optional={"turn": st.just(1), "counter": st.just("c"), "called": st.just("add")},
).map(lambda when: {**when, "turn": 1} if "counter" in when else when)


@rounds(300)
@given(
    scenes=st.lists(st.tuples(WHENS, REPLIES, st.fixed_dictionaries({}, optional=EXTRAS)), min_size=1, max_size=2),
    word=st.sampled_from(["talk", "total", "call"]),
    stream=st.booleans(),
    n=st.integers(1, 3),
    limit=st.none() | st.integers(16, 20),
    stop=st.none() | st.text(min_size=1, max_size=1),
    choice=st.sampled_from([None, "none", "required"]),
    attempt=st.integers(0, 2),
    responses=st.booleans(),
)
def test_whatever_a_script_holds_the_wire_stays_valid(
    scenes: list[Any],
    word: str,
    stream: bool,
    n: int,
    limit: int | None,
    stop: str | None,
    choice: str | None,
    attempt: int,
    responses: bool,
) -> None:
    try:
        llm = MockLLM(
            [
                {"name": f"s{i}", "when": when, "reply": {**extra, **reply}}
                for i, (when, reply, extra) in enumerate(scenes)
            ]
        )
    except ScriptError:
        return
    chosen = choice if word == "call" else None
    if responses:
        body = response(word, stream=stream, max_output_tokens=limit, tool_choice=chosen)
    else:
        body = completion(word, stream=stream, max_tokens=limit, n=n, stop=stop, tool_choice=chosen)
    path = "/v1/responses" if responses else "/v1/chat/completions"
    headers = {"x-stainless-retry-count": str(attempt)}
    answer = llm.respond(HttpRequest("POST", path, headers, json.dumps(body).encode()))
    (call,) = llm.calls
    fault = getattr(call.outcome, "fault", None)
    if fault is None or answer.status >= 400:
        strictly.check(answer.status, answer.headers["content-type"], answer.body)
    assert str(llm.calls)
    assert llm.calls._repr_html_()
    assert str(llm.explain(-1))
