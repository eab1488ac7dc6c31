"""Whole listings to be reviewed: planner-executors as articles print them, with their defects.

Each listing is a file, `tickets.py`, and beside it stand its defects, `tickets.yaml`: a kind, the lines that name it, a program
that fails because of it, and what mends it. What no program shows to fail is no defect.
"""

from exercises.listings.catalogue import KINDS, NAMES, Defect, Listing, evidence, listing
from exercises.listings.verbs import kinds, show

__all__ = ["KINDS", "NAMES", "Defect", "Listing", "evidence", "kinds", "listing", "show"]
