"""How many random examples a property is tried on."""

from typing import Any

from hypothesis import HealthCheck, settings

USUAL = 100  # of hypothesis's own profiles; a profile with fewer is a quick one, and bounds every property


def rounds(examples: int, **more: Any) -> settings:
    """So many random examples, the same ones on every run; fewer where the profile is a quick one (`make check`)."""
    most = settings().max_examples
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large, *more.pop("suppress_health_check", ())]
    count = min(examples, most) if most < USUAL else examples
    return settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=slow, **more)
