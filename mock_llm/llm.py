"""`MockLLM`: a script, the clients that talk to it, and a memory of what was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .calls import Call, Calls
from .explanation import Explanation, explain
from .reading import Source, read_scenes
from .routes import State, respond
from .server import serve
from .transport import client, transport
from .wire import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI


class MockLLM:
    """A scripted model behind the genuine OpenAI client: no key, no network, the same answer every time.

    Answers depend on the request alone, never on what was asked before; only `calls` remembers, and named
    counters, for scenes that ask for one.

    Args:
        scenes: `Scene` objects, dicts of the same shape as in YAML, paths of YAML files, or one of these.

    Raises:
        ScriptError: the script has faults; all are named, with file and line.
    """

    def __init__(self, scenes: Iterable[Source] | Source) -> None:
        self.scenes = read_scenes(scenes)
        self._calls: list[Call] = []
        self._state = State()
        self._lock = threading.Lock()

    @classmethod
    def load(cls, *paths: Source) -> MockLLM:
        """The scripted model of one YAML file, or of several taken together."""
        return cls(paths)

    def client(self, **options: Any) -> OpenAI:
        """A genuine `openai.OpenAI`; options (`max_retries`, …) are passed on to it."""
        made: OpenAI = client(self.respond, "OpenAI", "Client", options)
        return made

    def async_client(self, **options: Any) -> AsyncOpenAI:
        """A genuine `openai.AsyncOpenAI`; options are passed on to it."""
        made: AsyncOpenAI = client(self.respond, "AsyncOpenAI", "AsyncClient", options)
        return made

    def transport(self, library: Any = None) -> Any:
        """A transport for an HTTP client of one's own: `httpx2.Client(transport=llm.transport())`.

        Args:
            library: the module `httpx` for its clients; by default the library the OpenAI client runs on.
        """
        return transport(self.respond, library)

    def serve(self, host: str = "127.0.0.1", port: int = 0) -> AbstractContextManager[str]:
        """Answer on HTTP while the block runs: `with llm.serve() as base_url: …`.

        Args:
            host: where to listen; another address than 127.0.0.1 lets other machines in.
            port: 0 takes a free one.
        """
        return serve(self.respond, host, port)

    def respond(self, request: HttpRequest) -> HttpResponse:
        """Answer one HTTP request and remember it. Safe to call from any thread."""
        response, call = respond(self.scenes, request, self._state)
        if call is not None:
            with self._lock:
                self._calls.append(replace(call, index=len(self._calls)))
        return response

    @property
    def calls(self) -> Calls:
        """What was asked until now, in order of arrival (a snapshot)."""
        with self._lock:
            return Calls(self._calls)

    def explain(self, call: int | Call = -1) -> Explanation:
        """Why a call was answered as it was: the scene, its reasons, the runner-up, and what would have changed it.

        Args:
            call: one of `calls`, or its place there; -1 is the newest.

        Raises:
            IndexError: there is no such call.
        """
        return explain(self.scenes, self.calls[call] if isinstance(call, int) else call)

    def assert_all_used(self) -> None:
        """Raise AssertionError, naming the scenes, if a scene has answered no call."""
        used = {call.scene for call in self.calls}
        unused = [scene for scene in self.scenes if scene.name not in used]
        if unused:
            names = "".join(f"\n  {scene}" for scene in unused)
            raise AssertionError(f"{len(unused)} of {len(self.scenes)} scenes answered no call:{names}")

    def __repr__(self) -> str:
        return f"<MockLLM: {len(self.scenes)} scenes, {len(self.calls)} calls>"
