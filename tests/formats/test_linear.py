"""A plan of ten thousand steps is read, written and repaired in time that grows as it does, whatever its format."""

import gc
import json
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import islice, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lab.formats.taskbench import _nearest
from planexec_lite import PlanError, Toolbox, tool
from tests.rounds import rounds

SMALL, LARGE, MOST = 500, 4_000, 24  # eight times the size: 8 is linear, 64 is quadratic


def chain(name: str, steps: int) -> str:
    """A plan in which each step uses the one before it."""
    n = range(steps)
    of: dict[str, Callable[[], Any]] = {
        "native": lambda: [{"id": i, "tool": "t", "depends_on": [i - 1] if i else []} for i in n],
        "nestful": lambda: [{"name": "t", "label": f"v{i}", "arguments": {"x": f"$v{i - 1}$"}} for i in n],
        "worfbench": lambda: (
            "Node:\n" + "".join(f"{i}: t\n" for i in n) + "Edge: " + " ".join(f"({i},{i + 1})" for i in n[:-1])
        ),
        "taskbench": lambda: {
            "task_nodes": [{"task": "t", "arguments": [f"<node-{i - 1}>"]} for i in n],
            "task_links": [{"source": "t", "target": "t"} for _ in n],
        },
        "llmcompiler": lambda: "".join(f'{i}. t("${{{i - 1}}}, then")\n' for i in n),
        "rewoo": lambda: "".join(f"Plan: p\n#E{i} = t[#E{i - 1}]\n" for i in n),
        "hugginggpt": lambda: [
            {"task": "t", "id": i, "dep": [i - 1], "args": {"x": f"<GENERATED>-{i - 1}"}} for i in n
        ],
        "mermaid": lambda: "flowchart TD\n" + "".join(f'  {i}["t({i})"] --> {i + 1}\n' for i in n),
        "dot": lambda: "digraph {\n" + "".join(f'  {i} [label="t({i})"]; {i} -> {i + 1};\n' for i in n) + "}",
        "graph": lambda: {"nodes": [{"id": i} for i in n], "edges": [[i, i + 1] for i in n[:-1]]},
        "tool_calls": lambda: [
            {"role": "assistant", "tool_calls": [{"function": {"name": "t", "arguments": "{}"}}]} for _ in n
        ],
        "jobs": lambda: "jobs:\n  j0: {}\n" + "".join(f"  j{i + 1}: {{needs: j{i}}}\n" for i in n),
        "list": lambda: "".join(f"{i + 1}. t (after {i or 'nothing'})\n" for i in n),
    }
    text = of[name]()
    return text if isinstance(text, str) else json.dumps(text)


def grows(work: Callable[[int], Callable[[], Any]]) -> float:
    """How many times longer eight times as much takes: the least of three, or the first below `MOST`, in this process's time."""
    took = {size: float("inf") for size in (SMALL, LARGE)}
    gc.disable()  # the collector looks at all that lives in this process, which is no work of the reader's
    try:
        for _ in range(3):
            for size in took:
                run = work(size)
                start = time.process_time()
                run()
                took[size] = min(took[size], time.process_time() - start)
            if took[LARGE] < MOST * took[SMALL]:
                break
    finally:
        gc.enable()
    return took[LARGE] / took[SMALL]


HOSTILE = {
    "brackets": lambda n: "1. a " + "(" * n,
    "hints that are not closed": lambda n: "1. a " + "(after 1, " * n,
    "half arrows": lambda n: "1. a " + "<=" * n + "--" * n,
    "hashes": lambda n: "#" * n + " x",
    "comments": lambda n: "/**/" * n + "x",
    "labels that are not closed": lambda n: "flowchart TD\n A" + "(\n" * n,
    "aliases": lambda n: "a0: &a0 {k: 1}\n" + "".join(f"a{i + 1}: &a{i + 1} {{p: *a{i}, q: *a{i}}}\n" for i in range(n // 20))
    + "steps:\nneeds: x\n",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_costs_what_its_length_says(kind: str) -> None:
    def read(size: int) -> Callable[[], None]:
        def run() -> None:
            with suppress(PlanError):
                formats.read(HOSTILE[kind](size))

        return run

    assert grows(read) < MOST


@pytest.mark.slow
@pytest.mark.parametrize("name", formats.names)
def test_long_plan_is_read_in_linear_time(name: str) -> None:
    texts = {size: chain(name, size) for size in (SMALL, LARGE)}
    assert grows(lambda size: lambda: formats.read(texts[size])) < MOST


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mermaid", "dot", "llmcompiler", "list"])
def test_long_plan_is_written_in_linear_time(name: str) -> None:
    texts = {size: chain("list" if name == "list" else "llmcompiler", size) for size in (SMALL, LARGE)}
    plans = {}
    for size, text in texts.items():
        plan = formats.read(text.replace('"${-1}, then"', '"x"').replace(" (after -1)", ""))
        plans[size] = plan
    assert grows(lambda size: lambda: formats.write(plans[size], name)) < MOST


@pytest.mark.slow
def test_long_plan_is_repaired_in_linear_time() -> None:
    @tool(effects="none")
    def tell(input: str) -> str:
        """Tell."""
        return input

    plans = {}
    for size in (SMALL, LARGE):
        plan = formats.read(chain("llmcompiler", size))
        steps = tuple(step.model_copy(update={"depends_on": (), "tool": "tel"}) for step in plan.steps[1:])
        plans[size] = plan.changed(steps=steps)
    toolbox = Toolbox([tell])
    assert len(formats.repaired(plans[LARGE], toolbox)[1]) == 2 * (LARGE - 1) - 1
    assert grows(lambda size: lambda: formats.repaired(plans[size], toolbox)) < MOST


PLACES = st.lists(st.integers(0, 30), unique=True, min_size=1, max_size=8).map(sorted)


@given(sources=PLACES, targets=PLACES, same=st.booleans())
@rounds(300)
def test_links_of_taskbench_join_the_nearest_pair_each_time(sources: list[int], targets: list[int], same: bool) -> None:
    targets = sources if same else [place for place in targets if place not in sources]
    pairs = list(product(sources, targets))
    by_hand = sorted(pairs, key=lambda pair: (pair[0] >= pair[1], abs(pair[1] - pair[0])))
    assert list(islice(_nearest(sources, targets), len(pairs) + 1)) == by_hand
