"""Views in rows: the board, the ledger, thoughts, spans and the difference of two plans; in text, table and picture."""

import tracemalloc
from typing import Any

import pytest

from planexec_lab import views
from planexec_lab.views import span_tree
from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.table import Row, table
from planexec_lab.views.drawing.theme import LOOKS
from planexec_lab.views.drawing.visible import code
from planexec_lite import Budget, Plan, PlannerExecutor, Policy, Run
from planexec_lite.meter import ModelCall, charge
from planexec_lite.run import events
from tests.capabilities.test_budget import FIVE, TOOLS, Thinking, approve, nested
from tests.spans.samples import SAMPLES
from tests.views import worlds
from tests.views.drawing import off_the_plate, overlaps


def test_a_rejected_result_says_so_and_the_caption_says_why() -> None:
    figure = views.board(worlds.replanned())
    assert figure.text == (
        "Finished: 5 of 5 steps done\n"
        "  step  status                   what                         waits for  result\n"
        '  1     ✓ done                   List the endpoints                      "took 2"\n'
        '  2     ✓ done, result rejected  Update endpoints to use JWT  1          "took 20"\n'
        '  2b    ✓ done                   Fix the token header         2          "took 5"\n'
        '  3     ✓ done                   Update tests                 2b         "took 15"\n'
        '  4     ✓ done                   Run test suite               3          "took 8"\n'
        "  5     ↷ superseded             Tell everybody               4\n"
        "The result of step 2 was rejected: 2 endpoints answer <401>."
    )
    assert ">result rejected</span>" in figure.table
    assert 'line-through">Tell everybody<' in figure.table


def test_judging_unverified_superseded_and_news_are_said_in_words() -> None:
    run = worlds.midway()
    assert views.board(run).text == (
        "2 of 3 steps done\n"
        "  step  status              what              waits for  result\n"
        '  1     ✓ done              Read                         "read"\n'
        '  2     ✓ done, unverified  Back up           1          {"size": 4}\n'
        '  4     ? judging           Migrate the half  2          {"rows": 9}\n'
        "  3     ↷ superseded        Migrate           2\n"
        "Unverified: no evaluator judged 2 by its success criterion. News: “the window closes at <18:00>”."
    )
    for number in range(4):
        run.record(events.NewsReceived(15.0, f"news {number}"))
    assert views.board(run).caption.endswith("Earlier news: 2. News: “news 1”. News: “news 2”. News: “news 3”.")


def test_the_ledger_counts_nested_runs_once_and_shows_unknown_prices() -> None:
    agent = nested(Budget(model_calls=2), Policy())
    run = agent.run("go")
    while run.status == "paused":
        run = agent.resume(run, approve(model_calls=1))
    assert views.ledger(run).text.startswith("5 model calls, 5,000 tokens")

    class Mine:
        def plan(self, *_: object) -> Plan:
            charge(1.0, ModelCall("mine", 10, 10))
            return FIVE

    run = PlannerExecutor(Mine(), Thinking(TOOLS)).run("go")
    assert views.ledger(run).text.startswith("6 model calls, 5,020 tokens, ?")
    assert views.ledger(Run()).text.startswith("0 model calls, 0 tokens, $0.0000")


def test_the_text_names_step_try_event_and_words() -> None:
    figure = views.thoughts(worlds.thinking())
    assert figure.text == (
        "2 steps: 3 thoughts, 2 calls, 1 error shown to the model\n"
        "  step      event          words\n"
        "  1         ◇ thought      I look for <b>failed</b> in the log.\n"
        '            → action       search(text="failed", limit=3)\n'
        "            ✗ error        ValueError: there is no log 'x'\n"
        '            → action       search(text="lost")\n'
        f"            ← observation  {'x' * 55}…{'x' * 54}\n"
        "  1, try 2  ◇ thought      The key is missing.\n"
        "  2         ◇ thought      Mended.\n"
        "Not shown: 1 other event inside the steps."
    )
    assert "&lt;b&gt;failed&lt;/b&gt;" in figure.table
    assert "<b>" not in figure.table


