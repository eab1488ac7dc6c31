"""The arithmetic world: four tools that calculate, and a rule planner that writes plans and never calculates.

The goal of the toy planner in "The Planner-Executor Pattern: How Smart AI Teams Split the Work": 12 * 4 + 5.
"""

import ast
import re
from typing import Any

from planexec_lite.tools import Toolbox, tool

GOAL = "What is 12 * 4 + 5?"


@tool(latency=1.0, effects="none")
def add(a: float, b: float) -> float:
    """Add b to a."""
    return _whole(a + b)


@tool(latency=1.0, effects="none")
def subtract(a: float, b: float) -> float:
    """Subtract b from a."""
    return _whole(a - b)


@tool(latency=2.0, effects="none")
def multiply(a: float, b: float) -> float:
    """Multiply a by b."""
    return _whole(a * b)


@tool(latency=4.0, effects="none")
def divide(a: float, b: float) -> float:
    """Divide a by b."""
    if b == 0:
        raise ZeroDivisionError(f"{a:g} can't be divided by zero")
    return _whole(a / b)


TOOLS = Toolbox([add, subtract, multiply, divide])
_NAMES = {ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide"}


def rules(goal: str) -> list[dict[str, Any]]:
    """Return the steps that work out the sum in `goal`, in arithmetic order, without calculating anything.

    Raises `ValueError` when the goal holds no sum of numbers with + - * / and brackets.
    """
    expression = max(re.findall(r"[-\d(][\d\s+\-*/().]*", goal), key=len, default="").strip()
    try:
        tree = ast.parse(expression, mode="eval").body
    except SyntaxError:
        raise ValueError(f"no rule applies to {goal!r}: write a sum with + - * / and brackets") from None
    steps: list[dict[str, Any]] = []
    if not isinstance(_operand(tree, steps), str):
        raise ValueError(f"no rule applies to {goal!r}: there is nothing to work out")
    return steps


def _operand(node: ast.expr, steps: list[dict[str, Any]]) -> float | str:
    """Return the argument for this part of the sum: a number, or a reference to the step that computes it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        negative: float = ast.literal_eval(node)
        return negative
    if isinstance(node, ast.BinOp) and type(node.op) in _NAMES:
        a, b = _operand(node.left, steps), _operand(node.right, steps)
        id = str(len(steps) + 1)
        waits_for = [value.split("_")[1] for value in (a, b) if isinstance(value, str)]
        steps.append({"id": id, "tool": _NAMES[type(node.op)], "params": {"a": a, "b": b}, "depends_on": waits_for})
        return f"{{step_{id}_result}}"
    raise ValueError(f"no rule applies to {ast.unparse(node)!r}: only + - * / of numbers are known")


def _whole(value: float) -> float:
    """48.0 is written 48."""
    return int(value) if value == int(value) else value
