"""The data of the checks: `checks/lesson_NN.yaml` has hints, cases and rules for each exercise."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import yaml


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The fast loader where it is available; `!tuple [a, b]` is a tuple, `!kit:StepDone {step: a}` an object of the kit."""


Loader.add_constructor("!tuple", lambda loader, node: tuple(loader.construct_sequence(node, deep=True)))


def _of_kit(loader: Any, name: str, node: Any) -> Any:
    """Return a plan or an event with these fields."""
    from planexec_lite import Plan
    from planexec_lite.run import events

    kind = Plan if name == "Plan" else getattr(events, name)
    return kind(**loader.construct_mapping(node, deep=True))


Loader.add_multi_constructor("!kit:", _of_kit)


@cache
def _of_lesson(lesson: str) -> dict[str, Any]:
    path = Path(__file__).with_name("checks") / f"lesson_{lesson}.yaml"
    content: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader)
    return content


def data(id: str) -> dict[str, Any]:
    """Return a copy of the data of an exercise, which a check may change."""
    return deepcopy(_of_lesson(id.partition(".")[0])[id])
