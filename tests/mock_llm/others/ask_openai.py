"""Run by an environment of its own: the openai package of any version, against a base URL, or in process.

python ask_openai.py served http://127.0.0.1:1234/v1
python ask_openai.py inside script.yaml
"""

import asyncio
import json
import sys

import openai
import pydantic
import pytest

USER = [{"role": "user", "content": "weather in Oslo"}]
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"type": "function", "function": {"name": "weather", "parameters": CITY, "strict": True}}


class Plan(pydantic.BaseModel):
    steps: list[str]


def ask(client):
    create = client.chat.completions.create
    assert create(model="m", messages=[{"role": "user", "content": "hello"}]).choices[0].message.content == "hello you"
    chunks = create(
        model="m",
        messages=[{"role": "user", "content": "hello"}],
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(chunks)
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "hello you"
    assert chunks[-1].usage.total_tokens > 0

    first = create(model="m", messages=USER, tools=[TOOL]).choices[0]
    assert first.finish_reason == "tool_calls"
    call = first.message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"city": "Oslo"}
    result = {"role": "tool", "tool_call_id": call.id, "content": "-3 degrees"}
    second = create(model="m", messages=[*USER, first.message, result], tools=[TOOL]).choices[0]
    assert second.message.content == "It has -3 degrees."
    with client.chat.completions.stream(model="m", messages=USER, tools=[TOOL]) as stream:
        streamed = stream.get_final_completion().choices[0].message.tool_calls[0]
    assert json.loads(streamed.function.arguments) == {"city": "Oslo"}

    plan = [{"role": "user", "content": "plan"}]
    assert client.chat.completions.parse(model="m", messages=plan, response_format=Plan).choices[
        0
    ].message.parsed == Plan(steps=["a", "b"])
    assert client.responses.create(model="m", input="hello").output_text == "hello you"
    assert client.responses.parse(model="m", input="plan", text_format=Plan).output_parsed == Plan(steps=["a", "b"])
    with client.responses.stream(model="m", input="hello") as events:
        assert events.get_final_response().output_text == "hello you"
    called = client.responses.create(
        model="m", input="weather in Oslo", tools=[{"type": "function", **TOOL["function"]}]
    )
    assert json.loads(called.output[0].arguments) == {"city": "Oslo"}

    assert client.chat.completions.create(model="m", messages=[{"role": "user", "content": "limited"}]).choices
    with pytest.raises(openai.BadRequestError, match="must be a response to a preceeding message"):
        create(model="m", messages=[{"role": "tool", "tool_call_id": "x", "content": "y"}])


async def ask_async(client):
    completion = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}])
    assert completion.choices[0].message.content == "hello you"
    stream = await client.responses.create(model="m", input="hello", stream=True)
    assert [event.type async for event in stream][-1] == "response.completed"


how, where = sys.argv[1:]
if how == "served":
    ask(openai.OpenAI(api_key="none", base_url=where))
    asyncio.run(ask_async(openai.AsyncOpenAI(api_key="none", base_url=where)))
else:
    from mock_llm import MockLLM

    llm = MockLLM.load(where)
    ask(llm.client())
    asyncio.run(ask_async(llm.async_client()))
    llm.assert_all_used()
print(openai.__version__)
