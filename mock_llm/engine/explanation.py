"""Explanations for script authors, condition by condition.

`explain` names the scene that answered a call, the reasons, the runner-up, and the changes that would have changed the
answer. The engine's errors explain why no scene answers, with a scene to paste, or list the scenes that fit equally
well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from mock_llm.json_schema import example
from mock_llm.script import Scene, as_yaml
from mock_llm.types import Answer, Request

from .calls import Call
from .matching import Match, best_matches, excerpt, match

NAME_WIDTH = 60


@dataclass(frozen=True)
class Explanation:
    """The explanation of an answer; prints as text.

    Args:
        text: the whole explanation, in lines.
        scene: the name of the scene that answered, or None.
        runner_up: the name of the second-best scene, or None.
    """

    text: str
    scene: str | None
    runner_up: str | None

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def explain(scenes: Sequence[Scene], call: Call) -> Explanation:
    """Explain a call of `llm.calls`. The request is matched against the script again, without drawing new counter
    numbers.
    """
    if call.parsed is None:
        message = f"\n{call.error}" if call.error else ""
        return Explanation(f"{_head(call)} was refused before any scene was checked.{message}", None, None)
    # The call's original numbers, because an explanation must not draw new ones.
    matches = [match(scene, call.parsed, lambda counter: call.numbers.get(counter, 1)) for scene in scenes]
    best = best_matches(matches)
    if len(best) != 1:
        message = f"\n{call.error.message}" if call.error else ""
        return Explanation(f"{_head(call)}: {'several scenes fit' if best else 'no scene fits'}.{message}", None, None)
    others = sorted((other for other in matches if other is not best[0]), key=_rank, reverse=True)
    lines = [*_chosen(call, call.parsed, best[0])]
    if others:
        lines += _second(best[0], others[0])
    return Explanation("\n".join(lines), best[0].scene.name, others[0].scene.name if others else None)


def _head(call: Call) -> str:
    retry = f" (silent retry {call.attempt})" if call.attempt else ""
    return f"Call {call.index}{retry}"


def _rank(candidate: Match) -> tuple[bool, int, tuple[bool, int, int, int]]:
    return candidate.fits, len(candidate.checks) if candidate.fits else 0, candidate.closeness


def _chosen(call: Call, request: Request, chosen: Match) -> Iterator[str]:
    yield f"{_head(call)}: {summary(request)}."
    conditions = len(chosen.checks)
    why = f"its {conditions} condition{'s' * (conditions != 1)} hold" if conditions else "it has no conditions"
    yield f"The scene {chosen.scene} answered: {why}, and no scene that fits has more."
    yield from (f"  fits     {check.condition}" for check in chosen.checks)
    if isinstance(call.outcome, Answer) and call.outcome.fault:
        yield f"At attempt {call.attempt} the script orders a fault: {call.outcome.fault.kind}."
    if call.error:
        yield f"The client still got an error: {call.error}"


def _second(chosen: Match, second: Match) -> Iterator[str]:
    yield f"Runner-up: the scene {second.scene}."
    differing = [check for check in second.checks if not check.holds]
    if not differing:
        fewer = len(chosen.checks) - len(second.checks)
        yield f"  It fits too, with {fewer} fewer condition{'s' * (fewer != 1)}."
        yield "It would have answered if one of these were false:"
        shared = {check.condition for check in second.checks}
        yield from (f"  {check.condition}" for check in chosen.checks if check.condition not in shared)
        return
    yield from _conditions(second)
    more, names = len(second.checks) - len(chosen.checks), ", ".join(check.condition for check in differing)
    held = f"this were also true: {names}"
    if more > 0:
        yield f"It would have answered if {held}."
    elif more == 0:
        yield f"There would have been a tie, which is an error, if {held}."
    else:
        yield f"It would have answered if one condition of the other scene were false and {held}."


def _conditions(candidate: Match) -> Iterator[str]:
    for check in candidate.checks:
        yield (
            f"  fits     {check.condition}"
            if check.holds
            else f"  DIFFERS  {check.condition}\n           {check.actual}"
        )


def no_scene_fits(matches: Sequence[Match], request: Request) -> str:
    """Explain why no scene answers: the nearest scene, condition by condition, and a scene that would fit."""
    lines = [f"mock_llm has no scene for this request: {summary(request)}."]
    if matches:
        nearest = max(matches, key=lambda candidate: candidate.closeness)
        lines.append(f"The nearest scene is {nearest.scene}:")
        lines += _conditions(nearest)
    else:
        lines.append("The script has no scenes.")
    return "\n".join([*lines, "To answer it, paste this under `scenes:` and write the reply:", *paste(request)])


def ambiguous(best: Sequence[Match], request: Request) -> str:
    """List the scenes that fit equally well, and explain how to distinguish them."""
    names = " and ".join(str(candidate.scene) for candidate in best)
    count = len(best[0].checks)
    return (
        f"mock_llm can't choose for this request: {summary(request)}. The scenes {names} fit equally well, "
        f"with {count} condition{'s' * (count != 1)} each. Add a condition (last, says, never, …) to one of them."
    )


def summary(request: Request) -> str:
    """Summarize a request: its instructions, its format, and its last message."""
    instructions = snippet(request.system)
    head = f"instructions {instructions!r}" if instructions else "no instructions"
    return f"{head}, format {request.format}, last message {excerpt(request.last)}"


def paste(request: Request) -> list[str]:
    """Return the YAML lines of a scene that fits the request."""
    words, instructions = snippet(request.last.text), snippet(request.system)
    when = {"system": [instructions] if instructions else None, "last": [words] if words else None} | offered(request)
    reply: dict[str, Any] = {"text": "…"}
    if request.format != "text":
        reply = {"json": {} if request.schema is None else example(request.schema)}
    when = {name: value for name, value in when.items() if value}
    scene = {"name": f"reply: {words}" if words else "a name"} | ({"when": when} if when else {})
    return ["  " + line for line in as_yaml([scene | {"reply": reply}]).splitlines()]


def offered(request: Request) -> dict[str, Any]:
    """Return the conditions, in YAML form, that the format, the tools and the images of a request meet; an empty one is none."""
    kind = "" if request.format == "text" else request.format
    return {"format": kind, "tools": list(request.tools), "image": [image[:12] for image in request.images]}


def snippet(text: str) -> str:
    """Return the beginning of a message's first line, cut between words."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= NAME_WIDTH:
        return line
    words = line[: NAME_WIDTH + 1].rsplit(None, 1)[0]
    return words if len(words) <= NAME_WIDTH else line
