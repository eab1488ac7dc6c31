"""Checks for lesson 14, scale out."""

from __future__ import annotations

from random import Random
from typing import Any

from planexec_lab import views
from planexec_lab.worlds import deploy
from planexec_lite import Plan

from exercises.checker.checks import said
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise

RELEASE = Plan.parse(deploy.PLAN)
SECONDS = RELEASE.durations(deploy.World().tools)


@exercise("14.1")
def whose_answer(trial: Trial, winner: Any, fence: Any) -> None:
    """The executor whose answer counts, and the fence of the ticket at the end."""
    trial.given("winner", winner)
    names = said.names(trial, winner, "ABC", 'one name, as in `winner = "A"`', "Name one executor.")
    rule = (
        "An answer counts only if no other executor has claimed the ticket since. Late heartbeats don't count either."
    )
    trial.want(names == ["C"], "the executor with the current fence", rule)
    trial.given("fence", fence)
    number = said.number(trial, fence, "a number, as in `fence = 1`")
    trial.want(
        number == 3, "the number of successful claims", "Each successful claim adds one. A refused claim adds nothing."
    )


@exercise("14.2")
def claimed(trial: Trial, claim: Any) -> None:
    """A new table, in which the first free ticket of a role has the new lease."""
    tickets = [{"tool": tool, "holder": "", "fence": 0, "until": -1.0} for tool in ("read", "book", "read")]
    for number, (role, now, place) in enumerate(data("14.2")["cases"]):
        came = trial.call(claim, tickets, f"worker {number}", role, now)
        trial.want(
            isinstance(came, list) and len(came) == len(tickets), "a list of as many tickets", "Return a new list."
        )
        claimed = [n for n, (old, new) in enumerate(zip(tickets, came, strict=True)) if old != new]
        if place is None:
            rule = (
                "A ticket is free if its lease has ended (until < now). If none of this role is free, nothing changes."
            )
            trial.want(claimed == [], "an equal table: no ticket of this role is free", rule)
            continue
        rule = "Take the first ticket, in the order of the list, whose tool is the role and whose lease has ended."
        trial.want(claimed == [place], f"a change of the ticket at place {place} alone", rule)
        row = {**tickets[place], "holder": f"worker {number}", "until": now + 2}
        row["fence"] = tickets[place]["fence"] + 1  # type: ignore[operator]
        rule = "The row gets the holder, a fence that is one higher, and a lease until now + 2."
        trial.want(came[place] == row, f"at place {place} the holder, the next fence and the new lease", rule)
        tickets = [row if n == place else ticket for n, ticket in enumerate(tickets)]
    _other_tables(trial, claim)


def _other_tables(trial: Trial, claim: Any) -> None:
    """Compare the claims in tables drawn by lot; some tools have similar names, and tickets have further keys."""
    chance = Random(14)
    for _ in range(60):
        tickets: list[dict[str, Any]] = [
            {"tool": chance.choice(["read", "read_all", "re", "book", "Read"]), "holder": chance.choice(["", "a", "me"]),
             "fence": chance.randrange(9), "until": float(chance.randrange(-1, 6)), "job": number}
            for number in range(chance.randrange(6))
        ]  # fmt: skip
        role, now = chance.choice(["read", "book", "re", "mail"]), float(chance.randrange(6))
        wanted = [dict(ticket) for ticket in tickets]
        free = next((one for one in wanted if one["tool"] == role and one["until"] < now), None)
        if free is not None:
            free.update(holder="me", fence=free["fence"] + 1, until=now + 2)
        came = trial.call(claim, tickets, "me", role, now)
        rule = "Change only the first free ticket of the role, and in it only the holder, the fence and the lease."
        trial.want(came == wanted, f"{wanted}", rule)


@exercise("14.3")
def enough(trial: Trial, slots_for: Any) -> None:
    """The smallest number of slots with a load of at most 0.8 and the expected seconds within the limit, or None."""
    work, longest = sum(SECONDS.values()), RELEASE.critical_path(SECONDS)[1]
    fewest = "a load of at most 0.8 and expected seconds of at most the limit, with as few slots as possible"
    rule = "The load is runs a second × work / slots. The seconds come from the formula of appendix A10."
    release = [(rate, limit) for rate in (0.1, 1, 2, 10, 100) for limit in (1000.0, 600.0, 400.0, 300.0, 266.0, 200.0)]
    cases = [(rate, work * share, longest * share, limit) for rate, limit in release for share in (1.0, 0.5)]
    for case in [*cases, (60, 0.8, 0.5, 600.0), (15, 2.0, 1.0, 3.0)]:
        wanted, came = _slots(*case), trial.call(slots_for, *case)
        if wanted is None:
            none = "None: the critical path alone takes longer"
            trial.want(came is None, none, "Return None if no number of slots is enough.")
        else:
            trial.want(type(came) is int and came == wanted, fewest, rule)
    needed = {rate: slots_for(rate, work, longest, 400.0) for rate in (1, 2, 5, 10)}
    trial.show(views.curves, {"slots": needed}, "Slots for 400 seconds", across="runs a minute", up="slots")


def _slots(a_minute: float, work: float, longest: float, limit: float) -> int | None:
    if limit <= longest:
        return None
    slots = 1
    while True:
        load = a_minute / 60 * work / slots
        if load <= 0.8 and max(longest, work / slots) + load / (2 * (1 - load)) * work / slots <= limit:
            return slots
        slots += 1
