"""The flights world: an assistant books a flight for a traveller, who states each wish only when asked.

It is the flight-booking assistant of "The Planner-Executor Pattern: How Smart AI Teams Split the Work", and the interactive,
conversational work of "The Planner-Executor pattern explained". The traveller changes the day after hearing a price. A `decided`
traveller has no surprises.
"""

from planexec_lab.worlds.flights.mind import BookingMind
from planexec_lab.worlds.flights.world import GOAL, World

__all__ = ["GOAL", "BookingMind", "World"]
