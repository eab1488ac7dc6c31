"""How parallel published plans are, and the recount of the publications."""

import json
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import formats
from planexec_lab.formats import PUBLISHED, Measured, measure, parallelism
from planexec_lite import Plan, Step
from tests.guards import books


def plan(*waits_for: str) -> Plan:
    """A plan whose step n waits for the steps named, such as ``plan("", "1", "1 2")``."""
    return Plan(steps=tuple(Step(id=str(n), depends_on=tuple(ids.split())) for n, ids in enumerate(waits_for, 1)))


DIAMOND, CHAIN, FAN = plan("", "1", "1", "2 3"), plan("", "1", "2"), plan("", "", "", "1 2 3")
CIRCLE, DANGLING = plan("2", "1"), plan("", "9")


@pytest.mark.parametrize(
    ("shown", "shape", "gain"),
    [
        (CHAIN, (3, 3, 1), 1.0),
        (DIAMOND, (4, 3, 2), 4 / 3),
        (FAN, (4, 2, 3), 2.0),
        (plan("", "", "", ""), (4, 1, 4), 4.0),
        (Plan(), (0, 0, 0), 1.0),
    ],
)
def test_the_shape_of_a_plan_and_what_a_graph_could_gain(shown: Plan, shape: tuple[int, int, int], gain: float) -> None:
    assert tuple(parallelism(shown)) == shape
    assert parallelism(shown).gain == gain


def test_valid_plans_are_counted_and_shown_in_a_table() -> None:
    with pytest.raises(ValueError, match="cycle"):
        parallelism(CIRCLE)
    with pytest.raises(ValueError, match="none of 2 plans"):
        measure([CIRCLE, None])
    counted = measure([CHAIN, DIAMOND, FAN, CIRCLE, DANGLING, None])
    assert counted == Measured(6, 5, 3, 4.0, 3.67, 4, 1, 1.44, 2.0)
    assert formats.table([("mine", measure([CHAIN, DIAMOND, FAN, CIRCLE])), ("of chains", measure([CHAIN]))]) == (
        "set        plans  valid  steps  chains  gain  at most\n"
        "mine           4   75 %    3.7    33 %  1.44     2.00\n"
        "of chains      1  100 %    3.0   100 %  1.00     1.00"
    )


CALLS = [{"name": "find", "arguments": {"q": "Oslo"}}, {"name": "map", "arguments": {"at": "$call_1.Place Name$"}}]
GRAPH = "Node:\n1: shop\n2: lay the table\n3: cook\nGraph:\nEdges: (START,1) (START,2) (1,3) (2,END) (3,END)"
NODES = {"id": "9", "task_nodes": [{"task": "a", "arguments": []}], "task_links": []}
FILES: dict[str, Any] = {  # three publications in small, laid out as the real ones
    "NESTFUL/data/executable/executable-data.json": [{"output": CALLS}, {"output": "["}],
    "NESTFUL/data/executable/executable-spec.json": [{"name": "find", "parameters": {"q": {}}}] * 2,
    "WorFBench/gold_traj/os/graph_eval.json": [{"id": "os_7", "conversations": [{"content": "?"}, {"content": GRAPH}]}],
    "GNN4TaskPlan/prediction/multimedia/mistral-7b/direct.json": NODES,
    "GNN4TaskPlan/data/multimedia/tool_desc.json": {"nodes": [{"id": "a"}]},
}


def test_the_publications_are_counted_and_compared(tmp_path: Path) -> None:
    for path, data in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(json.dumps(data), "utf-8")
    done = books.run(".ci/recount.py", tmp_path, scratch=tmp_path)
    assert done.returncode == 1, done.stdout
    assert "NESTFUL, SGD: not there" in done.stdout
    for name, counted, valid in (
        ("NESTFUL, web services", Measured(2, 1, 1, 2.0, 2.0, 2, 1, 1.0, 1.0), 0),
        ("WorFBench", Measured(1, 1, 1, 3.0, 3.0, 3, 0, 1.5, 1.5), 1),
        ("TaskBench, small models", Measured(1, 1, 1, 1.0, 1.0, 1, 1, 1.0, 1.0), 1),
    ):
        assert f"{name}: counted {(counted, valid)}; PUBLISHED has " in done.stdout
    assert "usage: python .ci/recount.py FOLDER" in books.run(".ci/recount.py", scratch=tmp_path).stdout
    assert sum(of.measured.plans for of in PUBLISHED) == 4417
