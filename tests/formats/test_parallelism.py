"""How parallel published plans are, and the recount of their rows."""

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import formats
from planexec_lab.formats import PUBLISHED, Measured, gain, measure, parallelism, recount
from planexec_lab.formats.recount import Row
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


def test_valid_plans_are_counted_and_shown_in_a_table() -> None:
    with pytest.raises(ValueError, match="cycle"):
        parallelism(CIRCLE)
    counted = measure([CHAIN, DIAMOND, FAN, CIRCLE, DANGLING, None])
    assert counted == Measured(6, 5, 3, 4.0, 3.67, 4, 1, 1.44, 2.0)
    assert formats.table([("mine", measure([CHAIN, DIAMOND, FAN, CIRCLE])), ("of chains", measure([CHAIN]))]) == (
        "set        plans  valid  steps  chains  gain  at most\n"
        "mine           4   75 %    3.7    33 %  1.44     2.00\n"
        "of chains      1  100 %    3.0   100 %  1.00     1.00"
    )


@pytest.mark.parametrize("plans", [[], [None], [CIRCLE]])
def test_a_set_without_a_fit_plan_is_refused(plans: list[Plan | None]) -> None:
    with pytest.raises(ValueError, match=f"none of {len(plans)} plans"):
        measure(plans)


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


def test_the_rows_add_up_to_what_is_published() -> None:
    totals = recount.totals(recount.recorded())
    assert totals == {of.name: (of.measured, of.valid_with_tools) for of in PUBLISHED}
    assert sum(measured.plans for measured, _ in totals.values()) == 4417
    assert recount.differences(totals) == []


def test_the_readme_says_what_the_rows_say() -> None:
    readme = resources.files("planexec_lab.formats").joinpath("README.md").read_text("utf-8")
    small = [row for row in recount.recorded() if row.part.startswith("taskbench")]
    unread = sum(row.problems == "unread" for row in small)
    unfit = sum(bool(row.problems) for row in small) - unread
    besides = sum(not row.problems and row.with_tools == "unknown_tool" for row in small)
    assert f"{unread} can't be read, {unfit} fail without the tool list, {besides} more" in " ".join(readme.split())
    assert f"{(unread + unfit + besides) / len(small):.0%}, {(unread + unfit) / len(small):.0%}" == "45%, 21%"


CALLS = [
    {"name": "find", "arguments": {"q": "Oslo"}, "label": "var1"},
    {"name": "map", "arguments": {"at": "near $var1.Place Name$"}, "label": "var2"},
]
GRAPH = "Node:\n1: shop\n2: lay the table\n3: cook\nGraph:\nEdges: (START,1) (START,2) (1,3) (2,END) (3,END)"


def publication(folder: Path) -> Path:
    """Three publications in small, laid out as the real ones."""

    def put(path: str, data: Any, lines: bool = False) -> None:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(one) + "\n" for one in data) if lines else json.dumps(data)
        (folder / path).write_text(text, "utf-8")

    put(
        "NESTFUL/data/executable/executable-data.json", [{"input": "a", "output": CALLS}, {"input": "b", "output": "["}]
    )
    put("NESTFUL/data/executable/executable-spec.json", [{"name": "find", "parameters": {"q": {}}}] * 2)
    put(
        "WorFBench/gold_traj/os/graph_eval.json",
        [{"id": "os_7", "conversations": [{"role": "user", "content": "?"}, {"role": "assistant", "content": GRAPH}]}],
    )
    for_itself = {"id": "9", "task_nodes": [{"task": "a", "arguments": ["<node-0>"]}], "task_links": []}
    put("GNN4TaskPlan/prediction/multimedia/mistral-7b/direct.json", [for_itself], lines=True)
    put("GNN4TaskPlan/data/multimedia/tool_desc.json", {"nodes": [{"id": "a"}]})
    return folder


def test_each_plan_of_the_folders_gives_a_row(tmp_path: Path) -> None:
    rows, absent = recount.rows(publication(tmp_path))
    assert rows == [
        Row("nestful/executable", "1", 2, 1, 2, 1, "", "unknown_tool"),
        Row("nestful/executable", "2", None, None, None, None, "unread", ""),
        Row("worfbench/os", "7", 3, 1, 2, 2, "", ""),
        Row("taskbench/multimedia/mistral-7b", "9", 1, 1, None, None, "self_dependency", ""),
    ]
    assert "NESTFUL/data/non-executable/non-executable-sgd-spec.json" in absent
    assert "WorFBench/gold_traj/os/graph_eval.json" not in absent


@pytest.mark.parametrize("arguments", [[], ["/nowhere/at/all"], ["a", "b", "c"]])
def test_a_wrong_call_is_told_how_to_call(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert recount.main(arguments) == 2
    assert "usage: python -m planexec_lab.formats.recount FOLDER" in capsys.readouterr().err
