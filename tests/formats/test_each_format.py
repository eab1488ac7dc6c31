"""Each published format is read: the same plan, what is odd in each, drawings and lists written by hand, and references."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lite.plan import Plan
from planexec_lite.tools import references

SAME_PLAN: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("same_plan.yaml").read_text("utf-8"))
IN_WORDS = ("list",)


def source(name: str) -> str:
    plan = SAME_PLAN[name]
    return plan if isinstance(plan, str) else json.dumps(plan)


def shape(plan: Plan) -> tuple[list[list[int]], list[str | None]]:
    place = {step.id: n for n, step in enumerate(plan.steps)}
    return [sorted(place[id] for id in step.depends_on) for step in plan.steps], [step.tool for step in plan.steps]


@pytest.mark.parametrize("name", formats.names)
def test_the_same_plan_comes_out_of_every_format(name: str) -> None:
    plan = formats.read(source(name))
    assert plan.problems() == []
    waits_for, tools = shape(plan)
    assert waits_for == [[], [0], [1] if name == "tool_calls" else [0, 1]]  # tool calls wait for the last answer
    assert tools == ([None] * 3 if name in IN_WORDS else ["find", "map", "tell"])
    assert formats.read(source(name), name) == plan
    assert formats.read(SAME_PLAN[name]) == plan
    assert formats.read(source(name).encode()) == plan
    assert Plan.parse(plan.to_json()) == plan


PLANS = yaml.safe_load(Path(__file__).with_name("plans.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("format", "written", "plan"), PLANS, ids=[str(written)[:60] for _, written, _ in PLANS])
def test_a_text_is_the_plan_that_it_says(format: str | None, written: Any, plan: dict[str, Any]) -> None:
    assert {name: value for name, value in json.loads(formats.read(written, format).to_json()).items() if value} == plan


GATES = yaml.safe_load(Path(__file__).with_name("gates.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("words", "gate"), [(words, gate) for gate in GATES for words in GATES[gate]])
def test_a_step_is_a_gate_where_its_words_ask_for_approval(words: str, gate: bool) -> None:
    step = formats.read({"goal": "g", "steps": ["Build", words]}).steps[1]
    assert (step.description, step.gate) == (words, gate)


UNRUNNABLE = yaml.safe_load(Path(__file__).with_name("unrunnable.yaml").read_text("utf-8"))


@pytest.mark.parametrize("plan", UNRUNNABLE, ids=lambda plan: plan["code"])
def test_plan_that_cannot_run_comes_through_to_problems(plan: dict[str, Any]) -> None:
    assert plan["code"] in {problem.code for problem in formats.read(plan["written"]).problems()}


Written = list[list[int | str]]  # for each step the parts of its argument: a number is the result of that step

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="#$<[]", categories=["L", "P", "S", "Zs"]), max_size=6)
LITERAL = TEXT | st.sampled_from(["{step_1_result}", "{{step_2_result.a[0]}}", "{", "}", "{step_", "_result}"])


@st.composite
def plans(draw: st.DrawFn) -> Written:
    """Up to 12 steps, so that there are steps 1 and 10; each uses steps before it, between literal texts."""
    return [
        draw(st.lists(LITERAL if n == 0 else LITERAL | st.integers(0, n - 1), max_size=6))
        for n in range(draw(st.integers(1, 12)))
    ]


def hugginggpt(written: Written) -> Any:
    texts = enumerate(joined(written, lambda n: f"<GENERATED>-{n}"))
    return [{"task": "t", "id": n, "dep": [-1], "args": {"x": text}} for n, text in texts]


def llmcompiler(written: Written) -> Any:
    return "\n".join(f"{n}. t({text!r})" for n, text in enumerate(joined(written, lambda n: f"${{{n}}}")))


def rewoo(written: Written) -> Any:
    return "\n".join(f"Plan: p\n#E{n} = t[{text}]" for n, text in enumerate(joined(written, lambda n: f"#E{n}")))


def joined(written: Written, refer: Callable[[int], str]) -> list[str]:
    return ["".join(refer(part) if isinstance(part, int) else part for part in parts) for parts in written]


WRITERS = [hugginggpt, llmcompiler, rewoo]


def apart(written: Written) -> Written:
    """A text that begins like a word or a number would change the reference before it: part them.

    "#E0 = x[" inside a text would define another evidence, which the reader reports: no text has a "=" right behind a reference.
    """
    for text in joined(written, lambda n: "#"):  # "#" is in no text
        assume(not re.search(r"#\s*=", text))
    return [[part if isinstance(part, int) else f" {part} " for part in parts] for parts in written]


@pytest.mark.parametrize("write", WRITERS)
@given(written=plans())
def test_dependencies_and_resolved_texts_are_as_written(write: Callable[[Written], Any], written: Written) -> None:
    written = apart(written)
    plan = formats.read(write(written))
    place = {step.id: n for n, step in enumerate(plan.steps)}
    uses = [{part for part in parts if isinstance(part, int)} for parts in written]
    assert [{place[id] for id in step.depends_on} for step in plan.steps] == uses
    results = {step.id: f"[{n}]" for n, step in enumerate(plan.steps)}
    for step, meant in zip(plan.steps, joined(written, lambda n: f"[{n}]"), strict=True):
        assert list(references.resolve(step.params, results).values()) == [meant]
