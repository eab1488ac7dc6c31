"""The small program that grows from lesson to lesson: held against the kit, and against the whiteboard drill."""

from __future__ import annotations

import json
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exercises import capstone
from exercises.interview.drill import rubric
from planexec_lite import (
    Plan,
    PlannerExecutor,
    Policy,
    RulePlanner,
    Run,
    Simulated,
    Tool,
    Toolbox,
    ToolExecutor,
    execute,
)
from planexec_lite.events import UndoDone
from tests.rounds import rounds

LESSONS = ("01", "02", "03", "04", "05", "06", "07", "08", "09", "10")


def code_lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def a_step(id: int, seconds: int, fails: bool, after: list[int]) -> dict[str, Any]:
    params = {"seconds": seconds, "fails": fails, "heard": [f"{{step_{other}_result}}" for other in after]}
    return {"id": str(id), "tool": "work", "params": params, "depends_on": [str(other) for other in after]}


@st.composite
def plans(draw: st.DrawFn, fail: bool = True) -> list[dict[str, Any]]:
    """Up to eight steps that wait for earlier ones, take up to four seconds, and sometimes fail; in any order."""
    steps = []
    for id in range(1, draw(st.integers(1, 8)) + 1):
        after = draw(st.lists(st.integers(1, id - 1), unique=True, max_size=3)) if id > 1 else []
        steps.append(a_step(id, draw(st.integers(0, 4)), fail and draw(st.integers(0, 4)) == 0, after))
    return draw(st.permutations(steps))


