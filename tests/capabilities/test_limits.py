"""Limits and roles: four cooks and one oven; and the most calls of one tool in a run, across retries and plans."""

import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import (
    Board,
    Inline,
    Plan,
    Policy,
    Pool,
    Run,
    Simulated,
    Step,
    Team,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
    tool,
)
from planexec_lite.capabilities.call_limit import Calls
from planexec_lite.events import StepBlocked, StepStarted
from tests.capabilities.scaffold import carry_out, planned, told
from tests.core.ending import to_its_end
from tests.core.shapes import check_fold, check_order, first_ready, starts, step
from tests.rounds import rounds


def works(name: str, latency: float, *uses: str) -> Tool:
    def work(what: str = "") -> str:
        """Work."""
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


def test_a_limit_holds_by_the_name_of_a_tool_or_of_what_it_uses() -> None:
    plan = [step("1", "bake"), step("2", "roast"), step("3", "bake"), step("4", "roast")]
    assert cook(plan, {"bake": 1}).makespan == 20.0
    assert cook(plan, {"oven": 1}).makespan == 30.0
    assert cook(plan, {"tray": 1, "bake": 2}).makespan == 10.0


@pytest.mark.parametrize(
    ("limits", "words"),
    [({"ovn": 1}, "did you mean 'oven'"), ({"oven": 0}, "at least one"), ({"oven": -1}, "at least one")],
    ids=str,
)
def test_a_limit_on_what_nobody_has_is_rejected_before_anything_happens(limits: Any, words: str) -> None:
    for workers in (Simulated(limits=limits), Inline(limits)):
        seen: list[Run] = []
        with pytest.raises(ValueError, match=words):
            execute(Plan.parse([step("1", "bake")]), ToolExecutor(KITCHEN), workers=workers, watch=seen.append)
        assert not seen


def test_a_step_that_failed_or_was_given_up_leaves_its_place() -> None:
    run = cook([step("1", "bake", timeout=4.0), step("2", "bake"), step("3", "bake")], {"oven": 1})
    assert run.board.state == {"1": "failed", "2": "done", "3": "done"}
    assert starts(run) == [("1", 0.0), ("2", 4.0), ("3", 14.0)]


def test_on_threads_no_more_are_really_at_it_than_the_limit_says() -> None:
    busy, most, lock = Counter[str](), Counter[str](), threading.Lock()

    def tool_of(name: str, *uses: str) -> Tool:
        def work() -> None:
            with lock:
                busy.update(uses)
                most.update(busy - most)
            time.sleep(0.01)
            with lock:
                busy.subtract(uses)

        return Tool(work, name=name, uses=uses, effects="none")

    tools = Toolbox([tool_of("a", "x"), tool_of("b", "x", "y"), tool_of("c", "y"), tool_of("d")])
    steps = [step(str(n), "abcd"[n % 4]) for n in range(32)]
    with ThreadPoolExecutor(8) as pool:
        run = to_its_end(lambda: carry_out(steps, tools, Pool(pool, limits={"x": 2, "y": 1})))
    assert run.status == "finished"
    assert (most["x"] <= 2, most["y"]) == (True, 1)
    check_order(run)


@st.composite
def kitchens(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, int], int | None]:
    steps: list[dict[str, Any]] = []
    for n in range(draw(st.integers(1, 12))):
        after = draw(st.lists(st.sampled_from([one["id"] for one in steps]), unique=True, max_size=2)) if steps else []
        steps.append(step(str(n), draw(st.sampled_from(KITCHEN.names)), *after))
    names = st.sampled_from(["oven", "tray", "bake", "chop"])
    return (
        draw(st.permutations(steps)),
        draw(st.dictionaries(names, st.integers(1, 3))),
        draw(st.integers(1, 5) | st.none()),
    )


@rounds(150)
@given(kitchens())
def test_who_starts_is_the_first_that_has_a_place_and_nobody_overtakes(kitchen: Any) -> None:
    steps, limits, slots = kitchen
    run = cook(steps, limits, slots)
    assert run.status == "finished"
    assert cook(steps, limits, slots).events == run.events
    board, order = Board(), [one["id"] for one in steps]
    for event in run.events:
        if isinstance(event, StepStarted):
            assert event.step == first_ready(board, order)
            same = [id for id in ready(board, order) if board.steps[id].tool == board.steps[event.step].tool]
            assert event.step == same[0], f"{event.step} overtook {same[0]}"
        board.apply(event)


