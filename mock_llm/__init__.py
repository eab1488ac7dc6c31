"""A scripted model for teaching and tests, as strict as the real one, behind the genuine OpenAI client.

    llm = MockLLM.load("script.yaml")
    client = llm.client()                     # a genuine openai.OpenAI; no key, no network
    client.chat.completions.create(...)       # the same answer every time
    llm.calls                                 # what was asked, as a table

The modules, from the inside out: `script` (scenes and replies), `reading` (from YAML, with line numbers),
`matching` and `engine` (which scene answers; pure), `police` (what the real API refuses), `wire` and `routes`
(OpenAI's HTTP forms), `transport` (in process), `llm` (MockLLM itself).
"""

from .calls import Call, Calls
from .exchange import Answer, ApiError, Message, Request, Usage
from .llm import MockLLM
from .script import Reply, Scene, ScriptError, When

__all__ = [
    "Answer",
    "ApiError",
    "Call",
    "Calls",
    "Message",
    "MockLLM",
    "Reply",
    "Request",
    "Scene",
    "ScriptError",
    "Usage",
    "When",
]
