"""Faults in a plan text are named with their place, words about order mean what they say, and reading takes linear time."""

import gc
import json
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lite import PlanError, Toolbox, tool
from planexec_lite.plan import Plan, Problem
from tests.rounds import rounds

FAULTS = yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text("utf-8"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["message"][:50])
def test_fault_is_named_with_its_place_and_mend(fault: dict[str, Any]) -> None:
    written = fault["written"]
    with pytest.raises(PlanError, match=fault["message"]) as caught:
        formats.read(written, fault.get("format"))
    assert all(problem.hint for problem in caught.value.problems)
    assert caught.value.text == (written if isinstance(written, str) else "")


@pytest.mark.parametrize("written", ["", "hello", "{}", "[]", "3", "null", '{"a": 1}', None, 3])
def test_text_of_no_known_format_names_the_formats_tried(written: Any) -> None:
    with pytest.raises(PlanError, match="one of the formats " + ", ".join(formats.names)) as caught:
        formats.read(written)
    assert caught.value.problems[0].code == "unknown_format"


def test_ambiguous_text_names_the_formats_that_it_may_be() -> None:
    with pytest.raises(PlanError, match=r"this could be llmcompiler or rewoo.*format="):
        formats.read('1. a("x")\n#E1 = b[x]')


def test_unknown_format_names_and_encodings_are_faults() -> None:
    with pytest.raises(PlanError, match=r"no format 'rewo'; did you mean 'rewoo'.*unknown_format"):
        formats.read("#E1 = a[x]", "rewo")
    with pytest.raises(PlanError, match=r"line 2: the byte 0xe9 is no UTF-8.*save the file as UTF-8"):
        formats.read("1. Load\n2. Préparer".encode("latin-1"))
    assert Plan.parse('\ufeff["wash", "dry"]') == Plan.parse(["wash", "dry"])


def test_deep_nesting_is_a_fault_not_a_crash() -> None:
    deep: Any = "<GENERATED>-0"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(PlanError, match="deep"):
        formats.read([{"task": "a", "id": 1, "args": {"x": deep}}])
    for text in ("steps: " + "[" * 100_000, "steps:\n" + "".join(f"{' ' * n}- \n" for n in range(2000))):
        with pytest.raises(PlanError):
            formats.read(text, "jobs")
    for text in ("[" * 5000, "1. a(" + "-" * 5000 + "1)", "1. a(" + "[" * 5000 + ")", '1. a("' + "(" * 5000 + ' $1")'):
        with pytest.raises(PlanError):
            formats.read(text + "\n2. join(")


WORDS = st.sampled_from(
    """Plan: #E1 #E10 = [ ] Search[ steps: jobs: needs: &a *a - 1: 2: 1. 2. search( math( join() ) $1 ${1} $5 " ' , \\
    flowchart graph TD A B [" "] --> -- & | {{ }} subgraph end ([ %% digraph -> ; label= (after - * Goal: ``` #quot; <br/>
    <GENERATED>-0 {step_1_result} { } Task: Thought: Question: <END_OF_PLAN> -1 None \ud800""".split(" ")
)
LOOSE = st.lists(WORDS | st.just("\n") | st.text(max_size=3), max_size=30).map("".join)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | LOOSE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(LOOSE, inner, max_size=4),
    max_leaves=8,
)
KEYS = ["task", "id", "dep", "args", "name", "arguments", "output", "input", "type", "function", "tool_calls", "messages",
        "role", "content", "choices", "message", "steps", "tool", "params", "depends_on"]  # fmt: skip
LIKE_A_PLAN = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=20,
)


@given(LIKE_A_PLAN, st.sampled_from([None, *formats.names]))
def test_any_json_gives_a_plan_or_a_plan_error(data: Any, name: str | None) -> None:
    faults(json.dumps(data), name)


