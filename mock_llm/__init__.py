"""A scripted model for teaching and tests. It is as strict as the real API, and the genuine OpenAI client talks to it.

    llm = MockLLM.load("script.yaml")
    client = llm.client()                     # a genuine openai.OpenAI; no key, no network
    client.chat.completions.create(...)       # the same answer every time
    llm.calls                                 # a table of the requests

The folders, in order of dependency; each imports only the public names of folders above it in this list:

    json_schema  checks values against schemas, makes examples, checks schemas for strict mode
    types        the values that all parts exchange: request, answer, error, fault, HTTP message
    script       scenes and replies; read from YAML with line numbers, or written in Python
    engine       selects the scene that answers, renders its answer, and explains the choice
    api          OpenAI's HTTP API: request validation, responses (whole, streamed, with faults), routes
    serve        connects clients: in process, or over loopback HTTP
    authoring    tools for script authors: check a script, record a real endpoint, import cassettes
    llm.py       MockLLM itself
    pytest_plugin.py  the fixture for the tests of any agent

`README.md` is for authors of scripts, `TESTING.md` for testers of an agent.
"""

from . import command  # noqa: F401  # first, because the rest loads a second, and Ctrl-C must end it
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
