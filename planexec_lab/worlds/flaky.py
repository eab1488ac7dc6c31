"""Tools that fail by chance: any world's toolbox, with a service that does not always answer."""

import functools
import json
from collections import Counter
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from planexec_lite.tools import Tool, Toolbox


class NoAnswerError(RuntimeError):
    """The service behind a tool did not answer; it may the next time."""


def flaky(tools: Toolbox, chance: float, seed: int = 0) -> Toolbox:
    """Return the same tools with random failures; a failing call has no effect.

    Args:
        chance: the share of calls that fail, from 0 to 1; `ValueError` outside.
        seed: seeds the generator together with the tool, its arguments and the number of such calls, so the same calls fail in
            every order.
    """
    if not 0 <= chance <= 1:
        raise ValueError(f"chance={chance}: a share from 0 to 1")
    tried: Counter[str] = Counter()

    def answers(name: str, params: Mapping[str, Any]) -> None:
        call = f"{name} {json.dumps(params, sort_keys=True, default=str)}"
        tried[call] += 1
        if Random(f"{seed} {call} {tried[call]}").random() < chance:
            raise NoAnswerError(f"{name} did not answer (try {tried[call]}); it may the next time")

    return Toolbox(guarded(tool, answers) for tool in tools)


def guarded(tool: Tool, before: Callable[[str, Mapping[str, Any]], None]) -> Tool:
    """Return the same tool to plans and models; `before` gets its name and the arguments, and may raise before it is called."""

    @functools.wraps(tool.function)
    def call(**params: Any) -> Any:
        before(tool.name, params)
        return tool.function(**params)

    return tool.calling(call)