HEADS = {
    "mermaid": "flowchart TD\n",
    "dot": "digraph {\n",
    "llmcompiler": '1. a("x")\n',
    "rewoo": "Plan: x\n",
    "list": "1. x\n",
}
NAMED = st.sampled_from([*HEADS.items(), *HEADS.items(), *((name, "") for name in (None, *formats.names))])


@given(LOOSE | st.text(), NAMED)
@example("1. a($1", (None, ""))
@example("\ud800", ("native", ""))
@rounds(600)
def test_any_text_gives_a_plan_or_a_fault_with_its_line(text: str, named: tuple[str | None, str]) -> None:
    name, head = named
    text = head + text
    for problem in faults(text, name):
        line = re.match(r"line (\d+): ", problem.message)
        assert line or not head, problem
        assert line is None or 1 <= int(line[1]) <= 1 + len(text.splitlines())


def faults(text: str, name: str | None) -> tuple[Problem, ...]:
    """The faults of a text; none if it is a plan, which is written and read again."""
    try:
        plan = formats.read(text, name)
    except PlanError as error:
        return error.problems
    plan.problems()
    if name not in (None, "native"):
        assert Plan.parse(plan.to_json()) == plan
    return ()


CASES = [
    (format, text, meant)
    for format, texts in yaml.safe_load(Path(__file__).with_name("order.yaml").read_text("utf-8")).items()
    for text, meant in texts.items()
]


@pytest.mark.parametrize(("format", "text", "meant"), CASES, ids=[text[:60] for _, text, _ in CASES])
def test_words_attributes_and_arrows_mean_what_they_say(format: str, text: str, meant: Any) -> None:
    for source in (text, "\ufeff" + text.replace("\n", "\r\n"), text.encode(), text.encode("utf-16")):
        if meant == "fault":
            with pytest.raises(PlanError, match=r"line \d+") as caught:
                formats.read(source, format)
            assert all(problem.hint for problem in caught.value.problems)
        else:
            waits = {step.id: [*step.depends_on] for step in formats.read(source, format).steps}
            assert waits == {str(id): [*map(str, others)] for id, others in meant.items()}


LEFT_OUT = yaml.safe_load(Path(__file__).with_name("left_out.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("text", "left_out"), LEFT_OUT, ids=[text[:40] for text, _ in LEFT_OUT])
def test_what_is_left_out_is_listed_and_not_written_unless_it_is_allowed(text: str, left_out: list[str]) -> None:
    plan = formats.read(text)
    assert [problem.message for problem in plan.problems()] == left_out
    assert plan.changed().problems() == []
    assert isinstance(plan, formats.LossyPlan) == bool(left_out)
    if left_out:
        with pytest.raises(PlanError, match=re.escape(left_out[0])):
            formats.write(plan, "native")
    assert formats.read(formats.write(plan, "native", allow_loss=True)) == plan.changed()


FOREIGN = yaml.safe_load(Path(__file__).with_name("foreign.yaml").read_text("utf-8"))


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FOREIGN.items() for text in texts])
def test_a_file_of_another_tool_is_refused_by_its_name(name: str, text: str) -> None:
    sources: list[Any] = [text, text.replace("\n", "\r\n").encode()]
    with suppress(yaml.YAMLError):
        data = yaml.safe_load(text)
        if isinstance(data, dict | list):
            sources += [json.dumps(data), json.dumps(data, indent=2), data]
            sources += [] if text[0] in "{[" else [f"# {name}\n---\n{text}\n"]
    for source in sources:
        with pytest.raises(PlanError) as caught:
            formats.read(source)
        told = caught.value.problems[0]
        assert told.message == f"line 1: this looks like {name}, and such a file is not read"
        assert "write steps:" in told.hint


def test_a_name_that_occurs_twice_is_a_fault() -> None:
    edges = '{"nodes": ["a", "b"], "edges": [{"source": "a", "target": "b", "source": "b"}]}'
    for text in (edges, '[{"function": {"name": "f", "arguments": "{\\"a\\": 1, \\"a\\": 2}"}}]'):
        with pytest.raises(PlanError, match="occurs twice in one object"):
            formats.read(text)


