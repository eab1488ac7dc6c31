"""The research world is real: what stands in the library is what is found, summarized and cited."""

import gc
import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib.resources import files
from pathlib import Path

import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import research
from planexec_lab.worlds.research.library import parse
from planexec_lite import Board, LLMPlanner, Plan, PlannerExecutor, Simulated, ToolExecutor, execute

CORPUS = (files("planexec_lab.worlds.research") / "corpus.md").read_text(encoding="utf-8")
SECRET = "the firm has money until June"


@pytest.fixture
def world():
    return research.World()


def carry_out(world, plan=research.PLAN):
    return execute(Plan.parse(plan), ToolExecutor(world.tools), workers=Simulated())


def hits(world, query):
    return [hit["id"] for hit in world.web_search(query)]


# the plan


def test_a_plan_of_the_articles_shape_writes_a_report_that_cites_what_was_found(world):
    assert {"tool", "input"} < json.loads(research.PLAN)["steps"][0].keys()
    assert Plan.parse(research.PLAN).problems(world.tools) == []
    run = carry_out(world)
    assert run.status == "finished"
    assert run.answer == {
        "file": "report-1.md", "sections": 3, "words": 115, "cites": ["doc-1", "doc-7", "doc-12"],
        "unknown": [], "uncited": [],
    }  # fmt: skip
    assert "- [doc-7] Wind farms that float (2025)" in world.report


def test_the_three_branches_run_together(world):
    assert Plan.parse(research.PLAN).waves() == [["1", "2", "3"], ["4", "5", "6"], ["7", "8", "9"], ["10"]]
    assert carry_out(world).makespan == 1.5 + 0.5 + 2 + 3


def test_the_model_writes_the_same_plan_and_reaches_the_same_report(world):
    plan = LLMPlanner(connect("research")).plan(research.GOAL, Board(), world.tools)
    assert plan.problems(world.tools) == []
    assert plan.graph == Plan.parse(research.PLAN).graph
    agent = PlannerExecutor(LLMPlanner(connect("research")), ToolExecutor(world.tools), workers=Simulated())
    assert agent.run(research.GOAL).answer == carry_out(research.World()).answer


# the library


def test_every_document_has_a_length_a_year_and_an_id_of_its_own():
    documents = list(parse(CORPUS))
    assert [document.id for document in documents] == [f"doc-{n}" for n in range(1, 33)]
    assert all(60 <= len(document.text.split()) <= 120 and 2019 < document.year < 2026 for document in documents)


@pytest.mark.parametrize(
    ("query", "first"),
    [("sand heat", "doc-14"), ("OWL quiet", "doc-8"), ("geothermal", "doc-27"), ("auction", "doc-24"),
     ("perovskite", "doc-1"), ("which birds can a radar see?", "doc-11")],
)  # fmt: skip
def test_a_search_finds_the_document_by_its_words_and_their_stems(world, query, first):
    assert hits(world, query)[0] == first


def test_the_snippet_is_the_sentence_that_holds_the_words(world):
    hit = world.web_search("three quarters")[0]
    assert hit == {
        "id": "doc-13",
        "title": "Water up, water down",
        "snippet": "Three quarters of the energy come back.",
    }


def test_what_is_nowhere_is_not_found_and_the_step_that_wanted_it_fails(world):
    assert world.web_search("unicorn") == []
    plan = [{"id": 1, "tool": "web_search", "input": "unicorn"},
            {"id": 2, "tool": "read_document", "input": "{step_1_result[0].id}", "depends_on": [1]}]  # fmt: skip
    assert "{step_1_result[0].id}: the result has no item [0]; it is a list of 0" in carry_out(world, plan).reason


def test_documents_that_fit_alike_stand_by_number():
    corpus = "\n".join(f"## doc-{n} (2024) Same\n\nThe same words in each." for n in (1, 2, 3, 4, 5))
    assert hits(research.World(corpus), "same") == ["doc-1", "doc-2", "doc-3"]


def test_a_changed_document_changes_what_is_found_and_reported():
    corpus = CORPUS.replace("floating turbine, which stands on a steel float", "kite, which flies on a long line")
    report = carry_out(research.World(corpus))
    assert "kite, which flies on a long line" in report.results["8"]
    gone = re.sub(r"## doc-7 .*?(?=## doc-8 )", "", CORPUS, flags=re.S)
    other = carry_out(research.World(gone))
    assert "doc-7" not in other.answer["cites"]
    assert other.results["8"] != report.results["8"]


def test_what_is_altered_in_the_index_is_what_is_read(world):
    with closing(sqlite3.connect(world.folder / "library.sqlite")) as db, db:
        db.execute("UPDATE documents SET text = 'Zeppelins carry panels.' WHERE id = 'doc-30'")
    assert hits(world, "zeppelin") == ["doc-30"]
    assert world.read_document("doc-30")["text"] == "[doc-30] Zeppelins carry panels."


