"""A written plan is read back unchanged, and the fields that a format can't express are named before they are lost."""

import doctest
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lab.formats.__main__ import main
from planexec_lite.plan import Plan, PlanError
from tests.core.shapes import NAMES, json_values
from tests.formats.test_each_format import IN_WORDS, SAME_PLAN, shape, source
from tests.rounds import rounds

ODD_WORDS = 'Find it|#quot;|&amp; & #1;|<br/>|`x`|a\\nb|two\nlines|"|%% no|; end|--> B| x |\x85'.split("|")
WORDS = st.text(st.characters(codec="utf-8"), max_size=12) | st.sampled_from(ODD_WORDS)
NUMBERED = "llmcompiler rewoo hugginggpt list tool_calls".split()  # not all ids or orders are written
TOOLS = st.sampled_from(["find", "Scan Page", "maps.route", "read-file", "it's"])
KEYS = st.sampled_from(["query", "from", "Exchange Rate", "input", "arg1", "arg2", "über"]) | st.text(max_size=3)


@st.composite
def drawable(draw: st.DrawFn) -> Plan:
    """Plans that a drawing can express: any words, calls or both, and any dependencies."""
    ids = draw(st.sampled_from(NAMES))[: draw(st.integers(1, 6))]
    steps = []
    for place, id in enumerate(ids):
        before = draw(st.lists(st.sampled_from(ids[:place]), unique=True)) if place else []
        step = {"id": id, "description": draw(WORDS), "depends_on": before}
        if draw(st.booleans()):
            used = {"uses": f"{{step_{before[0]}_result}} and {{{{step_9_result}}}}"} if before else {}
            step |= {"tool": draw(TOOLS), "params": {**draw(st.dictionaries(KEYS, json_values, max_size=3)), **used}}
        steps.append(step)
    return Plan.parse({"goal": draw(WORDS), "steps": steps})


@given(
    plan=drawable(), name=st.sampled_from(["native", "jobs", "mermaid", "dot"]), other=st.sampled_from(formats.written)
)
@rounds(300)
def test_a_drawing_holds_words_calls_and_dependencies(plan: Plan, name: str, other: str) -> None:
    last_lines = [step.description.split("\n")[-1].strip() for step in plan.steps if step.tool is None]
    if not any(line.endswith(")") for line in last_lines):  # words that look like a call are another test's
        text = formats.write(plan, name)
        assert formats.read(text, name) == formats.read(text) == plan
    with suppress(PlanError):
        assert formats.read(formats.write(plan, other)) == plan


@pytest.mark.parametrize("name", SAME_PLAN)
@pytest.mark.parametrize("target", formats.written)
def test_each_published_example_goes_through_each_format(name: str, target: str) -> None:
    plan = formats.read(source(name))
    try:
        text = formats.write(plan, target)
    except PlanError:
        assert target not in (name, "native"), "what it reads it writes, and native holds every plan"
    else:
        assert formats.read(text) == plan
    if (target in IN_WORDS) == (name in IN_WORDS) and target not in NUMBERED and name != "tool_calls":
        again = formats.read(formats.write(plan, target, allow_loss=True))
        assert shape(again) == shape(plan)


def test_calls_and_lists_are_written_as_models_write_them() -> None:
    text = "Question: How far?\nThought: look\n1. search('Oslo')\n2. math('${1} / 2', '$1')\n3. join()\n"
    assert formats.write(formats.read(text), "llmcompiler") == text
    listed = "1. look\n2. go (after 1)\n3. sing (after nothing)\n"
    assert formats.write(formats.read(listed), "list") == listed.replace("look", "look (after nothing)")
    assert formats.write(Plan.parse(["look", "go"]), "list") == "1. look\n2. go\n"


STEP = {"id": 1, "tool": "pay", "params": {"input": "x"}}
LOST: dict[str, tuple[str, dict[str, Any], str]] = {
    "a gate": ("mermaid", {"gate": True}, "no place for the gate of step 1"),
    "an undo": ("dot", {"undo": {"tool": "refund"}}, "no place for the undo of step 1"),
    "retries": ("llmcompiler", {"retries": 2}, "no place for the retries of step 1"),
    "effects": ("mermaid", {"effects": "once"}, "no place for the effects"),
    "a criterion": ("rewoo", {"success_criteria": "paid"}, "no place for the success_criteria"),
    "a timeout": ("llmcompiler", {"timeout": 5.0}, "no place for the timeout of step 1"),
    "run anyway": ("rewoo", {"run_anyway": True}, "no place for the run_anyway"),
    "two steps": ("rewoo", {"gate": True, "retries": 1}, "no place for the retries of step 1"),
    "a tool": ("list", {"description": "pay"}, "no place for the tool"),
    "an answer": ("mermaid", {"answer": "done"}, "no place for the answer"),
    "a rollback": ("mermaid", {"rollback": [{"tool": "refund"}]}, "no place for the rollback"),
    "a part of a plan": ("mermaid", {"complete": False}, "no place for the complete"),
}


