"""Real runs of six frameworks on the scripted model, each in an environment of its own, seen with the kit's eyes.

Where an environment can't be made (no package index can be reached), the tests are skipped and say so.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from planexec_lab import spans, views
from planexec_lab.spans.sample_traces import Framework
from planexec_lite import Run
from planexec_lite.events import to_dict
from tests.spans.frameworks import ANSWER, PACKAGES, QUESTION, trace_of

pytestmark = [pytest.mark.slow, pytest.mark.weekly, pytest.mark.xdist_group("span_others")]


CALLED = {  # the tools that only one framework calls, with their arguments
    "smolagents": [("final_answer", {"answer": ANSWER})]
}
NOT_UNDERSTOOD = {  # the spans of each framework that are neither model calls nor steps
    "langgraph": "2 × 'tools_condition'",
    "llamaindex": "2 × 'OpenAILike._prepare_chat_with_tools'",
}


@pytest.mark.parametrize("framework", PACKAGES)
def test_a_real_run_is_read_drawn_and_like_the_sample_of_the_kit(framework: Any, tmp_path: Path) -> None:
    run = spans.read(trace_of(framework, tmp_path))
    assert (run.status, run.board.goal, run.answer) == ("finished", QUESTION, ANSWER)
    asked = [("order_status", {"order": "A-1034"}), ("order_status", {"order": "A-9034"})]
    assert [(step.tool, dict(step.params)) for step in run.board.steps.values()] == asked + CALLED.get(framework, [])
    assert run.results["1"] == "A-1034: paid, not packed"
    assert run.board.state["2"] == "superseded"
    assert NOT_UNDERSTOOD.get(framework, "the trace ends") in run.reason
    assert ("not understood" in run.reason) == (framework in NOT_UNDERSTOOD)
    assert run.usage.output_tokens > 0
    assert views.ledger(run).text.startswith("2 model calls")
    assert "order_status(order='A-1034')" in views.timeline(run).text
    if framework in get_args(Framework):
        assert events_of(spans.read(spans.sample(framework))) == events_of(run)


def events_of(run: Run) -> list[tuple[str, str]]:
    """The events without their times; where two things end at one moment, their order is the machine's."""
    rows = []
    for event in run.events:
        calls = tuple(replace(call, seconds=0.0) for call in getattr(event, "calls", ()))
        fields = {key: value for key, value in to_dict(event).items() if key not in ("at", "seconds", "calls")}
        rows.append((type(event).__name__, f"{fields} {calls}"))
    return sorted(rows)