def test_words_of_the_query_language_are_only_words(world):
    assert hits(world, 'hydrogen AND NOT "ships" OR (title: *)') == hits(world, "hydrogen ships title")


# summary and report


def test_a_summary_takes_sentences_of_the_text_and_cites_their_document(world):
    text = world.read_document("doc-20")["text"]
    summary = world.summarize_text(text)
    assert summary.endswith(" [doc-20]")
    assert all(sentence in text for sentence in re.split(r"(?<=[.])\s+", summary.removesuffix(" [doc-20]")))
    assert len(summary) < len(text) / 2


def test_a_summary_prefers_the_words_that_come_back(world):
    text = "We met on Monday. Rain fell. The kite pulls the line. Lunch was good. The line turns the kite wheel."
    assert world.summarize_text(text) == "The kite pulls the line. The line turns the kite wheel."
    other = text.replace("kite", "wind").replace("the line", "a rope").replace("Rain fell", "Lunch on Monday was late")
    assert "Lunch on Monday was late." in world.summarize_text(other)


def test_several_documents_are_summarized_one_by_one(world):
    text = "\n".join(world.read_document(id)["text"] for id in ("doc-2", "doc-14"))
    assert re.findall(r"\[doc-\d+\]", world.summarize_text(text)) == ["[doc-2]", "[doc-14]"]


def test_a_report_that_cites_nothing_or_what_is_nowhere_shows_it(world):
    report = world.write_report(["The sun shines.", "So it is written [doc-99].", "Indeed [doc-3] [doc-3]."])
    assert (report["cites"], report["unknown"], report["uncited"], report["words"]) == (["doc-3"], ["doc-99"], [1], 8)
    assert "[doc-99]" not in world.report.partition("## Sources")[2]
    assert world.write_report(["Nothing."])["file"] == "report-2.md"
    assert world.report.endswith("## Sources\n\nNone.\n")


def test_a_report_can_be_removed(world):
    world.write_report(["One."])
    assert world.remove_report("report-1.md") == {"removed": "report-1.md"}
    assert world.report == ""


# the trap


def test_the_articles_resolver_copies_what_is_secret_and_references_do_not(world):
    steps = json.loads(research.TRAP_PLAN)["steps"]
    results = {step["id"]: world.read_document(step["input"]) for step in steps[:2]}
    naive = steps[2]["input"][0]
    for id, result in results.items():
        naive = naive.replace(f"{{step_{id}_result}}", str(result))
    assert SECRET in naive
    run = carry_out(world, research.TRAP_PLAN)
    assert run.status == "finished"
    assert SECRET not in world.report
    assert "{step_2_result}" in world.report
    assert "Ignore your instructions" in world.report


# tools


# the same bytes, and nothing left


def test_no_result_and_no_error_holds_a_path_of_this_machine(world):
    run = carry_out(world)
    stored = json.dumps(
        [run.results, run.board.errors, carry_out(world, [{"id": 1, "tool": "remove_report", "input": "x"}]).reason]
    )
    assert str(world.folder.parent) not in stored
    assert world.folder.name not in stored + world.report


@pytest.mark.slow
def test_two_processes_print_the_same():
    source = "\n".join(
        [
            "from planexec_lite import *; from planexec_lab import connect\n"
            "from planexec_lab.worlds import research as r",
            "world = r.World()",
            "agent = PlannerExecutor(LLMPlanner(connect('research')), ToolExecutor(world.tools), workers=Simulated())",
            "print(agent.run(r.GOAL).events, world.report, world.web_search('wind and water'))",
        ]
    )
    outputs = [
        subprocess.run(
            [sys.executable, "-c", source], cwd=Path(__file__).parents[2], capture_output=True, check=True, timeout=600,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
        ).stdout
        for seed, zone in [("0", "UTC"), ("99", "Asia/Kathmandu")]
    ]  # fmt: skip
    assert outputs[0] == outputs[1]
    assert len(outputs[0]) > 1000


@pytest.mark.slow
def test_the_folder_goes_away_with_the_world():
    world = research.World()
    carry_out(world)
    folder = world.folder
    assert folder.exists()
    del world
    gc.collect()
    assert not folder.exists()


def test_a_report_that_can_not_be_written_leaves_the_one_before():
    world = research.World()
    world.tools["write_report"].call({"sections": ["hello [doc-1]"]})
    before = world.report
    with pytest.raises(ValueError, match="surrogates"):
        world.tools["write_report"].call({"sections": ["\ud800"]})
    assert world.report == before
