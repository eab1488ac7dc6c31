"""The pictures of the report: what they show, in which order, and the finding that each has as its title."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from tests.bench import makespan
from tests.bench.elsewhere import OURS, PLAIN, Found
from tests.bench.lens import Scale, lens, parts
from tests.bench.speed import Overhead
from tests.bench.timing import Taken, number, ratio

KINDS = {OURS: "ours", makespan.OURS: "ours", PLAIN: "plain", makespan.PLAIN[1]: "plain"}

GRAPHS = ("LangGraph, graph", "LangGraph, compiled before")


def kinds(names: Mapping[str, object]) -> dict[str, str]:
    """What each contender is: ours, plain or a framework."""
    return {name: KINDS.get(name, "framework") for name in names}


def overhead(measured: Found) -> str:
    """Microseconds a step by contender and shape, in the largest plans that were run; empty where none was run."""
    if not measured.overhead:
        return ""
    steps = max(int(size) for sizes in measured.overhead.values() for size in sizes)
    taken = {shape: sizes[str(steps)] for shape, sizes in measured.overhead.items()}
    each = {shape: {name: median(s) / steps * 1e6 for name, s in times.items()} for shape, times in taken.items()}
    rows = kinds(next(iter(each.values())))
    others = [name for name, kind in rows.items() if kind == "framework"]
    plain = [ratio(times[OURS], times[PLAIN]) for times in taken.values()]
    title = f"An empty step costs {between(each, OURS)} µs with planexec_lite, {span(plain)} × what plain asyncio takes"
    if others:
        least = min(ratio(times[name], times[OURS]) for times in taken.values() for name in others)
        title += f"; every framework takes at least {least:.0f} × ours"
    most = max(value for column in each.values() for value in column.values())
    scale = Scale(1.0, 10_000.0 if most > 1_000 else 1_000.0, tenfold=True)
    notes = [
        f"Microseconds of processor time a step, plans of {steps:,} steps, medians of interleaved rounds."
        " Bars on a tenfold scale: each hair line is ten times the one before, from 1 µs.",
    ]
    return lens(title, rows, each, scale, notes, gaps=others[:1])


def barriers(taken: Mapping[str, Taken], scale: float = 1.0) -> str:
    """Makespan ÷ critical path, by contender and case."""
    factors = makespan.factors(taken, scale)
    rows = kinds(next(iter(factors.values())))
    worst = {case: max(values, key=lambda name: values[name]) for case, values in factors.items()}
    case = max(factors, key=lambda case: factors[case][worst[case]])
    ours = max(values[makespan.OURS] for values in factors.values())
    title = f"No level barrier: ours takes at most {ours:.2f} × the critical path"
    if rows[worst[case]] == "framework":
        name = "LangGraph's graph" if worst[case] in GRAPHS else worst[case]
        title += f"; {name} takes {factors[case][worst[case]]:.1f} × on the {case}"
    most = max(value for column in factors.values() for value in column.values())
    others = [name for name, kind in rows.items() if kind == "framework"]
    notes = [
        "Wall-clock time ÷ critical path, steps that really sleep. Dashed: 1 ×, the critical path; no schedule is shorter."
        " A staircase has n rows of n steps, and each row's long step stands elsewhere.",
    ]
    short = {case.replace(" staircase", " stairs").replace("two uneven branches", "two branches"): values
             for case, values in factors.items()}  # fmt: skip
    return lens(title, rows, short, Scale(0.0, max(most, 1.5)), notes, 1.0, gaps=others[:1], places=2)


def growth(taken: Overhead) -> str:
    """Microseconds a step by size, ours beside asyncio."""
    names = {"Inline": "Inline, {} steps", "Pool": "Pool, {} steps", "asyncio": "asyncio, {} steps"}
    sizes = list(next(iter(taken.values())))
    each = {
        shape: {
            names[name].format(f"{steps:,}"): median(times[steps][name]) / steps * 1e6
            for name in names
            for steps in sizes
        }
        for shape, times in taken.items()
    }
    rows = {
        names[name].format(f"{steps:,}"): "plain" if name == "asyncio" else "ours" for name in names for steps in sizes
    }
    small, large = sorted(sizes)[-2:]
    most = max(
        median(times[large][name]) / large / (median(times[small][name]) / small)
        for times in taken.values()
        for name in ("Inline", "Pool")
    )
    title = "A step costs no more in a large plan" if most < 1.05 else "A step costs little more in a large plan"
    title = title if most <= 2 else "A step costs more in a large plan"
    title += f": at {large:,} steps at most {most:.1f} × what it costs at {small:,}"
    high = max(value for column in each.values() for value in column.values())
    gaps = [names[name].format(f"{sizes[0]:,}") for name in ("Pool", "asyncio")]
    return lens(
        title, rows, each, Scale(0.0, high), ["Microseconds of processor time a step, execution alone."], gaps=gaps
    )


def validation(taken: Mapping[str, Taken], steps: int) -> str:
    """From JSON to the results, part by part: ours and asyncio's."""
    groups = {}
    for shape, times in taken.items():
        each = {part: median(seconds) / steps * 1e6 for part, seconds in times.items()}
        groups[shape] = {
            "ours": {
                "parse": each["parse"],
                "validate": max(each["parse and validate"] - each["parse"], 0.0),
                "execute": max(each["from JSON to results"] - each["parse and validate"], 0.0),
            },
            "asyncio": {
                "json": each["json.loads"],
                "execute": max(each["json.loads and asyncio"] - each["json.loads"], 0.0),
            },
        }
    shares = [ratio(times["parse and validate"], times["from JSON to results"]) for times in taken.values()]
    title = (
        f"A plan that is checked before it runs: reading and checking take {min(shares):.0%} to {max(shares):.0%} of the way"
        " from JSON to results"
    )
    notes = [
        f"Microseconds of processor time a step at {steps:,} steps; from left to right parse, validate, execute."
        " asyncio over graphlib reads the same JSON (the first part of its bars), checks nothing, and executes."
    ]
    return parts(title, groups, "µs", notes)


def between(each: Mapping[str, Mapping[str, float]], name: str) -> str:
    """The least and the most of one contender: ``9 to 21``."""
    values = [column[name] for column in each.values()]
    return f"{min(values):.0f} to {max(values):.0f}"


def span(values: list[float]) -> str:
    """The least and the most of some ratios: ``0.9 to 1.3``."""
    return f"{number(min(values))} to {number(max(values))}"
