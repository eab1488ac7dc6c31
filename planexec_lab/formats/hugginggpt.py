"""HuggingGPT: tasks with dependencies. Shen et al., "HuggingGPT: Solving AI Tasks with ChatGPT and its Friends in
Hugging Face" (2023), https://arxiv.org/abs/2303.17580.

``<GENERATED>-0`` in an argument is the result of task 0, as are ``<resource>-0`` and ``<GENERATED-0>``; an argument can contain
several; -1 in `dep` means no
dependency. A task depends on its `dep` and on the tasks in its arguments; HuggingGPT's own code completes `dep` in this way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from planexec_lab.formats.shapes import fault, shaped
from planexec_lab.formats.steps import build, rewriter, step
from planexec_lite.plan import Plan
from planexec_lite.tools.references import Reference

_SHAPE = 'write [{"task": …, "id": 0, "dep": [-1], "args": {"text": …}}, …]'
_GENERATED = re.compile(r"<(?:GENERATED|resource)(?:>-\{?([0-9]+)\}?|-([0-9]+)>)", re.IGNORECASE)


class _Task(BaseModel, extra="forbid", strict=True):
    task: str
    id: int | str
    dep: list[int | str] | int | str = []
    args: dict[str, Any] = {}


def recognises(data: Any) -> bool:
    """Is this a list of tasks with `dep` or `args`?"""
    tasks = data if isinstance(data, list) else []
    return any(isinstance(task, Mapping) and "task" in task and ("dep" in task or "args" in task) for task in tasks)


def read(data: Any) -> Plan:
    """Read the list of tasks."""
    rewrite = rewriter(_GENERATED, lambda match: Reference(match[1] or match[2]))
    steps: list[dict[str, Any]] = []
    for task in shaped(list[_Task], data, _SHAPE):
        listed = task.dep if isinstance(task.dep, list) else [task.dep]
        after = [str(id) for id in listed if str(id) != "-1"]
        if lost := re.search(
            r"\S{0,9}(?:GENERATED|<generated|<resource)\S{0,9}", _GENERATED.sub("", json.dumps(task.args))
        ):
            mend = "write <GENERATED>-0 for the result of task 0"
            raise fault(f"task {task.id}: {lost[0]!r} is no reference to a result", mend, at=(len(steps),))
        steps.append(step(str(task.id), task.task, task.args, rewrite, after))
    return build(steps)
