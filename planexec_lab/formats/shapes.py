"""From text to checked data: JSON in, the declared shape out, and faults with their place and fix."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from planexec_lab.lines import Path, line_of
from planexec_lite.plan import PlanError, Problem
from planexec_lite.plan.data import read_json

T = TypeVar("T")


class ItemError(PlanError):
    """Faults of items in data; `paths` say where each of them is."""

    def __init__(self, problems: Iterable[Problem], paths: Iterable[Path]) -> None:
        super().__init__(problems)
        self.paths = tuple(paths)

    def in_text(self, text: str) -> PlanError:
        """Return the same faults with the lines of their items in the JSON `text`."""
        import yaml  # which reads JSON, and knows where each part begins

        try:
            root: Any = yaml.compose(text, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
        except (yaml.YAMLError, RecursionError):
            root = None
        placed = [
            replace(problem, message=f"line {line_of(root, path)}: {problem.message}")
            for problem, path in zip(self.problems, self.paths, strict=True)
        ]
        return PlanError(placed, text)


def fault(message: str, mend: str, code: str = "wrong_shape", at: Path | None = None) -> PlanError:
    """Return an error with the fault, its place and its fix; `at` is the item's path in the data."""
    problem = Problem(code, None, message, mend)
    return PlanError([problem]) if at is None else ItemError([problem], [at])


def load(text: str) -> Any:
    """Return what JSON `text` holds; raise `PlanError` with the line when it is not JSON."""
    try:
        return read_json(text)
    except (ValueError, TypeError) as error:
        raise fault(
            f"this is not JSON: {error}", "pass one plan at a time, and nothing around it", "not_json"
        ) from None


def left_out(message: str, line: int | None = None) -> Problem:
    """Return the remark that a part of a text is not in the plan that was read from it."""
    place = "" if line is None else f"line {line}: "
    return Problem(
        "left_out", None, f"{place}left out: {message}", "a plan has no place for it; say it in a step's words"
    )


def shaped(kind: type[T], data: Any, shape: str) -> T:
    """Return `data` as a `kind`; raise `ItemError` with every wrong item and the right `shape`."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        errors = [(e["loc"], e["msg"]) for e in error.errors(include_url=False)]
        faults = [
            Problem("wrong_shape", None, f"{'.'.join(map(str, at)) or 'it'}: {what}", shape) for at, what in errors
        ]
        raise ItemError(faults, [at for at, _ in errors]) from None


def plain(value: Any) -> Any:
    """Return `value` as JSON holds it; raise `ValueError` when JSON can't: a set, bytes, infinity, half a character."""
    try:
        return from_json(json.dumps(value, allow_nan=False))
    except TypeError as error:
        raise ValueError(str(error)) from None
