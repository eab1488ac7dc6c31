"""A scripted family for the ablation: how it errs was written, so it shows what the method sees, and nothing about models.

Thirty answers of a model to which parts of the prompt matter, as `recorded.NEEDED` says: of the thirty, so many go wrong when
the part is left out. They are asked by the same planner and counted by the same functions as a recording, so a reader can
see which of the written effects thirty answers show, and which they miss. `recorded.family` reads what this model said.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from mock_llm import MockLLM
from planexec_lab.recorded import NEEDED, RULES
from planexec_lab.recorded.transcript import Head, Sample, Transcript
from planexec_lab.worlds import arithmetic
from tests.recorded.recording import sample, variants

ANSWERS = 30
WRONG_ANYWAY = 3
"""How many go wrong with the whole prompt too: the last ones."""


def asked(names: Iterable[str] | None = None) -> Transcript:
    """Ask the scripted model; only the variants of these names, or all."""
    head = Head("a scripted model: how it errs was written", "", {}, "2026-11-25", 1.0, 400, 8_000, 1)
    chosen = {one.name: one for one in variants(arithmetic.GOAL, 0) if names is None or one.name in names}
    samples: list[Sample] = []
    for variant in chosen.values():
        with scripted().client() as client:
            samples += [sample(client, variant, number, head) for number in range(1, ANSWERS + 1)]
    return Transcript(head, chosen, tuple(samples))


def scripted() -> MockLLM:
    """Return the model: its answers depend on their number and on which parts of the prompt it is given."""
    return MockLLM([scene for number in range(1, ANSWERS + 1) for scene in _scenes(number)])


def _scenes(number: int) -> Iterator[dict[str, Any]]:
    if number > ANSWERS - WRONG_ANYWAY:
        yield _scene(number, [], "lost", {"text": "First multiply 12 by", "finish_reason": "length"})
        return
    needed = [part for part, answers in NEEDED.items() if number <= answers]
    yield _scene(number, needed, "right", {"text": _plan()})
    for part in needed:
        yield _scene(number, [one for one in needed if one != part], f"without {part}", {"text": WITHOUT[part]})


def _scene(number: int, parts: list[str], name: str, reply: dict[str, Any]) -> dict[str, Any]:
    """A reply for one answer, for a prompt that has these parts; of two that fit, the one with more parts."""
    when: dict[str, Any] = {"counter": "answers", "turn": number}
    if rules := [RULES[part] for part in parts if part in RULES]:
        when["system"] = rules
    if "the schema" in parts:
        when["format"] = "json"
    return {"name": f"{number} {name}", "when": when, "reply": {**reply, "broken": True}}


def _plan(**second: Any) -> str:
    first, then = arithmetic.rules(arithmetic.GOAL)
    return json.dumps({"goal": arithmetic.GOAL, "steps": [first, {**then, **second}], "complete": True})


WITHOUT = {
    "the schema": "12 * 4 + 5 is 53.",
    "references": _plan(params={"a": "the result of step 1", "b": 5}),
    "JSON alone": f"Here is the plan: {_plan()}",
    "dependencies": _plan(depends_on=[]),
    "span": json.dumps({"goal": arithmetic.GOAL, "steps": [], "complete": True}),
}
"""What the model says where a part that it needs is missing."""
