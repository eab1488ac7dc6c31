"""The lines of parts of YAML, and of JSON, which is YAML too."""

from collections.abc import Sequence
from typing import Any

Path = Sequence[str | int]
"""The way to a part from the outermost value: names of fields and places in lists."""


def line_of(node: Any, path: Path) -> int:
    """Return the line of the part at `path` below a node of `yaml.compose`, or of the innermost part around it that is there."""
    line = node.start_mark.line if node else 0
    for part in path:
        named: dict[Any, tuple[Any, Any]] = {}
        if node and node.id == "mapping":
            named = {key.value: (key, value) for key, value in node.value}
        elif node and node.id == "sequence":
            named = {place: (value, value) for place, value in enumerate(node.value)}
        if part not in named:
            break
        line, node = named[part][0].start_mark.line, named[part][1]
    return 1 + line
