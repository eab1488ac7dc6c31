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

_LONGEST = 100  # characters of a placeholder
_MOST_WORDS = 6  # before the id
_ID = re.compile(r"[\w.-]+")
_LONE = re.compile(
    r"\s*(?:\$?\{{1,3}[^{}]{1,100}\}{1,3}|<[^<>\n]{1,100}>(?:-\d{1,9})?|\$[^\s$]{1,100}\$?|#[a-zA-Z]{1,9}\d[^\s#]{0,100})\s*"
)
_MARKS = re.compile(r"[${}<>#]+\(?")
_BEFORE = re.compile(
    r"(steps?|results?|outputs?|needs|nodes?|tasks?|jobs?|vars?|variables?|evidence|generated|of|from|the|[est](?=\d))"
    r"[\s_.-]*(?:[\[(]['\"]?)?",
    re.IGNORECASE,
)
_DOUBTFUL = re.compile(r"\s*(?:\$\d|#)")
_SAYS = re.compile(r"steps?|results?|outputs?", re.IGNORECASE)
_AFTER = re.compile(
    r"['\"]?[\])]?(?P<says>[\s_.-]*(?:results?|outputs?|responses?|answers?|observations?))?(?P<path>(?:\.[a-zA-Z_]\w*|\[-?\d+\]|\[['\"]\w+['\"]\])*)\)?",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"\[['\"](\w+)['\"]\]")


def placeholders(
    texts: Iterable[str], ids: Mapping[str, str], waits_for: Collection[str]
) -> Iterator[tuple[str, Reference]]:
    """Yield every placeholder in `texts`, and the reference that it means.

    `ids` are the ids of all steps, as `folded` returns them; `waits_for` are the steps that ``$5`` can name.
    """
    for text in texts:
        named = [
            (part, reference)
            for part in references.placeholders(text)
            if (reference := named_by(part, ids))
        ]
        if not named and len(text) <= 2 * _LONGEST and _LONE.fullmatch(text):
            reference = named_by(text, ids, alone=True)
            if reference and (reference.step in waits_for or not _DOUBTFUL.match(text)):
                named.append((text.strip(), reference))
        yield from named


def folded(ids: Iterable[str]) -> dict[str, str]:
    """Return `ids` by their names in lower case: ``{STEP_A_RESULT}`` names the step ``a``."""
    return {step.casefold(): step for step in ids}


def named_by(text: str, ids: Mapping[str, str], *, alone: bool = False) -> Reference | None:
    """Return the reference that `text` means, if any. Unless it is `alone`, it must say step, result or output."""
    content = _MARKS.sub(" ", text[: 2 * _LONGEST]).strip()
    says = False
    for _ in range(_MOST_WORDS):
        start = _ID.match(content)
        word = start[0][:_LONGEST] if start else ""
        for end in _ends(word):
            step, after = ids.get(content[:end].casefold()), _AFTER.fullmatch(content, end)
            if step is None or after is None:
                continue
            if says or after["says"] or (alone and step == content[:end]):
                return Reference(step, _QUOTED.sub(r".\1", after["path"]))
            return None
        before = _BEFORE.match(content)
        if before is None:
            return None
        says = says or _SAYS.fullmatch(before[1]) is not None
        content = content[before.end() :]
    return None


def _ends(text: str) -> list[int]:
    """Return where an id at the beginning of `text` can end: at its end, and before each separator; the longest first."""
    return [end for end in range(len(text), 0, -1) if text[end : end + 1] in ("", "_", ".", "-")]
