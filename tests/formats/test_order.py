"""What says which step comes first is read as it is meant, or refused; it is never read as plain words."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from planexec_lab import formats
from planexec_lite.plan import Plan, PlanError
from tests.rounds import rounds

CASES = [
    (format, text, meant)
    for format, texts in yaml.safe_load(Path(__file__).with_name("order.yaml").read_text("utf-8")).items()
    for text, meant in texts.items()
]
NUMBERS = ["1", "2", "3", "4"]
TOKENS = [  # a format, a token that carries the order, and others that carry another one
    ("list", r"(?<=after )(?:nothing|\d)", [*NUMBERS, "nothing"]),
    ("list", r"(?<=, )\d", NUMBERS),
    ("list", r"after(?= \d)", ["before", "in parallel with", "until"]),
    ("dot", "->", ["--", "<-"]),
    ("dot", r'(?<=-> ")\d', NUMBERS),
    ("dot", r'(?<=-> "\d");', [" [dir=back];", " [style=invis];", " [dir=both];"]),
    ("mermaid", "-->", ["---", "<-->", "~~~"]),
    ("mermaid", r"(?<=--> )\d", NUMBERS),
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


def test_bytes_of_another_encoding_are_a_fault_with_their_line() -> None:
    with pytest.raises(PlanError, match=r"line 2: the byte 0xe9 is no UTF-8.*save the file as UTF-8"):
        formats.read("1. Load\n2. Préparer".encode("latin-1"))
    assert Plan.parse('\ufeff["wash", "dry"]') == Plan.parse(["wash", "dry"])


@rounds(300)
@given(st.sampled_from(TOKENS), st.lists(st.sets(st.integers(1, 3)), min_size=4, max_size=4), st.data())
def test_a_changed_token_gives_another_plan_or_a_fault(
    token: tuple[str, str, list[str]], waits: list[set[int]], data: Any
) -> None:
    format, pattern, others = token
    steps = [
        {"id": id, "description": f"do {'abcd'[id - 1]}", "depends_on": sorted(n for n in before if n < id)}
        for id, before in enumerate(waits, 1)
    ]
    plan = Plan.parse({"steps": steps})
    text = formats.write(plan, format)
    if not (places := [*re.finditer(pattern, text)]):
        return
    place = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from([one for one in others if one != place[0]]))
    changed = text[: place.start()] + other + text[place.end() :]
    try:
        read = formats.read(changed, format)
    except PlanError:
        return
    assert [step.depends_on for step in read.steps] != [step.depends_on for step in plan.steps], changed
