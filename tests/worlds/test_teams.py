"""Teams in the worlds: a planner of tasks, an executor with tools, an evaluator; all follow what the tools say."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mock_llm import MockLLM
from planexec_lab.connect import connect
from planexec_lab.worlds import migration, refactor, support
from planexec_lite import LLMEvaluator, LLMPlanner, PlannerExecutor, ReActExecutor, Simulated, Step
from planexec_lite.assembly import Board

WORLDS = {"support": support, "migration": migration, "refactor": refactor}
SCENARIOS = Path(support.__file__).parents[1]


def team(name, llm, world):
    planner = LLMPlanner(llm.client(), "strong", tasks=True)
    executor = ReActExecutor(llm.client(), world.tools, "cheap")
    return PlannerExecutor(planner, executor, workers=Simulated(4)).run(WORLDS[name].GOAL)


def scripted(name):
    return MockLLM.load(SCENARIOS / name / "team.yaml")


def verdict(name, result):
    step = Step(id="6", description="Do it", success_criteria="as it should be")
    judged = LLMEvaluator(connect(name)).evaluate(step, result, Board())
    return judged.verdict, judged.reason, judged.rejects


DONE = {
    "support": lambda world: "+handover_path = /v1/paid" in world.drafts["A-1034.txt"],
    "migration": lambda world: world.damage() == [] and world.verify_integrity()["ok"],
    "refactor": lambda world: world.run_test_suite()["failed"] == [],
}


@pytest.mark.parametrize("name", DONE)
def test_a_team_reaches_its_goal_and_shares_no_prompt(name):
    llm, world = scripted(name), WORLDS[name].World()
    run = team(name, llm, world)
    assert (run.status, DONE[name](world)) == ("finished", True)
    assert {step.tool for step in run.plan.steps} == {None}
    assert {(call.system.split("\n")[0], call.request["model"]) for call in llm.calls} == {
        ("Role: planner", "strong"),
        ("Role: executor", "cheap"),
    }
    sent = [str(call.request["messages"]) for call in llm.calls if call.system.startswith("Role: executor")]
    assert not any(WORLDS[name].GOAL in text or "Role: planner" in text for text in sent)


def test_a_script_that_does_damage_on_the_copy_is_not_run():
    world = migration.World()
    with closing(sqlite3.connect(world.database)) as db, db:
        db.execute("INSERT INTO contacts (customer_id, email) VALUES (99, 'nobody@example.org')")
    task = Step(id="9", description="Write a migration script that loses nothing on a copy")
    found = {"1": "The 11 entries in contacts.email move to customers.email; the table contacts goes."}
    answer = ReActExecutor(scripted("migration").client(), world.tools).execute(task, found)
    assert answer.startswith("Not to be run: migration-1.sql does damage on the copy: customer 99")
    assert team("migration", scripted("migration"), world).status == "failed"
    assert "contacts" in world.read_schema()["now"]


MISSING = "records are missing: the log of payment lacks 09:59:25 to 10:10:00, when A-1034 was due there"
INSPECTED = {"order": "A-1034", "complete": True, "failing": "payment", "finding": "it fails", "path": {}}
VERIFIED = {"ok": True, "compared_with": "backup-1.sqlite", "customers": 12, "orders": 20, "emails": 11, "faults": []}
REPORT = {"file": "report-1.md", "sections": 3, "words": 115, "cites": ["doc-1"], "unknown": [], "uncited": []}
ACCEPTED = ("accept", "the result meets the criterion", None)


@pytest.mark.parametrize(
    ("name", "good", "change", "reason"),
    [
        ("support", INSPECTED, {"complete": False, "failing": None, "finding": MISSING}, MISSING),
        ("support", {"order": "A-1034", "evidence": ["payment:96"]}, {"evidence": []}, "no log line proves it"),
        ("support", {"file": "drafts/A-1034.txt", "cites": ["payment:96"]}, {"cites": []}, "no log line proves it"),
        ("migration", VERIFIED, {"ok": False, "faults": ["customer 3 lost its email"]}, "customer 3 lost its email"),
        ("research", REPORT, {"uncited": [1, 3]}, "no document is cited in section 1, 3"),
        ("research", REPORT, {"unknown": ["doc-99"]}, 'the library does not have "doc-99"'),
        ("research", REPORT, {"unknown": ["doc-99"], "uncited": [2]},
         'the library does not have "doc-99", and no document is cited in section 2'),
    ],
)  # fmt: skip
def test_the_verdict_follows_the_result(name, good, change, reason):
    assert verdict(name, good) == ACCEPTED
    assert verdict(name, good | change) == ("replan", reason, None)
