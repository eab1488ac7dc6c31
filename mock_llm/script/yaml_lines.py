"""A YAML reader that records the line of every value.

The dialect is YAML 1.2's: dates, `yes`, `no` and `12:30` are strings, `0123` is a string, and keys are unique.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import yaml

Path = tuple[str | int, ...]
Lines = dict[Path, int]
TAG = "tag:yaml.org,2002:"
COPIES = 1_000  # values that aliases can repeat


class YamlError(ValueError):
    """YAML can't be read: the line (from 1) and the problem."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class _Loader(yaml.SafeLoader):
    """A SafeLoader without YAML 1.1's surprises."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


for _name, _pattern, _first in (
    ("null", r"|~|null", ["~", "n", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"-?(?:0|[1-9][0-9]*)", list("-0123456789")),
    ("float", r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)(?:e[-+][0-9]+)?", list("-0123456789")),
):
    _Loader.add_implicit_resolver(TAG + _name, re.compile(f"(?:{_pattern})\\Z"), _first)


def read_yaml(text: str) -> tuple[Any, Lines]:
    """Read a YAML document.

    Returns:
        The value, and the line (from 1) of every part of it, by path: `("scenes", 0, "when")`.

    Raises:
        YamlError: the text is not YAML, repeats a key or too many values, or contains a value that contains itself.
    """
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None, {(): 1}
        lines: Lines = {}
        _note_lines(node, (), lines, (), Counter())
        return loader.construct_document(node), lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, f"not YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError, KeyError, ValueError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(1, f"not YAML: {error}") from None


def _note_lines(node: yaml.Node, path: Path, lines: Lines, above: tuple[int, ...], visits: Counter[int]) -> None:
    line = node.start_mark.line + 1
    lines.setdefault(path, line)
    visits[id(node)] += 1
    # A few lines of aliases of aliases can stand for billions of values.
    if visits[id(node)] > 1 and visits.total() - len(visits) > COPIES:
        raise YamlError(line, f"aliases repeat more than {COPIES:,} values; write the values out")
    # An alias inside its own anchor would make the walk endless.
    if id(node) in above:
        raise YamlError(line, "a value that contains itself")
    if node.tag.removeprefix(TAG) not in ("map", "seq", "str", "int", "float", "bool", "null"):
        raise YamlError(line, f"the tag {node.tag!r} is not supported; omit it")
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            if here in lines:
                raise YamlError(
                    key.start_mark.line + 1, f"{key.value!r} is repeated; it is already on line {lines[here]}"
                )
            lines[here] = key.start_mark.line + 1
            _note_lines(value, here, lines, (*above, id(node)), visits)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _note_lines(value, (*path, index), lines, (*above, id(node)), visits)
