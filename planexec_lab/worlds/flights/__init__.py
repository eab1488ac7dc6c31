"""The flights world: an assistant books a flight for a traveller, who knows what they want when they are asked.

It is the flight-booking assistant that "The Planner-Executor Pattern: How Smart AI Teams Split the Work" names, and the
interactive, conversational work of "The Planner-Executor pattern explained". The traveller has wishes that
nobody knows before they ask, and changes their mind about the day at the sight of a price. One who is `decided` has no
surprises.
"""

from planexec_lab.worlds.flights.mind import BookingMind
from planexec_lab.worlds.flights.world import GOAL, World

__all__ = ["GOAL", "BookingMind", "World"]
