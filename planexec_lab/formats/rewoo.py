"""ReWOO: plans and evidence. Xu et al., "ReWOO: Decoupling Reasoning from Observations for Efficient Augmented Language
Models" (2023), https://arxiv.org/abs/2305.18323.

``Plan: why`` and then ``#E1 = Search[query]``, on one line or two; a step waits for the evidence that its lines name. ``#E10`` is
the tenth evidence, never the first and a "0": reading by replacing ``#E1`` in the text is a published mistake.
"""

from __future__ import annotations

import re
from typing import Any

from planexec_lab.formats.shapes import fault
from planexec_lab.formats.steps import build, only_tools, rewriter, step, unwritable, whole
from planexec_lite.plan import Plan
from planexec_lite.tools import references
from planexec_lite.tools.references import Reference

_SHAPE = "write 'Plan: why' and then '#E1 = Tool[input]', with the bracket closed, for each step"
_PIECE = re.compile(r"^[ \t]*(?=Plan:|#E[0-9]+[ \t]*=)", re.M)
_DEFINITION = re.compile(r"#E[0-9]+[ \t]*=")
_CALL = re.compile(r"#E([0-9]+)[ \t]*=[ \t]*([^\[\]\n#=]+)\[")
_EVIDENCE = re.compile(r"#E([0-9]+)(?!\w)", re.ASCII)
_NEARLY = re.compile(r"#[ \t]*e[ \t]*([0-9]+)(?!\w)|(?<![#\w])E([0-9]+)(?!\w)", re.ASCII | re.IGNORECASE)


def recognises(data: str) -> bool:
    """Is this a text that defines evidence?"""
    return _DEFINITION.search(data) is not None


def read(data: str) -> Plan:
    """Read the planner's text; ``Task:`` before it becomes the goal."""
    head, *pieces = _PIECE.split(data)
    if head.strip() and not head.strip().startswith("Task:"):
        raise fault(f"line 1: {head.strip()[:60]!r} comes before the first plan", _SHAPE)
    rewrite = rewriter(_EVIDENCE, lambda match: Reference(match[1]))
    steps: list[dict[str, Any]] = []
    why, line, earlier = "", 1 + head.count("\n"), set[str]()
    for piece in pieces:
        call, last = _CALL.search(piece), piece is pieces[-1]
        thought = piece[: call.start() if call else None].removeprefix("Plan:").strip()
        body = piece[call.end() :].rstrip() if call else ""
        closed = body.endswith("]") and not _CALL.search(body)
        if (why and thought) or (call and not closed) or (not call and (last or _DEFINITION.search(piece))):
            raise fault(f"line {line}: {piece.strip()[:60]!r} is not a plan with one evidence", _SHAPE)
        why = why or " ".join(thought.split())
        for nearly in _NEARLY.finditer(_EVIDENCE.sub("", why + "\n" + body)):
            if (nearly[1] or nearly[2]) in earlier:
                mend = f"write #E{nearly[1] or nearly[2]}, or another name"
                raise fault(f"line {line}: {nearly[0]!r} could be an evidence", mend)
        if call:
            before = _EVIDENCE.findall(why)
            steps.append(step(call[1], call[2].strip(), {"input": body[:-1]}, rewrite, before, why=why))
            earlier.add(call[1])
            why = ""
        line += piece.count("\n")
    return build(steps, head.strip().removeprefix("Task:").strip())


def write(plan: Plan) -> str:
    """Write the plan and its evidence, two lines for each step; a step has one text for its tool, and no other argument."""
    lines = [f"Task: {plan.goal}"] if plan.goal else []
    for one, tool in only_tools(plan):
        match one.params:
            case {"input": str(text)} if len(one.params) == 1:
                lines += [
                    f"Plan: {one.description}",
                    f"#E{one.id} = {tool}[{references.translate(text, whole('#E{}'))}]",
                ]
            case _:
                message = f"its arguments are {', '.join(map(repr, one.params)) or 'none'}, and ReWOO takes one text"
                raise unwritable(one.id, message, "give it one argument 'input', a text")
    return "\n".join([*lines, ""])
