"""The data of the checks: `checks/lesson_NN.yaml` has hints, cases and rules for each exercise."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from exercises.checker.exercise import Trial


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


def exactly(came: Any, wanted: Any) -> bool:
    """Return whether two values are equal with equal types at every depth: 7 is not "7", and True is not 1."""
    from exercises.checker.exercise import shown

    if type(came) is not type(wanted):
        return False
    if isinstance(wanted, dict):  # the order of its keys means nothing
        came, wanted = ([[key, one[key]] for key in sorted(one, key=shown)] for one in (came, wanted))
    if isinstance(wanted, (list, tuple)):
        return len(came) == len(wanted) and all(map(exactly, came, wanted))
    return bool(came == wanted) and shown(came) == shown(wanted)


def compare(trial: Trial, function: Any, groups: Any, same: Callable[[Any, Any], bool] = exactly) -> None:
    """Call a function with the arguments of each row, and compare its result with the last item of the row.

    Args:
        groups: by rule of the task, rows of arguments and the expected result.
        same: whether a result is the expected one.
    """
    for rule, rows in groups.items():
        for *arguments, wanted in rows:
            came = trial.call(function, *arguments)
            trial.want(same(came, wanted), repr(wanted), rule)
