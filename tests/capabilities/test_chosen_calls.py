"""An approval covers the call that was shown: if a model chooses the calls, each other risky call asks a person."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import SecretStr

from mock_llm import MockLLM
from planexec_lite import (
    ApproveAll,
    AskPerson,
    Budget,
    Decision,
    HybridExecutor,
    Inline,
    PlannerExecutor,
    Pool,
    ReActExecutor,
    Run,
    Step,
    Team,
    Tool,
    Toolbox,
    ToolExecutor,
    Verdict,
)
from planexec_lite.meter import idempotency_key
from tests.core.agents import agent_for

PAY_BOB = {"id": "1", "tool": "pay", "params": {"to": "BOB"}}
IN_WORDS = {"id": "1", "description": "pay what is due"}


class Office:
    """Tools that pay, delete and look, and list each call."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.keys: list[str | None] = []
        once = Tool(self.pay, effects="once"), Tool(self.delete, effects="idempotent", destructive=True)
        self.tools = Toolbox([*once, Tool(self.look, effects="none"), Tool(self.note)])

    def pay(self, to: str) -> str:
        self.calls.append(f"pay {to}")
        self.keys.append(idempotency_key())
        return f"paid {to}"

    def delete(self, name: str) -> str:
        self.calls.append(f"delete {name}")
        return f"deleted {name}"

    def look(self) -> str:
        self.calls.append("look")
        return "seen"

    def note(self, text: str) -> str:
        """Note a text; the effects of this tool are not declared."""
        self.calls.append(f"note {text}")
        return text


class Calls:
    """An executor that makes its own calls and ignores the step, like a misled model."""

    def __init__(self, tools: Toolbox, *calls: tuple[str, dict[str, Any]]) -> None:
        self.tools, self.calls = tools, calls

    def execute(self, step: Step, inputs: Mapping[str, Any]) -> str:
        return "; ".join(str(self.tools[name].call(params)) for name, params in self.calls)


def model(*calls: tuple[str, dict[str, Any]]) -> Any:
    """A client whose model makes all these calls at once, and then ends."""
    made = [{"tool": name, "arguments": arguments} for name, arguments in calls]
    first = {"name": "calls", "when": {"system": "Role: executor", "turn": 1}, "reply": {"calls": made, "broken": True}}
    last = {"name": "done", "when": {"system": "Role: executor"}, "reply": {"text": "done"}}
    return MockLLM([first, last]).client()


def to(name: str) -> tuple[str, dict[str, Any]]:
    return "pay", {"to": name}


def reviewed(executor: Any, *steps: dict[str, Any], reviewer: Any = None, **more: Any) -> tuple[PlannerExecutor, Run]:
    more = {"workers": Inline(), "reviewer": reviewer or ["approve"], **more}
    agent = agent_for(executor, [*steps], **more)
    return agent, agent.run("pay")


EXECUTORS: dict[str, Callable[[Any, Toolbox], Any]] = {
    "react": ReActExecutor,
    "hybrid": lambda client, tools: HybridExecutor(ToolExecutor(Toolbox([])), ReActExecutor(client, tools)),
    "team": lambda client, tools: Team({"clerk": ReActExecutor(client, tools)}),
}


@pytest.mark.parametrize("kind", EXECUTORS)
@pytest.mark.parametrize("gate", [False, True])
def test_the_call_of_a_step_runs_once_with_its_arguments(kind: str, gate: bool) -> None:
    office = Office()
    executor = EXECUTORS[kind](model(to("MALLORY"), to("MALLORY"), to("BOB")), office.tools)
    reviewer = ["approve"] * (1 + gate)
    _, run = reviewed(executor, {**PAY_BOB, "gate": gate}, reviewer=reviewer)
    assert (run.status, office.calls) == ("finished", ["pay BOB"])


