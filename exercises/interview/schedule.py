"""When a card comes again: spaced repetition with the FSRS scheduler, kept in the learner's progress file."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import fsrs

from exercises.checker import record
from exercises.interview.interviewer import PASSING, STRONG, Mark

PREFIX = "card "
_SCHEDULER = fsrs.Scheduler(enable_fuzzing=False)


def remember(marks: Sequence[Mark], now: datetime | None = None) -> None:
    """Store each marked card with the time at which it is due again."""
    for one in marks:
        score = one.score
        rating = fsrs.Rating.Again if score < PASSING else fsrs.Rating.Hard if score < STRONG else fsrs.Rating.Good
        card, _ = _SCHEDULER.review_card(
            _stored().get(one.card.id) or fsrs.Card(card_id=1), rating, now or datetime.now(UTC)
        )
        record.keep(PREFIX + one.card.id, {"card": card.to_json(), "score": score})


def due(now: datetime | None = None) -> list[str]:
    """Return the ids of the cards that are due, the oldest first."""
    waiting = [(card.due, id) for id, card in _stored().items() if card.due <= (now or datetime.now(UTC))]
    return [id for _, id in sorted(waiting)]


def _stored() -> dict[str, fsrs.Card]:
    stored = {}
    for name, entry in record.kept().items():
        if name.startswith(PREFIX):
            try:
                stored[name.removeprefix(PREFIX)] = fsrs.Card.from_json(entry["card"])
            except (ValueError, KeyError, TypeError):
                continue  # written by hand, or by another version
    return stored
