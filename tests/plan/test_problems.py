"""The problems of a plan are reported together; and its graph: waves, the critical path, cycles."""

import json
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from time import process_time
from typing import Any

import pytest
from hypothesis import given

from planexec_lite import Plan, PlanError, Toolbox, ToolExecutor, execute, tool
from planexec_lite.plan import Problem, lineages, word_for_word
from tests.core.shapes import Job, jobs, plan_of
from tests.rounds import rounds


@tool(effects="none")
def search(query: str, most: int = 3) -> list[str]:
    return [query] * most


@tool(effects="none")
def shout(text: str) -> str:
    return text.upper()


@tool(effects="none")
def now() -> int:
    return 1


TOOLS = Toolbox([search, shout, now])
GOOD = {"id": "1", "tool": "search", "params": {"query": "wind"}}


def codes(source: Any, **options: Any) -> list[tuple[str, str | None]]:
    return [(problem.code, problem.step) for problem in Plan.parse(source).problems(TOOLS, **options)]


def second(**fields: Any) -> list[dict[str, Any]]:
    return [GOOD, {"id": "2", "tool": "search", "params": {"query": "sun"}, **fields}]


@pytest.mark.parametrize(
    ("source", "code", "step"),
    [
        ([], "empty_plan", None),
        ([GOOD | {"id": "\uff11"}, *second()[1:]], "id_not_ascii", "\uff11"),
        ([GOOD | {"id": "\u0430lice"}, *second(depends_on=["\u0430lice"])[1:]], "id_not_ascii", "\u0430lice"),
        ([GOOD | {"depends_on": ["2"]}, *second(depends_on=["1"])[1:]], "cycle", "1"),
        (second(params={"query": ["a"]}), "wrong_parameter", "2"),
        (second(params={"query": "a", "most": "many"}), "wrong_parameter", "2"),
        (second(params={"query": "a", "most": "1{step_1_result}"}, depends_on=["1"]), "wrong_parameter", "2"),
        (second(tool="now", params={"x": 1}), "unknown_parameter", "2"),
        (second(depends_on=["nobody"]), "unknown_dependency", "2"),
        (second(depends_on=["2"]), "self_dependency", "2"),
        (second(tool="play"), "unknown_tool", "2"),
        (second(params={}), "missing_parameter", "2"),
        (second(params={"query": "x {step_nobody_result.a}"}), "dangling_reference", "2"),
        (second(params={"query": "{step_1_result}"}), "indirect_reference", "2"),
        ([GOOD, GOOD], "duplicate_id", "1"),
        (second(undo={"tool": "serch", "params": {}}), "unknown_tool", "2"),
        (second(undo={"tool": "search", "params": {}}), "missing_parameter", "2"),
        (second(undo={"tool": "search", "params": {"query": "{step_9_result}"}}), "dangling_reference", "2"),
        ({"steps": [GOOD], "rollback": [{"tool": "serch"}]}, "unknown_tool", None),
        ({"steps": [GOOD], "answer": "{step_9_result}"}, "dangling_reference", None),
    ],
)
def test_each_problem_has_its_code_and_its_step(source: Any, code: str, step: str | None) -> None:
    with pytest.raises(PlanError) as caught:
        execute(Plan.parse(source), ToolExecutor(TOOLS))
    (problem,) = caught.value.problems
    assert (problem.code, problem.step) == (code, step)
    assert problem.message
    assert problem.hint
    assert str(problem).startswith(f"step {step}: " if step else "plan: ")


ROLLBACK = [{"tool": "search", "params": {"query": "a"}}]


@pytest.mark.parametrize(
    "source",
    [
        [GOOD],
        second(retries=10),
        second(depends_on=["1"], params={"query": "{step_1_result[0]}"}),
        second(depends_on=["1"], params={"query": "a", "most": "{step_1_result.n}"}),
        second(depends_on=["1"], params={"query": "so: {step_1_result} and {literal {step_9_result}}"}),
        second(undo={"tool": "search", "params": {"query": "{step_2_result}"}}),
        [{"id": "1", "tool": "shout", "input": "wind"}],
        [{"id": "1", "tool": "now"}, {"id": "2", "description": "think"}],
        {"steps": [GOOD], "answer": "It is {step_1_result}", "rollback": ROLLBACK},
    ],
)
def test_a_valid_plan_has_no_problems(source: Any) -> None:
    assert codes(source) == []


def test_done_steps_can_be_dependencies_but_not_steps_of_a_later_plan() -> None:
    later = [{"id": "2", "tool": "search", "params": {"query": "{step_1_result}"}, "depends_on": ["1"]}]
    assert codes(later, done=["1"]) == []
    assert codes([GOOD], done=["1"]) == [("done_already", "1")]
    assert codes([], done=["1"]) == []
    assert codes({"steps": [], "complete": False}, done=["1"]) == [("empty_plan", None)]
    assert (Plan().critical_path(), Plan().waves()) == (([], 0), [])


