"""The small template of replies: `{{name}}` stands for a text that `when.find` found in the conversation.

That is all there is: no expressions, no loops. A reply that must compute is a Python function.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
AS_JSON = re.compile(r"\{\{\s*(\w+)\s*\|\s*json\s*\}\}")


def names_in(template: Any) -> set[str]:
    """All names that a reply uses, wherever they stand in it."""
    if isinstance(template, str):
        return set(PLACEHOLDER.findall(template)) | set(AS_JSON.findall(template))
    if isinstance(template, dict):
        return set().union(*map(names_in, template.values()))
    if isinstance(template, list):
        return set().union(*map(names_in, template))
    return set()


def fill(template: Any, found: Mapping[str, str]) -> Any:
    """A reply with what was found put in; found texts are never looked at again.

    Args:
        template: a text, or a JSON value whose texts are filled.
        found: name -> text.

    Returns:
        The same shape. A text that is only `{{name|json}}` becomes the JSON value that was found.

    Raises:
        ValueError: the text found for `{{name|json}}` is not JSON.
    """
    if isinstance(template, str):
        if whole := AS_JSON.fullmatch(template):
            return json.loads(found[whole.group(1)])
        return re.sub(f"{AS_JSON.pattern}|{PLACEHOLDER.pattern}", lambda m: found[m.group(1) or m.group(2)], template)
    if isinstance(template, dict):
        return {key: fill(value, found) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, found) for value in template]
    return template
