"""Names and imports that no exercise needs, and that an answer could use to cheat.

A right answer that uses such a name gets no points until a teacher has read it: `--trust STUDENT:EXERCISE`.
"""

from __future__ import annotations

import ast
import re

HARMLESS = set(
    "planexec_lite planexec_lab mock_llm __future__ abc bisect cmath collections contextlib copy dataclasses datetime decimal "
    "enum fractions functools graphlib hashlib heapq itertools json math numbers operator pathlib pprint queue random "
    "re shlex statistics string sys textwrap time types typing unicodedata uuid".split()
)
VERBS = {"attempt", "check", "compare", "hint", "next", "progress", "solution"}
DUNDERS = set(
    "__init__ __name__ __class__ __doc__ __call__ __repr__ __str__ __iter__ __next__ __len__ __getitem__ __enter__ __exit__ "
    "__post_init__ __qualname__ __cause__ __future__ __main__ __slots__ __annotations__".split()
)
BUILTINS = {"breakpoint", "compile", "eval", "exec", "globals", "locals", "vars"}
ATTRIBUTES = set(  # of sys and of frames, and modules that other modules have imported
    "addaudithook exc_info last_traceback meta_path modules monitoring path_hooks setprofile settrace _current_frames _getframe "
    "ag_frame co_consts cr_frame f_back f_builtins f_code f_globals f_locals gi_code gi_frame mro tb_frame tb_next "
    "CodeType ForwardRef Formatter FunctionType attrgetter get_field get_type_hints methodcaller "
    "get_objects get_referents get_referrers "
    "atexit builtins ctypes gc importlib inspect linecache marshal multiprocessing os pickle socket subprocess sys".split()
)


def means(source: str) -> tuple[str, ...]:
    """Return the suspicious names of an answer, sorted; () for an answer that is not Python and can't run."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
        return tuple(sorted({name for node in nodes for name in _of(node)} | _foreign(nodes)))
    except (SyntaxError, ValueError):
        return ()
    except (RecursionError, MemoryError):
        return ("deep nesting",)


def _foreign(nodes: list[ast.AST]) -> set[str]:
    """Return the attributes of imported modules, functions and classes that an answer sets or deletes."""
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in nodes
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    changed = [node for node in nodes if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load)]
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            changed += [ast.Attribute(node.args[0], node.func.id)] if node.args else []
    return {ast.unparse(node) for node in changed if _root(node) in imported}


def _root(node: ast.AST) -> str:
    """Return the name at the left end of `a.b.c`, or ""."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _of(node: ast.AST) -> list[str]:
    """Return the suspicious names of a node."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names if not _harmless(alias.name)]
        case ast.ImportFrom():
            module = node.module or "."
            return [f"{module}.{alias.name}" for alias in node.names if not _harmless(module, alias.name)]
        case ast.Attribute(value=ast.Name(id="self" | "cls" | "other")):
            return [node.attr] if _dunder(node.attr) else []
        case ast.Attribute():
            return [node.attr] if _reveals(node.attr) else []
        case ast.MatchClass():
            return [name for name in node.kwd_attrs if _reveals(name)]
        case ast.Name():
            return [node.id] if node.id in BUILTINS or _dunder(node.id) else []
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name] if _dunder(node.name) else []
        case ast.Constant(value=str() as text):
            return [text[:20]] if "__" in re.sub(r"__[a-z_]+?__", _without, text) else []
        case ast.Call(func=ast.Name(id="getattr"), args=[_, name, *_]):
            texts = [
                part.value for part in ast.walk(name) if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            literal = isinstance(name, ast.Constant) or (isinstance(name, ast.IfExp) and len(texts) >= 2)
            return [] if literal and not any(map(_reveals, texts)) else ["getattr"]
    return []


def _reveals(attribute: str) -> bool:
    """Return whether an attribute leads to the inside of an object, a frame or a module."""
    return attribute in ATTRIBUTES or (attribute.startswith("_") and attribute not in DUNDERS)


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