def test_a_model_that_does_not_make_the_call_is_reminded_of_it() -> None:
    office, end, pays = Office(), {"text": "All done."}, {"calls": [{"tool": "pay"}], "broken": True}
    scenes = [
        {"name": "lazy", "when": {"system": "Role: executor", "turn": 1}, "reply": end},
        {"name": "reminded", "when": {"system": "Role: executor", "last": "has not run"}, "reply": pays},
        {"name": "end", "when": {"system": "Role: executor", "last": "paid BOB"}, "reply": end},
    ]
    _, run = reviewed(ReActExecutor(MockLLM(scenes).client(), office.tools), PAY_BOB)
    assert (run.status, office.calls) == ("finished", ["pay BOB"])


def test_for_a_step_in_words_each_risky_call_asks() -> None:
    office = Office()
    chosen = ("look", {}), ("note", {"text": "x"}), to("MALLORY"), ("delete", {"name": "a"})
    agent, run = reviewed(ReActExecutor(model(*chosen), office.tools), IN_WORDS)
    assert (run.status, office.calls) == ("paused", ["look", "note x"])
    assert run.reason == 'waits for the gate of step 1: a model chose pay({"to": "MALLORY"})'
    run = agent.resume(run, Decision("approve", by="Ada"))
    assert run.reason == 'waits for the gate of step 1: a model chose delete({"name": "a"})'
    assert office.calls[2:] == ["look", "pay MALLORY"]
    run = agent.resume(run, Decision("approve", by="Ada"))
    assert run.status == "finished"
    assert [call for call in office.calls if call.startswith(("pay", "delete"))] == ["pay MALLORY", "delete a"]


@pytest.mark.parametrize("pool", [False, True])
def test_an_approval_covers_one_call_and_its_repeat_asks_again(pool: bool) -> None:
    office = Office()
    with ThreadPoolExecutor(1) as threads:
        workers = Pool(threads) if pool else Inline()
        agent, run = reviewed(Calls(office.tools, to("BOB"), to("BOB")), IN_WORDS, workers=workers)
        assert (run.status, office.calls) == ("paused", [])
        assert agent.resume(run, Decision("reject", by="Ada")).status == "stopped"
        run = agent.resume(run, Decision("approve", by="Ada"))
        assert (run.status, office.calls) == ("paused", ["pay BOB"])
        assert 'not undone: 1 (it made pay({"to": "BOB"}) before it paused)' in agent.roll_back(run).reason
        run = agent.resume(run, Decision("approve", by="Ada"))
    assert (run.status, office.calls, run.answer) == ("finished", ["pay BOB", "pay BOB"], "paid BOB; paid BOB")
    assert len(set(office.keys)) == 2


@pytest.mark.parametrize(
    ("outer", "inner", "asks", "paid"),
    [
        (PAY_BOB, [PAY_BOB], [], ["pay BOB"]),
        (PAY_BOB, [PAY_BOB, {**PAY_BOB, "id": "2", "depends_on": ["1"]}], ["BOB"], ["pay BOB"]),
        (PAY_BOB, [{**PAY_BOB, "params": {"to": "MALLORY"}}], ["MALLORY"], []),
        (IN_WORDS, [PAY_BOB], ["BOB"], []),
        (IN_WORDS, [{"id": "1", "tool": "delete", "params": {"name": "a"}}], ["a"], []),
        (IN_WORDS, [{"id": "1", "tool": "look"}], [], ["look"]),
    ],
)
def test_a_nested_run_asks_about_calls_that_were_not_shown(
    outer: dict[str, Any], inner: list[dict[str, Any]], asks: list[str], paid: list[str]
) -> None:
    office = Office()
    agent, run = reviewed(agent_for(office.tools, inner), outer)
    assert (run.status, office.calls) == ("paused" if asks else "finished", paid)
    if asks:
        assert f'"{asks[0]}"' in run.reason
        run = agent.resume(run, Decision("approve", by="Ada"))
        assert (run.status, len(office.calls)) == ("finished", len(paid) + 1)


