"""Find answers that are the same program with other names: a hint for the teacher, never a verdict.

The module reduces an answer to its syntax, without comments, docstrings, annotations and the names that the answer defines. Two
answers are similar if they share most runs of this sequence. Runs of the stub don't count. Idea: winnowing, as in MOSS
(Schleimer, 2003).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping
from itertools import combinations

RUN = 6  # nodes of one run
TINY = 40  # fewer runs than this are no evidence
SHARE = 0.7  # of the runs of both
OURS = "our solution"
NAMES = ("id", "arg", "name", "asname")  # the fields of a node that hold a name


def similar(answers: Mapping[str, str], stub: str, right: tuple[str, ...]) -> list[tuple[str, str, float]]:
    """Return pairs of similar answers to an exercise: student, other student or `OURS`, and the share of common runs.

    Args:
        answers: the source by student.
        stub: what all students were given.
        right: the solution, then the listed alternatives, which many students find by themselves.
    """
    given = runs(stub)
    ours, *listed = [runs(source) - given for source in right]
    kept = {student: runs(source) - given for student, source in sorted(answers.items())}
    kept = {student: own for student, own in kept.items() if len(own) >= TINY and own not in listed}
    pairs = [(student, OURS, _share(own, ours)) for student, own in kept.items()]
    known = {student for student, _, share in pairs if share >= SHARE}
    others = [pair for pair in combinations(sorted(kept), 2) if not known.issuperset(pair)]
    pairs += [(one, other, _share(kept[one], kept[other])) for one, other in others]
    return [(one, other, round(share, 2)) for one, other, share in pairs if share >= SHARE]


def runs(source: str) -> frozenset[tuple[str, ...]]:
    """Return the runs of an answer's syntax; none if it can't be parsed."""
    try:
        tree = ast.parse(source)
        nodes = _nodes(tree, _own(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(tuple(nodes[start : start + RUN]) for start in range(len(nodes) - RUN + 1))


def _own(tree: ast.AST) -> set[str]:
    """Return the names that a program assigns or takes as parameters; they can be builtins too, such as `id`."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}


def _nodes(node: ast.AST, own: set[str]) -> list[str]:
    """Return the kinds of the nodes, depth first; constants, attributes and builtins keep their text, names don't."""
    kinds = [type(node).__name__]
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "ctx", "kind"):
            continue
        for part in value if isinstance(value, list) else [value]:
            docstring = isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
            if isinstance(part, ast.AST) and not docstring:
                kinds += _nodes(part, own)
            elif name in NAMES and isinstance(part, str) and (part in own or not hasattr(builtins, part)):
                kinds.append("name")
            elif part is not None and not docstring:
                kinds.append(repr(part))
    return kinds


def _share(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return len(one & other) / max(1, len(one | other))
