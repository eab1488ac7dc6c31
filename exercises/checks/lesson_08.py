"""Lesson 08, parallel plans: what its exercises are judged by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from exercises.checks import said
from exercises.exercise import Trial, exercise
from planexec_lab import views
from planexec_lab.worlds import kitchen
from planexec_lite import Plan, Run, Simulated, Toolbox, ToolExecutor, execute, tool

Graph = Mapping[str, tuple[str, ...]]


class _Plan(Plan):
    """A plan whose text is who waits for whom."""

    def __repr__(self) -> str:
        return f"<plan {', '.join(f'{id} after {[*before]}' if before else id for id, before in self.graph.items())}>"


MOST_READS = 100_000
PARTY = (
    ("1", "Light the grill", 3, ()),
    ("2", "Polish the glasses", 2, ()),
    ("3", "Fold the napkins", 2, ()),
    ("4", "Fetch the fruit", 2, ()),
    ("5", "Cut the melons", 4, ("4",)),
    ("6", "Cut the pears", 4, ("4",)),
    ("7", "Cut the figs", 4, ("4",)),
    ("8", "Cut the plums", 4, ("4",)),
    ("9", "Grill the fish", 9, ("1",)),
)


@exercise(
    "08.1",
    nudge="Draw a lane for each cook. At each end, go through the tickets in their order: one that is ready, and meets a "
    "free cook, begins. The grill is lit at minute 3.",
    question="With four cooks, who is free at minute 3, and what did they begin a minute before? With three, who is left "
    "for the fish?",
    learned="Whoever is free takes what is there, and a long step comes too late. Greedy is good, and bounded by Brent; "
    "it is not best, and one more worker can make it worse.",
)
def one_more(trial: Trial, three: Any, four: Any) -> None:
    """Two numbers: the minutes that three cooks need, and those that four need."""
    runs = {f"{name} cooks": _party(slots) for name, slots in (("Three", 3), ("Four", 4))}
    for name, slots, guess, run in zip(("three", "four"), (3, 4), (three, four), runs.values(), strict=True):
        trial.given(name, guess)
        number = said.number(trial, guess, f"minutes, as in `{name} = 30`")
        wanted = f"the minute in which a run with {slots} slots ends"
        rule = "No crew beats the longest chain: the grill, then the fish."
        trial.want(number >= 12, wanted, rule)
        rule = f"No run takes longer than work / slots + critical path: 34 / {slots} + 12."
        trial.want(number <= 34 / slots + 12, wanted, rule)
        rule = "A free cook takes the first ticket that is ready and keeps it to its end. Draw the lanes, minute by minute."
        trial.want(number == run.makespan / 60, wanted, rule)
    trial.show(views.timelines, runs)


def _party(slots: int) -> Run:
    @tool(latency=lambda minutes: 60.0 * minutes, effects="none")
    def work(minutes: float) -> float:
        """Work for some minutes."""
        return minutes

    steps = [
        {"id": id, "description": what, "tool": "work", "params": {"minutes": minutes}, "depends_on": waits_for}
        for id, what, minutes, waits_for in PARTY
    ]
    return execute(Plan.parse(steps), ToolExecutor(Toolbox([work])), workers=Simulated(slots))


@exercise(
    "08.2",
    nudge="Two things hold a run up: its longest chain, whoever works, and its work, however it is shared out. Neither can "
    "be beaten, and no greedy run is slower than both together.",
    question="One cook, 34 minutes of work, a longest chain of 12: can one cook be done at minute 12? Which of the two "
    "counts, and which counts with nine cooks?",
    learned="One division says what a run can't beat and what it can't exceed: fifteen minutes were bad luck, and within "
    "the bound.",
)
def divided(trial: Trial, bounds: Any) -> None:
    """Two numbers: the minutes that no run with so many slots beats, and those that no greedy run exceeds."""
    alike: tuple[Graph, dict[str, float]] = {str(n): () for n in range(4)}, {str(n): 3 for n in range(4)}
    for graph, minutes in [*_plans(), alike]:
        plan = _Plan.parse([{"id": id, "depends_on": waits_for} for id, waits_for in graph.items()])
        longest, work = plan.critical_path(minutes)[1], sum(minutes.values())
        for slots in (9, 3, 2, 1):
            came = trial.call(bounds, plan, minutes, slots)
            fits = isinstance(came, (tuple, list)) and len(came) == 2 and all(map(_number, came))
            trial.want(fits, "two numbers, `(least, most)`", "A bound is a number on each side.")
            known = f"longest chain {longest:g}, work {work:g}, slots {slots}"
            rule = "No run is shorter than its longest chain, nor than its work shared out evenly."
            trial.want(
                abs(came[0] - max(longest, work / slots)) < 1e-6, f"as least the larger of the two: {known}", rule
            )
            rule = "Brent: all are busy, or the longest chain is being worked off; each lasts so long and no longer."
            tight = (work - longest) / slots + longest  # what the chain itself is shared out to is counted once
            fits = tight - 1e-6 < came[1] < work / slots + longest + 1e-6
            trial.want(fits, f"as most the sum of the two: {known}", rule)


@exercise(
    "08.3",
    nudge="With one cook everything is right, because what has started is over before anybody looks again. Follow tickets "
    "1 and 6 with two cooks.",
    question="At which moment does a dependent step lose the thing that it waits for: when somebody takes it on, or later?",
    learned="A scheduler that counts too early works with one slot. Test it with two, before a customer does.",
)
def counted(trial: Trial, schedule: Any) -> None:
    """The minute in which each step starts, by id: after all that it waits for, and as soon as a place is free."""
    _dinner(trial, lambda graph, minutes: trial.call(schedule, _Read(trial, graph), minutes, 2))
    for graph, minutes in _plans():
        for slots in (1, 2, 3, 9):
            starts = trial.call(schedule, _Read(trial, graph), minutes, slots)
            _judge(trial, starts, graph, minutes, slots, {}, {})


@exercise(
    "08.4",
    nudge="A step needs two things now: a place and, if it uses something that is limited, one of those. Look at both "
    "before it starts, and let those behind it in the list look too.",
    question="How do you count, at this minute, how many of the running steps use a board? And what is `limits.get(…)` "
    "of a thing that has no limit?",
    learned="A limit holds a step back and nothing else: it takes no place, and whoever is behind it goes ahead.",
)
def shared(trial: Trial, share: Any) -> None:
    """The minute in which each step starts, by id: within the slots and the limits, and as soon as both allow it."""
    boards = dict.fromkeys(("1", "2", "3", "4"), "board")
    given = 4, boards, {"board": 2}
    _dinner(trial, lambda graph, minutes: trial.call(share, _Read(trial, graph), minutes, *given), limits={"chop": 2})
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
            starts = trial.call(share, _Read(trial, graph), minutes, slots, uses, limits)
            _judge(trial, starts, graph, minutes, slots, uses, limits)


class _Read(dict[str, tuple[str, ...]]):
    """A graph that ends a scheduler which goes on reading it for ever."""

    def __init__(self, trial: Trial, graph: Graph) -> None:
        super().__init__(graph)
        self._trial, self._times = trial, 0

    def __iter__(self) -> Iterator[str]:
        self._count()
        return super().__iter__()

    def __getitem__(self, id: str) -> tuple[str, ...]:
        self._count()
        return super().__getitem__(id)

    def _count(self) -> None:
        self._times += 1
        wanted = "an end: each step starts once, and ends"
        self._trial.want(self._times < MOST_READS, wanted, "A scheduler is done when every step is.")


def _plans() -> list[tuple[Graph, dict[str, float]]]:
    """The dinner, plans whose steps are listed before what they wait for, and a few that nobody thought of."""
    dinner = Plan.parse(kitchen.PLAN)
    minutes: dict[str, float] = {
        id: round(seconds / 60) for id, seconds in dinner.durations(kitchen.World().tools).items()
    }
    plans: list[tuple[Graph, dict[str, float]]] = [
        ({"b": ("a",), "c": ("a", "b"), "a": ()}, {"a": 3, "b": 5, "c": 2}),
        ({"a": (), "b": (), "c": ("a", "b"), "d": ("a",)}, {"a": 2, "b": 6, "c": 1, "d": 3}),
        ({"a": (), "b": (), "c": ()}, {"a": 4, "b": 3, "c": 2}),
        (dinner.graph, minutes),
        ({"a": (), "b": ("a",), "c": ("a",), "d": ("c",)}, {"a": 2.5, "b": 1, "c": 0.5, "d": 4}),
        (dict.fromkeys("abcdefg", ()), dict.fromkeys("abcdefg", 2)),
    ]
    for seed in range(2):
        luck = Random(seed)
        ids = luck.sample("abcdefghij", 10)
        graph = {id: tuple(other for other in ids[:n] if luck.random() < 0.25) for n, id in enumerate(ids)}
        shuffled = {id: graph[id] for id in sorted(ids)}
        plans.append((shuffled, {id: luck.randint(1, 9) for id in shuffled}))
    return plans


def _dinner(trial: Trial, starts_of: Any, limits: Mapping[str, int] | None = None) -> None:
    """Draw the starts that the learner's scheduler gives the dinner as brackets below a run of the kit."""
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
    """No step too early, none too many at once, and nobody idle while a step could start; any choice among them."""
    fits = isinstance(starts, dict) and starts.keys() == graph.keys() and all(map(_number, starts.values()))
    trial.want(fits, f"a number for each of {', '.join(graph)}", "Every step of the plan is carried out once.")
    ends = {id: start + minutes[id] for id, start in starts.items()}
    ready = {id: max((ends[other] for other in waits_for), default=0) for id, waits_for in graph.items()}
    for id in graph:
        late = max(graph[id], key=ends.__getitem__, default=None)
        wanted = f"step {id} from minute {ready[id]} on" + (f", when step {late} is over" if late else "")
        trial.want(starts[id] >= ready[id], wanted, "A step starts when all that it waits for is done, never before.")
    for now in sorted({*starts.values(), *ready.values(), *ends.values()}):
        running = [id for id in graph if starts[id] <= now < ends[id]]
        wanted = f"at most {_steps(slots)} at minute {now}, not {', '.join(running)}"
        trial.want(len(running) <= slots, wanted, "A slot is a place for one step at a time.")
        busy = {thing: [id for id in running if uses.get(id) == thing] for thing in limits}
        for thing, users in busy.items():
            wanted = f"at most {_steps(limits[thing])} using the {thing} at minute {now}, not {', '.join(users)}"
            trial.want(len(users) <= limits[thing], wanted, "A limit says how many at once.")
        for id in graph:
            thing = uses.get(id, "")
            waits = ready[id] <= now < starts[id] and len(running) < slots
            idle = waits and (thing not in limits or len(busy[thing]) < limits[thing])
            wanted = (
                f"step {id} at work at minute {now}: it is ready, and only {len(running)} of {slots} slots are taken"
            )
            rule = "Nobody is idle while a step could start: no level barrier, and no queue behind a step that waits."
            trial.want(not idle, wanted, rule)