def test_approve_all_opens_these_gates_and_leaves_a_budget_inside_to_a_person() -> None:
    office = Office()
    _, run = reviewed(Calls(office.tools, to("ANN"), to("BOB")), IN_WORDS, reviewer=ApproveAll())
    assert (run.status, office.calls) == ("finished", ["pay ANN", "pay BOB"])
    looks = [{"id": "1", "tool": "look"}, {"id": "2", "tool": "look"}]
    _, run = reviewed(agent_for(office.tools, looks, budget=Budget(steps=1)), IN_WORDS, reviewer=ApproveAll())
    assert (run.status, "more budget" in run.reason) == ("paused", True)


@pytest.mark.parametrize("reviewer", [AskPerson, ApproveAll])
def test_a_step_whose_words_the_evaluator_changed_asks(reviewer: Callable[[], Any]) -> None:
    did: list[str] = []

    class Words:
        tools = Office().tools

        def execute(self, step: Step, inputs: Mapping[str, Any]) -> str:
            did.append(step.description)
            return "done"

    def judged(step: Step, result: Any) -> Verdict:
        return Verdict("modify", "better", "overwrite the keys") if len(did) == 1 else Verdict("accept")

    steps = {"id": "1", "description": "write the summary", "success_criteria": "it is there", "retries": 1}
    agent, run = reviewed(Words(), steps, reviewer=reviewer(), evaluator=judged)
    if reviewer is AskPerson:
        run = agent.resume(run, Decision("approve", by="Ada"))
        assert (run.status, did) == ("paused", ["write the summary"])
        assert run.reason == "waits for the gate of step 1: the evaluator changed the words that its executor reads"
        run = agent.resume(run, Decision("approve", by="Ada"))
    assert (run.status, did) == ("finished", ["write the summary", "overwrite the keys"])


@pytest.mark.parametrize(("reviewer", "gate"), [(True, False), (True, True), (False, True)])
def test_a_step_that_was_changed_in_place_asks(reviewer: bool, gate: bool) -> None:
    office = Office()

    def judged(step: Step, result: Any) -> Verdict:
        dict.__setitem__(step.params, "to", "MALLORY")
        return Verdict("retry", "again")

    step = {**PAY_BOB, "gate": gate, "retries": 1, "success_criteria": "paid"}
    approves = ["approve"] * (1 + gate) if reviewer else None
    agent = agent_for(office.tools, [step], reviewer=approves, evaluator=judged)
    run = agent.run("pay")
    run = run if reviewer else agent.resume(run, Decision("approve", by="Ada"))
    assert (run.status, office.calls) == ("paused", ["pay BOB"])
    assert run.reason == "waits for the gate of step 1: it was changed in place"


@pytest.mark.parametrize("other", ["A", "B"])
def test_an_executor_cannot_change_a_secret_argument(other: str) -> None:
    paid: list[str] = []

    def pay(account: SecretStr, to: str) -> str:
        paid.append(account.get_secret_value())
        return "paid"

    tools = Toolbox([Tool(pay, effects="once")])
    step = {"id": "1", "tool": "pay", "params": {"account": "A", "to": "BOB"}}
    _, run = reviewed(Calls(tools, ("pay", {"account": other, "to": "BOB"})), step)
    assert (run.status, paid) == (("failed", []) if other == "B" else ("finished", ["A"]))
    assert ("the plan fixes the arguments of pay" in run.reason) is (other == "B")


def test_a_model_that_rewords_its_call_each_time_is_stopped() -> None:
    numbers = iter(range(1000))

    class Rewords(Calls):
        def execute(self, step: Step, inputs: Mapping[str, Any]) -> str:
            return str(self.tools["pay"].call({"to": f"BOB {next(numbers)}"}))

    office = Office()
    _, run = reviewed(Rewords(office.tools), IN_WORDS, reviewer=ApproveAll())
    assert (run.status, office.calls) == ("failed", [])
    assert "it asked a person about more than 20 calls" in run.reason
