"""Predicted against actual: brackets below the bars, and the difference in words."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import views
from planexec_lab.views.timeline_drawing.bars import Span, lanes
from planexec_lite import Run
from planexec_lite import events as e
from tests.rounds import rounds
from tests.views import worlds
from tests.views.drawing import drawn, lines

ROWS: list[tuple[str, str, float, list[str]]] = [
    ("1", "Read", 4, []), ("2", "Count", 4, []), ("3", "Tell", 2, ["1", "2"]),
]  # fmt: skip


def run(slots: int) -> Run:
    return worlds.run(worlds.plan(ROWS), slots)


def starts(run: Run) -> dict[str, float]:
    """When each step of a run began."""
    begun: dict[str, float] = {}
    for event in run.events:
        if isinstance(event, e.StepStarted):
            begun.setdefault(event.step, event.at)
    return begun


def test_a_run_beside_the_starts_that_were_predicted() -> None:
    figure = views.timeline(run(1), predicted=starts(run(2)))
    assert figure.text == (
        "1 of 3 steps began when predicted: step 2 is the first that did not\n"
        "  slot 1  step 1  Read   0 s  –  4 s   done  critical  predicted 0 s – 4 s\n"
        "  slot 1  step 2  Count  4 s  –  8 s   done            predicted 0 s – 4 s\n"
        "  slot 1  step 3  Tell   8 s  –  10 s  done  critical  predicted 4 s – 6 s\n"
        "Later than predicted: 2 and 3 by 4 s.\n"
        "Thick outline: the critical path 1 → 3, 6 s, 4 s less than the run. Brackets: when each step was predicted."
    )
    assert "Later than predicted: 2 and 3 by 4 s." in figure.alt


def test_each_step_has_a_bracket_from_its_predicted_start_to_its_end() -> None:
    figure = views.timeline(run(1), predicted=starts(run(2)))
    brackets = [line for line in lines(figure, 1) if len(line) == 4]
    by_start = sorted((round(line[0][0]), round(line[-1][0]), round(line[1][1])) for line in brackets)
    (a, a_end, a_y), (b, b_end, b_y), (c, c_end, c_y) = by_start
    assert (a, a_end) == (b, b_end)
    assert a_y != b_y
    assert c_y in (a_y, b_y)
    assert c - a == pytest.approx(2 * (c_end - c), abs=6)
    assert [words for words in drawn(figure) if words in ("1", "2", "3")] == ["1", "3", "2"]
    assert "predicted" in drawn(figure)


def test_start_times_are_compared_by_start_alone() -> None:
    figure = views.timeline(run(2), predicted={"1": 0, "2": 1.5})
    assert figure.title == "1 of 2 steps began when predicted: step 2 is the first that did not"
    assert "predicted 1.5 s – 5.5 s" in figure.text
    assert "Earlier than predicted: 2 by 1.5 s." in figure.text
    right = views.timeline(run(2), predicted={"1": 0, "2": 0, "3": 4})
    assert right.title == "All 3 steps began when predicted"


@pytest.mark.parametrize(
    ("predicted", "wrong"),
    [({"33": 1}, "no step '33'.*'3'"), ({"1": -1}, "step 1 at -1"), ({"1": float("nan")}, "step 1 at nan")],
)
def test_a_start_that_can_not_be_is_refused(predicted: dict[str, float], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        views.timeline(run(1), predicted=predicted)


def test_a_run_that_failed_says_so_first_and_names_what_never_started() -> None:
    figure = views.timeline(worlds.deploy(fails=["5"], retries=1), predicted=starts(worlds.deploy()))
    assert figure.title == "Step 5 failed at 78 s; 4 of 8 steps done"
    assert "Predicted, never started: 6, 7 and 8." in figure.text
    assert "never began" in drawn(figure)


def test_a_prediction_of_nothing() -> None:
    assert views.timeline(run(1), predicted={}).title == views.timeline(run(1)).title


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), max_size=30))
def test_brackets_of_a_row_never_overlap(spans: list[tuple[int, int]]) -> None:
    thought = [Span(str(n), start, start + long) for n, (start, long) in enumerate(spans)]
    shared = lanes(thought)
    assert sorted(span for row in shared for span in row) == sorted(thought)
    for row in shared:
        assert all(one.end <= other.start for one, other in pairwise(row))


@pytest.mark.slow
@rounds(20)
@given(st.integers(1, 5), st.integers(1, 5))
def test_every_step_that_is_off_is_named_once(slots: int, thought: int) -> None:
    shown = worlds.layered(3, 3)
    actual, other = worlds.run(shown, slots), worlds.run(shown, thought)
    text = views.timeline(actual, predicted=starts(other)).text
    off = [id for id, at in starts(actual).items() if starts(other)[id] != at]
    assert f"{9 - len(off)} of 9 steps" in text or not off
    assert ("than predicted" in text) == bool(off)
