"""The knowledge about booking: the questions, and the assumptions when planning ahead."""

import re
from collections.abc import Sequence

from planexec_lab.worlds.minds import Act, Answer, Expectation, Later, Seen

_EXPECTED = {"day": "On Friday.", "time": "Any time."}


class BookingMind:
    """Asks for the day and the time, offers the cheapest flight that fits, holds a seat and books it.

    It expects a weekend to begin on Friday, and a traveller to leave at any time and to say yes to the cheapest flight.
    """

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return what comes next after what was seen."""
        day = hours = hits = hold = None
        seat, agreed = "any", False
        for one in seen:
            if one.failed:
                return Answer(f"I can't book it: {one.result}")
            if one.tool == "search_flights":
                # a wish that came as a surprise is no longer on the board, but the search that followed from it is
                day, hours, hits = one.params["day"], one.params["not_before"], one.result
            elif one.tool == "hold_seat":
                # a call that was planned ahead might hold a seat that the traveller does not want
                hold = one.result["hold"] if agreed else None
            elif one.tool == "book":
                return Answer("It is booked.")
            elif one.tool == "ask_traveller":
                hours = "00:00" if "time" in one.params["question"] else hours
                day, hours, hits = _heard(one.result, day, hours, hits)
                agreed = one.result.startswith("Yes")
                seat = "aisle" if "aisle" in one.result else seat
        if day is None:
            return Act("I will ask for the day.", "ask_traveller", {"question": "On which day do you want to fly?"})
        if hours is None:
            return Act("I will ask for the time.", "ask_traveller", {"question": "At what time can you leave?"})
        if hits is None:
            return Act("I will look for flights.", "search_flights", {"day": day, "not_before": hours})
        if not agreed:
            offer = f"Is flight {hits[0]['flight']} for {hits[0]['price']} euros all right?"
            return Act("I will offer the cheapest.", "ask_traveller", {"question": offer})
        if hold is None:
            return Act("I will hold a seat.", "hold_seat", {"flight": hits[0]["flight"], "seat": seat})
        return Act("I will book it.", "book", {"hold": hold})

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return the assumed answer to a question; the result of a tool can't be assumed."""
        if act.tool != "ask_traveller":
            return Expectation(later)
        question = act.params["question"]
        answer = next((words for about, words in _EXPECTED.items() if about in question), "Yes.")
        return Expectation(answer, answer)


def _heard(answer: str, day: str | None, hours: str | None, hits: object) -> tuple[str | None, str | None, object]:
    """The knowledge after an answer; a new wish invalidates the flights found before."""
    new_day = re.search(r"\b(Thursday|Friday|Saturday)\b", answer)
    new_hours = re.search(r"Not before (\d\d:\d\d)", answer)
    if new_day or new_hours:
        hits = None
    return new_day[0] if new_day else day, new_hours[1] if new_hours else hours, hits
