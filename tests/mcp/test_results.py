"""What a server answers becomes the result of a step: nothing is lost, and nothing is there twice."""

from typing import Any

import pytest
from mcp_types import CallToolResult

from planexec_lab.mcp import ListedTool, ToolFailedError
from planexec_lab.mcp.results import result_of

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
LINK = {"type": "resource_link", "uri": "file:///a", "name": "a"}
AUDIO = {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}
EMBEDDED = {"type": "resource", "resource": {"uri": "file:///b", "text": "body"}}
WRAPPED = {"type": "object", "properties": {"result": {}}, "required": ["result"]}


def read(content: list[Any], data: Any = None, *, failed: bool = False, output_schema: Any = None) -> Any:
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in content]
    answer = CallToolResult.model_validate({"content": parts, "structuredContent": data, "isError": failed})
    return result_of(answer, ListedTool("t", output_schema=output_schema))


@pytest.mark.parametrize(
    ("content", "data", "result"),
    [
        ([], None, None),
        (["a"], None, "a"),
        (["a", IMAGE], None, ["a", IMAGE]),
        ([], {"a": 1}, {"a": 1}),
        (['{ "a": 1 }', ""], {"a": 1}, {"a": 1}),
        (["three words"], {"text": "three words", "n": 3}, {"text": "three words", "n": 3}),
        (["line one", "line two"], {"file": "a.txt"}, {"file": "a.txt", "content": ["line one", "line two"]}),
        (["1"], {"ok": True}, {"ok": True, "content": ["1"]}),
        (["Rain", IMAGE], {"title": "Rain"}, {"title": "Rain", "content": [IMAGE]}),
        ([LINK], {"count": 1}, {"count": 1, "content": [LINK]}),
        ([AUDIO, EMBEDDED], {"n": 1}, {"n": 1, "content": [AUDIO, EMBEDDED]}),
        ([EMBEDDED], None, EMBEDDED),
        (['{"a": 2}'], {"a": 1}, {"a": 1, "content": ['{"a": 2}']}),
        (["ok"], {"isError": True}, {"isError": True, "content": ["ok"]}),
        (["", ""], None, ["", ""]),
        (["more"], {"content": "own"}, {"structuredContent": {"content": "own"}, "content": ["more"]}),
    ],
)
def test_parts_beside_structured_content_are_added_unless_they_repeat_it(content: Any, data: Any, result: Any) -> None:
    assert read(content, data) == result


@pytest.mark.parametrize(
    ("content", "value", "result"),
    [
        (["2.5"], 2.5, 2.5),
        (["a", "b"], ["a", "b"], ["a", "b"]),
        (['{"result": 2}'], 2, 2),
        (["null"], None, None),
        (["none"], None, {"structuredContent": None, "content": ["none"]}),
        ([IMAGE], 2, {"structuredContent": 2, "content": [IMAGE]}),
    ],
)
def test_a_value_that_was_wrapped_in_an_object_is_taken_out(content: Any, value: Any, result: Any) -> None:
    assert read(content, {"result": value}, output_schema=WRAPPED) == result


@pytest.mark.parametrize(
    ("content", "data", "words"),
    [
        ([], None, "t: it failed, and does not say why"),
        ([], {"code": 404, "message": "no file"}, 't: {"code": 404, "message": "no file"}'),
        (["no file"], {"code": 404}, 't: no file {"code": 404}'),
        (['{"code": 404}'], {"code": 404}, 't: {"code": 404}'),
        (["no", "file"], None, "t: no file"),
        ([LINK], None, 't: {"name": "a", "uri": "file:///a", "type": "resource_link"}'),
    ],
)
def test_an_error_is_told_in_text_and_structured_content(content: Any, data: Any, words: str) -> None:
    with pytest.raises(ToolFailedError) as caught:
        read(content, data, failed=True)
    assert str(caught.value) == words
