"""The traveller: what they answer follows from the question and from what was said before, and from nothing else."""

from dataclasses import dataclass
from typing import NamedTuple


class Flight(NamedTuple):
    """An offered flight: number, day, hour, and price in euros."""

    flight: str
    day: str
    departs: str
    price: int


@dataclass(frozen=True, slots=True)
class Traveller:
    """Wishes that are stated only when asked. A `decided` traveller takes the offer on the stated day.

    Args:
        day: the wanted day before a price is known.
        cheaper: the wanted day after a price above `limit`.
        not_before: the earliest hour of departure.
        seat: the wanted seat.
    """

    decided: bool = False
    day: str = "Friday"
    cheaper: str = "Thursday"
    limit: int = 150
    not_before: str = "10:00"
    seat: str = "aisle"

    def wants(self, flight: Flight, seen: list[Flight]) -> bool:
        """Whether they would take `flight`, after the flights that they have `seen`."""
        if self.decided:
            return flight.day == self.day
        return flight.day == self.wanted_day(seen) and flight.departs >= self.not_before and flight.price <= self.limit

    def wanted_day(self, seen: list[Flight]) -> str:
        """The day that they want after what they have `seen`: a price above their limit changes their mind."""
        shocked = any(one.price > self.limit and one.departs >= self.not_before for one in seen)
        return self.cheaper if shocked and not self.decided else self.day

    def answer(self, question: str, offered: Flight | None, seen: list[Flight]) -> str:
        """Return what they say to `question`, which may offer a flight, after the flights that they have `seen`."""
        if offered is not None:
            return self._about(offered, seen)
        if "day" in question:
            return f"On {self.wanted_day(seen)}."
        if "time" in question:
            return "Any time." if self.decided else f"Not before {self.not_before}."
        return "Ask me about the day, the time, or a flight."

    def _about(self, offered: Flight, seen: list[Flight]) -> str:
        if self.wants(offered, seen):
            return "Yes." if self.decided else f"Yes, on the {self.seat}."
        if not self.decided and offered.departs < self.not_before:
            return f"Not before {self.not_before}."
        if not self.decided and offered.price > self.limit:
            return f"{offered.price} euros? Then on {self.cheaper}."
        return f"On {self.wanted_day(seen)}."
