"""A script: scenes, each with the conditions that call for it and the reply that it gives.

These are plain frozen values. `When` says which requests a scene is for, `Reply` (`replies.py`) what the model says.
Whatever a value can check about itself it checks when it is made; `loading.py` adds file and line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from .errors import ScriptError
from .replies import Reply

Format = Literal["text", "json", "json_object", "json_schema"]
Texts = str | Sequence[str]


@dataclass(frozen=True, kw_only=True)
class When:
    """Which requests a scene is for. All conditions must hold; what is left out does not matter.

    Texts are looked for as whole words: "4" is in "= 4", but not in "48" nor in "4.5", so a result that
    has changed is not taken for the old one.

    Args:
        role: the instructions hold the line "Role: <role>".
        system: each text stands in the instructions.
        user: each text stands in some message of the user.
        says: each text stands in some user, assistant or tool message.
        last: each text stands in the newest message.
        never: none of these texts stands in any user, assistant or tool message.
        find: name -> regular expression; each must match in the conversation (the newest message first).
            The reply may use what was found (its group, or the whole match) as `{{name}}`.
        format: the answer's format asked for; "json" is either of the two JSON formats.
        tools: each of these tools is offered.
        image: the conversation shows an image whose SHA-256 begins with each of these (8 hexadecimal digits or more);
            of an image that is not sent along its URL is hashed.
        called: each of these tools has been called in the conversation.
        turn: it is the model's turn number `turn` in the conversation: 1 when it has not spoken yet.
        counter: count calls of this name instead, over all conversations: `turn` is then the how-manieth call
            it is for which a scene of this counter fits. Who asks for a counter gives up order independence:
            parallel calls get their numbers in order of arrival. A silent retry keeps its number.
    """

    role: str | None = None
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
                raise ScriptError(f"an empty text in {name} is found everywhere: leave it out")
            object.__setattr__(self, name, texts)
        if self.format is not None and self.format not in get_args(Format):
            raise ScriptError(f"format {self.format!r} is none of {', '.join(get_args(Format))}")
        for image in self.image:
            if not re.fullmatch("[0-9a-f]{8,64}", image):
                raise ScriptError(
                    f"image {image!r} is no hash: write 8 to 64 hexadecimal digits of the image's SHA-256"
                )
        for name, pattern in self.find.items():
            check_pattern(name, pattern)
        if self.turn is not None and self.turn < 1:
            raise ScriptError(f"turns are counted from 1, not {self.turn}")
        if self.counter is not None and self.turn is None:
            raise ScriptError("a counter needs a turn: say for which number this scene is")


ALWAYS: Final = When()


@dataclass(frozen=True)
class Scene:
    """One scene of a script: when a request fits `when`, the model gives `reply`.

    Args:
        name: how errors, calls and tables speak of it; unique in the script.
        source: where it was written ("deploy.yaml:14"), for errors.
        unseen: what becomes of a request that only verdicts refuse which nobody has seen the real API give: "refuse" it,
            or "accept" it without the part in question. One scene that accepts is enough for the script.
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
    """Raise ScriptError unless the word is one that `unseen` may have."""
    if word not in ("refuse", "accept"):
        raise ScriptError(f"unseen is 'refuse' or 'accept', not {word!r}")


def check_pattern(name: str, pattern: str) -> None:
    """Raise ScriptError unless the pattern of `find` is a regular expression with at most one group."""
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        raise ScriptError(f"find {name!r}: {pattern!r} is not a regular expression: {error}") from None
    if groups > 1:
        raise ScriptError(f"find {name!r}: use one group, for what is wanted; write the others as (?:…)")
