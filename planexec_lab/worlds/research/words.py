"""Words and sentences: what a search looks for, and an extractive summary."""

import re
from collections import Counter
from collections.abc import Iterator

CITATION = re.compile(r"\[(doc-\d+)\]")

_STOP_WORDS = frozenset(
    "a about all also an and any are as at be been but by can do does each find for from had has have he her his how "
    "i if in into is it its may more most much my no not now of on one only or our own so some such than that the their "
    "them then there they this those to too two up was we were what when where which who whose why will with would you "
    "your".split()
)


def content_words(text: str) -> list[str]:
    """The words that carry meaning, in small letters, in order."""
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _STOP_WORDS]


def length(text: str) -> int:
    """How many words a text has, its citations not counted."""
    return len(re.findall(r"\S*\w\S*", CITATION.sub("", text)))


def sentences(text: str) -> list[str]:
    """The sentences of a text, in order."""
    return [sentence for sentence in re.split(r"(?<=[.!?])\s+", text.strip()) if sentence]


def by_source(text: str) -> Iterator[tuple[str | None, str]]:
    """The parts of a text with the document that each comes from: what follows ``[doc-7]`` comes from doc-7."""
    first, *rest = CITATION.split(text)
    parts = [(None, first), *zip(rest[::2], rest[1::2], strict=True)]
    return ((source, part.strip()) for source, part in parts if part.strip())


def summary(text: str, most: int) -> str:
    """The `most` sentences whose words occur most often in `text`, in their order; an early sentence counts more."""
    parts = sentences(text)
    often = Counter(content_words(text))

    def weight(n: int) -> float:
        words = set(content_words(parts[n]))
        return round(sum(often[word] - 1 for word in words) / (len(words) + 3) * (1 + 1 / (n + 1)), 6)

    best = sorted(range(len(parts)), key=lambda n: (-weight(n), n))[:most]
    return " ".join(parts[n] for n in sorted(best))
