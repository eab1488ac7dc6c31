"""The script linter: finds scenes that can never answer, scenes that tie with another scene, and replies that can't fit
the request.

For each scene it makes a minimal request (`minimal_request`) and asks the real engine which scene answers. If another
scene answers, the scene is shadowed; if several tie, they are ambiguous.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mock_llm.engine import Match, best_matches, match, occurs
from mock_llm.script import NOTHING, Reply, Scene

from .minimal_request import minimal_request

MAYBE = ", unless its `never` or `turn` distinguishes them"


@dataclass(frozen=True)
class Finding:
    """A problem in a script; prints as "deploy.yaml:14: …".

    Args:
        sure: False for a hint, which depends on words that the script does not show.
    """

    scene: Scene
    problem: str
    sure: bool = True

    def __str__(self) -> str:
        return f"{self.scene.source}: {'' if self.sure else 'hint: '}scene {self.scene.name!r} {self.problem}"


def check(scenes: Sequence[Scene]) -> list[Finding]:
    """Return every problem of a script, scene by scene."""
    findings = [Finding(scene, problem) for scene in scenes for problem in _problems(scene, scenes)]
    return [replace(finding, sure=MAYBE not in finding.problem) for finding in findings]


def _problems(scene: Scene, scenes: Sequence[Scene]) -> Iterator[str]:
    yield from _reply_problems(scene, scene.reply)
    yield from _counter_problems(scene, scenes)
    contradiction = next(_contradictions(scene), None)
    if contradiction:
        yield contradiction
        return
    request = minimal_request(scene)
    if request is None:  # no text was found for its patterns
        return

    def count(counter: str) -> int:
        return scene.when.turn or 1

    own = match(scene, request, count)
    if not own.fits:
        missed = "; ".join(check.condition for check in own.checks if not check.holds)
        yield f"can never answer: no request was found for which all conditions hold ({missed})"
        return
    best = best_matches([match(other, request, count) for other in scenes])
    others = [candidate for candidate in best if candidate.scene.name != scene.name]
    apart = [other for other in others if _told_apart(other.scene, scene)]
    if len(others) == len(best):
        if apart:  # the other scene answers only some requests, and this one the rest
            return
        yield f"is unreachable: {_names(others)} always answers instead, with more conditions"
    elif others:
        same = [other for other in others if set(_conditions(other)) == set(_conditions(own))]
        why = "has the same conditions" if same else "fits its minimal request equally well"
        unless = MAYBE if len(apart) == len(others) and not same else ""
        yield f"is ambiguous: {_names(same or others)} {why}{unless}; add a condition to one of them"


def _contradictions(scene: Scene) -> Iterator[str]:
    when = scene.when
    for forbidden in when.never:
        for name in ("user", "says", "last"):
            for text in getattr(when, name):
                if occurs(forbidden, text):
                    yield f"can never answer: {name} requires {text!r}, but never forbids {forbidden!r}"
    if when.turn == 1 and when.counter is None and when.called:
        yield f"can never answer: no tool has been called in turn 1, but it requires called: {when.called[0]}"


def _reply_problems(scene: Scene, reply: Reply) -> Iterator[str]:
    wants_json = (scene.when.format or "").startswith("json")
    meant = reply.broken or reply.finish_reason != "stop"
    for part in reply.choices:
        yield from _reply_problems(scene, part)
    if meant or not wants_json or reply.calls:
        return
    if reply.text is not None and "{{" not in reply.text:
        try:
            fits = isinstance(json.loads(reply.text), dict)
        except ValueError:
            fits = False
        if not fits:
            yield f"can't fit: format {scene.when.format} requires a JSON object, but the reply's text is not one"
    if reply.json is not NOTHING and not isinstance(reply.json, dict):
        yield f"can't fit: format {scene.when.format} requires a JSON object, but the reply's json is not one"


def _counter_problems(scene: Scene, scenes: Sequence[Scene]) -> Iterator[str]:
    counter, turn = scene.when.counter, scene.when.turn
    if counter is None or turn is None:
        return
    numbers = {other.when.turn for other in scenes if other.when.counter == counter}
    missing = [number for number in range(1, turn) if number not in numbers]
    if missing:
        yield f"waits for number {turn} of counter {counter!r}, and no scene is for number {missing[0]}"


def _told_apart(other: Scene, scene: Scene) -> bool:
    """Return whether a condition that the minimal request can't contain excludes the other scene."""
    return bool(other.when.never) or (other.when.turn is not None and scene.when.turn is None)


def _conditions(candidate: Match) -> list[str]:
    return [check.condition for check in candidate.checks]


def _names(candidates: Sequence[Match]) -> str:
    return " and ".join(str(candidate.scene) for candidate in candidates)