@pytest.mark.parametrize("name", SAMPLES)
def test_bars_stand_on_the_axis_and_no_text_on_another(name: str) -> None:
    figure, canvas = span_tree.draw(SAMPLES[name]())
    for box in canvas.boxes:
        assert box.x >= canvas.boxes[0].x
        assert box.x + box.width <= canvas.boxes[0].x + canvas.boxes[0].width + 2.01
    assert overlaps([*canvas.texts, *canvas.boxes]) == []
    assert overlaps(canvas.texts) == off_the_plate(canvas.texts, theme.WIDEST, 10_000) == []
    assert figure.alt.startswith(f"Spans: {figure.title}. invoke_agent")


def test_tokens_and_dollars_are_not_cut() -> None:
    planned = events.PlanProposed(3.0, Plan.parse(["rest"]), calls=(ModelCall("gpt-4o", 123_456, 12_345, 3.0),))
    _, canvas = span_tree.draw(
        Run([events.RunStarted(0.0, "", planner=True, reviewer=False), events.PlanStarted(0.0, "first"), planned])
    )
    assert "3 s · 123,456 in, 12,345 out, $0.4321" in [text.holds for text in canvas.texts]


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
        ((THREE, THREE.changed(steps=THREE.steps[1:])), "1 step removed, 2 kept"),
        ((THREE, THREE.changed(steps=THREE.steps[1:]), ["1"]), "2 steps planned again, 1 kept"),
    ],
)
def test_the_title_states_the_finding(compared: Any, title: str) -> None:
    assert views.diff(*compared).title == title


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (one(tool="go", description="Go"), one(tool="go", description="More"), "More  description Go → More"),
        (one(tool="delete_database", description="Tidy up"), one(tool="go"), "– removed  Tidy up  delete_database()"),
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


def test_a_step_is_known_by_its_call_not_by_its_number() -> None:
    before = Plan.parse([{"id": 1, "tool": "look"}, {"id": 2, "tool": "delete"}, {"id": 3, "tool": "notify"}])
    after = Plan.parse([{"id": 1, "tool": "look"}, {"id": 2, "tool": "notify"}, {"id": 3, "tool": "backup"}])
    figure = views.diff(before, after)
    assert figure.title == "1 step removed, 1 added, 1 moved, 1 kept"
    assert [line.split()[:3] for line in figure.text.splitlines()[2:6]] == [
        ["1", "=", "kept"],
        ["2", "–", "removed"],
        ["2", "→", "moved"],
        ["3", "+", "added"],
    ]
    repeated = before.changed(steps=[*before.steps[:2], before.steps[2].model_copy(update={"id": "3b"})])
    assert views.diff(before, repeated, done=["1", "2", "3"]).title == "1 step added, 3 kept", "a done call comes again"


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


def test_changes_of_the_plan_itself_and_the_place_of_removed_steps() -> None:
    before = Plan.parse({"goal": "Go", "steps": [{"id": 1, "tool": "go"}], "rollback": [{"tool": "stay"}]})
    after = before.changed(rollback=(), answer="{step_1_result}", complete=False)
    assert views.diff(before, after).caption == (
        "The plan's rollback: stay() → nothing. The plan's answer: nothing → {step_1_result}."
        " The plan's complete: yes → no."
    )
    before, after = (worlds.plan([(id, "", 1, []) for id in ids]) for ids in ("abcd", "bd"))
    assert [line.split()[0] for line in views.diff(before, after).text.splitlines()[2:6]] == ["a", "b", "c", "d"]


def test_a_result_of_many_megabytes_is_cut_before_it_is_measured() -> None:
    rows = [Row(["1", "", "read", char * 10_000_000], LOOKS["done"]) for char in "xé"]
    tracemalloc.start()
    shown = table("Two results", ["step", "status", "what", "result"], rows, lines=5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6
    assert "…" in shown.text
    assert len(shown.table) < 10_000