def test_all_problems_are_reported_at_once() -> None:
    params = {"query": "{step_8_result}{step_4_result}", "x": 1}
    source = [
        {"id": "1", "tool": "serch", "depends_on": ["1", "11"]},
        {"id": "2", "tool": "search", "params": params, "depends_on": ["3"]},
        {"id": "3", "tool": "search", "params": {"query": 5}, "depends_on": ["2"]},
        {"id": "4", "tool": "search"},
        {"id": "4", "tool": "search", "params": {"query": ""}},
    ]
    assert ("too_many_steps", None) not in codes(source, max_steps=5)
    shown = " ".join(map(str, Plan.parse(source).problems(TOOLS)))
    assert all(f"did you mean '{name}'?" in shown for name in ("search", "1"))
    assert Counter(codes(source, max_steps=4)) == Counter(
        [
            ("too_many_steps", None), ("duplicate_id", "4"), ("cycle", "2"), ("unknown_tool", "1"),
            ("self_dependency", "1"), ("unknown_dependency", "1"), ("dangling_reference", "2"),
            ("indirect_reference", "2"), ("unknown_parameter", "2"), ("wrong_parameter", "3"), ("missing_parameter", "4"),
        ]
    )  # fmt: skip


@pytest.mark.parametrize("size", [20, 80, 600])
def test_names_that_are_nearly_right_cost_little_even_if_there_are_hundreds(size: int) -> None:
    steps = [{"id": "ab" * size + str(n), "depends_on": ["ba" * size + str(n + 1)]} for n in range(200)]
    plan = Plan.parse(steps)
    began = process_time()
    assert len(plan.problems()) == 200
    assert process_time() - began < 5


def test_every_cycle_is_named_once_in_the_order_of_waiting() -> None:
    waits = {"1": ["2"], "2": ["3"], "3": ["1"], "4": ["1"], "5": ["6"], "6": ["5", "4"], "7": []}
    problems = Plan.parse([{"id": id, "depends_on": on} for id, on in waits.items()]).problems()
    assert [problem.message.partition(":")[0] for problem in problems if problem.code == "cycle"] == [
        "1 waits for 2, 2 waits for 3, 3 waits for 1",
        "5 waits for 6, 6 waits for 5",
    ]


@pytest.mark.parametrize(("length", "named"), [(8, 8), (9, 7), pytest.param(20_000, 7, marks=pytest.mark.slow)])
def test_a_long_cycle_is_named_in_part(length: int, named: int) -> None:
    steps = [{"id": n, "depends_on": [(n + 1) % length]} for n in range(length)]
    (problem,) = Plan.parse(steps).problems()
    assert problem.message.count(" waits for ") == named
    assert ("…" in problem.message) == (named < length)
    assert len(problem.message) < 500


def test_a_plan_error_counts_all_and_shows_twenty() -> None:
    error = PlanError([Problem("code", str(n), f"fault {n}") for n in range(30)])
    assert len(error.problems) == 30
    assert all(words in str(error) for words in ("30 problems", "and 10 more", "fault 19"))
    assert "fault 20 " not in str(error)
    assert "and 1 more" in str(PlanError(error.problems[:21]))


@rounds(100)
@given(jobs())
def test_a_wave_can_start_when_the_waves_before_it_are_done(made: list[Job]) -> None:
    waves = plan_of(made).waves()
    depth: dict[str, int] = {}
    while len(depth) < len(made):
        for job in made:
            if all(id in depth for id in job.waits_for):
                depth[job.id] = max((depth[id] + 1 for id in job.waits_for), default=0)
    assert waves == [[job.id for job in made if depth[job.id] == n] for n in range(len(waves))]
    assert sum(map(len, waves)) == len(made)


@rounds(100)
@given(jobs(most=8))
def test_the_critical_path_is_the_longest_of_all_chains(made: list[Job]) -> None:
    waits_for = {job.id: job.waits_for for job in made}
    seconds = {job.id: job.quarters / 4 for job in made}

    def chains(id: str) -> Iterable[list[str]]:
        yield from ([*chain, id] for other in waits_for[id] for chain in chains(other))
        yield [id]

    longest = max(sum(seconds[id] for id in chain) for end in waits_for for chain in chains(end))
    path, length = plan_of(made).critical_path(seconds)
    assert length == longest == sum(seconds[id] for id in path)
    assert all(before in waits_for[after] for before, after in pairwise(path))
    assert plan_of(made).critical_path()[1] == max(len(chain) for end in waits_for for chain in chains(end))


@pytest.mark.weekly
def test_a_hundred_thousand_steps_are_read_and_checked() -> None:
    """Ten parallel chains, in which every step also waits for the end of the row before it."""
    behind = {n: [n - 10, (n - 1) // 10 * 10] if n > 10 else [] for n in range(1, 100_001)}
    uses = {n: "".join(f"{{step_{other}_result}}" for other in others) for n, others in behind.items()}
    steps = [{"id": n, "tool": "shout", "params": {"text": uses[n]}, "depends_on": behind[n]} for n in behind]
    plan = Plan.parse(json.dumps(steps))
    assert plan.problems(TOOLS) == []
    assert len(plan.waves()) == plan.critical_path()[1] == 10_000


@pytest.mark.parametrize("field", ["depends_on", "supersedes"])
def test_ids_in_another_order_make_the_same_plan(field: str) -> None:
    def written(ids: list[str]) -> Plan:
        steps = [{"id": each} for each in ("2", "10", "a")]
        if field == "depends_on":
            steps.append({"id": "end", "depends_on": ids})  # type: ignore[dict-item]
            ids = []
        return Plan.parse({"steps": steps, "supersedes": ids})

    one, other = written(["2", "10", "a"]), written(["a", "10", "2"])
    assert one == other
    assert (one.hash, one.to_json()) == (other.hash, other.to_json())
    assert one.hash != written(["2", "10"]).hash
    by_id = [{step.id: step for step in plan.steps} for plan in (one, other)]
    assert lineages(by_id[0], by_id[0]) == lineages(by_id[1], by_id[1])
    assert {word_for_word(step) for step in one.steps} == {word_for_word(step) for step in other.steps}
