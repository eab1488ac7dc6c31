"""Published plan formats, read into the same `Plan`: one module a format, each with its source.

>>> from planexec_lite import formats
>>> print(formats.read('1. search("Oslo")\\n2. math("$1 / 2")\\n3. join()'))
1  search(input='Oslo')
2  math(input='{step_1_result} / 2')  (after 1)

A reader says what was written; `Plan.problems` says whether it can run. So a reference to a step that does not exist,
or a cycle, comes through.
"""

from __future__ import annotations

import re
from importlib import resources
from typing import Any

from planexec_lite.formats import hugginggpt, llmcompiler, native, nestful, rewoo, taskbench, worfbench
from planexec_lite.formats.parallelism import Measured, Parallelism, measure, parallelism
from planexec_lite.formats.published import PUBLISHED, Published, table
from planexec_lite.formats.shapes import fault, load
from planexec_lite.formats.tool_lists import PublishedTool, nestful_tools, taskbench_tools
from planexec_lite.plan import Plan, PlanError
from planexec_lite.tools import Toolbox, suggest

__all__ = [
    "PUBLISHED", "Measured", "Parallelism", "Published", "PublishedTool", "measure", "named", "names", "nestful_tools",
    "parallelism", "read", "sample", "table", "taskbench_tools",
]  # fmt: skip

_READERS: dict[str, Any] = {
    "native": native,
    "nestful": nestful,
    "worfbench": worfbench,
    "taskbench": taskbench,
    "llmcompiler": llmcompiler,
    "rewoo": rewoo,
    "hugginggpt": hugginggpt,
}
names: tuple[str, ...] = tuple(_READERS)
"""The formats that `read` knows."""


def read(source: Any, format: str | None = None) -> Plan:
    """Read a plan in a published format.

    Args:
        source: one plan: a text, bytes, or what its JSON gave.
        format: one of `names`; None finds out.

    Raises `PlanError` for a format that is unknown or can't be told, and for a fault: it names the line or the item,
    and how to mend it.
    """
    text = source.decode(errors="replace") if isinstance(source, bytes | bytearray) else source
    try:
        data = load(text) if isinstance(text, str) and text.lstrip()[:1] in ("{", "[", '"') else text
        plan: Plan = _READERS[_which(data) if format is None else _known(format)].read(data)
        return plan
    except PlanError as error:
        raise PlanError(error.problems, text if isinstance(text, str) else "") from None
    except RecursionError:
        raise fault("it is nested too deeply", "write flat lists and objects") from None


def named(plan: Plan, toolbox: Toolbox) -> Plan:
    """Return `plan` with arguments that had no names (``input``, ``arg2``) under those of the tools' parameters.

    LLMCompiler, ReWOO and TaskBench pass arguments by position; only the toolbox knows what they are called.
    """
    steps = []
    for step in plan.steps:
        known = toolbox[step.tool].parameters if step.tool is not None and step.tool in toolbox else ()
        params: dict[str, Any] = {}
        for name, value in step.params.items():
            numbered = re.fullmatch(r"input|arg([1-9][0-9]*)", name) if name not in known else None
            place = int(numbered[1] or 1) - 1 if numbered else len(known)
            free = place < len(known) and known[place] not in {*step.params, *params}
            params[known[place] if free else name] = value
        steps.append(step.model_copy(update={"params": params}))
    return Plan(goal=plan.goal, steps=tuple(steps), rollback=plan.rollback, answer=plan.answer, complete=plan.complete)


def sample() -> tuple[list[Plan], Toolbox]:
    """Return 20 plans in TaskBench's shape, and their tools: 12 that can run and 8 that can't.

    They were written for this kit, after the faults that small models make in published plans: an unknown tool, nodes
    counted from 1, a cycle.
    """
    folder = resources.files(__name__)
    lines = folder.joinpath("sample_plans.jsonl").read_text("utf-8").splitlines()
    tools = taskbench_tools(folder.joinpath("sample_tools.json").read_text("utf-8"))
    return [read(line, "taskbench") for line in lines], tools


def _known(format: str) -> str:
    if format not in names:
        raise fault(f"there is no format {format!r}{suggest(format, names)}", _choice(names), "unknown_format")
    return format


def _which(data: Any) -> str:
    matches = [name for name, reader in _READERS.items() if reader.recognises(data)]
    if len(matches) == 1:
        return matches[0]
    message = f"this may be {' or '.join(matches)}" if matches else f"this is none of the formats {', '.join(names)}"
    raise fault(message, _choice(matches or names), "unknown_format")


def _choice(known: Any) -> str:
    return "pass one plan, and say what it is: format=" + " or ".join(map(repr, known))
