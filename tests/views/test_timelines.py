"""Several runs one above the other: one axis of time, and each run's length in words."""

import pytest

from planexec_lab import views
from planexec_lite import Plan, Run
from tests.views import worlds
from tests.views.drawing import drawn, lines

BRANCHES: list[tuple[str, str, float, list[str]]] = [
    ("1", "Short", 1, []), ("2", "Long", 9, []), ("3", "Long", 9, ["1"]), ("4", "Short", 1, ["2"]),
]  # fmt: skip


def barrier(plan: Plan) -> Plan:
    """The same plan, in which each step waits for the whole wave before it."""
    waves = plan.waves()
    before = {id: waves[number - 1] if number else [] for number, wave in enumerate(waves) for id in wave}
    return plan.changed(steps=[step.model_copy(update={"depends_on": tuple(before[step.id])}) for step in plan.steps])


def both() -> dict[str, Run]:
    plan = worlds.plan(BRANCHES)
    return {"level barrier": worlds.run(barrier(plan)), "start when ready": worlds.run(plan)}


def test_the_level_barrier_beside_start_when_ready() -> None:
    assert views.timelines(both()).text == (
        "start when ready: 10 s; level barrier: 18 s, 1.8 times as long\n"
        "level barrier: 18 s, 8 s longer\n"
        "  slot 1  step 1  Short  0 s  –  1 s   done\n"
        "  slot 1  step 3  Long   9 s  –  18 s  done  critical\n"
        "  slot 2  step 2  Long   0 s  –  9 s   done  critical\n"
        "  slot 2  step 4  Short  9 s  –  10 s  done\n"
        "Idle: slot 1 for 8 s and slot 2 for 8 s, of 18 s each.\n"
        "Thick outline: the critical path 2 → 3, 18 s, as long as the run.\n"
        "start when ready: 10 s\n"
        "  slot 1  step 1  Short  0 s  –  1 s   done  critical\n"
        "  slot 1  step 3  Long   1 s  –  10 s  done  critical\n"
        "  slot 2  step 2  Long   0 s  –  9 s   done\n"
        "  slot 2  step 4  Short  9 s  –  10 s  done\n"
        "Thick outline: the critical path 1 → 3, 10 s, as long as the run."
    )


def test_all_runs_stand_on_one_axis_and_end_at_a_line() -> None:
    figure = views.timelines(both())
    (slow, quick) = lines(figure, 1.6)
    left = min(x for line in lines(figure, 1) for x, _ in line if len(line) == 2)
    assert (slow[0][0] - left) / (quick[0][0] - left) == pytest.approx(1.8, abs=0.02)
    assert slow[1][1] <= quick[0][1]
    texts = drawn(figure)
    assert texts.count("0 s") == 1
    assert texts.count("slot 1") == 2
    assert "level barrier: 18 s, 8 s longer" in texts
    assert "start when ready: 10 s" in texts


def test_what_the_outlines_are_is_told_once_where_it_is_the_same() -> None:
    figure = views.timelines(both())
    assert "Thick outline, level barrier: the critical path 2 → 3" in figure.caption
    assert "Thick outline, start when ready: the critical path 1 → 3" in figure.caption
    twice = views.timelines({"one": worlds.deploy(), "other": worlds.deploy()})
    assert twice.caption.count("critical path") == 1
    assert "Thick outline, one and other: the critical path 1 → 2" in twice.caption


@pytest.mark.parametrize(
    ("runs", "title"),
    [
        ({"one": worlds.deploy(), "other": worlds.deploy()}, "one and other: each 103 s"),
        ({"alone": worlds.deploy()}, "alone: 103 s"),
        ({str(n): worlds.run(worlds.fan(6), n) for n in (1, 2, 6)}, "6: 4 s; 1: 14 s, 3.5 times as long"),
        ({"good": worlds.deploy(), "bad": worlds.deploy(fails=["5"])},
         "good: finished after 103 s; bad: failed after 70 s"),
        ({"nothing": Run()}, "nothing: running after 0 s"),
        ({"no time": worlds.run(worlds.plan([("1", "", 0, [])]))}, "no time: 0 s"),
    ],
)  # fmt: skip
def test_the_title_states_the_finding(runs: dict[str, Run], title: str) -> None:
    assert views.timelines(runs).title == title
    assert views.timelines(runs, "Mine").title == "Mine"


def test_what_went_wrong_is_told_with_the_name_of_the_run() -> None:
    figure = views.timelines({"good": worlds.deploy(), "bad": worlds.deploy(fails=["5"])})
    assert "bad: Step 5 failed: RuntimeError: 3 of 12 checks failed" in drawn(figure)
    assert "bad: failed after 70 s" in drawn(figure)
    assert "good: 103 s" in drawn(figure)


def test_no_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no run to draw"):
        views.timelines({})
