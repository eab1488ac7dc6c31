"""The small worlds are real: bisect, trail, clock, arithmetic, strangers and flights; and one mind in every role."""

import ast
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.connect import connect
from planexec_lab.scoreboard.advice_cases import client_of
from planexec_lab.scoreboard.comparing import plans_a_step, plans_ahead, plans_nothing
from planexec_lab.worlds import arithmetic, bisect, clock, flights, strangers
from planexec_lab.worlds.flaky import NoAnswerError, flaky
from planexec_lab.worlds.minds import EXPECTED, as_expected
from planexec_lite import (
    Board,
    LLMPlanner,
    PlannerExecutor,
    RuleEvaluator,
    RulePlanner,
    Simulated,
    Step,
    Tool,
    Toolbox,
    ToolExecutor,
)


@pytest.mark.slow
@pytest.mark.parametrize("broke", [2, 13, 32])
@pytest.mark.parametrize("side", [plans_ahead, plans_nothing])
def test_the_version_that_broke_is_found_wherever_it_is(side, broke):
    world = bisect.World(broke)
    run = side(client_of(bisect.BisectMind()), world.tools).run(bisect.GOAL)
    assert (run.answer, world.marked) == (f"Version {broke} broke.", broke)


def ask(world):
    return PlannerExecutor(LLMPlanner(connect("clock")), ToolExecutor(world.tools), workers=Simulated()).run(
        "What time is it?"
    )


@pytest.mark.parametrize(
    ("world", "expected"),
    [
        (clock.World("09:41"), "It is 09:41."),
        (clock.World("23:30"), "It is 23:30."),
        (clock.World("23:30", hours=2), "It is 01:30."),
        (clock.World("00:10", hours=-1), "It is 23:10."),
    ],
)
def test_the_over_planned_answer_follows_the_clock(world, expected):
    assert ask(world).answer == expected


def test_a_time_that_is_none_is_refused():
    with pytest.raises(ValueError, match="no time of day"):
        clock.World("25:00")


numbers = st.integers(0, 50).map(str)
sums = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda parts: f"({' '.join(parts)})"),
    max_leaves=8,
)


def value_of(node):
    """An independent witness: what the sum is worth."""
    if isinstance(node, ast.Constant):
        return node.value
    a, b = value_of(node.left), value_of(node.right)
    return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(node.op)]


def run(planner, goal):
    return PlannerExecutor(planner, ToolExecutor(arithmetic.TOOLS), workers=Simulated()).run(goal)


@given(sums.filter(lambda text: "(" in text))
def test_the_answer_is_the_one_of_arithmetic(text):
    assert run(RulePlanner(arithmetic.rules), f"What is {text}?").answer == value_of(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    "goal", ["What time is it?", "What is 2?", "What is 2 ** 9?", "(1 + 2", "", "__import__('os')"]
)
def test_a_goal_without_a_sum_is_refused(goal):
    with pytest.raises(ValueError, match="no rule applies"):
        arithmetic.rules(goal)


def test_negative_numbers_and_division_by_zero():
    assert run(RulePlanner(arithmetic.rules), "What is -3 * 4?").answer == -12
    failed = run(RulePlanner(arithmetic.rules), "What is 1 / (2 - 2)?")
    assert failed.status == "failed"
    assert "can't be divided by zero" in failed.reason


@pytest.mark.parametrize(
    ("assumed", "result", "judged"),
    [
        ("Yes.", "Yes.", True),
        ("Yes.", "Yes, on the aisle.", "Yes, on the aisle."),
        ({"ok": True}, {"ok": True, "rows": 3}, True),
        ({"ok": True}, {"ok": False}, '{"ok": false}'),
        ({"ok": True}, "no", "no"),
    ],
)
def test_a_result_is_held_against_what_was_taken_for_granted(assumed, result, judged):
    step = Step(id="1", success_criteria=EXPECTED + json.dumps(assumed))
    assert as_expected(step, result) == judged
    verdict = RuleEvaluator(as_expected).evaluate(step, result, Board())
    assert verdict.verdict == ("accept" if judged is True else "replan")


