"""Checks for lesson 08, parallel plans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from planexec_lab import views
from planexec_lab.worlds import kitchen
from planexec_lite import Plan, Run, Simulated, Toolbox, ToolExecutor, execute, tool

from exercises.checker.checks import said
from exercises.checker.data import data
from exercises.checker.exercise import Trial, exercise

Graph = Mapping[str, tuple[str, ...]]


class _Plan(Plan):
    """A plan whose repr shows the dependencies."""

    def __repr__(self) -> str:
        return f"<plan {', '.join(f'{id} after {[*before]}' if before else id for id, before in self.graph.items())}>"


@exercise("08.1")
def less_to_do(trial: Trial, shorter: Any, freer: Any) -> None:
    """Two numbers: the minutes of three cooks if each ticket is a minute shorter, and if 5 and 6 wait for nothing."""
    given = data("08.1")
    quick = [(id, what, minutes - 1, on) for id, what, minutes, on in given["tickets"]]
    free = [(id, what, minutes, () if id in ("5", "6") else on) for id, what, minutes, on in given["tickets"]]
    runs = {"Shorter tickets": _party(quick), "Fewer dependencies": _party(free)}
    for guess, run, (name, longest, work) in zip((shorter, freer), runs.values(), given["guesses"], strict=True):
        trial.given(name, guess)
        number = said.number(trial, guess, f"minutes, as in `{name} = 30`")
        wanted = "the minute in which a run with 3 slots ends"
        rule = "No number of cooks beats the longest chain: the grill, then the fish."
        trial.want(number >= longest, wanted, rule)
        rule = f"No run takes longer than work / slots + critical path: {work} / 3 + {longest}."
        trial.want(number <= work / 3 + longest, wanted, rule)
        rule = "A free cook takes the first ready ticket and finishes it. Draw the lanes, minute by minute."
        trial.want(number == run.makespan / 60, wanted, rule)
    trial.show(views.timelines, runs)


def _party(tickets: Iterable[tuple[str, str, int, tuple[str, ...]]]) -> Run:
    @tool(latency=lambda minutes: 60.0 * minutes, effects="none")
    def work(minutes: float) -> float:
        """Work for some minutes."""
        return minutes

    steps = [
        {"id": id, "description": what, "tool": "work", "params": {"minutes": minutes}, "depends_on": waits_for}
        for id, what, minutes, waits_for in tickets
    ]
    return execute(Plan.parse(steps), ToolExecutor(Toolbox([work])), workers=Simulated(3))


@exercise("08.2")
def divided(trial: Trial, bounds: Any) -> None:
    """Two numbers for a run with `slots` slots: a lower bound in minutes, and an upper bound for every greedy run."""
    alike: tuple[Graph, dict[str, float]] = {str(n): () for n in range(4)}, {str(n): 3 for n in range(4)}
    for graph, minutes in [*_plans(), alike]:
        plan = _Plan.parse([{"id": id, "depends_on": waits_for} for id, waits_for in graph.items()])
        longest, work = plan.critical_path(minutes)[1], sum(minutes.values())
        for slots in (9, 3, 2, 1):
            came = trial.call(bounds, plan, minutes, slots)
            fits = isinstance(came, (tuple, list)) and len(came) == 2 and all(map(_number, came))
            trial.want(fits, "two numbers, `(least, most)`", "Return a lower and an upper bound.")
            known = f"longest chain {longest:g}, work {work:g}, slots {slots}"
            rule = "No run is shorter than its longest chain, or than its total work divided by the slots."
            trial.want(
                abs(came[0] - max(longest, work / slots)) < 1e-6,
                f"as lower bound the larger of the two limits: {known}",
                rule,
            )
            rule = (
                "Brent: at any moment, either all slots are busy or the longest chain gets shorter. Add the "
                "limits of both."
            )
            tight = (work - longest) / slots + longest  # counts the work of the chain only once
            fits = tight - 1e-6 < came[1] < work / slots + longest + 1e-6
            trial.want(fits, f"as upper bound the sum of the two limits: {known}", rule)


@exercise("08.3")
def counted(trial: Trial, schedule: Any) -> None:
    """The start minute of each step, by id: after its dependencies, as soon as a slot is free."""
    _dinner(trial, lambda graph, minutes: trial.call(schedule, graph, minutes, 2))
    for graph, minutes in _plans():
        for slots in (1, 2, 3, 9):
            starts = trial.call(schedule, graph, minutes, slots)
            _judge(trial, starts, graph, minutes, slots, {}, {})


@exercise("08.4")
def shared(trial: Trial, share: Any) -> None:
    """The start minute of each step, by id: as soon as both the slots and the limits allow it."""
    boards = dict.fromkeys(("1", "2", "3", "4"), "board")
    given = 4, boards, {"board": 2}
    _dinner(trial, lambda graph, minutes: trial.call(share, graph, minutes, *given), limits={"chop": 2})
    for graph, minutes in _plans():
        ids = list(graph)
        for slots, uses, limits in [
            (3, {}, {}),
            (2, dict.fromkeys(ids[:2], "board"), {"board": 1}),
            (3, dict.fromkeys(ids, "oven"), {"oven": 1}),
            (2, dict.fromkeys(ids, "board"), {"oven": 1}),
            (3, dict.fromkeys(ids[:5], "board") | dict.fromkeys(ids[5:8], "oven"), {"board": 2, "oven": 1}),
            (4, dict.fromkeys(ids[::2], "board"), {"board": 2}),
            (6, dict.fromkeys(ids, "board"), {"board": 5}),
        ]:
            starts = trial.call(share, graph, minutes, slots, uses, limits)
            _judge(trial, starts, graph, minutes, slots, uses, limits)


def _plans() -> list[tuple[Graph, dict[str, float]]]:
    """Return the dinner, plans that list steps before their dependencies, and a few random plans."""
    dinner = Plan.parse(kitchen.PLAN)
    minutes: dict[str, float] = {
        id: round(seconds / 60) for id, seconds in dinner.durations(kitchen.World().tools).items()
    }
    plans: list[tuple[Graph, dict[str, float]]] = [
        ({id: tuple(some) for id, some in after.items()}, of_steps) for after, of_steps in data("08.3")["plans"]
    ]
    plans.insert(3, (dinner.graph, minutes))
    for seed in range(2):
        luck = Random(seed)
        ids = luck.sample("abcdefghij", 10)
        graph = {id: tuple(other for other in ids[:n] if luck.random() < 0.25) for n, id in enumerate(ids)}
        shuffled = {id: graph[id] for id in sorted(ids)}
        plans.append((shuffled, {id: luck.randint(1, 9) for id in shuffled}))
    return plans


def _dinner(trial: Trial, starts_of: Any, limits: Mapping[str, int] | None = None) -> None:
    """Draw the learner's start times for the dinner as brackets below a run of the kit."""
    graph, minutes = _plans()[3]
    starts = starts_of(graph, minutes)
    workers = Simulated(slots=4 if limits else 2, limits=limits or {})
    trial.show(_beside_the_kit, starts, workers)


