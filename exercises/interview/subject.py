"""Which question an answer is about: the cards whose words it shares; a rare word counts more than a frequent one (tf-idf)."""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from math import log, sqrt

from exercises.interview import cards
from exercises.interview.cards import Card
from exercises.interview.words import stem, tokens

CLOSE = 0.55  # of the points of the card that fits best


@cache
def _weights() -> dict[str, dict[str, float]]:
    """Return for each word the cards that contain it, each with the word's share of that card."""
    counts = {card.id: Counter(_words(card)) for card in cards.load()}
    frequency = Counter(word for count in counts.values() for word in count)
    rarity = {word: log((len(counts) + 1) / (cards + 0.5)) for word, cards in frequency.items()}
    weights: dict[str, dict[str, float]] = {word: {} for word in rarity}
    for id, count in counts.items():
        points = {word: (1 + log(number)) * rarity[word] for word, number in count.items()}
        length = sqrt(sum(each**2 for each in points.values()))
        for word, each in points.items():
            weights[word][id] = each * rarity[word] / length
    return weights


def _words(card: Card) -> list[str]:
    """Return the stems of a card: its answer and question once, and those of each idea once."""
    wordings = [idea.accept.translate(str.maketrans("|;?=~", "     ")) for idea in card.ideas]
    texts = [f"{card.short} {card.long} {card.question}", *wordings, *(idea.say for idea in card.ideas)]
    return [word for text in texts for word in set(map(stem, tokens(text)))]


@lru_cache(1024)
def closeness(answer: str) -> dict[str, float]:
    """Return how well an answer fits each card, as a share of the best fit."""
    points = Counter[str]()
    for word in set(map(stem, tokens(answer))):
        for id, each in _weights().get(word, {}).items():
            points[id] += each
    best = max(points.values(), default=0.0)
    return {id: each / best for id, each in points.items() if best > 0}
