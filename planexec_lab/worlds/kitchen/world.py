"""A kitchen: a pantry, one oven, and what is chopped, cooked, plated and served so far.

Things take their time: on a virtual clock, what is not ready yet can't be used, and a step that comes too early fails.
"""

from __future__ import annotations

from threading import Lock
from typing import Any, ClassVar, Literal

from planexec_lab.worlds.folder import Tools, ToolWorld
from planexec_lite.meter import now
from planexec_lite.tools import suggest

Course = Literal["starter", "main", "dessert"]

COURSES: dict[Course, str] = {"starter": "simmered", "main": "roasted", "dessert": "baked"}
"""The courses in the order in which they are served, and how what is on their plates was cooked."""

# What is in the full pantry, what eight guests need (pieces, litres of stock, grams of flour and butter), and how many
# minutes to chop the ingredient; None if it is not chopped.
_INGREDIENTS: dict[str, tuple[int, int, int | None]] = {
    "leeks": (6, 6, 8),
    "onions": (10, 8, 6),
    "potatoes": (20, 16, 10),
    "carrots": (15, 12, 7),
    "apples": (9, 8, 10),
    "chicken": (2, 2, None),
    "stock": (3, 2, None),
    "flour": (1000, 500, None),
    "butter": (500, 250, None),
    "eggs": (6, 3, None),
}
_PANTRY = {name: amount for name, (amount, _, _) in _INGREDIENTS.items()}
_FOR_EIGHT = {name: needed for name, (_, needed, _) in _INGREDIENTS.items()}
_CHOPPING = {name: minutes for name, (_, _, minutes) in _INGREDIENTS.items() if minutes is not None}
_MINUTES = {"mix": 10, "simmer": 25, "roast": 40, "bake": 30, "plate": 5, "serve": 5}
_MOMENT = 1e-6  # tolerance for sums of seconds


def _chopping(what: str) -> float:
    """Seconds to chop an ingredient; to find out that it can't be chopped takes as long as the quickest."""
    return 60.0 * _CHOPPING.get(what, min(_CHOPPING.values()))


_HANDS = Lock()  # one cook at a time reaches into a kitchen