def test_the_same_calls_fail_for_everybody_in_whatever_order():
    called = []

    def count(to: int) -> int:
        called.append(to)
        return to

    def failures(order, **options):
        tools = flaky(Toolbox([Tool(count, effects="none")]), 0.5, **options)
        failed = []
        for to in order:
            try:
                assert tools["count"].call({"to": to}) == to
            except NoAnswerError as error:
                failed.append((to, str(error)))
        return failed

    order = [number % 5 for number in range(40)]
    failed = failures(order)
    assert 10 < len(failed) < 30
    assert len(called) == 40 - len(failed)
    assert sorted(failures(sorted(order))) == sorted(failed)
    assert failures(order, seed=1) != failed


def test_it_answers_lines_and_nothing_else() -> None:
    server = strangers.Weather()
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "nothing"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "nothing"}},
        {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": {"name": "forecast", "arguments": {"city": "X"}}},
    ]
    out = io.StringIO()
    server.serve(io.StringIO("".join(json.dumps(line) + "\n" for line in lines)), out)
    said = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [one["id"] for one in said] == [1, 2, 3, 4]
    assert said[0]["result"]["protocolVersion"] == "2025-06-18"
    assert [one["error"]["code"] for one in said[1:3]] == [-32601, -32602]
    assert said[3]["result"] == {"content": [{"type": "text", "text": "no station in X"}], "isError": True}


@pytest.mark.parametrize(("line", "code"), [("{", -32700), ("", -32700), ("[]", -32600), ("5", -32600)])
def test_a_line_that_is_no_request_is_refused_and_the_server_goes_on(line: str, code: int) -> None:
    server = strangers.Weather()
    refused = json.loads(server.answer(line) or "")
    assert (refused["id"], refused["error"]["code"]) == (None, code)
    call = {"id": 1, "method": "tools/call", "params": {"name": "forecast", "arguments": [1]}}
    assert json.loads(server.answer(json.dumps(call)) or "")["result"]["isError"]
    assert "result" in json.loads(server.answer('{"id": 2, "method": "initialize", "params": 5}') or "")


@pytest.fixture
def world():
    return flights.World()


def pursue(side, **options):
    world = flights.World(**options)
    return side(client_of(flights.BookingMind()), world.tools).run(flights.GOAL), world


def test_the_traveller_changes_his_mind(world):
    questions = ["Is LX 208 all right?", "On which day?", "Is LX 212 all right?", "On which day?"]
    answers = ["Not before 10:00.", "On Friday.", "240 euros? Then on Thursday.", "On Thursday."]
    assert list(map(world.ask_traveller, questions)) == answers


def test_a_held_seat_is_gone_for_others_until_it_is_given_back(world):
    held = [world.hold_seat("LX 208", "aisle") for _ in range(2)]
    assert {one["place"] for one in held} == {"aisle"}
    with pytest.raises(ValueError, match=r"LX 208 has no free seat of that kind \(aisle\)"):
        world.hold_seat("LX 208", "aisle")
    assert world.search_flights("Friday")[0]["free"] == 3
    assert world.release_hold(held[0]["hold"]) == {"hold": 1, "released": True}
    assert world.release_hold(held[0]["hold"]) == {"hold": 1, "released": False}
    assert world.hold_seat("LX 208", "aisle")["seat"] == held[0]["seat"]


def test_nothing_is_booked_that_the_traveller_has_not_said_yes_to(world):
    hold = world.hold_seat("LX 112", "aisle")["hold"]
    with pytest.raises(ValueError, match="the traveller has not said yes to LX 112"):
        world.book(hold)
    world.ask_traveller("Is flight LX 112 all right?")
    with pytest.raises(ValueError, match="has not said yes"):
        world.book(hold)
    assert world.bookings == []
    assert world.holds == {1: ("LX 112", "14C")}


@pytest.mark.parametrize("side", [plans_ahead, plans_a_step, plans_nothing])
@pytest.mark.parametrize("decided", [True, False])
def test_in_every_role_the_traveller_is_pleased(side, decided):
    run, world = pursue(side, decided=decided)
    assert (run.status, run.answer) == ("finished", "It is booked.")
    assert world.pleased
    questions = [question for question, _ in world.talk]
    assert len(questions) == len(set(questions)), "no question is asked twice"
    assert (world.bookings[0]["day"], world.bookings[0]["price"]) == (("Friday", 89) if decided else ("Thursday", 118))
