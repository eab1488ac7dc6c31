"""`llm.explain(call)`: which scene answered, why, who came second, and what would have changed the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from .calls import Call
from .counters import Count
from .engine import best_of
from .exchange import Answer, Request
from .explain import summary
from .matching import Match, match
from .script import Scene


@dataclass(frozen=True)
class Explanation:
    """Why a call was answered as it was; prints as text.

    Args:
        text: all of it, in lines.
        scene: the name of the scene that answered, or None.
        runner_up: the name of the scene that came second, or None.
    """

    text: str
    scene: str | None
    runner_up: str | None

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def explain(scenes: Sequence[Scene], call: Call) -> Explanation:
    """Explain one call of `llm.calls`. The request is held against the script again; nothing is counted twice."""
    if call.asked is None:
        error = call.error
        told = f"\n{error.message}" if error else ""
        return Explanation(f"{_head(call)} was refused before any scene was looked at.{told}", None, None)
    matches = [match(scene, call.asked, _counted(call.numbers)) for scene in scenes]
    best = best_of(matches)
    if len(best) != 1:
        error = call.error
        told = f"\n{error.message}" if error else ""
        return Explanation(f"{_head(call)}: {'several scenes fit' if best else 'no scene fits'}.{told}", None, None)
    others = sorted((other for other in matches if other is not best[0]), key=_rank, reverse=True)
    lines = [*_chosen(call, call.asked, best[0])]
    if others:
        lines += _second(best[0], others[0])
    return Explanation("\n".join(lines), best[0].scene.name, others[0].scene.name if others else None)


def _counted(numbers: Mapping[str, int]) -> Count:
    return lambda counter: numbers.get(counter, 1)


def _head(call: Call) -> str:
    retry = f" (silent retry {call.attempt})" if call.attempt else ""
    return f"Call {call.index}{retry}"


def _rank(candidate: Match) -> tuple[bool, int, tuple[int, int]]:
    return candidate.fits, len(candidate.checks) if candidate.fits else 0, candidate.nearness


def _chosen(call: Call, request: Request, chosen: Match) -> Iterator[str]:
    yield f"{_head(call)}: {summary(request)}."
    conditions = len(chosen.checks)
    why = f"its {conditions} condition{'s' * (conditions != 1)} hold" if conditions else "it has no conditions"
    yield f"The scene {chosen.scene} answered: {why}, and no scene that fits has more."
    yield from (f"  fits     {check.condition}" for check in chosen.checks)
    if isinstance(call.outcome, Answer) and call.outcome.fault:
        yield f"At attempt {call.attempt} the script orders a fault: {call.outcome.fault.kind}."
    if call.error:
        yield f"The client got an error all the same: {call.error.message}"


def _second(chosen: Match, second: Match) -> Iterator[str]:
    yield f"Runner-up: the scene {second.scene}."
    differing = [check for check in second.checks if not check.holds]
    if not differing:
        fewer = len(chosen.checks) - len(second.checks)
        yield f"  It fits too, with {fewer} condition{'s' * (fewer != 1)} less."
        yield "It would have answered if one of these did not hold:"
        shared = {check.condition for check in second.checks}
        yield from (f"  {check.condition}" for check in chosen.checks if check.condition not in shared)
        return
    for check in second.checks:
        yield f"  {'fits    ' if check.holds else 'DIFFERS '} {check.condition}"
        if not check.holds:
            yield f"           {check.seen}"
    more, names = len(second.checks) - len(chosen.checks), ", ".join(check.condition for check in differing)
    held = f"this held too: {names}"
    if more > 0:
        yield f"It would have answered if {held}."
    elif more == 0:
        yield f"It would have tied, and the call been refused, if {held}."
    else:
        yield f"It would have answered if {held}, and one condition of the scene that answered did not."
