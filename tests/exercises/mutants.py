"""Small changes to a solution, each of which a good check should notice.

Prose is left alone: docstrings, descriptions, texts of two words or more, and words with a space inside f-strings.
"""

import ast
import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SWAPS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Mod: (ast.Mult,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}
FREE = ("description", "goal", "task", "comment", "title")  # keys and arguments that hold prose
WORDS = re.compile(r"[A-Za-z]{2,} +[A-Za-z]{2,}")


@dataclass(frozen=True)
class Mutant:
    label: str
    source: str


def mutants(source: str, lines: set[int] | None = None) -> list[Mutant]:
    """Every mutant of some lines, without doubles; by default of those between the solution markers."""
    tree = ast.parse(source)
    lines, before = region(source) if lines is None else lines, ast.unparse(tree)
    mutants_by_source: dict[str, Mutant] = {}
    for node, name, place in places(tree):
        line = node.target.lineno if isinstance(node, ast.comprehension) else getattr(node, "lineno", -1)
        if line not in lines or (isinstance(node, ast.expr) and _free(tree, node)):
            continue
        for new in replacements(node):
            _put(place, name, new)
            text = ast.unparse(tree)
            _put(place, name, node)
            if text != before and text not in mutants_by_source:
                mutants_by_source[text] = Mutant(label(before, text), text)
    return list(mutants_by_source.values())


def region(source: str) -> set[int]:
    inside, lines = False, set()
    for number, line in enumerate(source.splitlines(), 1):
        inside = (inside or line.strip() == "# BEGIN SOLUTION") and line.strip() != "# END SOLUTION"
        lines |= {number} if inside else set()
    return lines


def label(before: str, after: str) -> str:
    """The first changed line, as `old -> new`; nothing on the right when it is gone."""
    changed = [line for line in difflib.ndiff(before.splitlines(), after.splitlines()) if line[0] in "+-"]
    old = next((line[2:].strip() for line in changed if line[0] == "-"), "")
    new = next((line[2:].strip() for line in changed if line[0] == "+"), "")
    return plain(f"{old} -> {new}" if len(old) + len(new) <= 90 else _around(old, new))


def plain(label: str) -> str:
    """A label with one kind of quotes: which ones Python writes around a text depends on its version."""
    return re.sub(r"\\*[\"']", "'", label)


def _around(old: str, new: str, near: int = 16) -> str:
    """Two long lines, cut to where they differ and a little around it."""
    shortest = min(len(old), len(new))
    start = next((n for n in range(shortest) if old[n] != new[n]), shortest)
    end = next((n for n in range(shortest - start) if old[-1 - n] != new[-1 - n]), shortest - start)
    first = max(0, start - near)
    parts = [line[first : len(line) - end + near if end > near else len(line)] for line in (old, new)]
    return " -> ".join(f"{'… ' if first else ''}{part}{' …' if end > near else ''}" for part in parts)


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, Any, Any]]:
    """Every node with where it stands: (node, field name or list index, the node or the list that holds it)."""
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns", "ctx", "args") and isinstance(parent, (ast.arg, ast.FunctionDef)):
                continue
            if isinstance(value, list):
                yield from ((node, index, value) for index, node in enumerate(value) if isinstance(node, ast.AST))
            elif isinstance(value, ast.AST):
                yield value, name, parent


def _put(place: Any, name: Any, node: Any) -> None:
    if isinstance(place, list):
        place[name] = node
    else:
        setattr(place, name, node)


def _free(tree: ast.AST, node: ast.expr) -> bool:
    """Whether an expression is prose: a docstring, a description, or words."""
    for parent in ast.walk(tree):
        if isinstance(parent, ast.Expr) and parent.value is node and isinstance(node, ast.Constant):
            return True
        if isinstance(parent, ast.keyword) and parent.value is node and parent.arg in FREE:
            return True
        if isinstance(parent, ast.Dict):
            for key, value in zip(parent.keys, parent.values, strict=True):
                if value is node and isinstance(key, ast.Constant) and key.value in FREE:
                    return True
        if isinstance(parent, ast.JoinedStr) and node in parent.values and isinstance(node, ast.Constant):
            return " " in str(node.value)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(WORDS.search(node.value))


def replacements(node: Any) -> Iterator[Any]:
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            yield from (ast.Compare(left, [swap()], [right]) for swap in SWAPS.get(type(op), ()))
        case ast.BinOp(left=left, op=op, right=right):
            yield from (ast.BinOp(left, swap(), right) for swap in SWAPS.get(type(op), ()))
        case ast.BoolOp(op=op, values=values):
            yield from (ast.BoolOp(swap(), values) for swap in SWAPS[type(op)])
            yield from (_rest(values, n, lambda rest, op=op: ast.BoolOp(op, rest)) for n in range(len(values)))
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield from (ast.Constant(value + 1), ast.Constant(value - 1))
        case ast.Constant(value=str() as value):
            yield ast.Constant(value + "_x")
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.comprehension(ifs=[_, *_] as ifs):
            for n in range(len(ifs)):
                yield ast.comprehension(node.target, node.iter, [*ifs[:n], *ifs[n + 1 :]], node.is_async)
        case ast.List(elts=elts, ctx=ast.Load()):
            yield from (ast.List([*elts[:n], *elts[n + 1 :]], node.ctx) for n in range(len(elts)))
        case ast.Dict(keys=keys, values=values):
            for n in range(len(keys)):
                yield ast.Dict([*keys[:n], *keys[n + 1 :]], [*values[:n], *values[n + 1 :]])
        case ast.Call(func=func, args=args, keywords=named):
            if len(args) > 1 and not any(isinstance(one, ast.Starred) for one in args[:2]):
                yield ast.Call(func, [args[1], args[0], *args[2:]], named)
            if len(args) > 1:
                yield ast.Call(func, args[:-1], named)
            for n in range(len(named)):
                yield ast.Call(func, args, [*named[:n], *named[n + 1 :]])
        case _:
            yield from statements(node)


def statements(node: Any) -> Iterator[Any]:
    match node:
        case ast.If(body=body, orelse=orelse):
            yield from (ast.If(ast.Constant(value), body, orelse) for value in (True, False))
        case ast.While(body=body, orelse=orelse):
            yield ast.While(ast.Constant(False), body, orelse)
        case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
            last = ast.Slice(upper=ast.UnaryOp(ast.USub(), ast.Constant(1)))
            cut = ast.Subscript(ast.Call(ast.Name("list"), [iterable], []), last, ast.Load())
            yield ast.For(target, cut, body, orelse, lineno=node.lineno)
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.Break():
            yield ast.Continue()
        case ast.Continue():
            yield ast.Break()
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.Raise() | ast.Delete() | ast.Expr(value=ast.Call()):
            yield ast.Pass()


def _rest(values: list[Any], n: int, joined: Any) -> Any:
    rest = [*values[:n], *values[n + 1 :]]
    return rest[0] if len(rest) == 1 else joined(rest)
