"""Streaming: steps start while the planner writes the rest of the plan, also if the rest is broken."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab.timed_llm import TimedLLM
from planexec_lite import (
    AskPerson,
    Decision,
    HybridExecutor,
    LLMPlanner,
    Plan,
    Pool,
    Run,
    Simulated,
    Toolbox,
    ToolExecutor,
    Verdict,
    tool,
)
from planexec_lite.plan import Step, StepReader
from planexec_lite.run import events as e
from planexec_lite.workers import Workers
from tests.capabilities.scaffold import World
from tests.core.agents import agent_for
from tests.core.ending import to_its_end
from tests.core.shapes import END, Writing, check_fold, check_order, check_replay, json_values, reasons, starts, step
from tests.rounds import rounds


def work(id: str, *after: str, n: int | None = None, seconds: float = 1.0, **more: Any) -> dict[str, Any]:
    return step(id, "work", *after, n=int(id) if n is None else n, seconds=seconds, **more)


def carry_out(world: World, planner: Any, workers: Workers | None = None, **options: Any) -> Run:
    agent = agent_for(world.tools, planner, workers=workers or Simulated(), **options)
    run = to_its_end(lambda: agent.run("work"))
    check_fold(run)
    check_order(run, getattr(agent.workers, "slots", None) or 10**6)
    if isinstance(agent.workers, Simulated):
        check_replay(run, agent.policy)
    return run


def proposed(run: Run) -> dict[str, float]:
    return {event.step.id: event.at for event in run.events if isinstance(event, e.StepProposed)}


PLANS = st.lists(
    st.fixed_dictionaries({"id": st.text(max_size=3), "params": json_values, "description": st.text()})
    | st.dictionaries(st.sampled_from(["steps", "tasks", "plan", "{", '"']), json_values, max_size=3),
    max_size=4,
)


@rounds(200)
@given(
    steps=PLANS,
    name=st.sampled_from(["steps", "tasks", "plan", None]),
    before=st.dictionaries(st.text(), json_values, max_size=2),
    after=st.dictionaries(st.text(), json_values, max_size=2),
    indent=st.sampled_from([None, 0, 2]),
    escaped=st.booleans(),
    data=st.data(),
)
def test_the_reader_gives_the_same_steps_however_the_text_is_cut(
    steps: list[Any], name: str | None, before: Any, after: Any, indent: Any, escaped: bool, data: st.DataObject
) -> None:
    for other in ("steps", "tasks", "plan"):
        before.pop(other, None)
        after.pop(other, None)
    plan = steps if name is None else {**before, name: steps, **after}
    text = json.dumps(plan, indent=indent, ensure_ascii=escaped)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    for parts in (pieces, text):
        reader = StepReader()
        assert [step for part in parts for step in reader.feed(part)] == steps


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ('{"goal": "steps", "deep": {"steps": [{"id": "9"}]}, "steps": [{"id": "1"}]}', ["1"]),
        ('{"steps": [{"id": "1", "params": {"steps": [{"id": "9"}]}}]}', ["1"]),
        ('{"goal": "} ] \\" {", "steps": [{"id": "1", "x": "}]\\\\"}, {"id": "2"}]}', ["1", "2"]),
        ('[{"id": "1"}, {"id": "\\u0031"}]', ["1", "1"]),
        ('\n [ {"id": "1"} , "text", 4, [{"id": "9"}], null, {"id": "2"} ] \n', ["1", "2"]),
        ('{"steps": {"id": "9"}}', []),
        ('{"steps": "[{}]", "tasks": [{"id": "1"}]}', ["1"]),
        ('{"steps": [{"id": "1"}, {"id": ', ["1"]),
        ('{"steps": [{"id": "1"}]} {"steps": [{"id": "2"}]} [{"id": "3"}]', ["1"]),
        ('A plan: [{"id": "1"}]', []),
        ('```json\n{"steps": [{"id": "1"}]}\n```', []),
        ('"{" {"steps": [{"id": "1"}]}', []),
        ("", []),
        ("null", []),
    ],
)
def test_the_reader_reads_only_the_list_of_steps(text: str, ids: list[str]) -> None:
    reader = StepReader()
    assert [step["id"] for char in text for step in reader.feed(char)] == ids
    assert [step["id"] for step in StepReader().feed(text)] == ids


def test_a_number_in_two_pieces_is_one_number() -> None:
    reader = StepReader()
    assert reader.feed('{"deep": {}, "n": 1') == []
    assert reader.feed('2, "steps": [{"id": "1"}]}') == [{"id": "1"}]


THREE = [1.0, work("1", seconds=3.0), 1.0, work("2", seconds=3.0), 1.0, work("3", seconds=3.0), END]
HELD = [step("1", "pay", n=1), work("2", seconds=5.0), work("3"), work("4"), 0.5, END]
TIMES: dict[str, tuple[list[Any], int | None, list[tuple[str, float]]]] = {
    "while the rest is written": (THREE, None, [("1", 1.0), ("2", 2.0), ("3", 3.0)]),
    "the planner holds no slot": (THREE, 1, [("1", 1.0), ("2", 4.0), ("3", 7.0)]),
    "at once, not at the planner's next line": (
        [work("2", "1"), work("1", seconds=2.5), 9.0, work("3", "2"), END],
        None,
        [("1", 0.0), ("2", 2.5), ("3", 9.0)],
    ),
    "what is held back keeps its place": (HELD, 1, [("2", 0.0), ("1", 5.0), ("3", 6.0), ("4", 7.0)]),
}


@pytest.mark.parametrize("name", TIMES)
def test_a_step_starts_as_soon_as_it_is_written_and_ready(name: str) -> None:
    answer, slots, begun = TIMES[name]
    assert starts(carry_out(World(), Writing(answer), Simulated(slots))) == begun


def test_with_a_reviewer_no_step_starts_before_the_approval() -> None:
    world = World()
    answer = [work("1"), 1.0, work("2"), lambda: world.done.append(99), END]
    agent = agent_for(world.tools, Writing(answer), reviewer=AskPerson())
    run = agent.run("work")
    assert (run.status, world.done, proposed(run)) == ("paused", [99], {})
    assert agent.resume(run, Decision("approve")).status == "finished"


@pytest.mark.parametrize(
    "held",
    [
        step("1", "pay", n=1),
        work("1", effects="once"),
        work("1", gate=True),
        step("1", "work", n="{step_0_result}", seconds=1.0),
        step("1", "no_such_tool", n=1),
        step("1", "work", m=1),
        step("1", "work", n="many", seconds=1.0),
        work("1", "1"),
        work("1", "7"),
        step("1", None, description="as you like"),
    ],
    ids=["pays", "says once", "gate", "dangling", "no tool", "wrong name", "wrong type", "itself", "never", "free"],
)
def test_an_invalid_or_at_most_once_step_and_its_dependents_do_not_start_early(held: Any) -> None:
    world = World()
    run = carry_out(world, Writing([held, work("2", "1"), 1.0, work("3"), 1.0, END]), max_repairs=0)
    assert list(proposed(run)) == ["3"]
    assert dict(starts(run))["3"] == 1.0
    assert all(at >= 2.0 for id, at in starts(run) if id != "3")


TAILS: dict[str, list[Any]] = {
    "breaks off": [],
    "no plan": [Plan()],
    "duplicate of what is done": [work("1", n=10), END],
    "too many": [*(work(str(n), n=n) for n in range(10, 40)), END],
    "taken back": [Plan.parse([work("1"), work("2", "1")])],
    "changed": [Plan.parse([work("1"), work("2", "1"), work("3", n=33), work("4", "3", seconds=5.0)])],
}


@pytest.mark.parametrize("slots", [1, 2, None])
@pytest.mark.parametrize("tail", TAILS)
def test_a_broken_rest_keeps_done_steps_and_cancels_waiting_ones(tail: str, slots: int | None) -> None:
    world = World()
    head = [work("1"), work("2", "1"), work("3", seconds=5.0), work("4", "3", seconds=5.0), 4.0]
    repaired = [work("1"), work("x", "1", n=50), END]
    planner = Writing([*head, *TAILS[tail]], repaired)
    run = carry_out(world, planner, Simulated(slots), max_steps=10)
    assert run.status == "finished"
    assert reasons(run) == ["first", "repair"]
    assert (world.done.count(1), world.done.count(50)) == (1, 1)
    assert 4 not in world.done, "it had not started when the plan broke"
    assert run.board.state["4"] == "superseded"
    assert set(run.results) >= {"1", "x"}
    kinds = [type(event).__name__ for event in run.events]
    broke, repair = kinds.index("PlanProposed"), kinds.index("PlanStarted", 2)
    assert "StepStarted" not in kinds[broke:repair]
    begun = {event.step for event in run.events[:broke] if isinstance(event, e.StepStarted)}
    assert begun <= set(run.results), "the running steps ended"


def test_references_to_steps_that_never_came_are_problems_at_the_end() -> None:
    @tool(effects="none")
    def note(text: str) -> str:
        return text

    writing = Writing(
        [work("1"), work("2", "1", "7"), step("3", "note", text="about {step_9_result}")], [work("4"), END]
    )
    run = agent_for([*World().tools, note], writing).run("work")
    problems = next(event.problems for event in run.events if isinstance(event, e.PlanProposed))
    told = {(problem.code, problem.step): problem.message for problem in problems}
    assert ("cut_off", None) in told
    assert "7" in told["unknown_dependency", "2"]
    assert "9" in told["dangling_reference", "3"]


@pytest.mark.parametrize("problem", [KeyError("no"), GeneratorExit(), MemoryError(), KeyboardInterrupt()], ids=repr)
def test_a_planner_that_raises_while_it_writes_is_asked_again(problem: BaseException) -> None:
    world = World()
    with ThreadPoolExecutor(1) as pool:
        run = carry_out(world, Writing([work("1"), problem], [work("2"), END]), Pool(pool))
    assert (run.status, world.done.count(2)) == ("finished", 1)


def call(id: str, n: int, *after: str) -> dict[str, Any]:
    return work(id, *after, n=n, description="", success_criteria=None)


def answer(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"goal": "work", "steps": list(steps), "rollback": [], "answer": None, "complete": True, **more}


WHOLE = answer(call("1", 1), call("2", 2, "1"), call("3", 3), call("4", 4, "2", "3"))


def scenes(*replies: dict[str, Any]) -> TimedLLM:
    when = {"system": "Role: planner", "counter": "asked"}
    turns = [{"name": f"{n}", "when": when | {"turn": n}, "reply": reply} for n, reply in enumerate(replies, 1)]
    return TimedLLM(turns)


def ask_model(llm: TimedLLM, world: World, workers: Workers | None = None, planner: Any = None, **policy: Any) -> Run:
    client = llm.client(max_retries=0)
    return carry_out(world, LLMPlanner(client, "m", stream=True, **(planner or {})), workers, **policy)


def test_a_models_steps_start_while_it_writes_which_saves_time() -> None:
    world = World()
    run = ask_model(scenes({"json": WHOLE, "latency": 12.0}), world)
    came = list(proposed(run).values())
    assert (list(proposed(run)), came) == (["1", "2", "3", "4"], sorted(set(came)))
    (end,) = [event.at for event in run.events if isinstance(event, e.PlanProposed)]
    assert came[0] < 6.0 < came[-1] < end == 12.0
    assert dict(starts(run))["1"] == came[0]
    assert (run.status, sorted(world.done)) == ("finished", [1, 2, 3, 4])
    whole = carry_out(World(), LLMPlanner(scenes({"json": WHOLE, "latency": 12.0}).client(), "m"))
    assert run.makespan < whole.makespan == 15.0
    assert (run.plan.to_json(), run.answer, run.usage) == (whole.plan.to_json(), whole.answer, whole.usage)


def bad(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"json": answer(*steps), "latency": 8.0, "broken": True}


GOOD = {"json": answer(call("1", 1), call("9", 9)), "latency": 1.0}
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "ended early": ({"json": WHOLE, "latency": 8.0, "fault": {"kind": "ended_early"}}, "cut_off"),
    "token limit": ({"json": WHOLE, "latency": 8.0, "finish_reason": "length"}, "cut_off"),
    "lost": ({"json": WHOLE, "latency": 8.0, "fault": {"kind": "dropped"}}, "planner_failed"),
    "cycle": (bad(call("1", 1, "4"), call("2", 2, "1"), call("3", 3, "2"), call("4", 4, "3")), "cycle"),
    "duplicates": (bad(*WHOLE["steps"][:3], call("1", 4, "2", "3")), "duplicate_id"),
    "unknown tool": (bad(*WHOLE["steps"][:3], call("4", 4) | {"tool": "play"}), "unknown_tool"),
    "dangling": (bad(*WHOLE["steps"][:3], call("4", 4, "99")), "unknown_dependency"),
    "prose": ({"text": f"Sure! {json.dumps(WHOLE)} Shall I begin?", "latency": 8.0, "broken": True}, "not_json"),
    "server error": ({"json": WHOLE, "fault": {"status": 503}}, "planner_failed"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_model_repairs_its_broken_answer(name: str) -> None:
    reply, code = BROKEN[name]
    world = World()
    run = ask_model(scenes(reply, GOOD), world, Simulated(1))
    (first, *_) = (event for event in run.events if isinstance(event, e.PlanProposed))
    assert code in [problem.code for problem in first.problems]
    assert (run.status, reasons(run)) == ("finished", ["first", "repair"])
    assert len(world.done) == len(set(world.done)), "a done step was repeated"
    assert {1, 9} <= set(world.done)
    assert set(run.results) == {str(n) for n in world.done}
    if name in ("prose", "server error"):
        assert sorted(world.done) == [1, 9]
        assert "StepProposed" not in [type(event).__name__ for event in run.events[: run.events.index(first)]]


@pytest.mark.parametrize("stream", [True, False])
def test_a_refusal_ends_the_run_with_its_words_and_is_not_repaired(stream: bool) -> None:
    refused = scenes({"refusal": "I would rather not."}, GOOD)
    run = carry_out(World(), LLMPlanner(refused.client(), "m", stream=stream))
    assert (run.status, run.reason, run.usage.calls) == ("failed", "the model refused: I would rather not.", 1)


@pytest.mark.parametrize(
    ("planner", "policy"), [({"horizon": 1}, {}), ({"max_steps": 2}, {}), ({}, {"max_steps": 2})], ids=str
)
def test_no_more_steps_start_early_than_allowed(planner: dict[str, int], policy: dict[str, int]) -> None:
    world = World()
    run = ask_model(scenes({"json": WHOLE, "latency": 8.0}), world, planner=planner, max_repairs=0, **policy)
    assert run.status == "failed"
    assert "too_many_steps" in run.reason
    assert len(world.done) <= (planner.get("horizon") or 2)


@st.composite
def writings(draw: st.DrawFn) -> tuple[list[list[Any]], set[int]]:
    """Return random answers with pauses, of which some break off, and the numbers of the broken work."""
    answers = []
    for round_ in range(draw(st.integers(1, 3))):
        parts: list[Any] = []
        ids = [f"{round_}{n}" for n in range(draw(st.integers(1, 5)))]
        for place, id in enumerate(ids):
            after = draw(st.lists(st.sampled_from(ids[:place]), unique=True, max_size=2)) if place else []
            more: dict[str, Any] = {"retries": draw(st.integers(0, 1))}
            if draw(st.booleans()):
                more["effects"] = draw(st.sampled_from(["none", "idempotent", "once"]))
            if draw(st.integers(0, 3)) == 0:
                more["timeout"] = 1.5
            if draw(st.integers(0, 2)) == 0:
                more["success_criteria"] = "well done"
            parts.append(work(id, *after, seconds=float(draw(st.integers(0, 3))), **more))
        parts = draw(st.permutations(parts))
        parts = [part for one in parts for part in (float(draw(st.integers(0, 2))), one)]
        parts.append(draw(st.sampled_from([END, END, END, ConnectionError("lost"), Plan(), 1.0])))
        answers.append(parts)
    return answers, draw(st.sets(st.sampled_from([int(f"{a}{b}") for a in range(3) for b in range(5)]), max_size=6))


@rounds(200)
@given(
    made=writings(),
    slots=st.sampled_from([1, 2, None]),
    failure=st.sampled_from(["skip", "stop"]),
    replan=st.sampled_from(["never", "failure", "step", "stall"]),
    retries=st.integers(0, 1),
    limits=st.sampled_from([{}, {"work": 1}, {"work": 2}]),
    judged=st.sets(st.integers(0, 24)),
)
def test_random_writings_are_lawful(
    made: Any, slots: Any, failure: str, replan: str, retries: int, limits: Any, judged: set[int]
) -> None:
    if (failure, replan) == ("stop", "stall"):
        replan = "failure"
    answers, broken = made
    options = {"failure": failure, "replan": replan, "retries": retries, "max_repairs": 2, "max_replans": 2}
    runs = []
    for _ in range(2):
        world, planner = World(*broken), Writing(*answers)

        def judge(step: Step, result: Any) -> Any:
            return Verdict("retry", "so so") if result in judged else True

        run = carry_out(world, planner, Simulated(slots, limits), evaluator=judge, **options, max_rounds=4)
        assert run.board.ended
        assert planner.asked <= 3 * (1 + 2 + 4)
        assert not run.board.in_flight
        assert len([event for event in run.events if isinstance(event, e.StepStarted)]) == len(world.done)
        for id, state in run.board.state.items():
            known = ("done", "failed", "skipped", "superseded", "waiting")
            assert state in known or (state, run.status) == ("judging", "failed")
            assert (state == "done") == (id in run.results)
        if failure == "skip" and run.status == "failed" and not run.board.problems:
            assert "waiting" not in run.board.state.values()
        failed = {event.step for event in run.events if isinstance(event, e.StepFailed | e.Judged)}
        assert {id for id, state in run.board.state.items() if state == "failed"} <= failed
        runs.append(run)
    assert runs[0].events == runs[1].events


def test_a_step_that_waits_for_an_answer_keeps_its_id() -> None:
    world = World()
    inner = agent_for(world.tools, [work("7", gate=True)])
    executor = HybridExecutor(ToolExecutor(Toolbox(world.tools)), inner)
    nested = {"id": "1", "description": "work", "effects": "none"}
    planner = Writing([nested, END], [work("1", n=3), 5.0, END])
    agent = agent_for(executor, planner)
    run = agent.run("work")
    assert run.board.asked.about == "step 7 inside step 1"
    run = agent.tell(run, "news")
    check_fold(run)
    assert (run.status, proposed(run)) == ("finished", {})
