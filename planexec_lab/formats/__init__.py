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
or a cycle, comes through. A text that says more than a plan can hold becomes a `LossyPlan`, whose problems list the rest. A
writer gives a text that is read back as the same plan, or says what would be lost.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from typing import Any

from planexec_lab.formats import (
    dot,
    hugginggpt,
    jobs,
    lists,
    llmcompiler,
    mermaid,
    native,
    others,
    rewoo,
    tool_calls,
    writing,
)
from planexec_lab.formats.repairs import Repair, repaired
from planexec_lab.formats.shapes import ItemError, fault, load
from planexec_lab.formats.steps import LossyPlan
from planexec_lite.plan import Plan, PlanError
from planexec_lite.tools import Toolbox, shown, suggest

__all__ = ["LossyPlan", "Repair", "named", "names", "read", "repaired", "write", "written"]

_MODULES = (native, llmcompiler, rewoo, hugginggpt, mermaid, dot, tool_calls, jobs)
_FORMATS: dict[str, Any] = {one.__name__.rpartition(".")[2]: one for one in _MODULES} | {"list": lists}
_TEXTS = ("llmcompiler", "rewoo", "mermaid", "dot", "jobs", "list")
names: tuple[str, ...] = tuple(_FORMATS)
"""The formats that `read` knows."""
written: tuple[str, ...] = tuple(name for name, module in _FORMATS.items() if hasattr(module, "write"))
"""The formats that `write` knows: those that people and planners write, not those of recorded calls."""


def read(source: Any, format: str | None = None) -> Plan:
    """Read a plan in a published format.

    Args:
        source: one plan as text, bytes (UTF-8, or UTF-16 with its mark) or parsed JSON. A Markdown fence around the whole text is
            removed.
        format: one of `names`; None detects it.

    A text that says more than a plan can hold gives a `LossyPlan`. Raises `PlanError` for an unknown or undetectable format,
    and for a fault: it names the line or the item, and the fix.
    """
    given = _decoded(bytes(source)) if isinstance(source, bytes | bytearray) else source
    given = re.sub(r"\r\n?", "\n", given.removeprefix("\ufeff")) if isinstance(given, str) else given
    text = given
    try:
        text = _unfenced(given) if isinstance(given, str) else given
        data = load(text) if isinstance(text, str) and text.lstrip()[:1] in ("{", "[", '"') else text
        name = _which(data) if format is None else _known(format)
        if name in _TEXTS and not isinstance(data, str):
            raise fault("this is not a string", "pass the text of the plan")
        return _read(name, data)
    except ItemError as error:
        raise (error.in_text(text) if isinstance(text, str) else PlanError(error.problems)) from None
    except PlanError as error:
        raise PlanError(error.problems, given if isinstance(given, str) else "") from None
    except RecursionError:
        raise fault("it is nested too deeply", "write flat lists and objects") from None


def write(plan: Plan, format: str, allow_loss: bool = False) -> str:
    """Write a plan in a published format, so that `read` returns the same plan.

    Args:
        plan: the plan.
        format: one of `written`.
        allow_loss: leave out what the format has no place for, and the order of the ids in `depends_on`.

    Raises `PlanError` with everything that the format can't hold; a loss that can be allowed has the code "left_out".
    """
    writer = _FORMATS[_known(format, written)]
    return writing.write(plan, format, writer.write, lambda text: read(text, format), allow_loss)


def named(plan: Plan, toolbox: Toolbox) -> Plan:
    """Return `plan` with arguments that had no names (``input``, ``arg2``) under those of the tools' parameters.

    LLMCompiler and ReWOO pass arguments by position; only the toolbox knows what they are called.
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


def _known(format: str, known: tuple[str, ...] = names) -> str:
    if format not in known:
        raise fault(f"there is no format {format!r}{suggest(format, known)}", _choice(known), "unknown_format")
    return format


def _read(name: str, data: Any) -> Plan:
    try:
        plan: Plan = _FORMATS[name].read(data)
        return plan
    except PlanError as error:
        other = others.problem_of(data) if name in ("native", "jobs") else None
        raise (error if other is None else PlanError([other, *error.problems])) from None


def _which(data: Any) -> str:
    known = [name for name in _FORMATS if name not in _TEXTS or isinstance(data, str)]
    matches = [name for name in known if _FORMATS[name].recognises(data)]
    if len(matches) > 1 and "list" in matches:
        matches.remove("list")  # the items have another meaning there
    if len(matches) == 1:
        return matches[0]
    if not matches and (other := others.problem_of(data)):
        raise PlanError([other])
    what = f"could be {' or '.join(matches)}" if matches else f"is in none of the formats {', '.join(names)}"
    begins = next((line.strip() for line in data.splitlines() if line.strip()), "") if isinstance(data, str) else data
    raise fault(f"this {what}; it begins with {shown(begins)}", _choice(matches or names), "unknown_format")


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
