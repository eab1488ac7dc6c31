"""The capstone: each part is right with our program and only with it, and nothing looks passed without an answer."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from exercises.checker import book
from exercises.checker.exercise import of_lesson
from exercises.checker.verbs import Outcome, judged
from tests.exercises.answers import run_cell

PARTS = list(of_lesson("capstone"))
PARTS.sort(key=lambda id: int(id.partition(".")[2]))
SOURCE = {id: book.part(id) or "" for id in PARTS}
PROGRAM = (book.HERE / "capstone" / "program.py").read_text(encoding="utf-8")
NOTEBOOK = json.loads((book.HERE / "capstone.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = ["".join(cell["source"]) for cell in NOTEBOOK if cell["cell_type"] == "code"]
each_part = pytest.mark.parametrize("id", PARTS)


def outcome(id: str, *cells: str) -> Outcome:
    """The verdict on a part in a namespace in which these cells have run."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        ended = run_cell(cell, namespace)
        assert ended.error is None, ended.error
    return judged(id, namespace)


def until(id: str, last: int = 0) -> list[str]:
    return [SOURCE[part] for part in PARTS[: PARTS.index(id) + 1 + last]]


@each_part
def test_each_part_is_right_with_our_program_and_not_without_an_answer(id: str) -> None:
    assert outcome(id, *until(id)).status == "right", outcome(id, *until(id)).text
    stubs = [cell for cell in CODE if "NotImplementedError" in cell]
    assert outcome(id).status == outcome(id, *stubs).status == "not started"
    (stored,) = [cell for cell in NOTEBOOK if "".join(cell["source"]).startswith(f'check("{id}")\n')]
    assert "".join(stored["outputs"][0]["text"]).startswith(f"{id} · Not started")


@pytest.mark.parametrize("id", PARTS[:-1])  # the last part needs no new line
def test_the_program_before_a_part_is_not_right(id: str) -> None:
    assert outcome(id, *until(id, last=-1)).status in ("wrong", "raised", "not started")


SUB = "REFERENCE.sub(lambda found: str(results[found[1]]), value)"
WRONG = [  # a part, a text of ours, and what replaces it
    ("1", 'log.append(("StepDone", step["id"]))', "pass"),
    ("1", "return results[alone[1]] if alone else value", "return str(results[alone[1]]) if alone else value"),
    ("2", "range(turns)", "range(99)"),
    ("2", "\\nObservation: {seen}", ""),
    ("2", "            return params", '            return "done"'),
    ("3", "steps[0]", "steps[-1]"),
    ("3", '+ [f"step {id} can never start" for id in ids if id not in placed]', ""),
    ("3", "ids.count(id) > 1", "False"),
    ("3", 'if step["tool"] not in tools', "if False"),
    ("3", 'if id not in step["depends_on"]]', "if False]"),
    ("4", "range(attempts)", "range(9)"),
    ("4", 'errors = {"plan": faults}', "pass"),
    ("4", "except ValueError as no_plan", "except TypeError as no_plan"),
    ("5", "return results[alone[1]]\n    return", "return str(results[alone[1]])\n    return"),
    ("5", "if isinstance(value, list)", "if False"),
    ("5", f"return {SUB}", f"return resolve({SUB}, results)"),
    ("5", 'errors[step["id"]] = str(error)', 'results[step["id"]] = str(error)'),
    ("6", "fault or (judge and judge(step, result))", "fault"),
    ("6", "dict(results), errors)", "{}, errors)\n        results.clear()"),
    ("6", "range(asks)", "range(9)"),
    ("7", "if self.hash not in self.approved", "if not self.approved"),
    ("7", "self.plan is None or errors", "self.plan is None"),
    ("8", "[: workers.slots - len(running)]", ""),
    (
        "8",
        "for step in ready(waiting, results)[: workers.slots - len(running)]",
        "for step in ready(waiting, results)[: 0 if running else workers.slots]",
    ),
    ("8", "key=list(running).index", "key=id"),
    ("8", "slots = 4", "slots = 1"),
    ("8", "min(future.ends", "max(future.ends"),
    ("9", "reversed(results)", "results"),
    ("9", 'resolve(c["params"], results)', 'c["params"]'),
    ("10", "self.path.write_text(json.dumps(self))", "pass"),
    ("10", "self.path.write_text", "len(self) > 2 and self.path.write_text"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("part", "old", "new"), WRONG, ids=lambda text: text[:30])
def test_a_changed_program_is_noticed(part: str, old: str, new: str) -> None:
    *before, last = until(f"capstone.{part}")
    assert last.count(old) == 1, "our part contains the text once"
    assert outcome(f"capstone.{part}", *before, last.replace(old, new)).status in ("wrong", "raised")


def definitions(source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0])] = ast.dump(node)
        elif not isinstance(node, ast.Expr):
            found[getattr(node, "name", ast.unparse(node))] = ast.dump(node)
    return found


def test_the_program_is_the_sum_of_its_parts_and_short() -> None:
    assert definitions("\n".join(SOURCE.values())) == definitions(PROGRAM)
    assert sum(bool(line.strip()) for line in PROGRAM.splitlines()) <= 120