def ready(board: Board, order: list[str]) -> list[str]:
    done = [id for id in order if board.state[id] == "done"]
    return [id for id in order if board.state[id] == "waiting" and set(board.steps[id].depends_on) <= set(done)]


def test_a_role_and_a_resource_of_one_name_are_two_limits() -> None:
    team = Team({"bake": ToolExecutor(KITCHEN.only("bake"))}, slots={"bake": 3})
    plan = Plan.parse([step(str(n), "bake") for n in range(4)])
    assert execute(plan, team, workers=Simulated(limits={"bake": 1})).makespan == 40.0
    one_baker = Team({"bake": ToolExecutor(KITCHEN.only("bake"))}, slots={"bake": 1})
    assert execute(plan, one_baker, workers=Simulated(limits={"bake": 3})).makespan == 40.0


class Named(ToolExecutor):
    """An executor that signs its work."""

    def __init__(self, name: str, *tools: Any) -> None:
        super().__init__(Toolbox(tools))
        self.name = name

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> Any:
        return f"{self.name}: {super().execute(step, inputs)}"


def test_each_step_goes_to_the_executor_of_its_role_and_a_role_has_its_slots() -> None:
    team = Team({"cook": Named("Ann", CHOP), "baker": Named("Bob", BAKE, CHOP)}, slots={"cook": 2, "baker": 1})
    steps = [step(str(n), "chop" if n % 2 else "bake", what=str(n)) for n in range(6)]
    steps += [step("x", None, description="taste"), step("y", "bake", "1", what="{step_1_result}")]
    run = execute(Plan.parse(steps), team, workers=Simulated())
    check_order(run)
    check_fold(run)
    begun = {"cook": [0.0, 0.0, 2.0, 2.0], "baker": [0.0, 10.0, 20.0, 30.0]}
    roles = {one.id: team.role_of(one) for one in run.plan.steps}
    assert {role: [at for id, at in starts(run) if roles[id] == role] for role in begun} == begun
    assert [run.results[id] for id in "01xy"] == ["Bob: bake 0", "Ann: chop 1", "Ann: taste", "Bob: bake Ann: chop 1"]


def test_a_team_without_sense_and_a_tool_that_no_role_has_are_rejected() -> None:
    ann = Named("Ann", CHOP)
    with pytest.raises(ValueError, match="at least one role"):
        Team({})
    with pytest.raises(ValueError, match="did you mean 'cook'"):
        Team({"cook": ann}, slots={"cok": 1})
    with pytest.raises(ValueError, match="cook=0"):
        Team({"cook": ann}, slots={"cook": 0})
    with pytest.raises(ValueError, match="unknown_tool"):
        execute(Plan.parse([step("1", "bake")]), Team({"cook": ann}))


def tools_of(log: list[str], fails: int = 0) -> Toolbox:
    @tool(effects="none")
    def search(name: str) -> str:
        log.append(name)
        if len(log) <= fails:
            raise OSError("no answer")
        return name

    return Toolbox([search])


def test_a_further_step_fails_without_a_call() -> None:
    log: list[str] = []
    steps = [step(str(n), "search", name=str(n)) for n in range(4)]
    run = carry_out(steps, tools_of(log), Simulated(1), max_calls={"search": 2, "pay": 0})
    assert (run.status, log, told(run, StepBlocked)) == ("failed", ["0", "1"], ["2", "3"])
    assert run.board.errors["2"] == "not called: search was called 2 times in this run (max_calls)"


def test_each_attempt_counts_and_a_new_plan_brings_no_new_calls() -> None:
    log: list[str] = []
    run = carry_out([step("1", "search", name="a", retries=9)], tools_of(log, fails=9), max_calls={"search": 3})
    assert (run.status, log, run.board[Calls].by_tool) == ("failed", ["a"] * 3, {"search": 3})
    log.clear()
    plans = [[step(id, "search", name=id)] for id in "ab"]
    agent = planned(tools_of(log, fails=1), *plans, replan="failure", max_replans=1, max_calls={"search": 1})
    assert (agent.run("look").status, log) == ("failed", ["a"])


@pytest.mark.parametrize("most", [-1, 1.5, True, "2"])
def test_a_limit_is_a_whole_number(most: Any) -> None:
    with pytest.raises(ValueError, match="a whole number, zero or more"):
        Policy(max_calls={"search": most})
