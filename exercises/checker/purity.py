"""Decide from its code whether an answer can keep something between two calls.

A function that reads only constants, other such functions, and what the kit and a few modules define has no place to keep
anything. One check of it proves as much as three.
"""

from __future__ import annotations

import builtins
import dis
import re
from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

PURE = set(
    "__future__ bisect collections copy dataclasses fractions graphlib hashlib heapq itertools json math numbers operator re "
    "shlex statistics string textwrap typing unicodedata".split()
)
KIT = {"planexec_lite", "planexec_lab"}
KEEPS = {"STORE_GLOBAL", "DELETE_GLOBAL", "STORE_ATTR", "DELETE_ATTR", "LOAD_NAME"}
REACHES_FURTHER = set("compile delattr eval exec getattr globals hash id input locals object open setattr vars".split())
CONSTANT = (str, int, float, complex, bytes, type(None), type(...), re.Pattern)


def keeps_nothing(answer: Any) -> bool:
    """Return whether an answer certainly keeps nothing between calls; False if its code does not show this."""
    return _pure(answer, set())


def _pure(value: Any, seen: set[int]) -> bool:
    if id(value) in seen or isinstance(value, CONSTANT):
        return True
    if isinstance(value, (tuple, frozenset)):
        return all(_pure(part, seen) for part in value)
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in PURE | KIT
    if isinstance(value, type) or type(value) is BuiltinFunctionType:
        return str(value.__module__).partition(".")[0] in PURE | KIT | {"builtins", "collections.abc"}
    if not isinstance(value, FunctionType):
        return False
    if value.__module__ != "__main__":
        return str(value.__module__).partition(".")[0] in PURE | KIT
    seen.add(id(value))
    defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
    if value.__closure__ or value.__dict__ or not all(_pure(one, seen) for one in defaults):
        return False
    return all(_reads_only(code, value.__globals__, seen) for code in _codes(value.__code__))


def _reads_only(code: CodeType, names: dict[str, Any], seen: set[int]) -> bool:
    """Return whether each instruction only reads pure values."""
    if any(name.startswith("__") and name != "__name__" for name in code.co_names) or REACHES_FURTHER & set(
        code.co_names
    ):
        return False
    for step in dis.get_instructions(code):
        if step.opname in KEEPS:
            return False
        if step.opname == "IMPORT_NAME" and step.argval.partition(".")[0] not in PURE | KIT:
            return False
        if step.opname == "LOAD_GLOBAL":
            value = names.get(step.argval, getattr(builtins, step.argval, None))
            if not _pure(value, seen):
                return False
    return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code and the code of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
