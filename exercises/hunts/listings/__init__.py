"""Whole listings to review: planner-executors as articles print them, with their defects.

Each listing is a file, such as `tickets.py`. Its defects are in `tickets.yaml`: for each defect a kind, the lines that
contain it, a program that fails because of it, and a fix. Only defects that make a program fail count.
"""

from exercises.hunts.listings.catalogue import KINDS, NAMES, Defect, Listing, evidence, listing
from exercises.hunts.listings.verbs import kinds, show

__all__ = ["KINDS", "NAMES", "Defect", "Listing", "evidence", "kinds", "listing", "show"]
