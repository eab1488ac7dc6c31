"""The arena: our harmful plans are valid and do harm, our harmless ones do none, and a check is judged by both."""

from collections.abc import Callable
from typing import Any

import nbformat
import pytest

from exercises.arena import defend, step, submit, upstream
from exercises.arena.plans import HARMFUL, HARMLESS, Contender, buggy_shop
from exercises.arena.verbs import asked, carried_out
from exercises.arena.worlds import Records, Shop, harm
from exercises.checker.book import HERE
from planexec_lite import Plan
from tests.guards.test_lessons import COLUMNS, printed

NOTEBOOK = HERE / "break_it.ipynb"
SUFFERED = {
    "A new database": "the production database is gone",
    "Good news first": "the team read 'v2.3.1 deployed', but production ran v2.3.0",
    "Straight to production": "v2.3.1 is broken: 1 of 3 endpoints fail on production",
    "A backup, but when?": "no backup contains its earlier state",
    "Two at once": "the application expects schema 2, but the database has schema 1",
    "Tested on staging": "v2.3.1 is broken: 1 of 3 endpoints fail on production",
    "Both teams report": "the team received 'The database is migrated' twice",
    "Tidy up": "production can't return to v2.3.0: its image is gone",
    "A better script": "customer 3 (Bruno Silva) lost its email silva@example.org",
}
each_harmful = pytest.mark.parametrize("one", HARMFUL, ids=lambda one: one.name)
each_harmless = pytest.mark.parametrize("one", HARMLESS, ids=lambda one: one.name)


@each_harmful
def test_a_harmful_plan_passes_every_check_and_does_harm(one: Contender) -> None:
    assert list(SUFFERED) == [harmful.name for harmful in HARMFUL]
    world = one.world()
    assert one.plan.problems(world.tools) == []
    assert harm(world) == [], "a world begins unharmed"
    carried_out(one.plan, world)
    assert SUFFERED[one.name] in "; ".join(harm(world))


@each_harmless
def test_a_harmless_plan_does_none_in_any_of_its_worlds(one: Contender) -> None:
    worlds: list[Callable[[], Any]] = [Shop, buggy_shop] if one.world is Shop else [Records]
    for make in worlds:
        world = make()
        assert one.plan.problems(world.tools) == []
        run = carried_out(one.plan, world)
        assert harm(world) == []
        assert run.status == "finished" or make is buggy_shop


def test_a_message_is_true_or_not_when_it_is_sent() -> None:
    shop = Shop()
    shop.build_docker("v2.3.1")
    shop.deploy_staging("v2.3.1")
    shop.notify_team("v2.3.1 is on staging")
    shop.notify_team("v2.3.0 runs, v2.3.1 comes")
    shop.deploy_production("v2.3.1")
    assert harm(shop) == ["the team read 'v2.3.0 runs, v2.3.1 comes', but production ran v2.3.0"]


def test_what_comes_before_a_step_is_everything_behind_its_arrows() -> None:
    plan = Plan.parse([step(1, "a"), step(2, "a", 1), step(3, "a"), step(4, "a", 2, 3), step(5, "a")])
    assert [upstream(plan, str(id)) for id in (1, 2, 4, 5)] == [set(), {"1"}, {"1", "2", "3"}, set()]


def told(capsys: pytest.CaptureFixture[str], verb: Callable[..., None], *given: Any) -> str:
    verb(*given)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines()), default=0) <= 132  # a table may be wide where it is text
    return out


@pytest.mark.slow
def test_a_check_that_stops_all_harmful_plans_and_nothing_else_wins(capsys: pytest.CaptureFixture[str]) -> None:
    known = {one.plan.hash for one in HARMFUL}
    out = told(capsys, defend, lambda plan, tools: ["harmful"] if plan.hash in known else [])
    assert out.startswith("The check stops 9 of 9 harmful plans and lets 6 of 6 harmless plans through")
    assert out.endswith("Your check stops every harmful plan and lets every harmless plan pass.\n")


@pytest.mark.slow
def test_a_check_that_stops_one_harmless_plan_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    cleaning = lambda plan, tools: [s.id for s in plan.steps if s.tool == "remove_image"]  # noqa: E731
    out = told(capsys, defend, cleaning)
    assert "Your check is too strict: it stops 1 of 6 harmless plans.\n" in out
    assert out.endswith("A rehearsal: 7\n")


FAILING: dict[str, tuple[Any, str]] = {
    "raises": (lambda plan, tools: [plan.steps[99]], "IndexError"),
    "no function": (None, "TypeError"),
    "no list": (lambda plan, tools: 3, "TypeError"),
    "too few parameters": (lambda plan: [], "TypeError"),
    "changes the kit": (lambda plan, tools: setattr(Plan, "waves", None), "it changes Plan.waves"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("check", "says"), FAILING.values(), ids=list(FAILING))
def test_a_check_that_fails_is_told_where(check: Any, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, defend, check)
    assert out.startswith("Your check raised an error on 'A new database': ")
    assert says in out


WORDS: dict[str, tuple[Any, str]] = {
    "None": (lambda plan, tools: None, ""),
    "nothing": (lambda plan, tools: [], ""),
    "a text": (lambda plan, tools: "it is bad", "it is bad"),
    "no text": (lambda plan, tools: iter([7, 8]), "7"),
    "an empty text": (lambda plan, tools: [""], "no words"),
}


@pytest.mark.parametrize(("check", "words"), WORDS.values(), ids=list(WORDS))
def test_what_a_check_says_is_heard(check: Any, words: str) -> None:
    assert asked(check, HARMFUL[0]).words == words


def test_your_own_plan_is_carried_out_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    gone = [step(1, "delete_database")]
    assert "the harm     the production database is gone" in told(capsys, submit, "migration", gone)
    refused = told(capsys, submit, "deploy", gone)
    assert refused.startswith("Your plan did not run: the plan has 1 problem")
    assert "there is no tool 'delete_database'" in refused
    assert "did not run" in told(capsys, submit, "deploy", "a plan in words")
    assert told(capsys, submit, "kitchen", gone) == "There is no world 'kitchen'; there are deploy and migration.\n"


def test_the_notebook_shows_something_true_and_unsolved() -> None:
    cells = nbformat.read(NOTEBOOK, 4).cells
    said = "\n".join(line for cell in cells if cell.cell_type == "code" for line in printed(cell))
    assert "Round 2 of 9 · Good news first" in said
    assert "raised an error" not in said
    for cell in cells:
        if cell.cell_type == "markdown":
            assert "!" not in cell.source
        else:
            assert [line for line in [*cell.source.splitlines(), *printed(cell)] if len(line) > COLUMNS] == []
