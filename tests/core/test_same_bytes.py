"""The same bytes on every run, under every hash seed and in every time zone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def printed(seed: str, zone: str) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.core.printing"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600, check=True)
    by_topic: dict[str, Any] = json.loads(done.stdout)
    return by_topic


@pytest.fixture(scope="module")
def twice() -> list[dict[str, Any]]:
    return [printed("0", "UTC"), printed("4711", "Pacific/Auckland")]


@pytest.mark.parametrize("topic", ["runs", "sets", "problems", "problems of a large plan", "schema", "hashes"])
def test_two_processes_with_other_hash_seeds_print_the_same(twice: list[dict[str, Any]], topic: str) -> None:
    one, other = (json.dumps(topics[topic]) for topics in twice)
    assert one == other
    assert len(one) > 20
