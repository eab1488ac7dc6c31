"""The fluent form of a script in Python, with the keywords of the YAML as methods.

    llm.when(user="weather").calls("search", q="Oslo").then("It rains.")

Each reply becomes a scene: the first reply for the first turn, the second for the second, and so on.
"""

from __future__ import annotations

from typing import Any

from .errors import ScriptError
from .loading import read_scene
from .scenes import Scene

NAME_WIDTH = 60
ANY_REPLY = {"text": "…"}


class Dialogue:
    """The scenes of one conversation, turn by turn. Each method checks its arguments and returns the dialogue.

    A single reply has exactly the given conditions. If there are several, each is for its own turn, counted from `turn`
    (by default 1), and after the tools that were called; `last` applies to the first reply only.

    Args:
        name: the name of its scenes in errors and in the log; unique in the script.
        conditions: the conditions of a scene, named as in `When`.
        source: where it was written, "test_agent.py:14".

    Raises:
        ScriptError: a condition is unknown or invalid.
    """

    def __init__(self, name: str, conditions: dict[str, Any], source: str) -> None:
        self.name, self.source = name, source
        self._conditions = conditions
        self._coming: dict[str, Any] = {}
        self._replies: list[dict[str, Any]] = []
        self._made: tuple[Scene, ...] | None = None
        self._check(ANY_REPLY)

    def calls(self, tool: str, arguments: str | dict[str, Any] | None = None, /, **named: Any) -> Dialogue:
        """Let the model call a tool in this turn.

        Args:
            tool: the tool's name.
            arguments: the arguments, if their names can't be written as `named`; a string is sent unchanged.
            named: the arguments as keywords.
        """
        return self._reply({"calls": [_use(tool, arguments, named)]})

    def also(self, tool: str, arguments: str | dict[str, Any] | None = None, /, **named: Any) -> Dialogue:
        """Let the model call another tool in the same turn, in parallel."""
        if not (self._replies and "calls" in self._replies[-1]):
            raise ScriptError(f"{self.source}: .also(…) adds a call to .calls(…), which is missing")
        calls = [*self._replies[-1]["calls"], _use(tool, arguments, named)]
        return self._replace(self._replies[-1] | {"calls": calls})

    def then(self, text: str | None = None, /, **words: Any) -> Dialogue:
        """Set the model's reply in this turn.

        Args:
            text: plain text.
            words: any field of a reply in YAML: `json=…`, `refusal=…`, `choices=[…]`, `latency=…`, `python=…`, ….
        """
        return self._reply(({} if text is None else {"text": text}) | words)

    def fails(self, kind: str | None = None, /, *, times: int | None = 1, **details: Any) -> Dialogue:
        """Add a fault before the current reply; right after `when`, before the first one.

        Args:
            kind: the fault; by default "server_error".
            times: the number of attempts that fail; None for all, so that the reply is never reached.
            details: further fields of the fault, such as `status`, `retry_after` and `message`.
        """
        if times is not None and times < 1:
            raise ScriptError(f"{self.source}: times is 1 or more, or None for all attempts; not {times}")
        kind = "server_error" if kind is None and not details else kind
        fault: Any = {"kind": kind, **details} if kind and details else details or kind
        reply = self._replies[-1] if self._replies else self._coming
        happens = {"fault": fault} if times is None else {"faults": [*reply.get("faults", ()), *[fault] * times]}
        if self._replies:
            return self._replace(reply | happens)
        self._check(ANY_REPLY | reply | happens)
        self._coming, self._made = reply | happens, None
        return self

    def having(self, **words: Any) -> Dialogue:
        """Set further fields of the current reply: `latency=2.0`, `usage={…}`, `broken=True`, …."""
        if not self._replies:
            raise ScriptError(f"{self.source}: .having(…) changes the reply before it, which is missing")
        return self._replace(self._replies[-1] | words)

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """Return the scenes, one for each turn.

        Raises:
            ScriptError: there is no reply.
        """
        if self._made is None:
            self._made = self._make()
        return self._made

    def __repr__(self) -> str:
        return f"<Dialogue {self.name!r} ({self.source}): {len(self._replies)} replies>"

    def _make(self) -> tuple[Scene, ...]:
        replies = self._replies
        if not replies:
            if "fault" not in self._coming:
                raise ScriptError(f"{self.source}: {self.name!r} has no reply; add .then(…) or .calls(…)")
            replies = [self._coming]
        if len(replies) == 1:
            return (self._scene(self.name, self._conditions, replies[0]),)
        first, scenes = self._conditions.get("turn", 1), []
        conditions = dict(self._conditions)
        for turn, reply in enumerate(replies, first):
            conditions["turn"] = turn
            scenes.append(self._scene(f"{self.name}, turn {turn}", conditions, reply))
            conditions.pop("last", None)
            tools = [*_texts(conditions.get("called", ())), *(use["tool"] for use in reply.get("calls", ()))]
            conditions |= {"called": list(dict.fromkeys(tools))} if tools else {}
        return tuple(scenes)

    def _reply(self, reply: dict[str, Any]) -> Dialogue:
        reply = reply if self._replies else self._coming | reply
        self._check(reply)
        self._replies.append(reply)
        self._made = None
        return self

    def _replace(self, reply: dict[str, Any]) -> Dialogue:
        self._check(reply)
        self._replies[-1] = reply
        self._made = None
        return self

    def _check(self, reply: dict[str, Any]) -> None:
        self._scene(self.name, self._conditions, reply)

    def _scene(self, name: str, conditions: dict[str, Any], reply: dict[str, Any]) -> Scene:
        when = {"when": conditions} if conditions else {}
        return read_scene({"name": name, **when, "reply": reply}, self.source)


def dialogue_name(conditions: dict[str, Any]) -> str:
    """Return a name made from the first condition, "user: weather"; "always" without conditions."""
    for condition, value in conditions.items():
        first = next(iter(value.items() if isinstance(value, dict) else _texts(value)), "")
        words = " ".join(f"{condition}: {': '.join(first) if isinstance(first, tuple) else first}".split())
        return words if len(words) <= NAME_WIDTH else f"{words[:NAME_WIDTH]}…"
    return "always"


def _texts(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _use(tool: str, arguments: str | dict[str, Any] | None, named: dict[str, Any]) -> dict[str, Any]:
    if isinstance(arguments, str):
        if named:
            raise ScriptError(f"the call of {tool!r} has arguments both as a string and by name: use only one form")
        return {"tool": tool, "arguments": arguments}
    given = {**(arguments or {}), **named}
    return {"tool": tool, "arguments": given} if given else {"tool": tool}
