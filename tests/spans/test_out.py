"""A run as spans: what stands inside what, what each says by the conventions, and that ids come from the events alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import spans
from planexec_lab.spans import Span, names
from planexec_lab.spans.span import NANO
from planexec_lite import Run, events
from planexec_lite.plan import Problem
from tests.spans.samples import SAMPLES, calls_of, long
from tests.views import worlds

ROOT = Path(__file__).parents[2]


def drawn(run: Run) -> list[str]:
    """Each span as a line, indented below the one around it, with its seconds since the run began."""
    made, depth = spans.of(run), {None: -1}
    lines = []
    for span in made:
        depth[span.span_id] = depth[span.parent_id] + 1
        start, end = ((at - made[0].start) / NANO for at in (span.start, span.end))
        lines.append(f"{'  ' * depth[span.span_id]}{span.name} {start:g}–{end:g}{'' if span.error is None else ' ✗'}")
    return lines


def test_each_try_of_a_step_is_a_span_and_so_is_its_wait() -> None:
    assert drawn(SAMPLES["retried"]()) == [
        "invoke_agent planner-executor 0–6",
        "  step 1 0–2 ✗",
        "    execute_tool put_up 0–2 ✗",
        "  backoff 1 2–4",
        "  step 1, try 2 4–6",
        "    execute_tool put_up 4–6",
        "  step 2 6–6",
        "    execute_tool put_up 6–6",
    ]


def test_a_rollback_is_spans_of_the_run() -> None:
    lines = drawn(SAMPLES["rolled_back"]())
    assert lines[0].endswith(" ✗")
    assert [line.strip() for line in lines[-2:]] == ["undo 1 0–1", "execute_tool take_down 0–1"]


def test_a_run_inside_a_step_stands_below_it() -> None:
    lines = drawn(SAMPLES["nested"]())
    place = lines.index("  step 1 0–5")
    assert lines[place : place + 7] == [
        "  step 1 0–5",
        "    invoke_agent planner-executor 0–5",
        "      plan planner-executor 0–0",
        "      step a 0–2",
        "        execute_tool chop 0–2",
        "      step b 2–5",
        "        execute_tool boil 2–5",
    ]


def test_what_a_model_calls_in_a_step_stands_below_it() -> None:
    made = spans.of(SAMPLES["in_turns"]())
    tools = [span for span in made if span.attributes.get(names.OPERATION) == names.EXECUTE_TOOL]
    assert [json.loads(str(span.attributes[names.ARGUMENTS])) for span in tools] == [
        {"where": "nowhere"},
        {"where": "the hall"},
    ]
    assert [span.attributes.get(names.ERROR) for span in tools] == ["LookupError", None]
    chats = [span for span in made if span.attributes.get(names.OPERATION) == names.CHAT]
    assert drawn(SAMPLES["in_turns"]())[4:] == [f"    chat gpt-4o-mini {when}" for when in ("0–0.5", "1.5–2", "3–3.5")]
    assert all(span.asks and span.parent_id == made[1].span_id for span in chats)


def test_tokens_and_dollars_of_the_calls_add_up_to_those_of_the_run() -> None:
    run = SAMPLES["planned"]()
    made = spans.of(run)
    chats = [span for span in made if span.asks]
    for name in (names.TOKENS_IN, names.TOKENS_OUT, names.COST):
        assert sum(span.attributes[name] for span in chats) == made[0].attributes[name]  # type: ignore[misc]
    assert made[0].attributes[names.TOKENS_IN] == run.usage.input_tokens == 400
    assert [span.name for span in made if span.parent_id == made[1].span_id] == ["chat gpt-4o"]


def test_what_is_no_job_is_noted_at_the_run() -> None:
    noted = [event.name for event in spans.of(SAMPLES["planned"]())[0].events]
    assert noted == ["planexec.RunStarted", "planexec.Paused", "planexec.Reviewed", "planexec.Ended"]


def test_a_verdict_is_noted_by_the_conventions() -> None:
    judged = [span for span in spans.of(worlds.replanned()) if span.name.startswith("judge")]
    verdicts = [event for span in judged for event in span.events if event.name == names.EVALUATION]
    assert [event.attributes[names.VERDICT] for event in verdicts] == ["accept", "accept", "replan", "accept"]
    assert verdicts[2].attributes[names.EXPLANATION] == "2 endpoints answer <401>"


@pytest.mark.parametrize("name", SAMPLES)
def test_spans_stand_in_others_that_come_before_them(name: str) -> None:
    seen: set[str | None] = set()
    for span in spans.of(SAMPLES[name]()):
        assert span.parent_id in seen or not seen
        assert span.span_id not in seen
        assert span.start <= span.end
        seen.add(span.span_id)


@pytest.mark.parametrize("name", SAMPLES)
def test_of_a_run_under_way_too_each_span_lies_within_the_one_around_it(name: str) -> None:
    run = SAMPLES[name]()
    for length in range(1, len(run.events) + 1):
        made = {span.span_id: span for span in spans.of(Run(run.events[:length]))}
        around = [(span, made[span.parent_id]) for span in made.values() if span.parent_id is not None]
        outside = [
            (one.name, other.name) for one, other in around if not other.start <= one.start <= one.end <= other.end
        ]
        assert not outside, f"after {length} events"


def test_attributes_have_the_names_of_the_published_conventions() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as published
    from opentelemetry.semconv.attributes import error_attributes

    known = {value for name, value in vars(published).items() if name.startswith("GEN_AI_")}
    known.add(error_attributes.ERROR_TYPE)
    every = [span for made in SAMPLES.values() for span in spans.of(made())]
    noted = [event for span in every for event in span.events]
    used = {key for one in (*every, *noted) for key in one.attributes if not key.startswith(names.OWN)}
    assert used <= known
    assert {names.OPERATION, names.MODEL, names.TOKENS_IN, names.TOKENS_OUT, names.TOOL, names.ERROR} <= used


def test_operations_are_those_of_the_published_conventions() -> None:
    from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as published

    known = {value for name, value in vars(published.GenAiOperationNameValues).items() if name.isupper()}
    used = {span.attributes.get(names.OPERATION) for made in SAMPLES.values() for span in spans.of(made())} - {None}
    # "plan" came with the conventions' own repository, after the package's last list
    assert used == {"plan", "invoke_agent", "execute_tool", "chat"}
    assert used - {"plan"} <= {getattr(value, "value", value) for value in known}


def test_without_content_nothing_is_told_of_what_was_said() -> None:
    run = Run()
    secret = "S3CRET"
    for event in (
        events.RunStarted(0.0, secret, planner=True, reviewer=False),
        events.PlanStarted(0.0, "first"),
        events.PlanProposed(0.0, worlds.plan([("1", secret, 1, [])]), text=secret),
        events.StepStarted(0.0, "1", 1, 2),
        events.Inside(0.5, "1", events.Thought(secret)),
        events.Inside(0.5, "1", events.Action("work", {"a": secret})),
        events.Inside(0.5, "1", events.Observation(secret, error=True)),
        events.StepFailed(1.0, "1", f"ValueError: {secret}", 1.0),
        events.StepStarted(1.0, "1", 2, 2),
        events.StepDone(2.0, "1", secret, 1.0),
        events.NewsReceived(2.0, secret),
        events.PlanStarted(2.0, "news"),
        events.PlanProposed(2.0, None, (Problem("planner_failed", None, secret),)),
        events.Ended(2.0, "failed", secret),
    ):
        run.record(event)
    assert secret in spans.write(spans.of(run))
    told = spans.write(spans.of(run, content=False))
    assert secret not in told
    assert "ValueError" in told


def test_the_epoch_moves_all_times_and_ids_stay() -> None:
    run = SAMPLES["nested"]()
    one, other = spans.of(run, epoch=1.5), spans.of(run, epoch=1_795_000_000.25)
    assert {after.start - before.start for before, after in zip(one, other, strict=True)} == {1_794_999_998_750_000_000}
    assert ids(one) == ids(other)


def ids(made: list[Span]) -> list[tuple[str, str, str | None]]:
    return [(span.trace_id, span.span_id, span.parent_id) for span in made]


def test_the_same_run_has_the_same_ids_and_another_has_others() -> None:
    one, same, other = (spans.of(SAMPLES[name]()) for name in ("nested", "nested", "retried"))
    assert ids(one) == ids(same)
    assert not {span.span_id for span in one} & {span.span_id for span in other}
    assert all(len(span.trace_id) == 32 and len(span.span_id) == 16 for span in one)


def test_a_run_that_goes_on_keeps_a_trace_id_that_is_given() -> None:
    before, after = SAMPLES["nested_and_paused"](), SAMPLES["nested_and_resumed"]()
    one, other = (ids(spans.of(run, trace_id="ab" * 16)) for run in (before, after))
    assert set(one) <= set(other)
    assert before.status == "paused"
    assert ids(spans.of(before)) != one


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epoch": -1.0}, "seconds since 1970 are wanted"),
        ({"epoch": float("nan")}, "seconds since 1970 are wanted"),
        ({"trace_id": "7"}, "32 hexadecimal digits are wanted"),
        ({"trace_id": "0" * 32}, "not all of them zero"),
    ],
)
def test_an_epoch_or_a_trace_id_that_is_none_is_refused(options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        spans.of(Run(), **options)


def test_a_step_that_was_taken_back_before_it_began_called_no_tool() -> None:
    run = Run()
    for event in (
        events.RunStarted(0.0, "x", planner=False, reviewer=False),
        events.PlanProposed(0.0, worlds.plan([("1", "One", 1, [])])),
        events.StepStarted(0.0, "1"),
        events.Requeued(1.0, "1", "cancelled"),
    ):
        run.record(event)
    assert drawn(run) == ["invoke_agent planner-executor 0–1", "  step 1 0–1"]


@pytest.mark.slow
def test_ids_are_the_same_under_every_hash_seed() -> None:
    program = (
        "from tests.spans.samples import SAMPLES\nfrom planexec_lab import spans\n"
        "print(*([(one.trace_id, one.span_id) for one in spans.of(make())] for make in SAMPLES.values()), sep='\\n')"
    )
    printed = []
    for seed in ("0", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert len(printed[0].splitlines()) == len(SAMPLES)


@pytest.mark.slow
def test_a_run_of_ten_thousand_steps_costs_what_its_length_says() -> None:
    assert len(spans.of(long(10_000))) == 20_001
    small, large = long(300), long(3_000)
    assert calls_of(lambda: spans.of(large)) < 10.5 * calls_of(lambda: spans.of(small))


@pytest.mark.slow
def test_importing_it_loads_nothing_of_opentelemetry() -> None:
    program = "import sys\nfrom planexec_lab import spans\nprint('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
