"""The rules for answers: each has the text of a requirement and describes how an answer violates it."""

from __future__ import annotations

import math
from collections import Counter

from planexec_lab import views
from planexec_lab.views.drawing.wording import count, listed
from planexec_lite import Run

from exercises.puzzles import notation
from exercises.puzzles.attempt import Attempt, Edge, Rule


def reached(attempt: Attempt) -> str:
    """Describe the result of an answer."""
    run = attempt.run
    if run is None:
        return f"nothing starts: {attempt.problems[0].message}"
    took = f"{run.makespan:g} s" if run.status == "finished" else f"{run.status} after {run.makespan:g} s"
    return took + (f" with {count(attempt.slots, 'slot')}" if attempt.puzzle.asks == "slots" else "")


def _every_job(attempt: Attempt) -> str:
    if attempt.run is None:
        return str(attempt.problems[0])
    if problem := failure(attempt.run):
        return problem
    made, jobs = Counter(attempt.shop.made), notation.seconds(attempt.puzzle.plan)
    twice = [f"{job} is done {'twice' if made[job] == 2 else f'{made[job]} times'}" for job in jobs if made[job] > 1]
    return "; ".join(twice + [f"no step does {job}" for job in jobs if not made[job]])


EVERY_JOB = Rule("every job done once", _every_job)


def _by_edges(attempt: Attempt) -> str:
    of, before = attempt.puzzle, attempt.edges
    done = {line.job for line in notation.lines(of.before) if line.id in of.kept.split()}
    for job, needed in of.needs.items():
        earlier, more = set[str](), {job}
        while more := {other for other, later in before if later in more} - earlier:
            earlier |= more
        if lacking := [other for other in needed.split() if other not in earlier | done]:
            return f"no edge makes {job} wait for {listed(lacking)}: if a job took longer, the order would be wrong"
    return ""


BY_EDGES = Rule("each necessary order guaranteed by edges", _by_edges)


def _same_lines(attempt: Attempt) -> str:
    return "" if attempt.lines == attempt.puzzle.given.lines else "the lines were changed"


SAME_LINES = Rule("the lines unchanged", _same_lines)


def within(seconds: float) -> Rule:
    """The run takes at most this many seconds."""
    return Rule(f"at most {seconds:g} s", lambda attempt: _why(attempt.run) if _makespan(attempt) > seconds else "")


def edges(gone: int = 0, new: int = 0) -> Rule:
    """Exactly `gone` edges are deleted and `new` edges are added; edges connect jobs, so ids don't matter."""
    parts = ["one edge deleted"] * gone + ["one edge added"] * new

    def broken(attempt: Attempt) -> str:
        was, now = attempt.puzzle.given.edges, attempt.edges
        if (len(was - now), len(now - was)) == (gone, new):
            return ""
        changed = {"deleted": was - now, "added": now - was}
        return "; ".join(f"{how}: {_arrows(some)}" for how, some in changed.items() if some) or "no edge was changed"

    return Rule(", ".join(parts) or "the edges unchanged", broken)


def _fails_only_with(attempt: Attempt) -> str:
    if attempt.run is None:
        return str(attempt.problems[0])
    for slots in range(1, max(attempt.slots, 2)):
        run = attempt.with_slots(slots).run
        if run is not None and (problem := failure(run)):
            return f"it already fails with {count(slots, 'slot')}: {problem}"
    return "" if failure(attempt.run) else f"with {count(attempt.slots, 'slot')} it still finishes"


FAILS_ONLY_WITH = Rule("finished with 1 slot, and the smallest number of slots with which it fails", _fails_only_with)


def _no_slot_to_spare(attempt: Attempt) -> str:
    fewer, more = (_makespan(attempt.with_slots(max(1, attempt.slots + one))) for one in (-1, 1))
    if more < _makespan(attempt):
        return f"with another slot it takes only {more:g} s"
    return f"with fewer slots it also takes {fewer:g} s" if attempt.slots > 1 and fewer <= more else ""


NO_SLOT_TO_SPARE = Rule("the largest number of slots that still helps", _no_slot_to_spare)


def _as_short_as_the_chain(attempt: Attempt) -> str:
    longest = attempt.plan.critical_path(attempt.plan.durations(attempt.shop.tools))[1]
    return _why(attempt.run) if _makespan(attempt) > longest else ""


AS_SHORT_AS_THE_CHAIN = Rule("as short as the longest chain", _as_short_as_the_chain)


def _fewest_slots(attempt: Attempt) -> str:
    seconds = attempt.plan.durations(attempt.shop.tools)
    work, longest = sum(seconds.values()), attempt.plan.critical_path(seconds)[1]
    least = f"{work:g} s of work fit into {longest:g} s with {count(attempt.slots - 1, 'slot')}"
    return least if attempt.slots > math.ceil(work / longest) else ""


FEWEST_SLOTS = Rule("with the smallest possible number of slots", _fewest_slots)


def _shorter(attempt: Attempt) -> str:
    was = _makespan(attempt.puzzle.given)
    return _why(attempt.run) if _makespan(attempt) >= was else ""


SHORTER = Rule("a shorter run", _shorter)


def at_any_slots(most: int) -> Rule:
    """The run finishes with every number of slots from 1 to `most`, so no order depends on luck."""

    def broken(attempt: Attempt) -> str:
        runs = {slots: attempt.with_slots(slots).run for slots in range(1, most + 1)}
        problems = {slots: failure(run) for slots, run in runs.items() if run is not None}
        return next((f"with {count(slots, 'slot')}: {problem}" for slots, problem in problems.items() if problem), "")

    return Rule(f"with 1 to {most} slots", broken)


def _at_any_pace(attempt: Attempt) -> str:
    """Name a need without a path in the plan: the answer is right only by luck, as long as the other job is fast."""
    graph, id = attempt.plan.graph, {line.job: line.id for line in attempt.lines}
    for job, needed in attempt.puzzle.needs.items():
        waits = {id[job]}
        for _ in graph:
            waits |= {before for step in waits for before in graph[step]}
        for other in needed.split():
            if id[other] not in waits:
                return f"{job} needs {other} but does not wait for it: with a slower {other} the run fails"
    return ""


AT_ANY_PACE = Rule("whatever a job takes", _at_any_pace)


def failure(run: Run) -> str:
    """Describe the first step that failed for good; "" if every step of the plan is done."""
    failed = {id: error.partition(": ")[2] for id, error in run.board.errors.items() if run.board.state[id] == "failed"}
    return next((f"step {id} fails: {error}" for id, error in failed.items()), "")


def _makespan(attempt: Attempt) -> float:
    """Return the run's seconds, infinite if it did not finish."""
    run = attempt.run
    return run.makespan if run is not None and run.status == "finished" else math.inf


def _why(run: Run | None) -> str:
    """Explain how long the run took: its longest chain, or a ready step that had to wait."""
    if run is None:
        return ""
    path, length = run.plan.critical_path(views.durations(run))
    if length >= run.makespan:
        return f"the chain {' → '.join(path)} takes {length:g} s"
    starts = {event.step: event.at for event in run.events if event.__class__.__name__ == "StepStarted"}
    ends = {event.step: event.at for event in run.events if event.__class__.__name__ == "StepDone"}
    ready = {step.id: max((ends[id] for id in step.depends_on), default=0.0) for step in run.plan.steps}
    late = max(run.plan.graph, key=lambda id: starts[id] - ready[id])
    return f"step {late} was ready at {ready[late]:g} s but started at {starts[late]:g} s, because no slot was free earlier"


def _arrows(some: set[Edge]) -> str:
    return listed(f"{before} → {after}" for before, after in sorted(some))
