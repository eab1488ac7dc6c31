"""Run by an environment of its own: the openai package of any version, against an address, or in process.

python ask_openai.py served http://127.0.0.1:1234/v1
python ask_openai.py inside script.yaml
"""

import asyncio
import json
import sys

import openai
import pydantic
import pytest

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "weather", "parameters": {**CITY, "additionalProperties": False}, "strict": True}


class Plan(pydantic.BaseModel):
    steps: list[str]


def question(text, **options):
    return {"model": "m", "messages": [{"role": "user", "content": text}], **options}


def ask(client):
    chat, responses = client.chat.completions, client.responses
    chunks = list(chat.create(**question("hello"), stream=True, stream_options={"include_usage": True}))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "hello you"
    assert chunks[-1].usage.total_tokens > 0
    asked = question("weather in Oslo", tools=[{"type": "function", "function": FUNCTION}])
    message = chat.create(**asked).choices[0].message
    result = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "-3 degrees"}
    answer = chat.create(**{**asked, "messages": [*asked["messages"], message, result]})
    assert answer.choices[0].message.content == "It has -3 degrees."
    with chat.stream(**asked) as stream:
        call = stream.get_final_completion().choices[0].message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"city": "Oslo"}
    parsed = chat.parse(**question("plan"), response_format=Plan).choices[0].message.parsed
    assert parsed == responses.parse(model="m", input="plan", text_format=Plan).output_parsed == Plan(steps=["a", "b"])
    with responses.stream(model="m", input="hello") as events:
        assert events.get_final_response().output_text == "hello you"
    called = responses.create(model="m", input="weather in Oslo", tools=[{"type": "function", **FUNCTION}])
    assert json.loads(called.output[0].arguments) == {"city": "Oslo"}
    assert chat.create(**question("limited")).choices[0].message.content == "at last"
    with pytest.raises(openai.BadRequestError, match="must be a response to a preceeding message"):
        chat.create(model="m", messages=[{"role": "tool", "tool_call_id": "x", "content": "y"}])


async def ask_async(client):
    assert (await client.chat.completions.create(**question("hello"))).choices[0].message.content == "hello you"
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
