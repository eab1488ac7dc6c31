"""A scripted model for teaching and tests, as strict as the real one, behind the genuine OpenAI client.

    llm = MockLLM.load("script.yaml")
    client = llm.client()                     # a genuine openai.OpenAI; no key, no network
    client.chat.completions.create(...)       # the same answer every time
    llm.calls                                 # what was asked, as a table

The modules, from the inside out:

    exchange  faults  script  spoil       values: a request, an answer, a scene, what goes wrong
    reading  fields  lines                from YAML to scenes, with line numbers
    matching  engine  speaking  fit       which scene answers, and what it says; pure
    police  conversation  offers  strict  what the real API refuses, in its words (refusals), explained
    wire  chat  responses/  breaking      OpenAI's HTTP forms, whole, streamed and broken
    routes  transport  server             from HTTP to the engine and back: in process and on loopback
    llm  calls  explanation  check        MockLLM itself, and what it tells a script's author

`README.md` is the page for teachers.
"""

from .calls import Call, Calls
from .exchange import Answer, ApiError, Message, Request, Usage
from .faults import Fault
from .llm import MockLLM
from .script import Reply, Scene, ScriptError, ToolUse, When

__all__ = [
    "Answer",
    "ApiError",
    "Call",
    "Calls",
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
