"""The text of a node in a drawn plan: lines of description, and last the call of a tool.

``Read the schema`` is a step that has no tool; ``read_schema(database='shop')`` is a step with a tool and without a description;
with both, the description is above the call. References are the kit's own, ``{step_1_result}``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.entities import html5
from typing import Any

from planexec_lab.formats import calls
from planexec_lite.plan import Step

STATE = re.compile(
    r"~~|</?(?:s|del|strike)>|^\[?(?-i:DONE|CANCELL?ED|SKIPPED|WONTFIX)(?:\]|:)|^\[[^\]]?\](?!\()|[☑✅✔✓✗❌]|\((?:done|completed?|finished|skip(?:ped)?|cancell?ed)\)\W*$",
    re.IGNORECASE,
)
"""Words and signs that can mean that a step is done or left out."""
DONE = re.compile(r"(?:DONE|CANCELL?ED|SKIPPED|WONTFIX)\s+(?!(?:is|are|was|were|\w+s)\b)\w+")
"""A state before an item of a list, as in org files; ``CANCELLED orders`` and ``DONE is printed`` begin a sentence."""
_ENTITY = re.compile(r"([#&])(#?)([0-9]{1,7}|[A-Za-z][A-Za-z0-9]*);")


def read(lines: list[str]) -> dict[str, Any]:
    """Return a step's fields; raise `ValueError` if the last line looks like a call and can't be read."""
    if not calls.looks_like_one(lines[-1]):
        return {"description": "\n".join(lines)}
    tool, params = calls.read(lines[-1])
    return {"description": "\n".join(lines[:-1]), "tool": tool, "params": params}


def written(step: Step) -> list[str]:
    """Return what the node of `step` says, line by line."""
    words = step.description.split("\n") if step.description or step.tool is None else []
    return [*words, calls.written(step.tool, step.params)] if step.tool is not None else words


def decoded(text: str, marks: str) -> str:
    """Return `text` with its entities, ``#quot;`` or ``&#34;``, as the characters that they stand for.

    `marks` are the characters that an entity may begin with.
    """
    return _ENTITY.sub(lambda match: _character(match) if match[1] in marks else match[0], text)


def encoded(text: str, entity: Callable[[str], str], special: str) -> str:
    """Return a line of a label with each `special` character, each that can't be seen, and a space at an end as an entity."""
    last = len(text) - 1
    return "".join(
        entity(character)
        if character in special or not character.isprintable() or (character.isspace() and place in (0, last))
        else character
        for place, character in enumerate(text)
    )


def _character(match: re.Match[str]) -> str:
    if not match[3].isdecimal():
        return html5.get(match[3] + ";", match[0])
    number = int(match[3])
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else match[0]
