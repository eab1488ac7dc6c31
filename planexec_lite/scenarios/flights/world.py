"""The world of the booking: a database of flights, seats, holds and bookings, and a traveller who can be asked."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

from planexec_lite.scenarios.flights.traveller import Flight, Traveller
from planexec_lite.scenarios.folder import FolderWorld
from planexec_lite.tools import Effects

Day = Literal["Thursday", "Friday", "Saturday"]
Seat = Literal["window", "aisle", "any"]

GOAL = "Book me a flight to Lisbon for the weekend"

_TOOLS: dict[str, tuple[float, Effects]] = {
    "ask_traveller": (8, "none"),
    "search_flights": (2, "none"),
    "hold_seat": (1, "once"),
    "release_hold": (1, "idempotent"),
    "book": (3, "once"),
    "cancel_booking": (3, "idempotent"),
}
_FLIGHTS = [
    ("LX 108", "Thursday", "06:30", 70), ("LX 112", "Thursday", "11:15", 118), ("LX 116", "Thursday", "15:00", 130),
    ("LX 208", "Friday", "06:50", 89), ("LX 210", "Friday", "07:40", 95), ("LX 212", "Friday", "10:30", 240),
    ("LX 216", "Friday", "14:10", 260), ("LX 308", "Saturday", "09:30", 310),
]  # fmt: skip
_SEATS = [("14A", "window"), ("14B", "middle"), ("14C", "aisle"), ("15A", "window"), ("15C", "aisle")]
_TABLES = """
CREATE TABLE flights (flight TEXT PRIMARY KEY, day TEXT NOT NULL, departs TEXT NOT NULL, price INTEGER NOT NULL);
CREATE TABLE seats (flight TEXT REFERENCES flights, seat TEXT, place TEXT, PRIMARY KEY (flight, seat));
CREATE TABLE holds (hold INTEGER PRIMARY KEY, flight TEXT, seat TEXT, UNIQUE (flight, seat));
CREATE TABLE bookings (booking INTEGER PRIMARY KEY, flight TEXT, seat TEXT, price INTEGER, UNIQUE (flight, seat));
CREATE TABLE talk (number INTEGER PRIMARY KEY, question TEXT, flight TEXT, answer TEXT);
"""
_NUMBER = re.compile(r"LX \d+")


class World(FolderWorld):
    """Eight flights to Lisbon with five free seats each, and a traveller, in a temporary folder.

    Args:
        decided: whether the traveller takes what is offered on the day that they said, and has no surprises.
    """

    TOOLS = _TOOLS
    DESTRUCTIVE = ("release_hold", "cancel_booking")

    def __init__(self, decided: bool = False) -> None:
        super().__init__()
        self.traveller = Traveller(decided)
        with self._database() as db:
            db.executescript(_TABLES)
            db.executemany("INSERT INTO flights VALUES (?, ?, ?, ?)", _FLIGHTS)
            free = [(flight, *seat) for flight, *_ in _FLIGHTS for seat in _SEATS]
            db.executemany("INSERT INTO seats VALUES (?, ?, ?)", free)

    @property
    def database(self) -> Path:
        """The airline's database, a SQLite file."""
        return self.folder / "flights.sqlite"

    @property
    def bookings(self) -> list[dict[str, Any]]:
        """What is booked: flight, day, departure, price, seat and place, in the order of booking."""
        return self._rows(
            "SELECT flight, day, departs, bookings.price, seat, place FROM bookings JOIN flights USING (flight) "
            "JOIN seats USING (flight, seat) ORDER BY booking"
        )

    @property
    def talk(self) -> list[tuple[str, str]]:
        """What the traveller was asked, and what they answered."""
        return [(one["question"], one["answer"]) for one in self._rows("SELECT * FROM talk ORDER BY number")]

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
        with self._database() as db:
            told = (question, offered.flight if offered else None, answer)
            db.execute("INSERT INTO talk (question, flight, answer) VALUES (?, ?, ?)", told)
        return answer

    def search_flights(self, day: Day, not_before: str = "00:00") -> list[dict[str, Any]]:
        """Find the flights of a day that have free seats, the cheapest first.

        Args:
            day: when to fly
            not_before: the earliest departure, as HH:MM
        """
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", not_before):
            raise ValueError(f"{not_before!r} is no time of day; write hours and minutes, such as 09:30")
        return self._rows(
            "SELECT flight, departs, price, count(*) AS free FROM flights JOIN seats USING (flight) "
            "WHERE day = ? AND departs >= ? AND (flight, seat) NOT IN (SELECT flight, seat FROM holds) "
            "AND (flight, seat) NOT IN (SELECT flight, seat FROM bookings) GROUP BY flight ORDER BY price",
            day, not_before,
        )  # fmt: skip

    def hold_seat(self, flight: str, seat: Seat) -> dict[str, Any]:
        """Hold a free seat, so that nobody else gets it.

        Args:
            flight: such as LX 208
            seat: at the window, on the aisle, or any
        """
        self._flight(flight)
        free = self._rows(
            "SELECT seat, place FROM seats WHERE flight = ? AND (? = 'any' OR place = ?) "
            "AND seat NOT IN (SELECT seat FROM holds WHERE flight = seats.flight) "
            "AND seat NOT IN (SELECT seat FROM bookings WHERE flight = seats.flight) ORDER BY seat",
            flight, seat, seat,
        )  # fmt: skip
        if not free:
            raise ValueError(f"{flight} has no free seat of that kind ({seat}); ask for another, or search again")
        with self._database() as db:
            hold = db.execute("INSERT INTO holds (flight, seat) VALUES (?, ?)", (flight, free[0]["seat"])).lastrowid
        return {"hold": hold, "flight": flight, **free[0]}

    def release_hold(self, hold: int) -> dict[str, Any]:
        """Give a held seat back; one that was booked or given back is no longer held.

        Args:
            hold: the number that hold_seat returned
        """
        with self._database() as db:
            return {"hold": hold, "released": db.execute("DELETE FROM holds WHERE hold = ?", (hold,)).rowcount == 1}

    def book(self, hold: int) -> dict[str, Any]:
        """Book a held seat. The traveller must have said yes to the flight.

        Args:
            hold: the number that hold_seat returned
        """
        held = self._rows("SELECT flight, seat FROM holds WHERE hold = ?", hold)
        if not held:
            raise ValueError(f"there is no hold {hold}; take the number that hold_seat returns")
        flight = self._flight(held[0]["flight"])
        told = self._rows("SELECT answer FROM talk WHERE flight = ? ORDER BY number DESC LIMIT 1", flight.flight)
        if not told or not told[0]["answer"].startswith("Yes"):
            raise ValueError(f"the traveller has not said yes to {flight.flight}; ask with ask_traveller")
        with self._database() as db:
            row = (flight.flight, held[0]["seat"], flight.price)
            made = db.execute("INSERT INTO bookings (flight, seat, price) VALUES (?, ?, ?)", row).lastrowid
            db.execute("DELETE FROM holds WHERE hold = ?", (hold,))
        return {"booking": made, "flight": flight.flight, "seat": held[0]["seat"], "price": flight.price}

    def cancel_booking(self, booking: int) -> dict[str, Any]:
        """Cancel a booking: its seat is free again.

        Args:
            booking: the number that book returned
        """
        with self._database() as db:
            gone = db.execute("DELETE FROM bookings WHERE booking = ?", (booking,)).rowcount
        return {"booking": booking, "cancelled": gone == 1}

    def _flight(self, number: str) -> Flight:
        rows = self._rows("SELECT * FROM flights WHERE flight = ?", number)
        if not rows:
            raise ValueError(f"there is no flight {number!r}; take a number that search_flights returns")
        return Flight(**rows[0])

    def _shown(self) -> list[Flight]:
        """The flights that the traveller was asked about so far."""
        return [self._flight(one["flight"]) for one in self._rows("SELECT flight FROM talk WHERE flight IS NOT NULL")]

    def _rows(self, sql: str, *values: Any) -> list[dict[str, Any]]:
        with self._database() as db:
            return [dict(row) for row in db.execute(sql, values)]

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.database)) as db, db:
            db.row_factory = sqlite3.Row
            yield db
