"""The lines of items in a JSON text, so that a fault can name its line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Path = Sequence[str | int]
"""The way to an item from the outermost value: names of fields and places in lists."""


def lines_of(text: str, paths: Iterable[Path]) -> list[int]:
    """Return the lines of the items at `paths` in JSON `text`, or of the innermost thing around each that is there."""
    import yaml  # which reads JSON, and knows where each part begins

    try:
        root: Any = yaml.compose(text, getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, RecursionError):
        root = None
    return [_line(root, path) for path in paths]


def _line(node: Any, path: Path) -> int:
    for part in path:
        parts = {key.value: one for key, one in node.value} if node and node.id == "mapping" else {}
        parts = dict(enumerate(node.value)) if node and node.id == "sequence" else parts
        if part not in parts:
            break
        node = parts[part]
    return 1 + (node.start_mark.line if node else 0)
