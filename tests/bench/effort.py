"""How much is measured: the whole bench takes some ten minutes with the frameworks, the quick one about one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Args:
        sizes: rounds by number of steps, beside the plain peers.
        there: the same beside the frameworks; keys are texts, as JSON has them.
        sleeps: rounds of the barrier cases.
        scale: how long their sleeps are; targets hold for 1 alone.
        checked: steps and rounds for the parts of the way from JSON to the results.
        whole: steps and rounds for large plans in seconds; rounds 0: not measured.
        grown: small plan, large plan and rounds for the growth of the cost of a step; rounds 0: not measured.
        read: the same for parsing and validating.
        held: steps for the memory.
        imports: rounds of the imports; here, and in the environment of the frameworks.
        calls: calls of the scripted model in a round.
        saved: steps and rounds for runs that are written down, beside LangGraph's.
        watched: steps and rounds for the live board and the player; rounds 0: not measured.
    """

    sizes: dict[int, int]
    there: dict[str, int]
    sleeps: int
    scale: float
    checked: tuple[int, int]
    whole: tuple[int, int]
    grown: tuple[int, int, int]
    read: tuple[int, int, int]
    held: int
    imports: tuple[int, int]
    calls: int
    saved: tuple[int, int]
    watched: tuple[int, int]


FULL = Effort(
    sizes={100: 15, 1_000: 15, 10_000: 3},
    there={"100": 5, "1000": 3},
    sleeps=5,
    scale=1.0,
    checked=(1_000, 9),
    whole=(10_000, 3),
    grown=(1_000, 10_000, 3),
    read=(10_000, 100_000, 2),
    held=10_000,
    imports=(11, 5),
    calls=50,
    saved=(1_000, 3),
    watched=(1_000, 7),
)
QUICK = Effort(
    sizes={100: 5, 1_000: 5},
    there={"100": 2},
    sleeps=1,
    scale=0.25,
    checked=(1_000, 3),
    whole=(10_000, 0),
    grown=(1_000, 10_000, 0),
    read=(1_000, 10_000, 3),
    held=1_000,
    imports=(7, 2),
    calls=20,
    saved=(100, 2),
    watched=(1_000, 2),
)
