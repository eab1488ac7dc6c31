"""A small event simulation of its own, beside the kit's: ``python -m tests.core.simulating`` prints what must not vary.

It knows nothing of events, boards or rules: integers for milliseconds, and three lines for each instant. First comes what ends
now, in the order in which it was started; then what is ready starts in plan order, as far as places go; then time goes on.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from typing import NamedTuple

from planexec_lite import Plan, Run, Simulated, Tool, Toolbox, ToolExecutor, execute
from planexec_lite.events import to_dict
from planexec_lite.meter import charge

USES = {"plain": (), "oven": ("heat",), "pan": ("heat", "water"), "sink": ("water",)}
LATENCIES = (0, 0, 100, 200, 300, 500, 700, 1000, 1300, 2000, 60_000)


class Piece(NamedTuple):
    """A step: what it waits for, its tool, and how many milliseconds it takes."""

    id: str
    waits_for: tuple[str, ...]
    tool: str
    takes: int


class Shop(NamedTuple):
    """A plan to be simulated: its steps in plan order, the slots, and how much there is of what."""

    pieces: tuple[Piece, ...]
    slots: int | None
    limits: dict[str, int]


def simulate(shop: Shop) -> tuple[int, list[tuple[str, int]]]:
    """The end, in milliseconds, and the steps with their starts, in the order in which they start."""
    now, begun, done = 0, list[tuple[str, int]](), set[str]()
    waiting = list(shop.pieces)
    running: list[tuple[int, Piece]] = []
    while waiting or running:
        done |= {piece.id for end, piece in running if end == now}
        running = [(end, piece) for end, piece in running if end != now]
        for piece in list(waiting):
            if len(running) == shop.slots:
                break
            full = any(_full(shop, running, name) for name in (piece.tool, *USES[piece.tool]))
            if done.issuperset(piece.waits_for) and not full:
                waiting.remove(piece)
                begun.append((piece.id, now))
                running.append((now + piece.takes, piece))
        now = min((end for end, _ in running), default=now)
    return now, begun


def _full(shop: Shop, running: Sequence[tuple[int, Piece]], name: str) -> bool:
    if name not in shop.limits:
        return False
    return sum(name in (piece.tool, *USES[piece.tool]) for _, piece in running) >= shop.limits[name]


def at_random(seed: int) -> Shop:
    """A plan of 1 to 30 steps, in an order that says nothing about what waits for what."""
    chance = random.Random(seed)
    size, dense = chance.randint(1, 30), chance.choice((1, 2, 3, 6))
    pieces: list[Piece] = []
    for n in range(size):
        waits_for = chance.sample(range(n), chance.randint(0, min(dense, n))) if chance.random() < 0.8 else []
        tool = chance.choice(tuple(USES))
        pieces.append(Piece(str(n), tuple(map(str, waits_for)), tool, chance.choice(LATENCIES)))
    chance.shuffle(pieces)
    limits: dict[str, int] = {}
    if chance.random() < 0.5:
        names = chance.sample(["heat", "water", "plain", "oven", "pan", "sink"], chance.randint(1, 3))
        limits = {name: chance.randint(1, 3) for name in names}
    return Shop(tuple(pieces), chance.choice((1, 2, 3, 4, 5, None)), limits)


def _tool(name: str) -> Tool:
    def work(takes: int) -> int:
        charge(takes / 1000)
        return takes

    return Tool(work, name=name, uses=USES[name], effects="none")


EXECUTOR = ToolExecutor(Toolbox([_tool(name) for name in USES]))


def carried_out(shop: Shop) -> Run:
    """The same plan by the kit."""
    steps = [
        {"id": piece.id, "tool": piece.tool, "params": {"takes": piece.takes}, "depends_on": list(piece.waits_for)}
        for piece in shop.pieces
    ]
    return execute(Plan.parse(steps), EXECUTOR, workers=Simulated(shop.slots, shop.limits))


def written(run: Run) -> str:
    """The run's events as one text."""
    return json.dumps([to_dict(event) for event in run.events])


def main() -> None:
    for seed in range(300):
        print(seed, hashlib.sha256(written(carried_out(at_random(seed))).encode()).hexdigest())


if __name__ == "__main__":
    main()
