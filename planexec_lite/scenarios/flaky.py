"""Tools that fail by chance: any world's toolbox, with a service that does not always answer."""

from __future__ import annotations

import functools
import json
from collections import Counter
from random import Random
from typing import Any

from planexec_lite.tools import Tool, Toolbox


class NoAnswerError(RuntimeError):
    """The service behind a tool did not answer; it may the next time."""


def flaky(tools: Toolbox, chance: float, seed: int = 0) -> Toolbox:
    """Return the same tools, each call of which fails by chance, and then has done nothing.

    Args:
        chance: the share of calls that fail, from 0 to 1.
        seed: chance follows from this, the tool, its arguments and how often it was called with them: the same calls fail
            for everybody, in whatever order they come. Raises `ValueError` for a share that is none.
    """
    if not 0 <= chance <= 1:
        raise ValueError(f"chance={chance}: a share from 0 to 1")
    tried: Counter[str] = Counter()

    def shaky(tool: Tool) -> Tool:
        @functools.wraps(tool.function)
        def call(**params: Any) -> Any:
            name = f"{tool.name} {json.dumps(params, sort_keys=True, default=str)}"
            tried[name] += 1
            if Random(f"{seed} {name} {tried[name]}").random() < chance:
                raise NoAnswerError(f"{tool.name} did not answer (try {tried[name]}); it may the next time")
            return tool.function(**params)

        return Tool(call, name=tool.name, latency=tool.latency, effects=tool.effects, destructive=tool.destructive)

    return Toolbox(map(shaky, tools))
