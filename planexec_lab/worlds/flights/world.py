"""The world of the booking: flights, seats, holds and bookings, and a traveller who can be asked."""

import re
from typing import Any, ClassVar, Literal

from planexec_lab.worlds.flights.traveller import Flight, Traveller
from planexec_lab.worlds.folder import Tools, ToolWorld

Day = Literal["Thursday", "Friday", "Saturday"]
Seat = Literal["window", "aisle", "any"]

GOAL = "Book me a flight to Lisbon for the weekend"

_FLIGHTS = {row[0]: Flight(*row) for row in (
    ("LX 108", "Thursday", "06:30", 70), ("LX 112", "Thursday", "11:15", 118), ("LX 116", "Thursday", "15:00", 130),
    ("LX 208", "Friday", "06:50", 89), ("LX 210", "Friday", "07:40", 95), ("LX 212", "Friday", "10:30", 240),
    ("LX 216", "Friday", "14:10", 260), ("LX 308", "Saturday", "09:30", 310),
)}  # fmt: skip
_SEATS = {"14A": "window", "14B": "middle", "14C": "aisle", "15A": "window", "15C": "aisle"}
_NUMBER = re.compile(r"LX \d+")


class World(ToolWorld):
    """Eight flights to Lisbon with five free seats each, and a traveller.

    Its state can be read: `talk` (what the traveller was asked, and what they answered), `holds` and `booked` (flight and seat
    by number).

    Args:
        decided: whether the traveller takes what is offered on the day that they said, and has no surprises.
    """

    TOOLS: ClassVar[Tools] = {
        "ask_traveller": (8, "none"),
        "search_flights": (2, "none"),
        "hold_seat": (1, "once"),
        "release_hold": (1, "idempotent"),
        "book": (3, "once"),
        "cancel_booking": (3, "idempotent"),
    }
    NOT_DONE = (ValueError,)
    DESTRUCTIVE = ("release_hold", "cancel_booking")

    def __init__(self, decided: bool = False) -> None:
        self.traveller = Traveller(decided)
        self.talk: list[tuple[str, str]] = []
        self.holds: dict[int, tuple[str, str]] = {}
        self.booked: dict[int, tuple[str, str]] = {}
        self._offered: dict[str, str] = {}  # what the traveller answered last to a flight

    @property
    def bookings(self) -> list[dict[str, Any]]:
        """The bookings: flight, day, departure, price, seat and place, in the order of booking."""
        rows = [(self._flight(flight), seat) for flight, seat in self.booked.values()]
        return [{**flight._asdict(), "seat": seat, "place": _SEATS[seat]} for flight, seat in rows]

    @property
    def pleased(self) -> bool:
        """Whether one seat is booked, in a flight that the traveller takes, and where they want to sit."""
        booked = self.bookings
        if len(booked) != 1:
            return False
        flight = self._flight(booked[0]["flight"])
        well_seated = self.traveller.decided or booked[0]["place"] == self.traveller.seat
        return well_seated and self.traveller.wants(flight, self._shown())

    def ask_traveller(self, question: str) -> str:
        """Ask the traveller about the day, the time of day, or a flight, such as: Is flight LX 208 all right?

        Args:
            question: one question
        """
        if not question.strip():
            raise ValueError("an empty question has no answer; ask about the day, the time or a flight")
        number = _NUMBER.search(question)
        offered = self._flight(number[0]) if number else None
        answer = self.traveller.answer(question, offered, self._shown())
        self.talk.append((question, answer))
        if offered:
            self._offered[offered.flight] = answer
        return answer

    def search_flights(self, day: Day, not_before: str = "00:00") -> list[dict[str, Any]]:
        """Find the flights of a day that have free seats, the cheapest first.

        Args:
            day: when to fly
            not_before: the earliest departure, as HH:MM
        """
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", not_before):
            raise ValueError(f"{not_before!r} is no time of day; write hours and minutes, such as 09:30")
        hits = []
        for flight, on, departs, price in sorted(_FLIGHTS.values(), key=lambda flight: flight.price):
            free = len(self._free(flight))
            if on == day and departs >= not_before and free:
                hits.append({"flight": flight, "departs": departs, "price": price, "free": free})
        return hits

    def hold_seat(self, flight: str, seat: Seat) -> dict[str, Any]:
        """Hold a free seat, so that nobody else gets it.

        Args:
            flight: such as LX 208
            seat: at the window, on the aisle, or any
        """
        self._flight(flight)
        free = next((one for one in self._free(flight) if seat in ("any", _SEATS[one])), None)
        if free is None:
            raise ValueError(f"{flight} has no free seat of that kind ({seat}); ask for another, or search again")
        hold = max(self.holds, default=0) + 1
        self.holds[hold] = flight, free
        return {"hold": hold, "flight": flight, "seat": free, "place": _SEATS[free]}

    def release_hold(self, hold: int) -> dict[str, Any]:
        """Give a held seat back; one that was booked or given back is no longer held.

        Args:
            hold: the number that hold_seat returned
        """
        return {"hold": hold, "released": self.holds.pop(hold, None) is not None}

    def book(self, hold: int) -> dict[str, Any]:
        """Book a held seat. The traveller must have said yes to the flight.

        Args:
            hold: the number that hold_seat returned
        """
        if hold not in self.holds:
            raise ValueError(f"there is no hold {hold}; take the number that hold_seat returns")
        flight, seat = self.holds[hold]
        if not self._offered.get(flight, "").startswith("Yes"):
            raise ValueError(f"the traveller has not said yes to {flight}; ask with ask_traveller")
        booking = max(self.booked, default=0) + 1
        self.booked[booking] = self.holds.pop(hold)
        return {"booking": booking, "flight": flight, "seat": seat, "price": self._flight(flight).price}

    def cancel_booking(self, booking: int) -> dict[str, Any]:
        """Cancel a booking: its seat is free again.

        Args:
            booking: the number that book returned
        """
        return {"booking": booking, "cancelled": self.booked.pop(booking, None) is not None}

    def _flight(self, number: str) -> Flight:
        if number not in _FLIGHTS:
            raise ValueError(f"there is no flight {number!r}; take a number that search_flights returns")
        return _FLIGHTS[number]

    def _free(self, flight: str) -> list[str]:
        taken = {*self.holds.values(), *self.booked.values()}
        return [seat for seat in _SEATS if (flight, seat) not in taken]

    def _shown(self) -> list[Flight]:
        """The flights that the traveller was asked about so far."""
        return [self._flight(number) for number in self._offered]
