"""The tools of each world can be sent to a worker in another process."""

from __future__ import annotations

import importlib
import pickle
import pkgutil

import pytest

from planexec_lab import worlds
from planexec_lite import ToolExecutor

NAMES = [
    module.name
    for module in pkgutil.iter_modules(worlds.__path__)
    if hasattr(importlib.import_module(f"planexec_lab.worlds.{module.name}"), "World") and module.name != "clock"
]


@pytest.mark.parametrize("name", NAMES)
def test_the_tools_of_a_world_can_be_sent_to_another_process(name: str) -> None:
    tools = importlib.import_module(f"planexec_lab.worlds.{name}").World().tools
    received = pickle.loads(pickle.dumps(ToolExecutor(tools)))
    assert [tool.name for tool in received.tools] == [tool.name for tool in tools]
