"""What a learner calls: show() prints a listing with the numbers of its lines, kinds() what may be wrong in one."""

from __future__ import annotations

from exercises.listings.catalogue import KINDS, NAMES, listing


def show(name: str) -> None:
    """Print a listing with the numbers of its lines."""
    if name not in NAMES:
        print(f"There is no listing {name!r}; there are {', '.join(NAMES)}.")
        return
    for number, line in enumerate(listing(name).source.splitlines(), 1):
        print(f"{number:>2}  {line}".rstrip())


def kinds() -> None:
    """Print the kinds of defects, and what each means."""
    for kind, words in KINDS.items():
        print(f"{kind:<21}{words}")
