"""Placeholders: references in the spellings of other libraries. The kit does not resolve them; it reports them.

A model that knows another library writes ``{{ steps.1.output }}``, ``$1`` or ``#E1``, and a tool would receive that text.
But texts also contain prices, colours, shell variables and templates. So a placeholder is

- a text in braces or ``<…>``, or after ``$`` or ``#``, that names a step of the plan together with the word step, result or
  output;
- without such a word, a parameter that contains nothing else and names a step of the plan. ``$5`` might be money and
  ``#E11`` a colour, so the step must depend on the step that they name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

from planexec_lite.tools import references
from planexec_lite.tools.references import Reference

_LONGEST = 200  # characters of a placeholder
_LONE = re.compile(
    r"\s*(?:\$?\{{1,3}[^{}]{1,100}\}{1,3}|<[^<>\n]{1,100}>(?:-\d{1,9})?|\$[^\s$]{1,100}\$?|#[a-zA-Z]{1,9}\d[^\s#]{0,100})\s*"
)
_MARKS = re.compile(r"[${}<>#]+\(?")
_BEFORE = re.compile(
    r"(?:(?P<says>steps?|results?|outputs?)|needs|nodes?|tasks?|jobs?|vars?|variables?|evidence|generated|of|from|the|[est](?=\d))"
    r"[\s_.-]*(?:[\[(]['\"]?)?",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(r"\s*(?:\$\d|#)")
_MEANT = re.compile(
    r"(?P<id>[\w.-]+?)['\"]?[\])]?(?P<says>[\s_.-]*(?:results?|outputs?|responses?|answers?|observations?))?"
    r"(?P<path>(?:\.[a-zA-Z_]\w*|\[-?\d+\]|\[['\"]\w+['\"]\])*)\)?",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\[['\"](\w+)['\"]\]")


def placeholders(
    unreadable: Iterable[str],
    texts: Iterable[str],
    ids: Mapping[str, str],
    waits_for: Collection[str],
) -> Iterator[tuple[str, Reference | None]]:
    """Yield every reference that is `unreadable` and every placeholder in `texts`, and the reference that it means.

    `ids` are the ids of all steps by their names in lower case: ``{STEP_A_RESULT}`` names the step ``a``; `waits_for` are
    the steps that ``$5`` can name.
    """
    for text in unreadable:
        yield text, _named_by(text, ids)
    for text in texts:
        parts = references.placeholders(text)
        named = [(part, reference) for part in parts if (reference := _named_by(part, ids))]
        if not named and len(text) <= _LONGEST and _LONE.fullmatch(text):
            reference = _named_by(text, ids, alone=True)
            if reference and (reference.step in waits_for or not _DOUBTFUL.match(text)):
                named.append((text.strip(), reference))
        yield from named


def _named_by(text: str, ids: Mapping[str, str], *, alone: bool = False) -> Reference | None:
    """Return the reference that `text` means, if any. Unless it is `alone`, it must say step, result or output."""
    content = _MARKS.sub(" ", text[:_LONGEST]).strip()
    says = False
    while content:
        if meant := _MEANT.fullmatch(content):
            step = ids.get(meant["id"].casefold())
            if step and (says or meant["says"] or (alone and step == meant["id"])):
                return Reference(step, _QUOTED.sub(r".\1", meant["path"]))
        before = _BEFORE.match(content)
        if before is None:
            return None
        says = says or before["says"] is not None
        content = content[before.end() :]
    return None