@exercise(
    "08.5",
    nudge="Two things, one after the other: which pairs must keep their order, and which of these edges follows from "
    "two others.",
    question="If 10 waits for 9, and 9 waits for 7: what does an edge from 7 to 10 add? And for which pairs of lists "
    "is it enough to have one thing in common?",
    learned="Edges come from what steps touch, not from the order in which somebody wrote them down: the chain of 170 "
    "minutes was a graph of 95.",
)
def fewest(trial: Trial, edges: Any) -> None:
    """For each step the ids of the steps that it has to wait for, as few as will do."""
    dinner = Plan.parse(kitchen.PLAN)
    dependencies = _edges(trial, trial.call(edges, _touches()), _touches())
    steps = [step.model_copy(update={"depends_on": dependencies[step.id]}) for step in dinner.steps]
    plan = dinner.changed(steps=tuple(steps))
    trial.show(views.graph, plan, durations=dinner.durations(kitchen.World().tools))
    _judge_edges(trial, dependencies, _touches())
    run = execute(plan, ToolExecutor(kitchen.World().tools), workers=Simulated(4))
    wanted = f"a dinner that four cooks serve at minute 95, not: {run.reason}, at minute {run.makespan / 60:g}"
    trial.want(run.status == "finished" and run.makespan == 95 * 60, wanted, "The kitchen is the judge of its edges.")
    for touches in _notes():
        _judge_edges(trial, _edges(trial, trial.call(edges, touches), touches), touches)


