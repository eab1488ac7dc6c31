"""The fluent form of a script, for those who write it in Python: the words of the YAML, one after the other.

    llm.when(user="weather").calls("search", q="Oslo").then("It rains.")

Each reply is a scene: of the first turn, of the second, and so on.
"""

from __future__ import annotations

from typing import Any

from .errors import ScriptError
from .loading import read_scene
from .scenes import Scene

NAME_WIDTH = 60
ANY_REPLY = {"text": "…"}


class Dialogue:
    """The scenes of one conversation, turn by turn. Each word checks itself, and returns the dialogue.

    One reply has the conditions as they were given. Of several, each is for its own turn, counted on from `turn` (1
    when nothing is said) and after the tools that were called; `last` is for the first of them.

    Args:
        name: how errors and calls speak of its scenes; unique in the script.
        conditions: those of a scene, by the names of `When`.
        source: where it was written, "test_agent.py:14".

    Raises:
        ScriptError: a condition that there is not, or not so.
    """

    def __init__(self, name: str, conditions: dict[str, Any], source: str) -> None:
        self.name, self.source = name, source
        self._conditions = conditions
        self._coming: dict[str, Any] = {}
        self._replies: list[dict[str, Any]] = []
        self._made: tuple[Scene, ...] | None = None
        self._check(ANY_REPLY)

    def calls(self, tool: str, arguments: str | dict[str, Any] | None = None, /, **named: Any) -> Dialogue:
        """The model calls a tool in this turn.

        Args:
            tool: its name.
            arguments: what it is called with, for names that can't be written as `named`; a text is sent as it is.
            named: what it is called with.
        """
        return self._reply({"calls": [_use(tool, arguments, named)]})

    def also(self, tool: str, arguments: str | dict[str, Any] | None = None, /, **named: Any) -> Dialogue:
        """And a further tool in the same turn, at once."""
        if not (self._replies and "calls" in self._replies[-1]):
            raise ScriptError(f"{self.source}: .also(…) goes on after calls: begin with .calls(…)")
        calls = [*self._replies[-1]["calls"], _use(tool, arguments, named)]
        return self._replace(self._replies[-1] | {"calls": calls})

    def then(self, text: str | None = None, /, **words: Any) -> Dialogue:
        """What the model says in this turn.

        Args:
            text: plain text.
            words: any word of a reply in YAML: `json=…`, `refusal=…`, `choices=[…]`, `latency=…`, `python=…`, ….
        """
        return self._reply(({} if text is None else {"text": text}) | words)

    def fails(self, kind: str | None = None, /, *, times: int | None = 1, **details: Any) -> Dialogue:
        """Before the reply that stands here (right after `when`: before the first) something goes wrong.

        Args:
            kind: the fault; "server_error" when nothing is said.
            times: at how many attempts; None for every one, so that the reply is never reached.
            details: `status`, `retry_after`, `message` and whatever else goes with the fault.
        """
        if times is not None and times < 1:
            raise ScriptError(f"{self.source}: times is 1 or more, or None for ever; not {times}")
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
        """Further words for the reply that stands here: `latency=2.0`, `usage={…}`, `broken=True`, …."""
        if not self._replies:
            raise ScriptError(f"{self.source}: .having(…) is for the reply before it, and there is none")
        return self._replace(self._replies[-1] | words)

    @property
    def scenes(self) -> tuple[Scene, ...]:
        """The scenes, one for each turn.

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
                raise ScriptError(f"{self.source}: {self.name!r} has no reply; go on with .then(…) or .calls(…)")
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
    """A name made of the first condition, "user: weather"; "always" when there is none."""
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
            raise ScriptError(f"the call of {tool!r} has arguments as a text and by name: write one of them")
        return {"tool": tool, "arguments": arguments}
    given = {**(arguments or {}), **named}
    return {"tool": tool, "arguments": given} if given else {"tool": tool}
