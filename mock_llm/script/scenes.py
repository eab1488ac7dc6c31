"""A script consists of scenes; each has conditions on the request and a reply.

These are plain frozen values: `When` is for the conditions, `Reply` (`replies.py`) for the model's reply. Each value
checks itself when it is created; `loading.py` adds file and line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from mock_llm.types import suggestion

from .errors import ScriptError
from .replies import Reply

Format = Literal["text", "json", "json_object", "json_schema"]
Texts = str | Sequence[str]


@dataclass(frozen=True, kw_only=True)
class When:
    """The conditions of a scene. All of them must hold; conditions that are left out are not checked.

    Texts are searched as whole words: "4" is in "= 4", but not in "48" nor in "4.5", so a changed result is not
    mistaken for the old one.

    Args:
        system: the instructions contain each of these texts.
        user: for each of these texts, some user message contains it.
        says: for each of these texts, some user, assistant or tool message contains it.
        last: the newest message contains each of these texts.
        never: no user, assistant or tool message contains any of these texts.
        find: regular expressions by name; each must match in the conversation (the newest message is searched first).
            The reply can use the match (its group, or the whole match) as `{{name}}`.
        format: the requested response format; "json" matches both JSON formats.
        tools: the request offers each of these tools.
        image: for each of these hash prefixes (at least 8 hexadecimal digits), the conversation contains an image whose
            SHA-256 begins with it. For an image that is not embedded, its URL is hashed.
        called: the model has called each of these tools in the conversation.
        turn: the number of the model's turn in the conversation, from 1.
        counter: count the calls of this counter over all conversations; `turn` is then the number of the call, among
            those that a scene of this counter fits. With a counter, the order of requests matters: parallel calls are
            numbered in order of arrival. A silent retry gets the same number.
    """

    system: Texts = ()
    user: Texts = ()
    says: Texts = ()
    last: Texts = ()
    never: Texts = ()
    find: Mapping[str, str] = field(default_factory=dict)
    format: Format | None = None
    tools: Texts = ()
    image: Texts = ()
    called: Texts = ()
    turn: int | None = None
    counter: str | None = None

    def __post_init__(self) -> None:
        for name in ("system", "user", "says", "last", "never", "tools", "image", "called"):
            value = getattr(self, name)
            texts = (value,) if isinstance(value, str) else tuple(value)
            if not all(texts):
                raise ScriptError(f"an empty text in {name} matches everything: omit it")
            object.__setattr__(self, name, texts)
        if self.format is not None and self.format not in get_args(Format):
            raise ScriptError(f"unknown format {self.format!r}; {suggestion(self.format, get_args(Format))}")
        for image in self.image:
            if not re.fullmatch("[0-9a-f]{8,64}", image):
                raise ScriptError(
                    f"image {image!r} is not a hash: write 8 to 64 hexadecimal digits of the image's SHA-256"
                )
        for name, pattern in self.find.items():
            check_pattern(name, pattern)
        if self.turn is not None and self.turn < 1:
            raise ScriptError(f"turns are counted from 1, not {self.turn}")
        if self.counter is not None and self.turn is None:
            raise ScriptError("a counter needs a turn: add the number of the call that this scene answers")


ALWAYS = When()


@dataclass(frozen=True)
class Scene:
    """A scene of a script: if a request fits `when`, the model gives `reply`.

    Args:
        name: its name in errors, calls and tables; unique in the script.
        source: where it was written ("deploy.yaml:14"), for errors.
        unseen: how to treat a request that is refused only by verdicts without a source: "refuse" it, or "accept" it
            without the part in question. If one scene accepts, the whole script does.
    """

    name: str
    reply: Reply
    when: When = ALWAYS
    source: str = "Python"
    unseen: Literal["refuse", "accept"] = "refuse"

    def __post_init__(self) -> None:
        check_unseen(self.unseen)
        unknown = sorted(self.reply.placeholders - set(self.when.find))
        if unknown:
            raise ScriptError(f"the reply uses {{{{{unknown[0]}}}}}, but when.find has no {unknown[0]!r}")

    def __str__(self) -> str:
        return f"{self.name!r} ({self.source})"


def check_unseen(word: Any) -> None:
    """Raise ScriptError unless the value is valid for `unseen`."""
    if word not in ("refuse", "accept"):
        raise ScriptError(f"unseen is 'refuse' or 'accept', not {word!r}")


def check_pattern(name: str, pattern: str) -> None:
    """Raise ScriptError unless the pattern of `find` is a regular expression with at most one group."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ScriptError(f"find {name!r}: {pattern!r} is not a regular expression: {error}") from None
    if groups > 1:
        raise ScriptError(f"find {name!r}: use a single group, for the text to capture; write the others as (?:…)")