def _touches() -> dict[str, dict[str, list[str]]]:
    """What the fourteen tickets touch, in the order in which the chef wrote them."""
    return {
        "1": {"reads": [], "writes": ["leeks"]},
        "2": {"reads": [], "writes": ["potatoes"]},
        "3": {"reads": [], "writes": ["carrots"]},
        "4": {"reads": [], "writes": ["apples"]},
        "5": {"reads": [], "writes": ["dough"]},
        "6": {"reads": ["leeks"], "writes": ["soup"]},
        "7": {"reads": ["potatoes", "carrots"], "writes": ["roast", "oven"]},
        "8": {"reads": ["soup"], "writes": ["starter"]},
        "9": {"reads": ["roast"], "writes": ["main", "oven"]},
        "10": {"reads": ["dough", "apples"], "writes": ["tart", "oven"]},
        "11": {"reads": ["tart"], "writes": ["dessert", "oven"]},
        "12": {"reads": ["starter"], "writes": ["table"]},
        "13": {"reads": ["main"], "writes": ["table"]},
        "14": {"reads": ["dessert"], "writes": ["table"]},
    }


def _notes() -> list[dict[str, dict[str, list[str]]]]:
    """Short lists that show one thing each, and a few that nobody thought of."""
    notes = [
        ("a", ["menu"], ["soup"]),
        ("b", ["menu"], ["roast"]),
        ("c", [], ["menu"]),
        ("d", ["menu"], ["menu"]),
        ("e", [], []),
    ]
    lists = [{id: {"reads": reads, "writes": writes} for id, reads, writes in notes}]
    lists += [{id: {"reads": [], "writes": ["pot"]} for id in "zyx"}, {}]
    chain = [("a", [], ["pot", "lid"]), ("b", ["lid"], ["stock"]), ("c", ["stock"], ["soup"]), ("d", ["soup"], ["pot"])]
    lists.append({id: {"reads": reads, "writes": writes} for id, reads, writes in chain})
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
    """The answer as a graph; a step without an entry waits for nothing."""
    fits = isinstance(came, dict) and all(isinstance(some, (list, tuple, set, frozenset)) for some in came.values())
    trial.want(fits, 'a dict of lists, as in {"1": [], "2": ["1"]}', "A plan is a graph: who waits for whom.")
    ids = list(touches)
    for id, waits_for in came.items():
        trial.want(id in ids, f"ids of the steps {', '.join(ids)}, not {id!r}", "Only steps of the plan have edges.")
        for other in waits_for:
            wanted = f"step {id} waiting for steps that were written before it, not for {other!r}"
            trial.want(
                other in ids[: ids.index(id)], wanted, "The written order is safe: an edge never turns it round."
            )
    return {id: tuple(sorted(came.get(id, ()))) for id in ids}


def _judge_edges(trial: Trial, dependencies: Mapping[str, tuple[str, ...]], touches: Mapping[str, Any]) -> None:
    """All conflicts ordered; no order that no conflict asks for; no edge that follows from others."""
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
                rule = "A write keeps its place: before and after every other step that reads or writes the same thing."
                wanted = f"step {id} behind step {other}: both touch {things[other]}"
                trial.want(other in behind[id], wanted, rule)
    for id in ids:
        for other in dependencies[id]:
            rule = "Nothing that they touch asks for this edge, and it costs time."
            trial.want(other in needs[id], f"step {id} free of step {other}", rule)
            via = [one for one in dependencies[id] if other in behind[one]]
            wanted = f"no edge from step {other} to step {id}: step {', '.join(via)} waits for it already"
            trial.want(not via, wanted, "The fewest edges: one that follows from others is left out.")


def _common(one: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """What two steps touch that at least one of them writes."""
    either = {*one["reads"], *one["writes"]} & {*other["reads"], *other["writes"]}
    return ", ".join(sorted(either & {*one["writes"], *other["writes"]}))
