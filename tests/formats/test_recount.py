"""The figures over published plans: the rows add up to the totals, and one command counts them from the plans."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from planexec_lab.formats import PUBLISHED, recount
from planexec_lab.formats.recount import Row


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
