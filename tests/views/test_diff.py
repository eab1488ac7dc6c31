"""The difference of two plans: what was kept, changed, planned again, added and dropped, in words and symbols."""

import pytest

from planexec_lab import views
from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.visible import code
from planexec_lite import Plan, Run
from tests.views import worlds


def test_the_last_replan_of_a_run() -> None:
    assert views.diff(worlds.replanned()).text == (
        "1 step added, 1 changed, 1 planned again, 1 dropped, 2 kept\n"
        "  step  change           what                         how\n"
        "  1     = kept           List the endpoints           done\n"
        "  2     = kept           Update endpoints to use JWT  done\n"
        "  2b    + added          Fix the token header         work(seconds=5, fails=False)\n"
        "  3     ≠ changed        Update tests                 waits for 2 → 2b\n"
        "  4     ↻ planned again  Run test suite\n"
        "  5     – dropped        Tell everybody\n"
        "Dropped: 5 will not be carried out."
    )


def test_text_and_html_name_the_same_steps_and_changes() -> None:
    figure = views.diff(worlds.replanned())
    for look in theme.CHANGES.values():
        assert figure.text.count(f"  {look}") == figure.table.count(f">{look}<") > 0
    assert 'line-through">Tell everybody<' in figure.table


def test_without_what_is_done_the_same_step_is_kept_and_with_it_planned_again() -> None:
    before, after = worlds.chain(3), worlds.chain(3).changed(steps=worlds.chain(3).steps[1:])
    assert views.diff(before, after).title == "1 step dropped, 2 kept"
    assert views.diff(before, after, done=["1"]).title == "2 steps planned again, 1 kept"


def test_every_changed_field_is_told() -> None:
    before = worlds.chain(1)
    step = before.steps[0].model_copy(update={"tool": None, "description": "More"})
    (row,) = views.diff(before, before.changed(steps=(step,))).text.splitlines()[2:]
    assert row == "  1     ≠ changed  More  description Do part 1 → More; tool work → nothing"
    (row,) = views.diff(before, worlds.criteria(before, "1")).text.splitlines()[2:]
    assert row.endswith("criterion nothing → 1 is fine")


@pytest.mark.parametrize(
    ("before", "after", "title"),
    [
        (Plan(), Plan(), "Two plans without steps"),
        (worlds.chain(2), worlds.chain(2), "Nothing changed: 2 steps kept"),
        (Plan(), worlds.chain(1), "1 step added"),
    ],
)
def test_the_title_states_the_finding(before: Plan, after: Plan, title: str) -> None:
    assert views.diff(before, after).title == title


def test_a_run_that_was_not_planned_again_kept_everything() -> None:
    assert views.diff(worlds.deploy()).title == "Nothing changed: 8 steps kept"
    assert views.diff(Run()).title == "Two plans without steps"


def test_without_a_second_plan_there_is_nothing_to_compare() -> None:
    for nothing in (Plan(),):
        with pytest.raises(ValueError, match="nothing to compare"):
            views.diff(nothing)


def test_dropped_steps_stand_behind_the_step_that_they_followed() -> None:
    before = worlds.plan([(id, "", 1, []) for id in ("a", "b", "c", "d")])
    after = worlds.plan([(id, "", 1, []) for id in ("b", "d")])
    assert [line.split()[0] for line in views.diff(before, after).text.splitlines()[2:6]] == ["a", "b", "c", "d"]


def test_nothing_that_changed_is_cut_away() -> None:
    long = "Tell the team, " * 20 + "AND DELETE ALL"
    one = Plan.parse([{"id": 1, "tool": "notify_team", "params": {"message": "hi"}, "description": "Notify the team"}])
    other = Plan.parse([{"id": 1, "tool": "delete_database", "params": {"message": long}, "description": "Notify"}])
    for before, after in ((one, other), (one, one.changed(steps=()).changed(steps=other.steps))):
        figure = views.diff(before, after)
        head, *lines = figure.text.splitlines()[1:]
        flat = " ".join(line[head.index("how") :] for line in lines)
        assert "…" not in figure.text + figure.table
        assert "delete_database" in figure.table
        assert "AND DELETE ALL" in figure.table
        assert "delete_database" in figure.text
        assert "AND DELETE ALL" in flat


def test_one_argument_that_changed_is_told_alone() -> None:
    before = Plan.parse([{"id": 1, "tool": "deploy", "params": {"tag": "v1", "env": "staging"}}])
    after = Plan.parse([{"id": 1, "tool": "deploy", "params": {"tag": "v1", "env": "production"}}])
    assert views.diff(before, after).text.splitlines()[2].endswith('env "staging" → "production"')


def test_an_added_step_tells_its_call() -> None:
    after = Plan.parse([{"id": 1, "tool": "delete_database", "params": {}, "description": "Tidy up"}])
    assert views.diff(Plan(), after).text.splitlines()[2].endswith("Tidy up  delete_database()")


@pytest.mark.parametrize("char", ["\u200b", "\u202e", "\u00a0", "\u3164", "\u2800", "\n", "\u2028", "\U000e0041"])
def test_a_difference_that_can_not_be_seen_is_told(char: str) -> None:
    before = Plan.parse([{"id": 1, "tool": "deploy", "params": {"tag": "v1"}, "description": "Deploy it"}])
    step = before.steps[0].model_copy(update={"params": {"tag": f"v1{char}"}, "description": f"Deploy{char}it"})
    figure = views.diff(before, before.changed(steps=(step,)))
    assert figure.text.count(code(char)) == figure.table.count(code(char)) == 3
    assert char == "\n" or char not in figure.table


def test_what_changed_beside_the_steps_is_told() -> None:
    before = Plan.parse({"goal": "Go", "steps": [{"id": 1, "tool": "go"}], "rollback": [{"tool": "stay"}]})
    after = before.changed(rollback=(), answer="{step_1_result}", complete=False)
    assert views.diff(before, after).caption == (
        "The plan's rollback: stay() → nothing. The plan's answer: nothing → {step_1_result}."
        " The plan's complete: yes → no."
    )
