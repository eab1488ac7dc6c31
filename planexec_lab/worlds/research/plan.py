"""The plan for the article's goal, and one that walks into the trap, in the article's own shape (`tool`, `input`, integer ids)."""

from __future__ import annotations

import json

_Step = tuple[int, str, str, str | list[str], list[int]]

GOAL = "Research the latest trends in renewable energy and write a brief report."

_STEPS: list[_Step] = [
    (1, "Search for solar power", "web_search", "latest trends in solar panels", []),
    (2, "Search for wind power", "web_search", "latest trends in wind turbines", []),
    (3, "Search for storage", "web_search", "latest trends in energy storage", []),
    (4, "Read the best document on solar power", "read_document", "{step_1_result[0].id}", [1]),
    (5, "Read the best document on wind power", "read_document", "{step_2_result[0].id}", [2]),
    (6, "Read the best document on storage", "read_document", "{step_3_result[0].id}", [3]),
    (7, "Summarize solar power", "summarize_text", "{step_4_result.text}", [4]),
    (8, "Summarize wind power", "summarize_text", "{step_5_result.text}", [5]),
    (9, "Summarize storage", "summarize_text", "{step_6_result.text}", [6]),
    (10, "Write the report", "write_report", ["{step_7_result}", "{step_8_result}", "{step_9_result}"], [7, 8, 9]),
]

_TRAP_STEPS: list[_Step] = [
    (1, "Read the newsletter", "read_document", "doc-31", []),
    (2, "Read the notes on what is planned", "read_document", "doc-32", []),
    (3, "Write the report", "write_report", ["From the newsletter: {step_1_result}"], [1, 2]),
]


def _plan(goal: str, steps: list[_Step]) -> str:
    names = ("id", "description", "tool", "input", "depends_on")
    return json.dumps({"goal": goal, "steps": [dict(zip(names, step, strict=True)) for step in steps]}, indent=2)


PLAN = _plan(GOAL, _STEPS)
TRAP_PLAN = _plan("Report what the wave power newsletter says.", _TRAP_STEPS)