def _beside_the_kit(starts: Any, workers: Simulated) -> views.Figure:
    run = execute(Plan.parse(kitchen.PLAN), ToolExecutor(kitchen.World().tools), workers=workers)
    return views.timeline(run, predicted={id: 60 * at for id, at in starts.items()})


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _steps(number: int) -> str:
    return f"{number} step{'s' if number != 1 else ''}"


def _judge(
    trial: Trial,
    starts: Any,
    graph: Graph,
    minutes: Mapping[str, float],
    slots: int,
    uses: Mapping[str, str],
    limits: Mapping[str, int],
) -> None:
    """Check that no step starts too early, that no limit is exceeded, and that no slot is idle while a step could start."""
    fits = isinstance(starts, dict) and starts.keys() == graph.keys() and all(map(_number, starts.values()))
    trial.want(fits, f"a number for each of {', '.join(graph)}", "Every step of the plan starts once.")
    ends = {id: start + minutes[id] for id, start in starts.items()}
    ready = {id: max((ends[other] for other in waits_for), default=0) for id, waits_for in graph.items()}
    for id in graph:
        late = max(graph[id], key=ends.__getitem__, default=None)
        wanted = f"step {id} at minute {ready[id]} or later" + (f", when step {late} ends" if late else "")
        trial.want(starts[id] >= ready[id], wanted, "A step can't start before all its dependencies are done.")
    for now in sorted({*starts.values(), *ready.values(), *ends.values()}):
        running = [id for id in graph if starts[id] <= now < ends[id]]
        wanted = f"at most {_steps(slots)} at minute {now}, not {', '.join(running)}"
        trial.want(len(running) <= slots, wanted, "Each slot runs one step at a time.")
        busy = {thing: [id for id in running if uses.get(id) == thing] for thing in limits}
        for thing, users in busy.items():
            wanted = f"at most {_steps(limits[thing])} using the {thing} at minute {now}, not {', '.join(users)}"
            trial.want(
                len(users) <= limits[thing],
                wanted,
                "A limit is the number of steps that can use the resource at the same time.",
            )
        for id in graph:
            thing = uses.get(id, "")
            waits = ready[id] <= now < starts[id] and len(running) < slots
            idle = waits and (thing not in limits or len(busy[thing]) < limits[thing])
            wanted = (
                f"step {id} running at minute {now}: it is ready, and only {len(running)} of {slots} slots are busy"
            )
            rule = (
                "Start a step as soon as it can run: don't wait for a whole level, and don't queue behind a "
                "waiting step."
            )
            trial.want(not idle, wanted, rule)


