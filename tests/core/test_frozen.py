"""A frozen value is what `dataclass(frozen=True, slots=True)` makes, method by method."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any, get_type_hints

import pytest

from planexec_lite import Decision, Policy, Simulated, Verdict
from planexec_lite.events import StepDone
from planexec_lite.frozen import frozen
from planexec_lite.meter import ModelCall
from planexec_lite.plan import Problem


class Checked:
    """What both of them do when they are made."""

    __slots__ = ()
    name: str

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("no name")


@frozen
class Ours(Checked):
    name: str
    parts: tuple[int, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Theirs(Checked):
    name: str
    parts: tuple[int, ...] = ()
    limits: Mapping[str, int] = field(default_factory=dict, hash=False)


def each(*args: Any, **named: Any) -> list[Any]:
    return [Ours(*args, **named), Theirs(*args, **named)]


def test_it_reads_and_looks_like_a_dataclass() -> None:
    ours, theirs = each("a", parts=(1, 2))
    assert repr(ours).replace("Ours", "") == repr(theirs).replace("Theirs", "") == "(name='a', parts=(1, 2), limits={})"
    assert str(inspect.signature(Ours)) == str(inspect.signature(Theirs))
    assert [(one.name, one.default) for one in fields(Ours)] == [(one.name, one.default) for one in fields(Theirs)]
    assert Ours.__match_args__ == Theirs.__match_args__
    assert ours.limits is not Ours("a").limits


def test_it_compares_and_hashes_like_a_dataclass() -> None:
    for one in (Ours, Theirs):
        assert one("a") == one("a") != one("b")
        assert one("a").__eq__("a") is NotImplemented
        assert hash(one("a", limits={"x": 1})) == hash(one("a"))
        assert {one("a"), one("a")} == {one("a")}
    assert Ours("a") != Theirs("a")


def test_it_does_not_change() -> None:
    for one in each("a"):
        with pytest.raises(FrozenInstanceError, match="cannot assign to field 'name'"):
            one.name = "b"
        with pytest.raises(FrozenInstanceError, match="cannot delete field 'name'"):
            del one.name
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'other'"):
        Ours("a").other = 1  # type: ignore[attr-defined]


def test_it_can_be_copied_pickled_and_replaced() -> None:
    for one in each("a", (1,), {"x": 1}):
        assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
        assert replace(one, name="b").name == "b"


def test_what_a_dataclass_refuses_is_refused() -> None:
    for one in (Ours, Theirs):
        with pytest.raises(TypeError, match="name"):
            one()
        with pytest.raises(TypeError, match="other"):
            one("a", other=1)
        with pytest.raises(ValueError, match="no name"):
            one("")


def test_a_method_of_its_own_is_kept() -> None:
    @frozen
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

    assert repr(Named("x")) == "x"


def test_a_subclass_may_have_attributes_of_its_own_and_keeps_the_fields() -> None:
    class Logged(Simulated):
        def __init__(self, slots: int | None = None) -> None:
            super().__init__(slots)
            self.log = ["made"]

    one = Logged(2)
    one.log = ["changed"]
    assert (one.slots, copy.copy(one).log, copy.deepcopy(one).log) == (2, ["changed"], ["changed"])
    with pytest.raises(FrozenInstanceError, match="slots"):
        one.slots = 3  # type: ignore[misc]
    del one.log


def test_only_a_frozen_dataclass_inherits_from_it() -> None:
    @dataclass(frozen=True)
    class More(Policy):
        extra: int = 1

    assert (More(retries=2, extra=3).retries, More(retries=2, extra=3).extra) == (2, 3)
    with pytest.raises(TypeError, match="frozen"):

        @dataclass
        class Loose(Policy):  # type: ignore[misc]
            extra: int = 1


@pytest.mark.parametrize("kind", [Policy, Verdict, Problem, Decision, ModelCall, StepDone, Simulated])
def test_its_hints_can_be_read(kind: type) -> None:
    hints = get_type_hints(kind.__init__)
    assert [name for name in hints if name != "return"] == [one.name for one in fields(kind)]  # type: ignore[arg-type]
    assert not any(isinstance(hint, str) for hint in hints.values())
