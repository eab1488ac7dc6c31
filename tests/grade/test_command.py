"""The command ``python -m planexec_lab.grade``: planners of every kind over a data set, in words and for a machine."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from mock_llm import MockLLM
from planexec_lab.grade.__main__ import main
from planexec_lite import Plan

Graded = Callable[..., str]
GOALS = [f"Fetch the letter of the {day}th" for day in range(4, 12)]


def steps(*tools: str) -> list[dict[str, Any]]:
    """A chain of calls, as a planner that keeps to the schema writes it."""
    return [
        {"id": str(n), "description": name, "tool": name, "params": {"input": []}, "depends_on": [str(n - 1)] if n > 1 else [],
         "success_criteria": None}
        for n, name in enumerate(tools, 1)
    ]  # fmt: skip


def scene(name: str, goal: str, reply: dict[str, Any], **when: Any) -> dict[str, Any]:
    return {
        "name": name,
        "when": {"system": "Role: planner", "says": [f"Goal: {goal}"], **when},
        "reply": {"latency": 2.0, **reply},
    }


def answer(*tools: str) -> dict[str, Any]:
    return {"json": {"goal": "", "steps": steps(*tools), "rollback": [], "answer": None, "complete": True}}


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    """Eight rows: fetch, then read."""
    path = tmp_path / "gold.jsonl"
    rows = [{"goal": goal, "steps": steps("fetch", "read")} for goal in GOALS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def script(path: Path, scenes: list[dict[str, Any]]) -> Path:
    path.write_text(yaml.safe_dump({"scenes": scenes}), "utf-8")
    return path


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return script(tmp_path / "good.yaml", [scene(goal, goal, answer("fetch", "read")) for goal in GOALS])


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """Turned around, but for the first row: a refusal; the second: prose; the third: no scene at all."""
    scenes = [
        scene("refuse", GOALS[0], {"refusal": "I write no plans."}),
        scene("talk", GOALS[1], {"text": "Gladly.", "broken": True}),
    ]
    return script(tmp_path / "bad.yaml", scenes + [scene(goal, goal, answer("read", "fetch")) for goal in GOALS[3:]])


@pytest.fixture
def graded(capsys: pytest.CaptureFixture[str]) -> Graded:
    """The command, which succeeds; it returns what it prints."""

    def run(*arguments: str | Path) -> str:
        assert main([str(argument) for argument in arguments]) == 0
        return capsys.readouterr().out

    return run


def planner_of(printed: str) -> dict[str, Any]:
    (planner,) = json.loads(printed)["planners"]
    assert isinstance(planner, dict)
    return planner


def test_a_scripted_planner_is_graded_over_a_data_set(gold: Path, good: Path, graded: Graded) -> None:
    out = graded("--planner", good, gold).splitlines()
    assert out[:3] == [
        "gold.jsonl: 8 rows",
        f"planner: {good}, a script: its grade is no model's",
        "metric          planner",
    ]
    assert out[3:11] == [
        "valid           100 %",
        "tool F1         1.00",
        "edge F1         1.00",
        "order kept      1.00",
        "makespan ratio  1.00",
        "calls           2.00",
        "criteria        0 %",
        "risks           0.00",
    ]
    assert out[11].startswith("planner: 8 model calls, ")
    assert out[12:] == ["risks: no tool says what it does to the world; --tools may name a list that does"]


def test_two_planners_are_compared_in_pairs(gold: Path, good: Path, bad: Path, graded: Graded) -> None:
    arguments = ("--planner", good, "--against", bad, gold)
    out = graded(*arguments)
    assert "order kept      1.00     0.00       +1.00 [+1.00, +1.00] over 8 pairs\n" in out
    assert "calls           2.00     2.00 of 5  +0.00 [+0.00, +0.00] over 5 pairs: no difference can be told\n" in out
    assert "against: no plan in 3 of 8 rows\n" in out
    assert graded(*arguments) == out


def test_what_is_no_plan_is_graded_and_kept_answers_are_graded_again(
    gold: Path, bad: Path, tmp_path: Path, graded: Graded
) -> None:
    kept = tmp_path / "kept.jsonl"
    planner = planner_of(graded("--planner", bad, gold, "--keep", kept, "--json"))
    rows = planner["rows"]
    assert [row["problems"] for row in rows] == [["no_plan"]] * 3 + [[]] * 5
    for row, code in zip(rows, ("refused", "not_json", "refused"), strict=False):
        assert f"[{code}]" in row["why"]
    assert planner["means"]["valid"] == 0.625
    assert planner["measured"] == {
        name: 5 if name in ("makespan ratio", "calls", "risks") else 8 for name in planner["means"]
    }
    assert {error.partition(":")[0] for error in planner["errors"]} == {"UnprocessableEntityError"}
    again = planner_of(graded("--planner", kept, gold, "--json"))
    assert [again["means"], again["rows"]] == [planner["means"], rows]
    assert len(kept.read_text("utf-8").splitlines()) == 8


def test_an_invalid_plan_goes_back_to_the_planner(gold: Path, tmp_path: Path, graded: Graded) -> None:
    turning = answer("fetch", "read")
    turning["json"]["steps"][0]["depends_on"] = ["2"]
    mends = [
        scene("first", "Fetch", turning, never=["can't be carried out"]),
        scene("mended", "Fetch", answer("fetch", "read"), says=["Goal: Fetch", "can't be carried out"]),
    ]
    planner = planner_of(graded("--planner", script(tmp_path / "mends.yaml", mends), gold, "--json"))
    assert (planner["means"]["valid"], planner["means"]["tool F1"]) == (1.0, 1.0)
    assert planner["usage"]["calls"] == 16


def test_the_endpoint_is_that_of_the_one_setting_and_named_if_missing(
    gold: Path, good: Path, monkeypatch: pytest.MonkeyPatch, graded: Graded, capsys: pytest.CaptureFixture[str]
) -> None:
    llm = MockLLM.load(good)
    with llm.serve() as base_url:
        monkeypatch.setenv("PLANEXEC_LLM", base_url)
        assert "planner: some-model\n" in graded("--planner", "some-model", gold)
    assert [call.request["model"] for call in llm.calls] == ["some-model"] * 8
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *args: 0.0)
    monkeypatch.setenv("PLANEXEC_LLM", "http://127.0.0.1:9/v1")
    assert main(["--planner", "m", str(gold)]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("m answered no request, so there is nothing to grade: ")
    assert "× APIConnectionError: Connection error." in printed.err


def test_tools_of_a_world_say_what_is_valid_and_what_is_risky(tmp_path: Path, graded: Graded) -> None:
    from planexec_lab.worlds import migration

    path = tmp_path / "gold.json"
    plan = json.loads(migration.PLAN) | {"rollback": []}
    del plan["steps"][4]["undo"]
    path.write_text(json.dumps(plan), "utf-8")
    arguments = ("--planner", path, "--tools", "migration", path)
    assert "risks           1.00\n" in (out := graded(*arguments))
    assert "no tool says what it does" not in out
    (row,) = planner_of(graded(*arguments, "--json"))["rows"]
    assert (row["valid"], row["tool_f1"], row["criteria"], row["risks"]) == (True, 1.0, 1.0, ["5"])
    assert row["cost"]["seconds"] == sum(
        migration.World.TOOLS[step.tool or ""][0] for step in Plan.parse(migration.PLAN).steps
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--planner", "gpt-9", "GOLD"], "no endpoint for the model gpt-9: set PLANEXEC_LLM"),
        (["--planner", "nowhere.yaml", "GOLD"], "there is no script nowhere.yaml"),
        (["--planner", "nowhere.json", "GOLD"], "nowhere.json"),
        (["--planner", "x.yaml", "nowhere.json"], "nowhere.json"),
        (["--planner", "GOLD", "--tools", "nothing", "GOLD"], "no world"),
    ],
)
def test_what_can_not_be_graded_is_said_in_one_line(
    arguments: list[str], words: str, gold: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(gold) if one == "GOLD" else one for one in arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line
