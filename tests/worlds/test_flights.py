"""The flights world is real: seats are held, booked and given back, and the traveller answers what was asked."""

import pytest

from planexec_lab.comparison import client_of, react, stepwise, whole
from planexec_lab.worlds import flights
from planexec_lite.events import Judged


@pytest.fixture
def world():
    return flights.World()


def pursue(side, **options):
    world = flights.World(**options)
    return side(client_of(flights.BookingMind()), world.tools, flights.GOAL), world


def test_the_cheapest_free_flights_are_found_first(world):
    hits = world.search_flights("Friday")
    assert [hit["price"] for hit in hits] == [89, 95, 240, 260]
    assert [hit["flight"] for hit in world.search_flights("Friday", "10:00")] == ["LX 212", "LX 216"]
    assert hits[0]["free"] == 5


def test_a_held_seat_is_gone_for_others_until_it_is_given_back(world):
    held = [world.hold_seat("LX 208", "aisle") for _ in range(2)]
    assert {one["place"] for one in held} == {"aisle"}
    with pytest.raises(ValueError, match=r"LX 208 has no free seat of that kind \(aisle\)"):
        world.hold_seat("LX 208", "aisle")
    assert world.search_flights("Friday")[0]["free"] == 3
    assert world.release_hold(held[0]["hold"]) == {"hold": 1, "released": True}
    assert world.release_hold(held[0]["hold"]) == {"hold": 1, "released": False}
    assert world.hold_seat("LX 208", "aisle")["seat"] == held[0]["seat"]


def test_nothing_is_booked_that_the_traveller_has_not_said_yes_to(world):
    hold = world.hold_seat("LX 112", "aisle")["hold"]
    with pytest.raises(ValueError, match="the traveller has not said yes to LX 112"):
        world.book(hold)
    world.ask_traveller("Is flight LX 112 all right?")
    with pytest.raises(ValueError, match="has not said yes"):
        world.book(hold)
    assert world.bookings == []
    assert world.holds == {1: ("LX 112", "14C")}


def test_the_sight_of_a_price_changes_the_travellers_mind(world):
    assert world.ask_traveller("Is LX 208 all right?") == "Not before 10:00."
    assert world.ask_traveller("On which day?") == "On Friday."
    assert world.ask_traveller("Is LX 212 all right?") == "240 euros? Then on Thursday."
    assert world.ask_traveller("On which day?") == "On Thursday."
    assert world.ask_traveller("Is LX 112 all right?") == "Yes, on the aisle."


@pytest.mark.parametrize("side", [whole, stepwise, react])
@pytest.mark.parametrize("decided", [True, False])
def test_in_every_role_the_traveller_is_pleased(side, decided):
    run, world = pursue(side, decided=decided)
    assert (run.status, run.answer) == ("finished", "It is booked.")
    assert world.pleased
    assert (world.bookings[0]["day"], world.bookings[0]["price"]) == (("Friday", 89) if decided else ("Thursday", 118))


def test_each_surprise_is_a_new_plan_and_a_decided_traveller_has_none():
    run, _ = pursue(whole)
    surprises = [event.reason for event in run.events if isinstance(event, Judged) and event.verdict == "replan"]
    assert surprises == ["Not before 10:00.", "240 euros? Then on Thursday.", "Yes, on the aisle."]
    assert run.usage.calls == 1 + len(surprises)
    assert pursue(whole, decided=True)[0].usage.calls == 1


def test_no_question_is_asked_twice(world):
    for side in (whole, react):
        _, world = pursue(side)
        questions = [question for question, _ in world.talk]
        assert len(questions) == len(set(questions)) == 4