@pytest.mark.parametrize(("name", "fields", "message"), LOST.values(), ids=list(LOST))
def test_what_a_format_has_no_place_for_is_named(name: str, fields: dict[str, Any], message: str) -> None:
    of_plan = {field: value for field, value in fields.items() if field in Plan.model_fields}
    plan = Plan.parse({"steps": [STEP | {field: fields[field] for field in fields if field not in of_plan}], **of_plan})
    assert formats.read(formats.write(plan, "native")) == plan
    assert formats.read(formats.write(plan, "jobs")) == plan
    with pytest.raises(PlanError, match=f"{name} has {message}.*allow_loss=True") as caught:
        formats.write(plan, name)
    assert {problem.code for problem in caught.value.problems} == {"left_out"}
    again = formats.read(formats.write(plan, name, allow_loss=True))
    assert [step.id for step in again.steps] == [step.id for step in plan.steps]
    with pytest.raises(PlanError, match="no format 'mermaidd'; did you mean 'mermaid'"):
        formats.write(plan, "mermaidd")
    with pytest.raises(PlanError, match="no format 'tool_calls'"):
        formats.write(plan, "tool_calls")


UNWRITABLE = yaml.safe_load(Path(__file__).with_name("unwritable.yaml").read_text("utf-8"))


@pytest.mark.parametrize("row", UNWRITABLE, ids=lambda row: row["name"])
def test_plan_that_would_not_come_back_is_not_written(row: dict[str, Any]) -> None:
    with pytest.raises(PlanError, match=row["message"]) as caught:
        formats.write(Plan.parse(row["steps"]), row["format"])
    assert "unwritable" in {problem.code for problem in caught.value.problems}


def test_the_order_of_dependencies_means_nothing() -> None:
    params = {"a": "{step_2_result}", "b": "{step_1_result}"}
    plan = Plan.parse(
        [{"id": 1, "tool": "a"}, {"id": 2, "tool": "b"}, {"id": 3, "tool": "c", "params": params, "depends_on": [1, 2]}]
    )
    again = formats.read(formats.write(plan, "llmcompiler"))
    assert again.steps[2].depends_on == ("2", "1")
    assert again.steps == formats.read(formats.write(plan, "mermaid")).steps == plan.steps


@given(values=st.dictionaries(st.sampled_from(["a", "b", "from"]), json_values, min_size=1))
@rounds(200)
def test_one_and_true_and_one_point_zero_stay_apart(values: dict[str, Any]) -> None:
    plan = Plan.parse([{"id": "0", "tool": "t", "params": values}])
    for name in ("mermaid", "dot", "jobs"):
        assert Plan.parse(formats.read(formats.write(plan, name)).to_json()).hash == plan.hash


def test_doctests_pass() -> None:
    assert doctest.testmod(formats) == doctest.TestResults(failed=0, attempted=3)


def test_convert_writes_the_plan_in_another_format(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "plan.txt"
    path.write_text('Thought: look\n1. find("Ålesund")\nThought: say\n2. tell("$1")\n3. join()', encoding="utf-8")
    assert main(["convert", str(path), "--to", "mermaid"]) == 0
    written = capfdbinary.readouterr()
    assert (formats.read(written.out), written.err) == (formats.read(path.read_bytes()), b"")
    assert main(["convert", str(path), "--from", "llmcompiler", "--to", "list", "--allow-loss"]) == 0
    written = capfdbinary.readouterr()
    assert (written.out, b"no place for the tool of steps 1, 2" in written.err) == (b"1. look\n2. say\n", True)


REFUSED: list[tuple[str, list[str], str]] = [
    ("hello", [], "it begins with 'hello' [unknown_format]\nsay what the file is with --from NAME"),
    ("1. wash\n2. dry", ["--from", "mermaid"], "line 1: this is no flowchart"),
    ("1. wash\n2. dry", ["--from", "dot"], "line 1: this is no directed graph"),
    (
        '[{"id": 1, "tool": "pay", "gate": true}]',
        [],
        "no place for the gate of step 1 [left_out]\nnothing was written; --allow-loss",
    ),
    ("flowchart TD\nA -->|then| B", [], "line 2: left out: 'then' at the arrow from A to B [left_out]\nnothing was"),
]


@pytest.mark.parametrize(("text", "more", "message"), REFUSED)
def test_convert_advises_its_own_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, more: list[str], message: str
) -> None:
    path = tmp_path / "plan.txt"
    path.write_text(text, encoding="utf-8")
    assert main(["convert", str(path), "--to", "mermaid", *more]) == 1
    shown = capsys.readouterr()
    assert (message in shown.err, "format=" in shown.err, "allow_loss" in shown.err, shown.out) == (
        True,
        False,
        False,
        "",
    )


@pytest.mark.parametrize(
    "wrong", [["no.txt", "--to", "dot"], [".", "--to", "dot"], ["\0", "--to", "dot"], ["x", "--to", "svg"], ["x"]]
)
def test_a_wrong_call_is_told_in_a_sentence(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status: Any = main(["convert", *wrong])
    except SystemExit as left:
        status = left.code
    assert (status, capsys.readouterr().err.count("Traceback")) == (2, 0)
