"""What a graph could gain on a plan, and on a set of plans; and the numbers that the kit holds over published sets."""

import json
from pathlib import Path

import pytest

from planexec_lab import formats
from planexec_lab.formats import Measured, gain, measure, parallelism
from planexec_lite import Plan, Step


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
        (plan(""), (1, 1, 1), 1.0),
        (Plan(), (0, 0, 0), 1.0),
    ],
)
def test_the_shape_of_a_plan_and_what_a_graph_could_gain(shown: Plan, shape: tuple[int, int, int], gain: float) -> None:
    assert tuple(parallelism(shown)) == shape
    assert parallelism(shown).gain == gain


def test_a_plan_in_a_circle_has_no_shape() -> None:
    with pytest.raises(ValueError, match="cycle"):
        parallelism(CIRCLE)


def test_a_set_is_counted_over_the_plans_that_are_fit() -> None:
    counted = measure([CHAIN, DIAMOND, FAN, CIRCLE, DANGLING, None])
    assert counted == Measured(6, 5, 3, 4.0, 3.67, 4, 1, 1.44, 2.0)


@pytest.mark.parametrize("plans", [[], [None], [CIRCLE]])
def test_a_set_without_a_fit_plan_is_refused(plans: list[Plan | None]) -> None:
    with pytest.raises(ValueError, match=f"none of {len(plans)} plans"):
        measure(plans)


def test_the_table_shows_a_set_a_line() -> None:
    assert formats.table([("mine", measure([CHAIN, DIAMOND, FAN, CIRCLE])), ("of chains", measure([CHAIN]))]) == (
        "set        plans  valid  steps  chains  gain  at most\n"
        "mine           4   75 %    3.7    33 %  1.44     2.00\n"
        "of chains      1  100 %    3.0   100 %  1.00     1.00"
    )


def write(folder: Path) -> None:
    """Two sets in two formats, one of them a plan a line, and a list of tools."""
    nestful = [
        {"output": [{"name": "a", "arguments": {}, "label": "v1"}, {"name": "b", "arguments": {"x": "$v1$"}, "label": "v2"}]},
        {"output": [{"name": "a", "arguments": {}, "label": "v1"}, {"name": "b", "arguments": {}, "label": "v2"}]},
        {"output": "no calls"},
    ]  # fmt: skip
    (folder / "one").mkdir()
    (folder / "one" / "calls.json").write_text(json.dumps(nestful), "utf-8")
    graphs = ["Node:\n1: a\n2: b\n3: c\nEdge: (START,1) (1,2) (1,3)", "Node:\n1: a\n2: b\nEdge: (1,2) (2,1)"]
    (folder / "graphs.jsonl").write_text("".join(json.dumps({"graph": graph}) + "\n" for graph in graphs), "utf-8")
    (folder / "tools.json").write_text('{"nodes": [{"id": "a"}]}', "utf-8")
    (folder / "broken.json").write_text("[1, ", "utf-8")
    (folder / "README.md").write_text("no plans", "utf-8")


def test_a_folder_is_measured_file_by_file(tmp_path: Path) -> None:
    write(tmp_path)
    figures, without = gain.measured(tmp_path)
    assert figures == {
        "graphs.jsonl": Measured(2, 2, 1, 3.0, 3.0, 3, 0, 1.5, 1.5),
        "one/calls.json": Measured(3, 2, 2, 2.0, 2.0, 2, 1, 1.5, 2.0),
    }
    assert without == ["broken.json", "tools.json"]
