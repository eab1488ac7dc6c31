"""Published plan formats, read into the same `Plan` and written from it: one module a format, each with its source.

>>> from planexec_lab import formats
>>> print(formats.read('1. search("Oslo")\\n2. math("$1 / 2")\\n3. join()'))
1  search(input='Oslo')
2  math(input='{step_1_result} / 2')  (after 1)
>>> print(formats.write(Plan.parse(["wash", "dry"]), "mermaid"))
flowchart TD
    1["wash"]
    2["dry"]
    1 --> 2
<BLANKLINE>

A reader says what was written; `Plan.problems` says whether it can run. So a reference to a step that does not exist,
or a cycle, comes through. A writer gives a text that is read back as the same plan, or says what would be lost.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Collection, Mapping
from importlib import resources
from typing import Any

from planexec_lab.formats import (
    dot,
    graph,
    hugginggpt,
    jobs,
    lists,
    llmcompiler,
    mermaid,
    native,
    nestful,
    rewoo,
    taskbench,
    tool_calls,
    worfbench,
    writing,
)
from planexec_lab.formats.parallelism import Measured, Parallelism, measure, parallelism
from planexec_lab.formats.published import PUBLISHED, Published, table
from planexec_lab.formats.repairs import Repair, repaired
from planexec_lab.formats.shapes import ItemError, fault, load
from planexec_lab.formats.tool_lists import PublishedTool, nestful_tools, taskbench_tools
from planexec_lite.plan import Plan, PlanError
from planexec_lite.tools import Toolbox, shown, suggest

__all__ = [
    "PUBLISHED", "Measured", "Parallelism", "Published", "PublishedTool", "Repair", "measure", "named", "names",
    "nestful_tools", "parallelism", "read", "repaired", "sample", "table", "taskbench_tools", "write",
]  # fmt: skip

_MODULES = (
    native,
    nestful,
    worfbench,
    taskbench,
    llmcompiler,
    rewoo,
    hugginggpt,
    mermaid,
    dot,
    graph,
    tool_calls,
    jobs,
)
_FORMATS: dict[str, Any] = {one.__name__.rpartition(".")[2]: one for one in _MODULES} | {"list": lists}
_TEXTS = ("worfbench", "llmcompiler", "rewoo", "mermaid", "dot", "jobs", "list")
names: tuple[str, ...] = tuple(_FORMATS)
"""The formats that `read` and `write` know."""


def read(source: Any, format: str | None = None) -> Plan:
    """Read a plan in a published format.

    Args:
        source: one plan as text, bytes (UTF-8, or UTF-16 with its mark) or parsed JSON. A Markdown fence around the whole text is
            removed.
        format: one of `names`; None detects it.

    Raises `PlanError` for an unknown or undetectable format, and for a fault: it names the line or the item, and the fix.
    """
    given = _decoded(bytes(source)) if isinstance(source, bytes | bytearray) else source
    given = re.sub(r"\r\n?", "\n", given.removeprefix("\ufeff")) if isinstance(given, str) else given
    text = given
    try:
        text = _unfenced(given) if isinstance(given, str) else given
        data = load(text) if isinstance(text, str) and text.lstrip()[:1] in ("{", "[", '"') else text
        name = _which(data) if format is None else _known(format)
        if name in _TEXTS and (data := _text_in(data)) is None:
            raise fault("this is not a string", "pass the text of the plan")
        plan: Plan = _FORMATS[name].read(data)
        return plan
    except ItemError as error:
        raise (error.in_text(text) if isinstance(text, str) else PlanError(error.problems)) from None
    except PlanError as error:
        raise PlanError(error.problems, given if isinstance(given, str) else "") from None
    except RecursionError:
        raise fault("it is nested too deeply", "write flat lists and objects") from None


def write(plan: Plan, format: str, leave_out: Collection[str] = ()) -> str:
    """Write a plan in a published format, so that `read` returns the same plan.

    Args:
        plan: the plan.
        format: one of `names`.
        leave_out: names of fields to drop if the format has no place for them: ``["gate", "undo"]``; ``"order"`` is that of the
            ids in `depends_on`.

    Raises `PlanError` with everything that the format can't hold, and `ValueError` for an unknown field name.
    """
    writer = _FORMATS[_known(format)]
    return writing.write(plan, format, writer.write, lambda text: read(text, format), leave_out)


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
    return plan.changed(steps=tuple(steps))


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
    text = _text_in(data)
    known = {name: text if name in _TEXTS else data for name in _FORMATS}
    matches = [name for name, one in known.items() if one is not None and _FORMATS[name].recognises(one)]
    if len(matches) > 1 and "list" in matches:
        matches.remove("list")  # the items have another meaning there
    if len(matches) == 1:
        return matches[0]
    what = f"could be {' or '.join(matches)}" if matches else f"is in none of the formats {', '.join(names)}"
    begins = next((line.strip() for line in data.splitlines() if line.strip()), "") if isinstance(data, str) else data
    raise fault(f"this {what}; it begins with {shown(begins)}", _choice(matches or names), "unknown_format")


def _text_in(data: Any) -> str | None:
    """A text, also the one in a row of WorFBench or in an answer of TaskWeaver's planner; None for other data."""
    for name in ("response", "init_plan", "graph"):
        data = data.get(name, data) if isinstance(data, Mapping) else data
    return data if isinstance(data, str) else None


def _decoded(source: bytes) -> str:
    """Return the text in `source`; raise `PlanError` for bytes that can't be decoded."""
    encoding = "utf-16" if source.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
    try:
        return source.decode(encoding)
    except UnicodeDecodeError as error:
        line = 1 + source.count(b"\n", 0, error.start)
        message = f"line {line}: the byte {source[error.start]:#04x} is no {encoding.upper()}"
        raise fault(message, "save the file as UTF-8") from None


def _unfenced(text: str) -> str:
    """The contents of a Markdown fence on their original lines; a text without a fence is returned unchanged."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        line = 1 + text.count("\n", 0, error.start)
        raise fault(f"line {line}: here is half a character, {text[error.start]!r}", "write whole ones") from None
    match = _FENCE.fullmatch(text)
    return "\n" * (match[1].count("\n") + 1) + match[2] if match else text


_FENCE = re.compile(r"(\s*)```[ \t]*\w*[ \t]*\n((?:(?![ \t]*```).*\n)*)[ \t]*```\s*")


def _choice(known: Any) -> str:
    return "pass one plan, and say what it is: format=" + " or ".join(map(repr, known))
