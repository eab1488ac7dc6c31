"""Small example values for JSON schemas."""

from __future__ import annotations

from typing import Any

from .validation import list_of, object_of, resolve


def example(schema: Any, root: Any = None, inside: tuple[str, ...] = ()) -> Any:
    """Return a small value that fits a schema, for a scene that its author then completes.

    Args:
        root: the whole schema, which contains the definitions; by default the schema itself.
        inside: the references followed so far; a list that would repeat one of them stays empty.
    """
    root = schema if root is None else root
    if not isinstance(schema, dict):
        return None
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return None if reference in inside else example(resolve(reference, root), root, (*inside, reference))
    if "const" in schema:
        return schema["const"]
    if list_of(schema, "enum"):
        return schema["enum"][0]
    if variants := list_of(schema, "anyOf") or list_of(schema, "oneOf"):
        ends = [variant for variant in variants if not _leads_into(variant, inside)]
        return example((ends or variants)[0], root, inside)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) and kind else kind
    if kind == "object":
        return {name: example(part, root, inside) for name, part in object_of(schema, "properties").items()}
    if kind == "array":
        least = schema.get("minItems", 0 if _leads_into(schema.get("items"), inside) else 1)
        return [example(schema.get("items"), root, inside)] * (min(least, 20) if isinstance(least, int) else 1)
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "null": None}.get(str(kind), "…")


def _leads_into(schema: Any, references: tuple[str, ...]) -> bool:
    return isinstance(schema, dict) and schema.get("$ref") in references
