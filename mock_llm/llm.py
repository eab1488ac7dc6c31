"""`MockLLM`: a script, the clients that talk to it, and a memory of what was asked."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .api import State, error_response, respond
from .engine import Call, CallLog, Calls, Explanation, explain
from .script import Dialogue, Scene, ScriptError, Source, check_unseen, dialogue_name, read_scenes, write_yaml
from .serve import client, serve, transport
from .types import HttpRequest, HttpResponse, unprocessable

if TYPE_CHECKING:
    from openai import AsyncOpenAI, OpenAI


class MockLLM:
    """A scripted model behind the genuine OpenAI client: no key, no network, the same answer every time.

    An answer follows from the script and the request. What was asked before matters in three cases only: a client that
    does not say how often it has tried gets the faults of a scene one after the other; a scene with a `counter` counts
    its calls; and a request of the Responses API may refer to earlier responses. `calls` remembers, and changes no answer.

    Args:
        scenes: `Scene` objects, dicts of the same shape as in YAML, paths of YAML files, or one of these; none for
            a script that is written by `when`.
        unseen: as in YAML: "accept" holds the script to no verdict that nobody has seen the real API give; "refuse" does,
            unless one of the files accepts.

    Raises:
        ScriptError: the script has faults; all are named, with file and line.
    """

    def __init__(
        self, scenes: Iterable[Source] | Source = (), *, unseen: Literal["refuse", "accept"] = "refuse"
    ) -> None:
        check_unseen(unseen)
        self._unseen = unseen
        self._read = read_scenes(scenes)
        self._dialogues: list[Dialogue] = []
        self._log = CallLog()
        self._state = State()

    @classmethod
    def load(cls, *paths: Source) -> MockLLM:
        """The scripted model of one YAML file, or of several taken together."""
        return cls(paths)

    def when(self, *, name: str | None = None, **conditions: Any) -> Dialogue:
        """Go on with the script in Python: `llm.when(user="weather").calls("search", q="Oslo").then("It rains.")`.

        Args:
            name: of the scenes; by default made of the first condition.
            conditions: `role`, `user`, `says`, … as in YAML, and with the same checks.

        Raises:
            ScriptError: a condition that there is not, or not so; here and by each word that follows.
        """
        caller = sys._getframe(1)
        file = Path(caller.f_code.co_filename)
        source = f"{file.name}:{caller.f_lineno}" if file.is_file() and "ipykernel" not in str(file) else "Python"
        if name is None:
            first = name = dialogue_name(conditions)
            names = {dialogue.name for dialogue in self._dialogues}
            name = next(new for n in itertools.count(1) if (new := first if n == 1 else f"{first} ({n})") not in names)
        dialogue = Dialogue(name, conditions, source)
        self._dialogues.append(dialogue)
        return dialogue

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The script: the scenes that were read, and after them those of `when`.

        Raises:
            ScriptError: a dialogue has no reply, or two scenes one name.
        """
        scenes = self._read
        if self._dialogues:
            scenes = read_scenes([*scenes, *(scene for dialogue in self._dialogues for scene in dialogue.scenes)])
        return scenes if self._unseen == "refuse" else tuple(replace(scene, unseen="accept") for scene in scenes)

    def read_again(self, *paths: Source) -> None:
        """Answer from these scripts from now on; what is remembered stays.

        Raises:
            ScriptError: the scripts have faults; the last ones still answer.
        """
        self._read = read_scenes(paths)

    def to_yaml(self) -> str:
        """The script as the YAML that `load` reads.

        Raises:
            ScriptError: a scene replies by a Python function, which YAML does not have.
        """
        return write_yaml(self.scenes)

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
        try:
            scenes = self.scenes
        except ScriptError as error:
            return error_response(unprocessable("faulty_script", str(error)))
        response, call = respond(scenes, request, self._state)
        if call is not None:
            self._log.append(call)
        return response

    @property
    def calls(self) -> Calls:
        """What was asked until now, in order of arrival (a snapshot): the newest 5,000 calls."""
        return self._log.calls

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
        used = self._log.used
        unused = [scene for scene in self.scenes if scene.name not in used]
        if unused:
            names = "".join(f"\n  {scene}" for scene in unused)
            raise AssertionError(f"{len(unused)} of {len(self.scenes)} scenes answered no call:{names}")

    def __repr__(self) -> str:
        return f"<MockLLM: {len(self.scenes)} scenes, {len(self.calls)} calls>"
