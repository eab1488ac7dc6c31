"""see(), submit(), defend(), twins(): the functions that the learner calls. None of them raises in the notebook."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from planexec_lab import views
from planexec_lab.views.drawing.table import Row, table
from planexec_lab.views.drawing.theme import LOOKS
from planexec_lab.views.drawing.wording import count
from planexec_lite import Plan, PlanError, Run, Simulated, Toolbox, ToolExecutor, execute
from planexec_lite.workers.session import described

from exercises.arena.plans import HARMFUL, HARMLESS, TWIN_WORLDS, Contender, World
from exercises.arena.worlds import Records, Shop, harm
from exercises.checker.exercise import without_addresses
from exercises.checker.guard import guarded
from exercises.checker.verbs import display

Check = Callable[[Plan, Toolbox], Iterable[str] | None]

COLUMNS, SECONDS, MOST = 88, 3.0, 20  # characters per line; CPU seconds per plan; reasons read from a check
WORLDS: dict[str, Callable[[], World]] = {"deploy": Shop, "migration": Records}
_STOPPED, _PASSED = "stopped", "let through"


@dataclass(frozen=True)
class Said:
    """The outcome of a check: its first reason, "" if it lets the plan pass, or its error."""

    words: str = ""
    error: str = ""


def carried_out(plan: Plan, world: World) -> Run:
    """Run a plan in a world, with four slots on the simulated clock."""
    return execute(plan, ToolExecutor(world.tools), workers=Simulated(4))


def see(number: int) -> None:
    """Run the harmful plan of a round, from 1, and report its harm."""
    if number not in range(1, len(HARMFUL) + 1):
        print(f"There is no round {number!r}; there are 1 to {len(HARMFUL)}.")
        return
    one = HARMFUL[number - 1]
    _show(f"Round {number} of {len(HARMFUL)} · {one.name}", one.plan, one.world(), {"the planner": one.thought})


def submit(world: str, steps: Any) -> None:
    """Run your plan in a new "deploy" or "migration" world, if the kit finds no problems."""
    if world not in WORLDS:
        print(f"There is no world {world!r}; there are {' and '.join(WORLDS)}.")
        return
    try:
        _show("Your plan", Plan.parse(steps), WORLDS[world](), {})
    except PlanError as error:
        print(views.wrapped(f"Your plan did not run: {error}"))


def twins() -> None:
    """Run the harmless release in two different worlds."""
    for name, world in TWIN_WORLDS.items():
        plan = HARMLESS[0].plan
        _show(f"{HARMLESS[0].name}, {plan.hash[:8]}: {name}", plan, world(), {})


def defend(check: Check) -> None:
    """Try a check on every plan of the arena, and show the first harmful plan that passes it.

    Args:
        check: a function of a plan and its world's tools that yields the reasons to stop the plan, as strings.
    """
    said = {one.name: asked(check, one) for one in (*HARMFUL, *HARMLESS)}
    failed = [f"on {name!r}: {one.error}" for name, one in said.items() if one.error]
    harmed = [(one.name, said[one.name].words) for one in HARMLESS if said[one.name].words]
    missed = [number for number, one in enumerate(HARMFUL, 1) if not said[one.name].words]
    if failed:
        print(_wrapped(f"Your check raised an error {failed[0]}"))
        return
    display(_board(said, len(missed), len(harmed)))
    if harmed:
        print(_wrapped(f"Your check is too strict: it stops {len(harmed)} of {len(HARMLESS)} harmless plans."))
        print(_wrapped(f"{harmed[0][0]}: {harmed[0][1]}"))
    elif missed:
        print("This harmful plan passes your check.")
        see(missed[0])
    else:
        print("Your check stops every harmful plan and lets every harmless plan pass.")


def asked(check: Check, one: Contender, seconds: float = SECONDS) -> Said:
    """Run a check on a plan, with the tools of a fresh world."""
    ended = guarded(lambda: _heard(check(one.plan, one.world().tools)), seconds)
    if ended.error is not None:
        return Said(error=without_addresses(described(ended.error)))
    if ended.changed:
        return Said(error=f"it changes {', '.join(ended.changed[:3])}")
    return Said(without_addresses(ended.value[0]) or "no words") if ended.value else Said()


def _heard(words: Iterable[str] | None) -> list[str]:
    """Return the reasons that a check yields; None means no reason, and a string means one reason."""
    return [words] if isinstance(words, str) else [str(one) for one in islice(words or (), MOST)]


def _board(said: dict[str, Said], missed: int, harmed: int) -> views.Figure:
    good, bad = LOOKS["done"], LOOKS["failed"]
    rows = []
    for kind, some in (("harmful", HARMFUL), ("harmless", HARMLESS)):
        for one in some:
            words = said[one.name].words
            look = (good if bool(words) == (kind == "harmful") else bad)._replace(word=_STOPPED if words else _PASSED)
            rows.append(Row([one.name, kind, "", words], look))
    stops = f"{len(HARMFUL) - missed} of {len(HARMFUL)} harmful plans"
    passes = f"{len(HARMLESS) - harmed} of {len(HARMLESS)} harmless plans through"
    return table(f"The check stops {stops} and lets {passes}", ("plan", "kind", "status", "why"), rows, lines=2)


def _show(heading: str, plan: Plan, world: World, more: dict[str, str]) -> None:
    """Run a plan, draw its final state, and print the kit's problems, the status of the run, and the harm."""
    run = carried_out(plan, world)
    display(views.graph(run))
    done = sum(state == "done" for state in run.board.state.values())
    rows = more | {
        "the kit": "; ".join(map(str, plan.problems(world.tools))) or "no problems",
        "the run": f"{run.status}: {done} of {count(len(plan.steps), 'step')} done",
    }
    suffered = harm(world) or ["none"]
    print(heading)
    for name, text in [
        *rows.items(),
        *(("the harm" if not place else "", words) for place, words in enumerate(suffered)),
    ]:
        print(_wrapped(text, f"  {name:<13}"))


def _wrapped(text: str, head: str = "") -> str:
    return textwrap.fill(text, COLUMNS, initial_indent=head, subsequent_indent=" " * max(len(head), 2))
