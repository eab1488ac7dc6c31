"""The functions that learners call: show() prints a listing with line numbers, and kinds() prints the kinds of defects."""

from __future__ import annotations

from exercises.hunts.listings.catalogue import KINDS, NAMES, listing


def show(name: str) -> None:
    """Print a listing, one of `NAMES`, with line numbers."""
    if name not in NAMES:
        print(f"There is no listing {name!r}; there are {', '.join(NAMES)}.")
        return
    for number, line in enumerate(listing(name).source.splitlines(), 1):
        print(f"{number:>2}  {line}".rstrip())


def kinds() -> None:
    """Print each kind of defect and its meaning."""
    for kind, meaning in KINDS.items():
        print(f"{kind:<21}{meaning}")
