"""`MockLLM`: a script, clients that talk to it, and a log of the calls."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from .api import State, error_response, respond
from .authoring import Recorder
from .engine import Call, CallLog, Calls, Explanation, explain
from .script import Dialogue, Scene, ScriptError, Source, check_unseen, dialogue_name, read_scenes, write_yaml
from .serve import client, serve, transport
from .types import SCRIPT_ERROR, HttpRequest, HttpResponse, unprocessable

if TYPE_CHECKING:
    from anthropic import Anthropic, AsyncAnthropic
    from openai import AsyncOpenAI, OpenAI


class MockLLM:
    """A scripted model behind the genuine OpenAI client: no key, no network, the same answer every time.

    An answer depends on the script and the request. Earlier requests matter in only three cases: a client that does not
    count its retries gets the faults of a scene in order; a scene with a `counter` counts its calls; and a Responses
    API request can refer to earlier responses. `calls` logs the calls and never influences an answer.

    Args:
        scenes: `Scene` objects, dicts in the form of the YAML, paths of YAML files, or a single one of these; empty for
            a script that is written with `when`.
        unseen: as in YAML. "accept" ignores rules without public evidence; "refuse" applies them, unless one of the
            files says "accept".

    Raises:
        ScriptError: the script has problems; all are listed, with file and line.
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
        self._recorder: Recorder | None = None

    @classmethod
    def load(cls, *paths: Source) -> MockLLM:
        """Return the scripted model of one or several YAML files."""
        return cls(paths)

    def when(self, *, name: str | None = None, **conditions: Any) -> Dialogue:
        """Add scenes in Python: `llm.when(user="weather").calls("search", q="Oslo").then("It rains.")`.

        Args:
            name: the name of the scenes; by default made from the first condition.
            conditions: `system`, `user`, `says`, … as in YAML, with the same checks.

        Raises:
            ScriptError: a condition is unknown or invalid. The methods that follow raise it for their arguments.
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
        """The script: the loaded scenes, then those of `when`.

        Raises:
            ScriptError: a dialogue has no reply, or two scenes have the same name.
        """
        scenes = self._read
        if self._dialogues:
            scenes = read_scenes([*scenes, *(scene for dialogue in self._dialogues for scene in dialogue.scenes)])
        return scenes if self._unseen == "refuse" else tuple(replace(scene, unseen="accept") for scene in scenes)

    def add(self, scenes: Iterable[Source] | Source) -> None:
        """Add scenes to the script: `Scene` objects, dicts in the form of the YAML, or paths of YAML files.

        Raises:
            ScriptError: the script has problems; it then stays as it was.
        """
        added = [scenes] if isinstance(scenes, str | os.PathLike | Scene | Mapping) else list(scenes)
        self._read = read_scenes([*self._read, *added])

    def record(
        self, base_url: str, out: Path, note: Callable[[str], object] = print, messages_url: str | None = None
    ) -> None:
        """While the script has no scenes, forward requests to a real endpoint and save its answers as a script.

        Args:
            base_url: the base URL of the endpoint, ending in /v1.
            out: the script file; scenes that it already contains stay.
            note: receives a line about each answer that can't be saved.
            messages_url: the base URL for Anthropic's API, if it is another one.

        Raises:
            ScriptError: `out` exists and is not a script.
        """
        self._recorder = Recorder(base_url, out, note, messages_url)

    def read_again(self, *paths: Source) -> None:
        """Replace the script by these files; the log and the counters stay.

        Raises:
            ScriptError: the files have problems; the previous script then stays in use.
        """
        self._read = read_scenes(paths)

    def to_yaml(self) -> str:
        """Return the script as YAML that `load` can read.

        Raises:
            ScriptError: a scene replies with a Python function, which YAML can't express.
        """
        return write_yaml(self.scenes)

    def client(self, **options: Any) -> OpenAI:
        """Return a genuine `openai.OpenAI`, created with these options (`max_retries`, …)."""
        return cast("OpenAI", client(self.respond, "openai", "OpenAI", options))

    def async_client(self, **options: Any) -> AsyncOpenAI:
        """Return a genuine `openai.AsyncOpenAI`, created with these options."""
        return cast("AsyncOpenAI", client(self.respond, "openai", "AsyncOpenAI", options))

    def anthropic(self, **options: Any) -> Anthropic:
        """Return a genuine `anthropic.Anthropic`, created with these options; the same scenes answer it."""
        return cast("Anthropic", client(self.respond, "anthropic", "Anthropic", options))

    def async_anthropic(self, **options: Any) -> AsyncAnthropic:
        """Return a genuine `anthropic.AsyncAnthropic`, created with these options."""
        return cast("AsyncAnthropic", client(self.respond, "anthropic", "AsyncAnthropic", options))

    def transport(self, library: Any = None) -> Any:
        """Return a transport for your own HTTP client: `httpx2.Client(transport=llm.transport())`.

        Args:
            library: the module `httpx` if your client uses it; by default the library of the OpenAI client.
        """
        return transport(self.respond, library)

    def serve(self, host: str = "127.0.0.1", port: int = 0) -> AbstractContextManager[str]:
        """Answer over HTTP inside the block: `with llm.serve() as base_url: …`.

        Args:
            host: the address to listen on; any address other than 127.0.0.1 gives other machines access.
            port: 0 selects a free port.
        """
        return serve(self.respond, host, port)

    def respond(self, request: HttpRequest) -> HttpResponse:
        """Answer an HTTP request and log it. Safe to call from any thread."""
        try:
            scenes = self.scenes
        except ScriptError as error:
            faulty = unprocessable("faulty_script", str(error))
            self._log.add_error(faulty.message)
            return error_response(faulty)
        if self._recorder and not scenes:
            response, call = self._recorder.respond(request)
        else:
            response, call = respond(scenes, request, self._state)
        if call is not None:
            self._log.append(call)
        elif response.status >= 400:
            refused = json.loads(response.body)["error"]
            if refused["type"] == SCRIPT_ERROR:
                self._log.add_error(refused["message"])
        return response

    @property
    def calls(self) -> Calls:
        """The newest 5,000 calls so far, in order of arrival (a snapshot)."""
        return self._log.calls

    def explain(self, call: int | Call = -1) -> Explanation:
        """Explain the answer of a call: its scene, the reasons, the runner-up, and the changes that would have changed
        it.

        Args:
            call: an element of `calls`, or its index; -1 is the newest.

        Raises:
            IndexError: there is no call with this index.
        """
        return explain(self.scenes, self.calls[call] if isinstance(call, int) else call)

    @property
    def errors(self) -> tuple[str, ...]:
        """The messages of the errors that the real API would not give: no scene fits, a mistake in the script, or a
        request that mock_llm does not support. Each message is listed once; the first 100 are kept.
        """
        return self._log.errors

    @property
    def unused(self) -> tuple[Scene, ...]:
        """The scenes that have answered no call."""
        used = self._log.used
        return tuple(scene for scene in self.scenes if scene.name not in used)

    def assert_all_used(self) -> None:
        """Raise an AssertionError with the names of the scenes that have answered no call."""
        if unused := self.unused:
            names = "".join(f"\n  {scene}" for scene in unused)
            raise AssertionError(f"{len(unused)} of {len(self.scenes)} scenes answered no call:{names}")

    def __repr__(self) -> str:
        return f"<MockLLM: {len(self.scenes)} scenes, {len(self.calls)} calls>"