@exercise("08.5")
def fewest(trial: Trial, edges: Any) -> None:
    """For each step, the smallest set of ids that it must depend on."""
    dinner = Plan.parse(kitchen.PLAN)
    dependencies = _edges(trial, trial.call(edges, _touches()), _touches())
    steps = [step.model_copy(update={"depends_on": dependencies[step.id]}) for step in dinner.steps]
    plan = dinner.changed(steps=tuple(steps))
    trial.show(views.graph, plan, durations=dinner.durations(kitchen.World().tools))
    _judge_edges(trial, dependencies, _touches())
    run = execute(plan, ToolExecutor(kitchen.World().tools), workers=Simulated(4))
    wanted = f"a dinner that four cooks serve at minute 95; this run: {run.reason}, minute {run.makespan / 60:g}"
    trial.want(
        run.status == "finished" and run.makespan == 95 * 60,
        wanted,
        "The edges must allow the dinner to finish in this time.",
    )
    for touches in _notes():
        _judge_edges(trial, _edges(trial, trial.call(edges, touches), touches), touches)


def _touches() -> dict[str, Any]:
    """Return what the fourteen tickets read and write, in the chef's order."""
    tickets: dict[str, Any] = data("08.5")["tickets"]
    return tickets


def _notes() -> list[dict[str, dict[str, list[str]]]]:
    """Return short lists that each test one thing, and a few random lists."""
    lists: list[dict[str, Any]] = data("08.5")["lists"]
    for seed in range(6):
        luck = Random(seed)
        lists.append(
            {
                str(n): {kind: luck.sample("pqrstu", luck.randint(0, 2)) for kind in ("reads", "writes")}
                for n in luck.sample(range(20), 9)
            }
        )
    return lists


def _edges(trial: Trial, came: Any, touches: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the answer as a graph; a step without an entry has no dependencies."""
    fits = isinstance(came, dict) and all(isinstance(some, (list, tuple, set, frozenset)) for some in came.values())
    trial.want(
        fits, 'a dict of lists, as in {"1": [], "2": ["1"]}', "A plan is a graph: map each id to the ids it depends on."
    )
    ids = list(touches)
    for id, waits_for in came.items():
        trial.want(
            id in ids, f"ids of the steps {', '.join(ids)}", "Only steps of the plan have edges.", f"an edge of {id!r}"
        )
        for other in waits_for:
            wanted = f"dependencies of step {id} on earlier steps, not on {other!r}"
            trial.want(
                other in ids[: ids.index(id)],
                wanted,
                "An edge must never reverse the written order, because that order is safe.",
            )
    return {id: tuple(sorted(came.get(id, ()))) for id in ids}


def _judge_edges(trial: Trial, dependencies: Mapping[str, tuple[str, ...]], touches: Mapping[str, Any]) -> None:
    """Check that every conflict is ordered, and that no edge is unnecessary or implied by others."""
    ids = list(touches)
    needs: dict[str, set[str]] = {}
    behind: dict[str, set[str]] = {}
    for n, id in enumerate(ids):
        things = {other: _common(touches[other], touches[id]) for other in ids[:n]}
        straight = {other for other in ids[:n] if things[other]}
        needs[id] = straight.union(*(needs[other] for other in straight))
        behind[id] = set(dependencies[id]).union(*(behind[other] for other in dependencies[id]))
        for other in ids[:n]:
            if things[other]:
                rule = "A write must keep its order relative to every step that reads or writes the same thing."
                wanted = f"step {id} after step {other}: both touch {things[other]}"
                trial.want(other in behind[id], wanted, rule)
    for id in ids:
        for other in dependencies[id]:
            rule = "These two steps have no conflict, so the edge only costs time."
            trial.want(other in needs[id], f"no dependency of step {id} on step {other}", rule)
            via = [one for one in dependencies[id] if other in behind[one]]
            wanted = f"no edge from step {other} to step {id}: step {', '.join(via)} already depends on step {other}"
            trial.want(not via, wanted, "Leave out edges that follow from other edges.")


def _common(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return the things that both steps touch and at least one of them writes."""
    either = {*one["reads"], *one["writes"]} & {*other["reads"], *other["writes"]}
    return ", ".join(sorted(either & {*one["writes"], *other["writes"]}))
