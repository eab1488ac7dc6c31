"""Words for the script's author: what differed, and a scene to paste."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from .exchange import Request
from .matching import Match, glimpse
from .schema import example

NAME_WIDTH = 60


def no_scene_fits(matches: Sequence[Match], request: Request) -> str:
    """Why no scene answers: the nearest one, condition by condition, and a scene that would fit."""
    lines = [f"mock_llm has no scene for this request: {summary(request)}."]
    if matches:
        nearest = max(matches, key=lambda candidate: candidate.nearness)
        lines.append(f"Nearest is the scene {nearest.scene}:")
        lines += [
            f"  fits     {c.condition}" if c.holds else f"  DIFFERS  {c.condition}\n           {c.seen}"
            for c in nearest.checks
        ]
    else:
        lines.append("The script has no scenes.")
    return "\n".join([*lines, "To answer it, paste this under `scenes:` and write the reply:", *paste(request)])


def ambiguous(best: Sequence[Match], request: Request) -> str:
    """Which scenes fit equally well, and how to tell them apart."""
    names = " and ".join(str(candidate.scene) for candidate in best)
    count = len(best[0].checks)
    return (
        f"mock_llm can't choose for this request: {summary(request)}. The scenes {names} fit equally well, "
        f"with {count} condition{'s' * (count != 1)} each. Add a condition (last, says, never, …) to one of them."
    )


def summary(request: Request) -> str:
    """A request in a few words: who asks, for what format, and the last message."""
    asker = f"role {request.role}" if request.role else "no role"
    return f"{asker}, format {request.format}, last message {glimpse(request.last)}"


def paste(request: Request) -> list[str]:
    """The lines of a scene, in YAML, that fits the request."""
    words = snippet(request.last.text)
    when: dict[str, Any] = {
        "role": request.role,
        "last": [words] if words else None,
        "format": None if request.format == "text" else request.format,
        "tools": list(request.tools) or None,
    }
    reply: dict[str, Any] = {"text": "…"}
    if request.format != "text":
        reply = {"json": {} if request.schema is None else example(request.schema)}
    when = {name: value for name, value in when.items() if value is not None}
    scene = {"name": f"{request.role or 'reply'}: {words}" if words else "a name"} | ({"when": when} if when else {})
    text = yaml.safe_dump([scene | {"reply": reply}], sort_keys=False, allow_unicode=True, width=100)
    return ["  " + line for line in str(text).splitlines()]


def snippet(text: str) -> str:
    """The beginning of a message's first line, cut between words."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= NAME_WIDTH:
        return line
    words = line[: NAME_WIDTH + 1].rsplit(None, 1)[0]
    return words if len(words) <= NAME_WIDTH else line
