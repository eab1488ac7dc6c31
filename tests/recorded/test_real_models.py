"""Tables about real models: each says where it is from, and agrees with what its publisher says."""

from dataclasses import asdict
from math import comb

import pytest

from planexec_lab.recorded import facts
from planexec_lab.recorded.real_models import TABLES

NAMES = sorted(path.stem for path in TABLES.glob("*.csv"))


def column(table: str, name: str) -> list[int]:
    return [int(row[name]) for row in facts(table).rows]


@pytest.mark.parametrize("name", NAMES)
def test_a_table_says_what_it_is_and_what_it_cannot_show(name: str) -> None:
    table = facts(name)
    assert all(asdict(table).values())
    assert table.cannot_show.split(".")[0] in " ".join(str(table).split())
    assert all(row.keys() == table.rows[0].keys() for row in table.rows)


def test_an_unknown_table_is_refused_with_the_names_of_all() -> None:
    with pytest.raises(KeyError) as error:
        facts("airline")
    assert all(name in str(error.value) for name in NAMES)


@pytest.mark.parametrize(("k", "published"), [(1, 0.42), (2, 0.2733), (3, 0.22), (4, 0.2)])
def test_the_airline_runs_give_the_published_pass_k(k: int, published: float) -> None:
    passed: dict[int, int] = {}
    for task, good in zip(column("airline_runs", "task"), column("airline_runs", "passed"), strict=True):
        passed[task] = passed.get(task, 0) + good
    assert sum(comb(good, k) / comb(4, k) for good in passed.values()) / len(passed) == pytest.approx(
        published, abs=1e-4
    )


def test_each_plan_has_one_verdict_and_each_round_continues_the_round_before() -> None:
    for row in facts("blocks_plans").rows:
        verdicts = [int(row[name]) for name in ("valid", "cannot_run", "misses_goal", "no_plan", "malformed")]
        assert sum(verdicts) == row["problems"]
    for row, following in zip(facts("blocks_rounds").rows, facts("blocks_rounds").rows[1:], strict=False):
        if following["round"] != 1:
            assert int(following["solved"]) - int(row["solved"]) == following["valid"]
            assert int(following["plans"]) <= int(row["plans"]) - int(row["valid"])