class World(ToolWorld):
    """A kitchen before the first ticket.

    Its state can be read and changed: `pantry` (amounts by ingredient), `chopped`, `mixed`, `cooked` (ingredients by method),
    `oven` (the course in it, or None), `plated` (parts by course), `served`, and `tickets`, all tickets in order of execution.

    Args:
        pantry: amounts that differ from the full pantry, such as ``leeks=0``. Raises `ValueError` for an unknown ingredient or
            an amount below zero.
    """

    TOOLS: ClassVar[Tools] = {
        "chop": (_chopping, "once"),  # a repeat would use up more
        **{name: (60 * minutes, "once") for name, minutes in _MINUTES.items()},
    }
    NOT_DONE = (ValueError,)

    def __init__(self, **pantry: int) -> None:
        for name, amount in pantry.items():
            if name not in _PANTRY:
                raise ValueError(f"the pantry holds no {name}{suggest(name, _PANTRY)}; it holds: {', '.join(_PANTRY)}")
            if amount < 0:
                raise ValueError(f"{name}={amount}: an amount is zero or more")
        self.pantry = _PANTRY | pantry
        self.chopped: list[str] = []
        self.mixed: list[str] = []
        self.cooked: dict[str, list[str]] = {}
        self.oven: Course | None = None
        self.plated: dict[str, list[str]] = {}
        self.served: list[str] = []
        self.tickets: list[str] = []
        self._ready: dict[str, float] = {}  # when what was begun is over, in seconds of the run

    def copied(self) -> World:
        """Return an independent copy of this kitchen in its current state."""
        with _HANDS:
            return super().copied()

    def chop(self, what: str) -> dict[str, Any]:
        """Take an ingredient out of the pantry and chop it, for eight.

        Args:
            what: leeks, onions, potatoes, carrots or apples
        """
        if what not in _CHOPPING:
            known = ", ".join(_CHOPPING)
            raise ValueError(f"{what!r} can't be chopped{suggest(what, _CHOPPING)}; these can: {known}")
        with _HANDS:
            self._check_pantry(what)
            self.pantry[what] -= _FOR_EIGHT[what]
            self.chopped.append(what)
            self._begun(what)
            self.tickets.append(f"chop {what}")
            return {"chopped": what, "amount": _FOR_EIGHT[what], "left": self.pantry[what]}

    def mix(self, what: list[str]) -> dict[str, Any]:
        """Mix ingredients into a dough.

        Args:
            what: such as flour, butter and eggs
        """
        with _HANDS:
            parts = self._use("mix", what)
            self.mixed.append("dough")
            self._begun("dough")
            return {"mixed": "dough", "parts": parts}

    def simmer(self, what: list[str]) -> dict[str, Any]:
        """Simmer a soup on the stove. Vegetables have to be chopped before.

        Args:
            what: what goes into the pot
        """
        with _HANDS:
            return self._cook("simmer", "starter", what)

    def roast(self, what: list[str]) -> dict[str, Any]:
        """Roast in the only oven, where the roast stays until the main course is plated. Vegetables have to be chopped before.

        Args:
            what: what goes into the tin
        """
        with _HANDS:
            return self._in_oven("roast", "main", what)

    def bake(self, what: list[str]) -> dict[str, Any]:
        """Bake in the only oven, where the cake stays until the dessert is plated. Fruit has to be chopped, dough mixed before.

        Args:
            what: what goes into the form, such as dough and apples
        """
        with _HANDS:
            return self._in_oven("bake", "dessert", what)

    def plate(self, course: Course) -> dict[str, Any]:
        """Put a course on eight plates; what was in the oven for it comes out.

        Args:
            course: the starter is what was simmered, the main what was roasted, the dessert what was baked
        """
        with _HANDS:
            how = COURSES[course]
            if how not in self.cooked:
                raise ValueError(f"the {course} can't be plated: nothing is {how} yet")
            self._check_ready("plate", how, f"the {course} is not {how}")
            self._begun(f"{course} on plates")
            self.plated[course] = self.cooked.pop(how)
            if self.oven == course:
                self.oven = None
                self._begun("oven")
            self.tickets.append(f"plate {course}")
            return {"plated": course, "parts": self.plated[course]}

    def serve(self, course: Course) -> dict[str, Any]:
        """Serve a plated course to the guests: starter, main, dessert.

        Args:
            course: which
        """
        with _HANDS:
            if course not in self.plated:
                raise ValueError(f"the {course} can't be served: it is not plated")
            before = list(COURSES)[: list(COURSES).index(course)]
            if waiting := [other for other in before if other not in self.served]:
                raise ValueError(f"the {course} can't be served: the guests wait for the {waiting[0]}")
            self._check_ready("serve", f"{course} on plates", f"the {course} is not plated")
            for other in before:
                self._check_ready("serve", f"{other} served", f"the guests have not got the {other}")
            self._begun(f"{course} served")
            parts = self.plated.pop(course)
            self.served.append(course)
            self.tickets.append(f"serve {course}")
            return {"served": course, "guests": 8, "parts": parts}

    def _in_oven(self, verb: str, course: Course, what: list[str]) -> dict[str, Any]:
        if self.oven:
            raise ValueError(f"the oven is full: the {self.oven} is in it until it is plated; {verb} after that")
        self._check_ready(verb, "oven", "the oven is not free")
        done = self._cook(verb, course, what)
        self.oven = course
        return done

    def _cook(self, verb: str, course: Course, what: list[str]) -> dict[str, Any]:
        how = COURSES[course]
        if how in self.cooked:
            raise ValueError(f"{', '.join(self.cooked[how])}: {how} already; plate the {course} first")
        self.cooked[how] = self._use(verb, what)
        self._begun(how)
        return {how: self.cooked[how]}

    def _use(self, verb: str, what: list[str]) -> list[str]:
        """Take chopped vegetables, the dough and things from the pantry; all of them, or nothing where one is missing."""
        parts = list(dict.fromkeys(what))
        if not parts:
            raise ValueError(f"there is nothing to {verb}; name at least one ingredient")
        for part in parts:
            if part == "dough":
                if not self.mixed:
                    raise ValueError("there is no dough; mix one first")
                self._check_ready(verb, part, "the dough is not mixed")
            elif part in _CHOPPING:
                if part not in self.chopped:
                    raise ValueError(f"there are no chopped {part}; chop them first")
                self._check_ready(verb, part, f"the {part} are not chopped")
            else:
                self._check_pantry(part)
        for part in parts:
            if part == "dough":
                self.mixed.remove(part)
            elif part in _CHOPPING:
                self.chopped.remove(part)
            else:
                self.pantry[part] -= _FOR_EIGHT[part]
        self.tickets.append(f"{verb} {', '.join(parts)}")
        return parts

    def _begun(self, what: str) -> None:
        """Record when the product of the current call is ready: the clock shows the end of the call already."""
        self._ready[what] = now() or 0.0

    def _check_ready(self, verb: str, what: str, missing: str) -> None:
        """Raise `ValueError` if the current call began before `what` was ready; without a virtual clock all is ready."""
        time, ready = now(), self._ready.get(what, 0.0)
        if time is not None and ready > time - 60 * _MINUTES[verb] + _MOMENT:
            raise ValueError(f"{missing} before minute {ready / 60:g}; {verb} after that")

    def _check_pantry(self, what: str) -> None:
        if what not in _FOR_EIGHT:
            raise ValueError(f"the kitchen knows no {what!r}{suggest(what, _FOR_EIGHT)}")
        there, needed = self.pantry.get(what, 0), _FOR_EIGHT[what]
        if there < needed:
            enough = ", ".join(name for name in _FOR_EIGHT if self.pantry.get(name, 0) >= _FOR_EIGHT[name])
            raise ValueError(
                f"the pantry has {there} {what}, and eight guests need {needed}; there is enough of: {enough}"
            )
