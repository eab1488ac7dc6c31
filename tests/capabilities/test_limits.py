"""Limits and roles, with four cooks and an oven."""

from collections.abc import Mapping
from typing import Any

import pytest

from planexec_lite import Inline, Run, Simulated, Step, Team, Tool, Toolbox, ToolExecutor
from tests.core.agents import carry_out
from tests.core.shapes import check_fold, check_order, starts, step


def works(name: str, latency: float, *uses: str) -> Tool:
    def work(what: str = "") -> str:
        return f"{name} {what}"

    return Tool(work, name=name, latency=latency, uses=uses, effects="none")


CHOP, BAKE = works("chop", 2.0), works("bake", 10.0, "oven")
KITCHEN = Toolbox([CHOP, BAKE, works("roast", 5.0, "oven", "tray"), works("wash", 3.0, "tray")])


def cook(steps: list[dict[str, Any]], limits: Mapping[str, int], slots: int | None = 4, **policy: Any) -> Run:
    run = carry_out(steps, KITCHEN, Simulated(slots, limits), **policy)
    check_order(run, slots or 10**6)
    return run


def test_four_cooks_share_one_oven() -> None:
    dishes = [one for n in range(4) for one in (step(f"chop{n}", "chop"), step(f"bake{n}", "bake", f"chop{n}"))]
    assert cook(dishes, {}).makespan == 12.0
    one_oven = cook(dishes, {"oven": 1})
    assert one_oven.makespan == 42.0
    assert [at for id, at in starts(one_oven) if id.startswith("bake")] == [2.0, 12.0, 22.0, 32.0]
    assert cook(dishes, {"oven": 2}).makespan == 22.0
    assert cook(dishes, {"oven": 4}).makespan == cook(dishes, {"oven": 99}).makespan == 12.0


def test_a_limit_applies_to_a_tool_or_a_resource() -> None:
    plan = [step("1", "bake"), step("2", "roast"), step("3", "bake"), step("4", "roast")]
    assert cook(plan, {"bake": 1}).makespan == 20.0
    assert cook(plan, {"oven": 1}).makespan == 30.0
    assert cook(plan, {"tray": 1, "bake": 2}).makespan == 10.0


@pytest.mark.parametrize(
    ("limits", "words"),
    [({"ovn": 1}, "did you mean 'oven'"), ({"oven": 0}, "at least one"), ({"oven": -1}, "at least one")],
    ids=str,
)
def test_an_unknown_or_invalid_limit_is_rejected_before_the_run(limits: Any, words: str) -> None:
    for workers in (Simulated(limits=limits), Inline(limits)):
        seen: list[Run] = []
        with pytest.raises(ValueError, match=words):
            carry_out([step("1", "bake")], KITCHEN, workers, watch=seen.append)
        assert not seen


class Named(ToolExecutor):
    """An executor that puts its name before its results."""

    def __init__(self, name: str, *tools: Any) -> None:
        super().__init__(Toolbox(tools))
        self.name = name

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        return f"{self.name}: {super().execute(step, inputs)}"


def test_each_step_goes_to_the_executor_of_its_role_within_its_slots() -> None:
    team = Team({"cook": Named("Ann", CHOP), "baker": Named("Bob", BAKE, CHOP)}, slots={"cook": 2, "baker": 1})
    steps = [step(str(n), "chop" if n % 2 else "bake", what=str(n)) for n in range(6)]
    steps += [step("x", None, description="taste"), step("y", "bake", "1", what="{step_1_result}")]
    run = carry_out(steps, team)
    check_order(run)
    check_fold(run)
    begun = {"cook": [0.0, 0.0, 2.0, 2.0], "baker": [0.0, 10.0, 20.0, 30.0]}
    roles = {one.id: team.role_of(one) for one in run.plan.steps}
    assert {role: [at for id, at in starts(run) if roles[id] == role] for role in begun} == begun
    assert [run.results[id] for id in "01xy"] == ["Bob: bake 0", "Ann: chop 1", "Ann: taste", "Bob: bake Ann: chop 1"]


def test_a_tool_without_a_role_is_rejected() -> None:
    with pytest.raises(ValueError, match="unknown_tool"):
        carry_out([step("1", "bake")], Team({"cook": Named("Ann", CHOP)}))
