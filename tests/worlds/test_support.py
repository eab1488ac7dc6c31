"""The support world is real: what a test alters in a log, the archive or the settings changes what the tools find."""

import gzip

import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import support
from planexec_lab.worlds.support.services import SERVICES
from planexec_lite import LLMPlanner, PlannerExecutor, Policy, Simulated, ToolExecutor
from planexec_lite.roles.evaluators import RuleEvaluator

ORDER = "A-1034"
CHANGE = "CH-77: handover_path /v1/paid -> /v2/paid"
HIT = [f"A-10{number}" for number in range(33, 40)]


@pytest.fixture
def world():
    return support.World()


def collected(world):
    for service in SERVICES:
        world.collect_logs(service)
    return world


def complete(world):
    collected(world).fetch_archive("payment")
    return world


def archived(world):
    return world.folder / "archive" / "payment-1000.log.gz"


def test_the_cause_is_proved_by_lines_of_the_logs_and_the_draft_cites_them(world):
    cause = complete(world).root_cause(ORDER)
    assert (cause["service"], cause["change"], cause["orders"]) == ("payment", CHANGE, HIT)
    assert len(cause["evidence"]) == 4
    for cited in cause["evidence"]:
        service, number, line = cited.split(":", 2)
        parts = sorted((world.folder / "case" / service).iterdir())
        lines = "".join(part.read_text() for part in parts).splitlines()
        assert lines[int(number) - 1] == line.strip()
    assert any("CH-77" in line for line in cause["evidence"])
    assert any("order=A-1034" in line for line in cause["evidence"])
    draft = world.draft_fix(cause)
    text = world.drafts["A-1034.txt"]
    assert draft["file"] == "drafts/A-1034.txt"
    for line in (*cause["evidence"], *draft["patch"], *HIT):
        assert line in text
    assert "-handover_path = /v2/paid" in draft["patch"]
    assert "+handover_path = /v1/paid" in draft["patch"]
    settings = (world.folder / "settings" / "payment.ini").read_text().splitlines()
    taken = [line[1:] for line in draft["patch"][3:] if not line.startswith("+")]
    assert taken == settings[1:4]


@pytest.mark.parametrize(
    ("order", "failing", "finding"),
    [
        ("A-1003", None, "A-1003 passed every service"),
        ("A-1009", "payment", "A-1009 fails at payment, 09:38:23: the card was declined"),
        ("A-1060", None, "A-1060 passed every service"),
    ],
)
def test_orders_before_and_after_the_gap_need_no_archive(world, order, failing, finding):
    branch = collected(world).inspect_branch(order)
    assert (branch["complete"], branch["failing"], branch["finding"]) == (True, failing, finding)


def test_only_a_change_of_settings_before_the_error_is_its_cause(world):
    cause = collected(world).root_cause("A-1009")
    assert (cause["change"], cause["orders"]) == (None, ["A-1009"])
    assert world.draft_fix(cause)["patch"] == []
    assert "Patch: none; no change of settings explains the error" in world.drafts["A-1009.txt"]
    before = gzip.decompress(archived(world).read_bytes())
    after = before.replace(b"10:01:30Z INFO settings CH-77", b"10:08:50Z INFO settings CH-77")
    archived(world).write_bytes(gzip.compress(after))
    assert complete(world).root_cause(ORDER)["change"] is None


def test_searching_reads_what_was_collected_and_no_more(world):
    world.collect_logs("checkout")
    assert world.search_logs(ORDER) == ["checkout:68: 2026-03-12T10:03:20Z INFO placed, 77.90 EUR order=A-1034"]
    complete(world)
    assert len(world.search_logs(ORDER)) == 5
    assert len(world.search_logs("INFO")) == 40
    assert world.search_logs("A-1099") == []


def audited(world, evaluator=None):
    planner, executor, policy = LLMPlanner(connect("support")), ToolExecutor(world.tools), Policy(replan="failure")
    return PlannerExecutor(planner, executor, None, evaluator, Simulated(4), policy).run(support.GOAL)


def judge(step, result):
    return result.get("complete", True) or result["finding"]


@pytest.mark.parametrize(("evaluator", "again"), [(RuleEvaluator(judge), "5"), (None, "5b")])
def test_a_run_that_may_plan_again_closes_the_gap_judged_or_not(world, evaluator, again):
    run = audited(world, evaluator)
    assert (run.status, run.answer["orders"]) == ("finished", HIT)
    started = [event.step for event in run.events if type(event).__name__ == "StepStarted"]
    assert started[-4:] == ["4b", again, "6", "7"]
    assert [started.count(id) for id in "1234"] == [1, 1, 1, 1]


def test_a_damaged_archive_ends_the_audit_with_what_is_lost(world):
    archived(world).write_bytes(b"damaged")
    run = audited(world)
    assert run.answer == "The cause for A-1034 can't be found: records of payment are lost."
    assert world.drafts == {}