SMALL, LARGE, MOST = 300, 2_400, 24  # eight times the size: 8 is linear, 64 is quadratic


def chain(steps: int, words: bool = False, first: int = 0) -> Plan:
    """A plan in which each step waits for the one before it; in words, or as calls, which use its result if counted from 0."""

    def does(n: int) -> dict[str, Any]:
        used = {} if first else {"params": {"input": f"{{step_{n - 1}_result}}, then" if n else "x"}}
        return {"description": "t"} if words else {"tool": f"t{n}", **used}

    ids = range(first, first + steps)
    return Plan.parse([{"id": n, "depends_on": [n - 1] if n > first else [], **does(n)} for n in ids])


def text_of(name: str, steps: int) -> str:
    """The chain in a format; where its writer leaves out what costs time to read, written here."""
    if name == "list":
        return "".join(f"{n + 1}. t (after {n or 'nothing'})\n" for n in range(steps))
    if name == "hugginggpt":
        return json.dumps(
            [{"task": "t", "id": n, "dep": [n - 1], "args": {"x": f"<GENERATED>-{n - 1}"}} for n in range(1, steps)]
        )
    if name == "tool_calls":
        call = {"type": "function", "function": {"name": "t", "arguments": "{}"}}
        return json.dumps([{"role": "assistant", "tool_calls": [call]}] * steps)
    return formats.write(chain(steps), name)


def grows(work: Callable[[int], Callable[[], Any]]) -> float:
    """How many times longer eight times as much takes: the least of three, or the first below `MOST`, in this process's time."""
    took = {size: float("inf") for size in (SMALL, LARGE)}
    gc.disable()  # the collector looks at all that lives in this process, which is no work of the reader's
    try:
        for _ in range(3):
            for size in took:
                run = work(size)
                start = time.process_time()
                run()
                took[size] = min(took[size], time.process_time() - start)
            if took[LARGE] < MOST * took[SMALL]:
                break
    finally:
        gc.enable()
    return took[LARGE] / took[SMALL]


HOSTILE = {
    "brackets": lambda n: "1. a " + "(" * n,
    "hints that are not closed": lambda n: "1. a " + "(after 1, " * n,
    "half arrows": lambda n: "1. a " + "<=" * n + "--" * n,
    "hashes": lambda n: "#" * n + " x",
    "comments": lambda n: "/**/" * n + "x",
    "labels that are not closed": lambda n: "flowchart TD\n A" + "(\n" * n,
}  # fmt: skip


@pytest.mark.wide
@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_costs_what_its_length_says(kind: str) -> None:
    def read(size: int) -> Callable[[], None]:
        def run() -> None:
            with suppress(PlanError):
                formats.read(HOSTILE[kind](8 * size))

        return run

    assert grows(read) < MOST


@pytest.mark.wide
@pytest.mark.parametrize("name", formats.names)
def test_long_plan_is_read_and_written_in_linear_time(name: str) -> None:
    texts = {size: text_of(name, size) for size in (SMALL, LARGE)}
    assert grows(lambda size: lambda: formats.read(texts[size])) < MOST
    if name in ("mermaid", "dot", "llmcompiler", "list"):
        plans = {size: formats.read(texts[size]) for size in texts}
        assert grows(lambda size: lambda: formats.write(plans[size], name)) < MOST


@pytest.mark.wide
def test_long_plan_is_repaired_in_linear_time() -> None:
    @tool(effects="none")
    def tell(input: str) -> str:
        """Tell."""
        return input

    plans = {}
    for size in (SMALL, LARGE):
        steps = (step.model_copy(update={"depends_on": (), "tool": "tel"}) for step in chain(size).steps)
        plans[size] = Plan(steps=tuple(steps))
    toolbox = Toolbox([tell])
    assert len(formats.repaired(plans[LARGE], toolbox)[1]) == 2 * LARGE - 1
    assert grows(lambda size: lambda: formats.repaired(plans[size], toolbox)) < MOST