def another(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same plan with ids and seconds of its own: a plan that has failed before is not tried again."""
    return [
        a_step(
            int(step["id"]) + 10,
            step["params"]["seconds"] + 5,
            step["params"]["fails"],
            [int(id) + 10 for id in step["depends_on"]],
        )
        for step in steps
    ]


def toolbox() -> Toolbox:
    def work(seconds: int, fails: bool, heard: list[Any]) -> list[Any]:
        """Work some seconds, and say what was heard."""
        if fails:
            raise RuntimeError("broken")
        return [seconds, *heard]

    return Toolbox([Tool(work, latency=lambda seconds, fails, heard: float(seconds), effects="none")])


def repeated(*plans: list[dict[str, Any]]) -> RulePlanner:
    """A planner that writes these plans one after the other, again and again."""
    written = cycle(plans)
    return RulePlanner(lambda goal: next(written))


def ran(lesson: str, run: Run, **options: Any) -> tuple[dict[str, Any], list[capstone.Entry]]:
    """The program of a lesson on the answers that the kit's planner gave."""
    program, log = capstone.load(lesson), list[capstone.Entry]()
    tools, planner = capstone.functions(toolbox()), capstone.planner_of(run)
    if lesson >= "04":
        planner = program.repaired(planner, tools, log)
    if lesson >= "08":
        options["workers"] = program.Simulated(options.pop("slots"), capstone.seconds)
    return program.run(run.board.goal, planner, tools, state=({}, log), **options), log


@pytest.mark.parametrize("lesson", LESSONS)
def test_each_lesson_changes_a_little(lesson: str, capsys: pytest.CaptureFixture[str]) -> None:
    capstone.change(lesson)
    shown = capsys.readouterr().out.splitlines()
    assert 3 <= len(shown) <= 65, lesson
    assert max(map(len, shown)) <= 92
    assert all(line[:2] in ("+ ", "- ", "  ") for line in shown)


def test_the_program_ends_with_at_most_120_lines_of_code() -> None:
    assert code_lines(capstone.source("10")) <= 120


def test_its_core_is_the_model_answer_of_the_drill() -> None:
    core, _, rest = capstone.source("10").partition("\n\n\ndef repaired(")
    answer = Path(rubric.__file__).with_name("answer.py").read_text(encoding="utf-8")
    assert rest
    assert code_lines(core) <= rubric.MOST_LINES
    assert body(answer) == body(core)


def body(text: str) -> str:
    return text[text.index("REFERENCE =") :].rstrip()


@pytest.mark.parametrize("lesson", LESSONS)
@given(steps=plans(fail=False))
@rounds(15)
def test_a_plan_in_order_gives_the_events_of_the_kit(lesson: str, steps: list[dict[str, Any]]) -> None:
    ordered = sorted(steps, key=lambda step: int(step["id"]))
    agent = PlannerExecutor(repeated(ordered), ToolExecutor(toolbox()), workers=Simulated(1))
    run = agent.run("work")
    if lesson < "05":  # lists are resolved from lesson 05 on
        ordered = [step | {"params": step["params"] | {"heard": []}} for step in ordered]
        run = PlannerExecutor(repeated(ordered), ToolExecutor(toolbox()), workers=Simulated(1)).run("work")
    ended, log = ran(lesson, run, **({"slots": 1} if lesson >= "08" else {}))
    assert log == capstone.events(run)
    assert (ended if lesson < "03" else ended["results"]) == run.results


@pytest.mark.parametrize("lesson", ["05", "06", "07", "08", "09", "10"])
@given(first=plans(), second=plans())
@rounds(30)
def test_failures_and_replans_give_the_events_of_the_kit(lesson: str, first: Any, second: Any) -> None:
    policy = Policy(replan="stall", max_replans=1) if lesson > "05" else Policy()
    agent = PlannerExecutor(
        repeated(first, another(second)), ToolExecutor(toolbox()), workers=Simulated(1), policy=policy
    )
    run = agent.run("work")
    ended, log = ran(lesson, run, **({"slots": 1} if lesson >= "08" else {}))
    assert log == capstone.events(run)
    assert (ended["results"], ended["status"]) == (run.results, run.status)


@given(steps=plans(), slots=st.integers(1, 4))
@rounds(60)
def test_a_schedule_gives_the_events_of_the_kit(steps: list[dict[str, Any]], slots: int) -> None:
    run = execute(Plan.parse(steps), ToolExecutor(toolbox()), workers=Simulated(slots))
    program, log = capstone.load("08"), list[capstone.Entry]()
    workers = program.Simulated(slots, capstone.seconds)
    ended = program.run(
        "work", capstone.planner_of(run), capstone.functions(toolbox()), workers=workers, state=({}, log), asks=1
    )
    assert log == [entry for entry in capstone.events(run) if entry[1]]
    assert (ended["results"], workers.now) == (run.results, run.makespan)


@given(steps=plans(), slots=st.integers(1, 4), undone=st.sets(st.integers(1, 8)))
@rounds(30)
def test_a_rollback_takes_back_what_the_kit_takes_back(
    steps: list[dict[str, Any]], slots: int, undone: set[int]
) -> None:
    """Of any failed run: the same steps, in the same order, each by its own undo; of results, by reference, too."""
    for step in steps:
        if int(step["id"]) in undone:
            own = f"{{step_{step['id']}_result}}"
            step["undo"] = {"tool": "work", "params": {"seconds": 0, "fails": False, "heard": [step["id"], own]}}
    last = a_step(9, 9, True, [])
    plan = Plan.parse([*steps, last])
    run = execute(plan, ToolExecutor(toolbox()), workers=Simulated(slots), policy=Policy(rollback="failed"))
    program, tools = capstone.load("09"), capstone.functions(toolbox())
    written = [step.model_dump(mode="json") for step in plan.steps]
    workers = program.Simulated(slots, capstone.seconds)
    ended = program.run("work", lambda *told: written, tools, workers=workers, asks=1)
    assert program.rollback(written, ended["results"], tools) == [
        event.result for event in run.events if isinstance(event, UndoDone)
    ]


@given(steps=plans(fail=False), slots=st.integers(1, 3), crash=st.integers(1, 8))
@rounds(30)
def test_a_shelf_goes_on_where_the_power_failed(steps: list[dict[str, Any]], slots: int, crash: int) -> None:
    """Whatever was on the shelf is not called again, and the results are those of a run without a crash."""
    program, calls = capstone.load("10"), list[list[Any]]()
    work = capstone.functions(toolbox())["work"]

    def counted(**params: Any) -> Any:
        calls.append(params["heard"])
        if len(calls) == crash:
            raise KeyboardInterrupt
        return work(**params)

    def carried_out(shelf: Any) -> Any:
        shelf.path = path
        workers = program.Simulated(slots, lambda tool, params: params["seconds"])
        return program.run("work", lambda *told: steps, {"work": counted}, workers, state=(shelf, []))

    with TemporaryDirectory() as folder:
        path = Path(folder, "results.json")
        path.write_text("{}", encoding="utf-8")
        with suppress(KeyboardInterrupt):
            carried_out(program.Shelf())
        kept = json.loads(path.read_text(encoding="utf-8"))
        before = len(calls)
        ended = carried_out(program.Shelf(kept))
    assert ended["status"] == "finished"
    assert len(calls) - before == len(steps) - len(kept)
    assert ended["results"] == execute(Plan.parse(steps), ToolExecutor(toolbox()), workers=Simulated(1)).results


def test_an_unapproved_plan_pauses_and_goes_on() -> None:
    program, calls = capstone.load("07"), list[str]()
    step = {"id": "1", "tool": "say", "params": {"word": "a"}, "depends_on": []}
    desk = program.Desk(lambda *told: [step])
    tools = {"say": lambda word: calls.append(word) or word}
    with pytest.raises(program.Paused, match=r"nobody approved [0-9a-f]{8}"):
        program.run("say a", desk, tools)
    assert not calls
    desk.approved.add(desk.hash)
    assert program.run("say a", desk, tools)["status"] == "finished"
    assert calls == ["a"]


def test_a_difference_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    run = PlannerExecutor(repeated([a_step(1, 1, False, [])]), ToolExecutor(toolbox()), workers=Simulated(1)).run(
        "work"
    )
    log = capstone.events(run)
    capstone.hold(log, capstone.events(run))
    capstone.hold([*log[:2], ("StepStarted", "2"), log[3]], capstone.events(run))
    capstone.hold(log[:3], capstone.events(run))
    assert capsys.readouterr().out.splitlines() == [
        "4 events, the same as the kit's",
        "event 3: yours is StepStarted 2, the kit's is StepStarted 1",
        "yours has 3 events, the kit's 4; the first 3 agree",
    ]


def test_the_learners_own_file_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mini.py").write_text("mine = True\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert not hasattr(capstone.load("01"), "mine"), "nothing of the learner's is read in a test"
    monkeypatch.delenv("PLANEXEC_PROGRESS")
    assert capstone.load("01").mine
