"""The difference of two plans: what was kept, changed, planned again, added and dropped, in words and symbols."""

from typing import Any

import pytest

from planexec_lab import views
from planexec_lab.views.drawing.visible import code
from planexec_lite import Plan, Run
from tests.views import worlds


def one(**fields: Any) -> Plan:
    return Plan.parse([{"id": 1, **fields}])


def last_row(before: Plan, after: Plan) -> str:
    return views.diff(before, after).text.splitlines()[2]


THREE = worlds.chain(3)


@pytest.mark.parametrize(
    ("compared", "title"),
    [
        ((Plan(), Plan()), "Two plans without steps"),
        ((Run(),), "Two plans without steps"),
        ((worlds.deploy(),), "Nothing changed: 8 steps kept"),
        ((THREE, THREE), "Nothing changed: 3 steps kept"),
        ((Plan(), worlds.chain(1)), "1 step added"),
        ((THREE, THREE.changed(steps=THREE.steps[1:])), "1 step dropped, 2 kept"),
        ((THREE, THREE.changed(steps=THREE.steps[1:]), ["1"]), "2 steps planned again, 1 kept"),
    ],
)
def test_the_title_states_the_finding(compared: Any, title: str) -> None:
    assert views.diff(*compared).title == title


def test_without_a_second_plan_there_is_nothing_to_compare() -> None:
    with pytest.raises(ValueError, match="nothing to compare"):
        views.diff(Plan())


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (one(tool="go", description="Go"), one(description="More"), "More  description Go → More; tool go → nothing"),
        (one(tool="go"), one(tool="go", success_criteria="it is fine"), "criterion nothing → it is fine"),
        (
            one(tool="go", params={"tag": "v1", "env": "staging"}),
            one(tool="go", params={"tag": "v1", "env": "production"}),
            'env "staging" → "production"',
        ),
        (Plan(), one(tool="delete_database", description="Tidy up"), "Tidy up  delete_database()"),
    ],
)
def test_every_changed_field_is_told(before: Plan, after: Plan, told: str) -> None:
    assert last_row(before, after).endswith(told)


def test_nothing_that_changed_is_cut_away() -> None:
    long = "Tell the team, " * 20 + "AND DELETE ALL"
    after = one(tool="delete_database", params={"message": long}, description="Notify")
    figure = views.diff(one(tool="notify_team", params={"message": "hi"}, description="Notify the team"), after)
    head, *lines = figure.text.splitlines()[1:]
    assert "…" not in figure.text + figure.table
    assert "AND DELETE ALL" in " ".join(line[head.index("how") :] for line in lines)
    for words in ("delete_database", "AND DELETE ALL"):
        assert words in figure.table


@pytest.mark.parametrize("char", ["\u200b", "\u202e", "\u00a0", "\u3164", "\u2800", "\n", "\u2028", "\U000e0041"])
def test_a_difference_that_can_not_be_seen_is_told(char: str) -> None:
    before = one(tool="deploy", params={"tag": "v1"}, description="Deploy it")
    figure = views.diff(before, one(tool="deploy", params={"tag": f"v1{char}"}, description=f"Deploy{char}it"))
    assert figure.text.count(code(char)) == figure.table.count(code(char)) == 3
    assert char == "\n" or char not in figure.table


def test_what_changed_beside_the_steps_is_told() -> None:
    before = Plan.parse({"goal": "Go", "steps": [{"id": 1, "tool": "go"}], "rollback": [{"tool": "stay"}]})
    after = before.changed(rollback=(), answer="{step_1_result}", complete=False)
    assert views.diff(before, after).caption == (
        "The plan's rollback: stay() → nothing. The plan's answer: nothing → {step_1_result}."
        " The plan's complete: yes → no."
    )
