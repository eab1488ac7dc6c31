"""Charts and files that other tools made are read with nothing lost, or refused with the reason; a weekly test makes them anew."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from planexec_lab import formats
from planexec_lite.plan import PlanError
from tests.environments import make_environment

HERE = Path(__file__).parent
TOOLS: dict[str, Any] = yaml.safe_load((HERE / "charts.yaml").read_text("utf-8"))
MADE = [(tool, name) for tool, of in TOOLS.items() for name in of.get("made", ())]
NEWEST = ("langgraph", ["langgraph"])
ENVIRONMENTS = [(tool, packages) for tool, of in TOOLS.items() for packages in of.get("environments", [[]])] + [NEWEST]


def check(text: str, expected: dict[str, Any]) -> None:
    if "refused" in expected:
        with pytest.raises(PlanError) as caught:
            formats.read(text)
        assert caught.value.problems[0].message == expected["refused"]
        return
    plan = formats.read(text)
    assert {step.id: sorted(step.depends_on) for step in plan.steps} == expected["plan"]
    assert [step.id for step in plan.steps if step.gate] == expected.get("gates", [])
    assert [problem.message for problem in plan.problems()] == expected.get("left_out", [])


@pytest.mark.parametrize(("tool", "name"), MADE)
def test_what_a_tool_made_is_read_with_nothing_lost(tool: str, name: str) -> None:
    assert TOOLS[tool]["by"]
    assert TOOLS[tool]["day"]
    made = TOOLS[tool]["made"][name]
    check(made["text"], made)


@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.xdist_group("charts")
@pytest.mark.parametrize(
    ("tool", "packages"), ENVIRONMENTS, ids=lambda one: " ".join(one) if isinstance(one, list) else one
)
def test_what_a_tool_makes_today_is_read_with_nothing_lost(tool: str, packages: list[str], tmp_path: Path) -> None:
    if not packages:
        pytest.skip(TOOLS[tool]["cannot"])
    python = make_environment(tmp_path / "env", *packages, seconds=900)
    command = [str(python), str(HERE / "charts.py"), tool]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    texts = json.loads(done.stdout.splitlines()[-1])
    assert texts.keys() == TOOLS[tool]["made"].keys()
    for name, text in texts.items():
        check(text, TOOLS[tool]["made"][name])
    if (tool, packages) == NEWEST:
        program = "from importlib.metadata import version; print(version('langgraph'))"
        newest = subprocess.run([str(python), "-c", program], capture_output=True, text=True, check=True).stdout
        minors = {made.rpartition(".")[0] for made in TOOLS[tool]["by"]}
        assert f"langgraph {newest.rpartition('.')[0]}" in minors, "add the new minor version, and leave out the oldest"


def test_the_workflows_of_this_project_are_read_or_refused() -> None:
    workflows = HERE.parents[1] / ".github" / "workflows"
    plan = formats.read((workflows / "pages.yml").read_bytes())
    assert [(step.id, step.gate) for step in plan.steps] == [("site", True)]
    assert [problem.message for problem in plan.problems()] == [
        "line 1: left out: on, permissions, concurrency of the file",
        "line 18: left out: runs-on, timeout-minutes, environment, steps of site",
    ]
    with pytest.raises(PlanError, match="make has a matrix"):
        formats.read((workflows / "ci.yml").read_bytes())
