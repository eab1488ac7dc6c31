"""Names and imports that no exercise needs, and that an answer could use to cheat.

A right answer that uses such a name gets no points until a teacher has read it: `--trust STUDENT:EXERCISE`.
"""

from __future__ import annotations

import ast
import re

HARMLESS = set(
    "planexec_lite planexec_lab mock_llm __future__ abc bisect cmath collections contextlib copy dataclasses datetime decimal "
    "enum fractions functools graphlib hashlib heapq itertools json math numbers operator pathlib pprint pydantic queue random "
    "re shlex statistics string sys textwrap time types typing unicodedata uuid".split()
)
VERBS = {"attempt", "calibration", "check", "compare", "hint", "next", "progress", "solution"}
DUNDERS = set(
    "__init__ __name__ __class__ __doc__ __call__ __repr__ __str__ __iter__ __next__ __len__ __getitem__ __enter__ __exit__ "
    "__post_init__ __qualname__ __cause__ __future__ __main__ __slots__ __annotations__".split()
)
BUILTINS = {"breakpoint", "compile", "eval", "exec", "globals", "locals", "vars"}
ATTRIBUTES = set(  # of sys and of frames, and modules that other modules have imported
    "addaudithook exc_info last_traceback meta_path modules monitoring path_hooks setprofile settrace _current_frames _getframe "
    "ag_frame co_consts cr_frame f_back f_builtins f_code f_globals f_locals gi_code gi_frame mro tb_frame tb_next "
    "CodeType Formatter FunctionType attrgetter get_field methodcaller get_objects get_referents get_referrers "
    "_exit atexit builtins ctypes gc importlib linecache marshal multiprocessing os pickle socket subprocess sys".split()
)


def means(source: str) -> tuple[str, ...]:
    """Return the suspicious names of an answer, sorted; () for an answer that can't be parsed."""
    try:
        return tuple(sorted({name for node in ast.walk(ast.parse(source)) for name in _of(node)}))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()


def _of(node: ast.AST) -> list[str]:
    """Return the suspicious names of a node."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if not _harmless(alias.name)]
    if isinstance(node, ast.ImportFrom):
        module = node.module or "."
        return [f"{module}.{alias.name}" for alias in node.names if not _harmless(module, alias.name)]
    if isinstance(node, ast.Attribute):
        return [node.attr] if node.attr in ATTRIBUTES or _dunder(node.attr) else []
    if isinstance(node, ast.Name):
        return [node.id] if node.id in BUILTINS or _dunder(node.id) else []
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name] if _dunder(node.name) else []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value[:20]] if "__" in re.sub(r"__[a-z_]+?__", _without, node.value) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        parts = [part for name in node.args[1:2] for part in ast.walk(name)]
        computed = any(isinstance(part, (ast.BinOp, ast.Call, ast.JoinedStr, ast.Subscript)) for part in parts)
        named = {part.value for part in parts if isinstance(part, ast.Constant)} & ATTRIBUTES
        return ["getattr"] if computed or named else []
    return []


def _without(match: re.Match[str]) -> str:
    return match[0] if _dunder(match[0]) else ""


def _dunder(name: str) -> bool:
    return name.startswith("__") and name.endswith("__") and name not in DUNDERS


def _harmless(module: str, name: str = "") -> bool:
    """Return whether an import is a verb of the exercises, or of the kit or a harmless module."""
    top = module.partition(".")[0]
    if top == "exercises":
        return (module == "exercises" and name in VERBS) or "listings" in module.split(".")
    return top in HARMLESS and name != "*" and name not in ATTRIBUTES | BUILTINS - {"compile"} and not _dunder(name)
