"""When ``$5`` is the result of step 5, and when it is money.

- ``${5}``, or ``$5`` as a whole argument: the result;
- ``$5`` in a formula, ``max($5, $6) / 2``: the result;
- ``$5.00``, ``$5k``, and ``$5`` in a sentence when no step 5 comes before: money;
- ``costs $5`` after a step 5: ambiguous, so it is a fault, and the fix shows both ways to write it.

LLMCompiler's own parser reads every ``$5`` as the result.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection
from functools import lru_cache

from planexec_lab.formats.shapes import fault
from planexec_lab.formats.steps import Rewrite, rewriter
from planexec_lite.tools.references import Reference

UNREADABLE = (SyntaxError, ValueError, TypeError, MemoryError, RecursionError)
"""Python's errors for a text that is no expression or no literal."""

_RESULT = re.compile(r"\$(?:\{(?P<sure>[0-9]+)\}|(?P<bare>[0-9]+)(?!\w|\.[0-9]))")
_THOUSANDS = re.compile(r",[0-9]{3}(?![0-9])")
_FORMULA = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Call, ast.Name, ast.Constant, ast.Tuple, ast.List,
            ast.expr_context)  # fmt: skip


def results_in(earlier: Collection[str], place: int) -> Rewrite:
    """Return what rewrites the texts of line `place`; `earlier` are the ids of the steps before it."""

    def meaning(match: re.Match[str]) -> Reference | None:
        text, id = match.string, match["sure"] or match["bare"]
        if match["sure"] or match[0] == text.strip():
            return Reference(id)
        if _is_formula(text) and not _THOUSANDS.match(text, match.end()):
            return Reference(id)
        if id in earlier:
            message = f"line {place}: in {text[:60]!r}, ${id} can be money or the result of step {id}"
            mend = f"write ${{{id}}} for the result, and '{id} dollars' for the money"
            raise fault(message, mend, "ambiguous_reference")
        return None

    return rewriter(_RESULT, meaning)


def expression(text: str) -> ast.expr:
    """Return `text` parsed as a Python expression, without evaluating it. Raises one of `UNREADABLE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of "\d" in a text; here it is someone's data
        return ast.parse(text.strip(), mode="eval").body


@lru_cache(maxsize=16)
def _is_formula(text: str) -> bool:
    try:
        return all(isinstance(node, _FORMULA) for node in ast.walk(expression(_RESULT.sub("x", text))))
    except UNREADABLE:
        return False
