"""The research world is real: it finds, summarizes and cites the documents of its library."""

import json
import re
from importlib.resources import files

import pytest

from planexec_lab.worlds import research
from planexec_lite import Plan, Simulated, ToolExecutor, execute

CORPUS = (files("planexec_lab.worlds.research") / "corpus.md").read_text(encoding="utf-8")
SECRET = "the firm has money until June"


@pytest.fixture
def world():
    return research.World()


def carry_out(world, plan=research.PLAN):
    return execute(Plan.parse(plan), ToolExecutor(world.tools), workers=Simulated())


def hits(world, query):
    return [hit["id"] for hit in world.web_search(query)]


@pytest.mark.parametrize(
    ("query", "first"),
    [("sand heat", "doc-14"), ("OWL quiet", "doc-8"), ("geothermal", "doc-27"), ("auction", "doc-24"),
     ("perovskite", "doc-1"), ("which birds can a radar see?", "doc-11")],
)  # fmt: skip
def test_a_search_finds_the_document_by_its_words_and_their_stems(world, query, first):
    assert hits(world, query)[0] == first


def test_a_changed_document_changes_what_is_found_and_reported():
    corpus = CORPUS.replace("floating turbine, which stands on a steel float", "kite, which flies on a long line")
    report = carry_out(research.World(corpus))
    assert "kite, which flies on a long line" in report.results["8"]
    gone = re.sub(r"## doc-7 .*?(?=## doc-8 )", "", CORPUS, flags=re.S)
    other = carry_out(research.World(gone))
    assert "doc-7" not in other.answer["cites"]
    assert other.results["8"] != report.results["8"]


def test_a_report_that_cites_nothing_or_what_is_nowhere_shows_it(world):
    report = world.write_report(["The sun shines.", "So it is written [doc-99].", "Indeed [doc-3] [doc-3]."])
    assert (report["cites"], report["unknown"], report["uncited"], report["words"]) == (["doc-3"], ["doc-99"], [1], 8)
    assert "[doc-99]" not in world.report.partition("## Sources")[2]
    assert world.write_report(["Nothing."])["file"] == "report-2.md"
    assert world.report.endswith("## Sources\n\nNone.\n")


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


def test_words_of_the_query_language_are_only_words(world):
    assert hits(world, 'hydrogen AND NOT "ships" OR (title: *)') == hits(world, "hydrogen ships title")
