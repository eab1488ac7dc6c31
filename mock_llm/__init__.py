"""A scripted model for teaching and tests, as strict as the real one, behind the genuine OpenAI client.

    llm = MockLLM.load("script.yaml")
    client = llm.client()                     # a genuine openai.OpenAI; no key, no network
    client.chat.completions.create(...)       # the same answer every time
    llm.calls                                 # what was asked, as a table

The folders, from the bottom up; each imports only from those above it in this list, by their faces:

    json_schema  does a value fit a schema, what would fit, what strict mode takes
    types        the values that all parts pass to each other: request, answer, error, fault, HTTP message
    script       scenes, replies and corrupted plans; from YAML, with line numbers, or in Python word by word
    engine       which scene answers, the answer that it gives, and why
    api          OpenAI's HTTP API: request validation, responses (whole, streamed, with faults), routes
    serve        in process through the genuine client, and on loopback
    authoring    for a script's author: check and record
    llm.py       MockLLM itself
    pytest_plugin.py  the fixture for the tests of any agent

`README.md` is the page for those who write scripts, `TESTING.md` for those who test an agent.
"""

from .engine import Call, Calls
from .llm import MockLLM
from .script import Dialogue, Reply, Scene, ScriptError, ToolUse, When
from .types import Answer, ApiError, Fault, Message, Request, Usage

__all__ = [
    "Answer",
    "ApiError",
    "Call",
    "Calls",
    "Dialogue",
    "Fault",
    "Message",
    "MockLLM",
    "Reply",
    "Request",
    "Scene",
    "ScriptError",
    "ToolUse",
    "Usage",
    "When",
]
