"""Real runs of openai-agents and LangGraph on the scripted model, each in an environment of its own, seen with the kit's eyes.

Where an environment can't be made (no package index can be reached), the tests are skipped and say so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planexec_lab import spans, views
from planexec_lite import Run
from planexec_lite.events import to_dict
from tests.spans.frameworks import ANSWER, PACKAGES, QUESTION, trace_of

pytestmark = [pytest.mark.slow, pytest.mark.weekly, pytest.mark.xdist_group("span_others")]


@pytest.fixture(scope="module", params=PACKAGES)
def framework(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(scope="module")
def run(framework: str, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What the framework exported of its run, read."""
    return spans.read(trace_of(framework, tmp_path_factory.mktemp("env")))


def test_its_planning_and_steps_are_told(run: Run) -> None:
    assert run.status == "finished"
    assert run.board.goal == QUESTION
    assert run.answer == ANSWER
    assert [(step.tool, dict(step.params)) for step in run.board.steps.values()] == [
        ("order_status", {"order": "A-1034"}),
        ("order_status", {"order": "A-9034"}),
    ]
    assert run.results == {"1": "A-1034: paid, not packed"}
    assert run.board.state["2"] == "superseded"


def test_its_pictures_are_drawn(run: Run) -> None:
    assert run.usage.calls == 2
    assert run.usage.output_tokens > 0
    assert views.ledger(run).text.startswith("2 model calls")
    timeline = views.timeline(run).text
    assert "order_status(order='A-1034')" in timeline
    assert "failed" in timeline
    assert "order_status" in views.graph(run.plan).text


def test_the_sample_that_comes_with_the_kit_is_such_a_run(framework: Any, run: Run) -> None:
    """All but the times is the same; where two things end at one moment, their order is the machine's."""
    assert told(spans.read(spans.sample(framework))) == told(run)


def told(run: Run) -> list[tuple[str, str]]:
    """The events of a run without their times, each kind in the order of its steps."""
    found = []
    for event in run.events:
        calls = tuple(replace(call, seconds=0.0) for call in getattr(event, "calls", ()))
        fields = {key: value for key, value in to_dict(event).items() if key not in ("at", "seconds", "calls")}
        found.append((type(event).__name__, f"{fields} {calls}"))
    return sorted(found)
