"""The source: its endpoints, read from the syntax tree, and the edits that move it to tokens."""

import ast
import re
from collections.abc import Iterable
from typing import Any

Edits = list[tuple[str, str]]

COOKIE = 'request.cookies.get("session", "")'
HEADER = 'request.headers.get("Authorization", "")'
TOKEN = HEADER + '.partition("Bearer ")[2]'

TO_TOKENS: Edits = [
    ("    session = auth.log_in(", "    token = auth.log_in("),
    ("    if session is None:", "    if token is None:"),
    ('Response(200, cookies={"session": session})', 'Response(200, {"token": token})'),
    (
        f"    auth.log_out({COOKIE})\n",
        "    # the server keeps nothing: the client forgets its token, and the token expires\n",
    ),
    (COOKIE, HEADER),
]
TESTS_TO_TOKENS: Edits = [
    ('self.session = answer.cookies["session"]', 'self.token = answer.body["token"]'),
    ('cookies={"session": self.session}', 'headers={"Authorization": f"Bearer {self.token}"}'),
]


def edited(text: str, edits: Edits) -> str:
    """Return `text` with every old replaced by its new, one edit after the other."""
    for old, new in edits:
        text = text.replace(old, new)
    return text


def tree_of(name: str, text: str) -> ast.Module:
    """Return the syntax tree of a file; raise `ValueError` with the line when it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        reason = getattr(error, "msg", None) or str(error)
        raise ValueError(f"{name} is no Python at line {line} ({reason}); mend it with replace_in_file") from None


def functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the public functions of a module, in order."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def endpoints(tree: ast.Module) -> list[dict[str, str]]:
    """Return every endpoint: its name, method and path, and where it looks for the user's credential."""
    described = []
    for function in functions(tree):
        for mark in function.decorator_list:
            if match := re.fullmatch(r"endpoint\('(\w+)', '(/\w*)'\)", ast.unparse(mark)):
                method, path = match.groups()
                described.append({"name": function.name, "method": method, "path": path, "reads": _reads(function)})
    return described


def uses(tree: ast.Module, module: str) -> list[str]:
    """Return the public functions that use `module`."""
    return [
        function.name
        for function in functions(tree)
        if any(isinstance(node, ast.Name) and node.id == module for node in ast.walk(function))
    ]


def with_bearer(text: str, tree: ast.Module, names: Iterable[str]) -> str:
    """Return `text` in which the named functions take the token that follows "Bearer " in the header."""
    lines = text.split("\n")
    for function in functions(tree):
        if function.name in names:
            own = slice(function.lineno - 1, function.end_lineno)
            lines[own] = [line.replace(TOKEN, HEADER).replace(HEADER, TOKEN) for line in lines[own]]
    return "\n".join(lines)


def changed(name: str, before: str, after: str) -> list[str]:
    """Return the public functions of the file `name` that read otherwise before and after an edit."""
    old, new = (
        {function.name: ast.get_source_segment(text, function) for function in functions(tree_of(name, text))}
        for text in (before, after)
    )
    return [function for function in new if old.get(function) != new[function]]


def identifiers(tree: ast.Module) -> set[str]:
    """Return every name that a module uses or defines, in lower case."""
    kinds: dict[Any, str] = {ast.Name: "id", ast.FunctionDef: "name", ast.arg: "arg", ast.Attribute: "attr"}
    return {str(getattr(node, kinds[type(node)])).lower() for node in ast.walk(tree) if type(node) in kinds}


def _reads(function: ast.FunctionDef) -> str:
    read = {node.attr for node in ast.walk(function) if isinstance(node, ast.Attribute)}
    return "session cookie" if "cookies" in read else "Authorization header" if "headers" in read else "nothing"
