"""How many random examples a property is tried on, and how many cases a costly test."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

ALL = "all"  # the profile of `make weekly`, which bounds nothing; another one bounds every property


def rounds(examples: int, **more: Any) -> settings:
    """So many random examples, the same ones on every run: in `make weekly`; elsewhere as many as the profile wants at most."""
    whole = settings.get_current_profile_name() == ALL
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, *more.pop("suppress_health_check", ())]
    count = examples if whole else min(examples, settings().max_examples)
    return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=slow, **more)


def few(values: Iterable[Any], most: int) -> list[Any]:
    """The values as parameters: the first ones in `make test`, the others in `make weekly` only."""
    return [pytest.param(value, marks=[pytest.mark.weekly] * (place >= most)) for place, value in enumerate(values)]
