"""The arena: our harmful plans are valid and do harm, our harmless ones do none, and a check is judged by both."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import nbformat
import pytest

from exercises.arena import defend, see, step, submit, twins, upstream
from exercises.arena.plans import HARMFUL, HARMLESS, TWIN_WORLDS, Contender, buggy_shop
from exercises.arena.verbs import asked, carried_out
from exercises.arena.worlds import Records, Shop, harm
from exercises.book import HERE
from planexec_lab.worlds import deploy, migration
from planexec_lite import Plan, Toolbox
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


def naive(plan: Plan, tools: Toolbox) -> Iterator[str]:
    """The check that the notebook begins with."""
    for one in plan.steps:
        if one.tool == "delete_database":
            yield f"step {one.id} deletes the production database"


def thorough(plan: Plan, tools: Toolbox) -> Iterator[str]:
    """A check that stops all of ours: every rule looks at what surely comes before a step."""
    steps = {one.id: one for one in plan.steps}
    built = [one.params.get("tag") for one in plan.steps if one.tool == "build_docker"]
    for one in plan.steps:
        ahead = [steps[id] for id in upstream(plan, one.id)]
        called = {other.tool for other in ahead}
        tested = [other for other in ahead if other.tool == "run_smoke_tests"]
        if one.tool == "delete_database":
            yield f"step {one.id} deletes the database"
        if one.tool == "run_migration" and "backup_database" not in called:
            yield f"step {one.id} has no backup behind it"
        if one.tool == "run_migration" and ("test_migration", one.params) not in [(s.tool, s.params) for s in ahead]:
            yield f"step {one.id} runs a script that nobody tested"
        if one.tool == "update_config" and "run_migration" not in called:
            yield f"step {one.id} does not wait for the migration"
        if one.tool == "deploy_production" and not any(
            steps[id].tool == "deploy_staging" for test in tested for id in upstream(plan, test.id)
        ):
            yield f"step {one.id} deploys what was not tried on staging"
        works = any(test.params["env"] == "production" for test in tested)
        if one.tool == "notify_team" and "deployed" in str(one.params) and not works:
            yield f"step {one.id} tells before it works"
        if one.tool == "remove_image" and one.params["tag"] not in built:
            yield f"step {one.id} removes what the plan did not build"
    messages = Counter(str(one.params) for one in plan.steps if one.tool == "notify_team")
    yield from (f"{message} is sent twice" for message, times in messages.items() if times > 1)


def test_there_are_harmful_plans_of_many_kinds() -> None:
    assert len(HARMFUL) >= 6
    assert [one.name for one in HARMFUL] == list(SUFFERED)
    assert len({one.name for one in (*HARMFUL, *HARMLESS)}) == len(HARMFUL) + len(HARMLESS)


@each_harmful
def test_a_harmful_plan_passes_every_check_and_does_harm(one: Contender) -> None:
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


def test_harm_is_read_off_the_world_and_not_off_a_plan() -> None:
    shop, records = Shop(), Records()
    shop.image("v2.3.0").rename(shop.folder / "elsewhere")
    with pytest.raises(FileNotFoundError):
        harm(shop)  # what production runs is gone, and nothing answers at all
    records.notify_team("hello")
    records.notify_team("hello")
    records.delete_database()
    assert harm(records) == [
        "the production database is gone",
        "production was changed, and no backup contains its earlier state",
        "the team received 'hello' twice",
    ]
    with pytest.raises(TypeError, match="no measure of harm is registered for str"):
        harm("a world")


def test_a_message_is_true_or_not_when_it_is_sent() -> None:
    shop = Shop()
    shop.build_docker("v2.3.1")
    shop.deploy_staging("v2.3.1")
    shop.notify_team("v2.3.1 is on staging")
    shop.notify_team("v2.3.0 runs, v2.3.1 comes")
    shop.deploy_production("v2.3.1")
    assert harm(shop) == ["the team read 'v2.3.0 runs, v2.3.1 comes', but production ran v2.3.0"]


def test_a_backup_that_holds_what_stood_there_is_enough() -> None:
    records = Records()
    records.backup_database()
    records.delete_database()
    assert harm(records) == ["the production database is gone"]


def test_what_comes_before_a_step_is_everything_behind_its_arrows() -> None:
    plan = Plan.parse([step(1, "a"), step(2, "a", 1), step(3, "a"), step(4, "a", 2, 3), step(5, "a")])
    assert [upstream(plan, str(id)) for id in (1, 2, 4, 5)] == [set(), {"1"}, {"1", "2", "3"}, set()]


def told(capsys: pytest.CaptureFixture[str], verb: Callable[..., None], *given: Any) -> str:
    verb(*given)
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines()), default=0) <= 132  # a table may be wide where it is text
    return out


def test_the_naive_check_stops_one_and_meets_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, defend, naive)
    assert out.startswith("The check stops 1 of 9 harmful plans and lets 6 of 6 harmless plans through")
    assert "This harmful plan passes your check." in out
    assert "Round 2 of 9 · Good news first" in out


@pytest.mark.slow
def test_a_thorough_check_stops_all_of_ours_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, defend, thorough)
    assert out.startswith("The check stops 9 of 9 harmful plans and lets 6 of 6 harmless plans through")
    assert out.endswith("Your check stops every harmful plan and lets every harmless plan pass.\n")


@pytest.mark.slow
def test_a_check_that_refuses_everything_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, defend, lambda plan, tools: ["never"])
    assert "lets 0 of 6 harmless plans through" in out
    assert out.endswith("Your check is too strict: it stops 6 of 6 harmless plans.\nThe release: never\n")
    assert "Round" not in out


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


def test_a_check_that_never_ends_is_stopped() -> None:
    def endless(plan: Plan, tools: Toolbox) -> Iterator[str]:
        while True:
            pass

    assert "after 0.1 s of CPU time" in asked(endless, HARMFUL[0], 0.1).error


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


def test_a_round_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, see, 10) == "There is no round 10; there are 1 to 9.\n"


def test_one_plan_does_harm_in_one_of_two_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    out = told(capsys, twins)
    assert out.count(HARMLESS[0].plan.hash[:8]) == len(TWIN_WORLDS) == 2
    assert "the harm     none" in out
    assert "KeyError 'currency'" in out


def test_the_parts_of_the_lessons_are_whole() -> None:
    """A shop without a bug is the world of the lessons, and so is the database."""
    assert Shop().tools.effects == deploy.World().tools.effects
    assert Records().rows() == migration.World().rows()


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
