"""A plan runs as it was approved: received plans are copied, so later changes to the objects have no effect."""

import pickle
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planexec_lite import AskPerson, Board, Decision, Grant, Plan, PlanError, Step, Toolbox, execute
from planexec_lite.plan.data import copied, fixed
from tests.core.bank import ACME, Bank, granting, pay, plan, who
from tests.core.bank import agent as bank_agent
from tests.rounds import rounds

TWO = plan(who("1", "Bob"), pay("2", "ACME", "1"))
MALLORY = {"to": "MALLORY"}


def in_params(kept: Plan) -> None:
    kept.steps[-1].params["to"] = "MALLORY"


HOW: dict[str, Callable[[Plan], None]] = {
    "in params": in_params,
    "by dict itself": lambda kept: dict.__setitem__(kept.steps[-1].params, "to", "MALLORY"),
    "in the fields": lambda kept: kept.steps[-1].__dict__.update(params=dict(MALLORY)),
    "another step": lambda kept: object.__setattr__(
        kept, "steps", (kept.steps[0], Step(id="2", tool="pay", params=MALLORY, depends_on=("1",)))
    ),
}


class Keeps:
    """A planner that keeps its plan, and changes it when it is asked again."""

    def __init__(self, made: Any, change: Callable[[Any], None]) -> None:
        self.made, self.change, self.asked = made, change, 0

    def plan(self, goal: str, board: Board, tools: Toolbox) -> Any:
        self.asked += 1
        if self.asked > 1:
            with suppress(TypeError):
                self.change(self.made)
        return self.made


def kept() -> Plan:
    return Plan.parse(TWO.to_json())


def loose() -> Plan:
    """The same plan, created without validation, with params that can be changed."""
    steps = [Step.model_construct(**{**dict(step), "params": copied(step.params)}) for step in TWO.steps]
    return Plan.model_construct(goal="pay", steps=tuple(steps))


@pytest.mark.parametrize("made", [kept, loose])
@pytest.mark.parametrize("change", HOW.values(), ids=HOW)
def test_a_plan_that_its_planner_changes_runs_as_approved_or_not_at_all(
    made: Callable[[], Plan], change: Callable[[Plan], None]
) -> None:
    mine, bank = made(), Bank()
    one = bank_agent(bank, [Keeps(mine, change)], AskPerson())
    paused = one.run("pay")
    with suppress(TypeError):
        change(mine)
    end = one.resume(paused, Decision("approve"))
    assert (end.status, bank.paid) == ("finished", [ACME])
    assert "MALLORY" not in str([*end.events, end.plan])
    for grant in (None, Grant(9)):  # the same object with other content is another plan
        bank = Bank("Bob")
        reviewer = [Decision("approve", grant=grant)]
        run = bank_agent(bank, [Keeps(made(), change)], reviewer).run("pay")
        assert run.status in ("paused", "failed")
        assert bank.paid == []


class Lies(Plan):
    """A plan whose class hides its content."""

    @property
    def hash(self) -> str:
        return TWO.hash

    @property
    def graph(self) -> dict[str, tuple[str, ...]]:
        return TWO.graph

    def problems(self, *args: Any, **more: Any) -> list[Any]:
        return []

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class Text(str):
    """A text that shows another text."""

    def __str__(self) -> str:
        return "ACME"

    __repr__ = __str__


class Object(dict[str, Any]):
    """An object that shows another object."""

    def __getitem__(self, name: str) -> Any:
        return "ACME"

    def items(self) -> Any:
        return {"to": "ACME"}.items()


def built(*steps: Step) -> Plan:
    return Plan.model_construct(goal="pay", steps=steps)


ANN, HER = who("1", "Ann"), pay("2", "MALLORY", "1")
ODD = {
    "a plan": Lies(goal="pay", steps=(Step(**ANN), Step(**HER))),
    "a text": built(Step(**ANN), Step.model_construct(**{**HER, "params": {"to": Text("MALLORY")}})),
    "an object": built(Step(**ANN), Step.model_construct(**{**HER, "params": Object(to="MALLORY")})),
}


@pytest.mark.parametrize("made", ODD.values(), ids=ODD)
def test_a_plan_of_a_subclass_is_read_by_its_content(made: Any) -> None:
    bank = Bank("Bob")
    planner = Keeps(kept(), lambda mine: setattr(planner, "made", made))
    run = bank_agent(bank, [planner], granting()).run("pay")
    assert (run.status, run.reason, bank.paid) == ("paused", "waits for approval", [])
    assert type(run.board.proposal) is Plan
    assert {type(step) for step in run.board.proposal.steps} == {Step}
    assert run.board.proposal.steps[1].params == MALLORY


@pytest.mark.parametrize(
    "change",
    [{"id": "../x"}, {"params": {"name": object()}}, {"timeout": -1}, {"retries": "often"}, {"retries": 11}],
    ids=["id", "an object", "timeout", "retries", "too many retries"],
)
def test_a_plan_created_without_validation_is_validated(change: dict[str, Any]) -> None:
    made = built(Step(**ANN).model_copy(update=change))
    run = bank_agent(Bank(), [Keeps(made, in_params)], AskPerson()).run("pay")
    assert run.status == "failed"
    assert "no valid plan" in run.reason or "not_json" in run.reason
    with pytest.raises(PlanError):
        bank_agent(Bank(), [TWO], [Decision("approve", plan=made)]).run("pay")
    with pytest.raises(PlanError):
        execute(made, Bank().executor)


json_data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=3),
    max_leaves=8,
)


@rounds(60)
@given(json_data)
def test_fixed_data_is_equal_and_can_be_copied_pickled_and_written(value: Any) -> None:
    kept = fixed(value)
    assert kept == value
    assert repr(kept) == repr(value)
    assert (fixed(kept), pickle.loads(pickle.dumps(kept))) == (value, value)
    assert type(copied(kept)) is type(value)


@pytest.mark.parametrize("kind", [dict, list], ids=lambda kind: str(kind.__name__))
def test_every_change_to_a_fixed_list_or_object_is_rejected(kind: type) -> None:
    value: Any = kind([("a", 1)])
    changing = {name for name in dir(value) if name not in dir(object) and not name.startswith("__")}
    changing -= {"copy", "count", "index", "get", "items", "keys", "values", "fromkeys"}
    changing |= {"__init__", "__setitem__", "__delitem__", "__ior__" if kind is dict else "__iadd__"}
    for name in sorted(changing):
        with pytest.raises(TypeError, match="make a copy"):
            getattr(fixed(value), name)([("b", 2)])
    with pytest.raises(AttributeError):
        fixed(value).name = 1
