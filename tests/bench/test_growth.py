"""Twice as many steps take about twice as many calls of Python functions, whatever the machine does beside them."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.bench.growth import WORKS


def calls_in(work: Callable[[], Any]) -> int:
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("what", WORKS)
def test_calls_grow_in_proportion_to_the_steps(what: str) -> None:
    make = WORKS[what][1]
    make(2)()  # what is made once
    assert calls_in(make(100)) < 2.2 * calls_in(make(50))
