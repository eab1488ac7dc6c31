"""Parts of a JSON schema: what a ``$ref`` names, what older drafts of the standard wrote otherwise, and how many there are.

Every schema is read as draft 2020-12 defines it. A small schema can mean a huge one, because each ``$ref`` means all of its
target: `expanded_size` counts the parts without writing them out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote

MOST_PARTS = 5_000
"""Most parts that a tool's schema can have, with the target of a ``$ref`` counted once for each ``$ref``."""

_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"})
_DATA = frozenset({"enum", "const", "default", "examples", "required"})
_COMPOSED = ("allOf", "anyOf", "oneOf")


class SchemaPartError(ValueError):
    """A ``$ref`` names no part of its schema."""


def modern(schema: Any) -> Any:
    """Return `schema` as draft 2020-12 writes it: tuples of draft 7 and bounds of draft 4 are rewritten.

    Of equal choices one is left.
    """
    if isinstance(schema, list):
        return [modern(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    new = {keyword: part if keyword in _DATA else modern(part) for keyword, part in schema.items()}
    for keyword in _NAMED & schema.keys():
        if isinstance(schema[keyword], dict):
            new[keyword] = {name: modern(part) for name, part in schema[keyword].items()}
    for keyword in ("anyOf", "oneOf"):
        if isinstance(new.get(keyword), list):
            new[keyword] = list({json.dumps(one, sort_keys=True): one for one in new[keyword]}.values())
    if isinstance(new.get("items"), list):
        new["prefixItems"] = new.pop("items")
        if "additionalItems" in new:
            new["items"] = new.pop("additionalItems")
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(new.get(exclusive), bool) and new.pop(exclusive) and bound in new:
            new[exclusive] = new.pop(bound)
    return new


def target(root: dict[str, Any], reference: Any) -> Any:
    """Return the schema that ``$ref`` `reference` names in `root`, by a path or an ``$anchor``, through names of names.

    Raises `SchemaPartError` where it names none.
    """
    seen: list[Any] = []
    while True:
        if not isinstance(reference, str) or not reference.startswith("#") or reference in seen:
            raise SchemaPartError(f"$ref {json.dumps(reference)} names no part of this schema; no other is read")
        seen.append(reference)
        parts = [*_at(root, reference[1:])]
        if not parts:
            raise SchemaPartError(f"$ref {json.dumps(reference)} names nothing in this schema")
        part = parts[0]
        if not (isinstance(part, dict) and part.keys() == {"$ref"}):
            return part
        reference = part["$ref"]


def _at(root: Any, path: str) -> Iterator[Any]:
    """The parts at a path, or with the ``$anchor`` of that name."""
    if path and not path.startswith("/"):
        yield from _anchored(root, path)
        return
    keys = [unquote(key).replace("~1", "/").replace("~0", "~") for key in path.split("/")[1:]]
    for key, following in zip(keys, [*keys[1:], ""], strict=True):
        if isinstance(root, dict) and key == "items" and following.isdecimal() and "prefixItems" in root:
            key = "prefixItems"  # as draft 7 calls it
        if isinstance(root, dict) and key in root:
            root = root[key]
        elif isinstance(root, list) and key.isdecimal() and len(key) < 6 and int(key) < len(root):
            root = root[int(key)]
        else:
            return
    yield root


def _anchored(part: Any, anchor: str) -> Iterator[Any]:
    if isinstance(part, dict):
        if part.get("$anchor") == anchor:
            yield part
        for inner in part.values():
            yield from _anchored(inner, anchor)
    elif isinstance(part, list):
        for inner in part:
            yield from _anchored(inner, anchor)


def expanded_size(root: dict[str, Any]) -> int:
    """Return how many parts `root` has when each ``$ref`` is replaced by its target; a part inside itself counts once."""
    within: set[str] = set()

    @cache
    def of_target(reference: str) -> int:
        within.add(reference)
        try:
            return size(target(root, reference))
        except SchemaPartError:
            return 1
        finally:
            within.discard(reference)

    def size(part: Any) -> int:
        if isinstance(part, list):
            return 1 + sum(map(size, part))
        if not isinstance(part, dict):
            return 1
        reference = part.get("$ref")
        named = isinstance(reference, str) and reference not in within
        return 1 + sum(map(size, part.values())) + (of_target(reference) if named else 0)

    return size({keyword: part for keyword, part in root.items() if keyword not in ("$defs", "definitions")})


def composed(part: Any, root: dict[str, Any], deepest: int = 10) -> tuple[dict[str, Any], list[str]]:
    """Return the properties of an object, and the names of those that it requires, with those that it is composed of.

    It may be composed by ``$ref``, ``allOf``, ``anyOf`` and ``oneOf``; of choices, those are required that each of them
    requires. Raises `SchemaPartError` where a part is no object.
    """
    properties = part.get("properties", {}) if isinstance(part, dict) else None
    if not isinstance(properties, dict) or part.get("type", "object") != "object" or not deepest:
        raise SchemaPartError("a part of the whole object is no object with properties, or it is composed too deeply")
    properties = dict(properties)
    if not isinstance(part.get("required", []), list):
        raise SchemaPartError("required is a list of names")
    required = [*map(str, part.get("required", []))]
    groups = [("allOf", [target(root, part["$ref"])])] if "$ref" in part else []
    groups += [(keyword, part[keyword]) for keyword in _COMPOSED if isinstance(part.get(keyword), list)]
    for keyword, parts in groups:
        objects = [composed(one, root, deepest - 1) for one in parts]
        for name in dict.fromkeys(name for inner, _ in objects for name in inner):
            kinds = [inner[name] for inner, _ in objects if name in inner]
            different = [kind for n, kind in enumerate(kinds) if kind not in kinds[:n]]
            together = {"allOf" if keyword == "allOf" else "anyOf": different}
            properties.setdefault(name, different[0] if len(different) == 1 else together)
        names = [set(inner) for _, inner in objects]
        if names:
            required += sorted(set.union(*names) if keyword == "allOf" else set.intersection(*names))
    return properties, list(dict.fromkeys(required))
