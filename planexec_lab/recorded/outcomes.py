"""Outcomes of recorded answers as shares, and the effect of leaving out a part of the prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from pydantic_core import from_json

from planexec_lab.recorded.shares import Interval, Share
from planexec_lab.recorded.transcript import RecordedAnswer, Sample, Transcript, Variant
from planexec_lab.views.drawing.text_fitting import aligned
from planexec_lab.worlds import arithmetic
from planexec_lite.plan import Plan, PlanError, StepReader
from planexec_lite.tools import Toolbox

Outcome = Literal["cut off", "not JSON", "no plan", "invalid", "valid"]
OUTCOMES: tuple[Outcome, ...] = ("cut off", "not JSON", "no plan", "invalid", "valid")
"""The kinds of answers, the worst first; "no plan" is JSON of another shape, "invalid" a plan with problems."""

StepOutcome = Literal["no call", "another call", "never ends", "waits in vain", "right"]
STEP_OUTCOMES: tuple[StepOutcome, ...] = ("no call", "another call", "never ends", "waits in vain", "right")
"""The kinds of first steps: without a tool call; with another call than the rule planner's; or with the right call, and then the
step is incomplete, or depends on a step although it is the first, or could start at once."""


def judge(answer: RecordedAnswer, tools: Toolbox = arithmetic.TOOLS) -> Outcome:
    """Judge one answer as the kit's planner and loop do."""
    if answer.finish_reason == "length":
        return "cut off"
    try:
        problems = Plan.parse(answer.text).problems(tools)
    except PlanError as error:
        return "not JSON" if error.problems[0].code == "not_json" else "no plan"
    return "invalid" if problems else "valid"


def first_call(answer: RecordedAnswer) -> tuple[str, dict[str, Any]] | None:
    """Return the tool and the parameters of the first step, also of an answer that was cut off behind them; else None."""
    try:
        step = from_json(answer.text, allow_partial=True)["steps"][0]
        begun = list(step)[-1] in ("tool", "params") and not StepReader().feed(answer.text)
        return None if begun else (step["tool"], step["params"])
    except (ValueError, TypeError, LookupError):
        return None


def judge_first_step(answer: RecordedAnswer, variant: Variant) -> StepOutcome:
    """Judge only the first step of an answer; the rule planner's call is the right call."""
    call = first_call(answer)
    if call is None:
        return "no call"
    wanted = arithmetic.rules(variant.goal)[0]
    if call != (wanted["tool"], wanted["params"]):
        return "another call"
    if not (steps := StepReader().feed(answer.text)):
        return "never ends"
    return "waits in vain" if steps[0].get("depends_on") else "right"


def tally(transcript: Transcript, variant: str) -> dict[str, int]:
    """Count the outcomes of a variant's first answers."""
    counts = Counter(judge(sample.answers[0]) for sample in transcript.of(variant))
    return {outcome: counts[outcome] for outcome in OUTCOMES}


def tally_first_steps(transcript: Transcript, variant: str) -> dict[str, int]:
    """Count what the first steps of a variant's first answers are."""
    asked = transcript.variants[variant]
    counts = Counter(judge_first_step(sample.answers[0], asked) for sample in transcript.of(variant))
    return {outcome: counts[outcome] for outcome in STEP_OUTCOMES}


def repairs_needed(sample: Sample, tools: Toolbox) -> int | None:
    """Return after how many repairs the plan was valid; None: never, within those that were allowed."""
    return next((n for n, answer in enumerate(sample.answers) if judge(answer, tools) == "valid"), None)


Measure = Callable[[RecordedAnswer, Variant], bool]


def is_valid(answer: RecordedAnswer, variant: Variant) -> bool:
    """Whether the answer is a valid plan."""
    return judge(answer) == "valid"


def calls_right(answer: RecordedAnswer, variant: Variant) -> bool:
    """Whether the first step makes the call that the rule planner makes."""
    return judge_first_step(answer, variant) not in ("no call", "another call")


def ends_a_step(answer: RecordedAnswer, variant: Variant) -> bool:
    """Whether a first step was finished before the answer was."""
    return bool(StepReader().feed(answer.text))


def share(transcript: Transcript, variant: str, measure: Measure = is_valid) -> Share:
    """Return how many of a variant's first answers fulfil a measure."""
    asked, samples = transcript.variants[variant], transcript.of(variant)
    return Share(sum(measure(sample.answers[0], asked) for sample in samples), len(samples))


class Effect(NamedTuple):
    """The effect of leaving something out: the share without it, and the difference from the share with it."""

    left_out: str
    share: Share
    difference: Interval


def ablation(transcript: Transcript, measure: Measure = is_valid, base: str = "whole") -> list[Effect]:
    """Return the effect of leaving out each rule and the schema, the largest first in either direction."""
    whole = share(transcript, base, measure)
    effects = []
    for name in transcript.variants:
        if name != base and transcript.of(name):
            without = share(transcript, name, measure)
            effects.append(Effect(name.removeprefix("without "), without, without.minus(whole)))
    return sorted(effects, key=lambda effect: -abs(effect.difference.value))


def table(effects: Sequence[Effect], base: Share, measured: str) -> str:
    """Return effects as lines of aligned text: shares with 95 % intervals, differences in points, and the conclusion.

    >>> print(table([Effect("ids", Share(3, 30), Share(3, 30).minus(Share(9, 30)))], Share(9, 30), "valid"))
    left out  valid                    difference
    nothing    9 of 30  30 % (17–48)
    ids        3 of 30  10 % (3–26)    -20 (-39 to +1)  inconclusive
    """
    rows = [["left out", measured, "difference", ""], ["nothing", _share(base), "", ""]]
    for left_out, share, difference in effects:
        value, low, high = (f"{100 * end:+.0f}" for end in difference)
        told = "" if difference.tells else "inconclusive"
        rows.append([left_out, _share(share), f"{value} ({low} to {high})", told])
    return "\n".join(aligned(rows))


def _share(share: Share) -> str:
    value, low, high = (f"{100 * end:.0f}" for end in share.interval)
    return f"{share.hits:2} of {share.of}  {value:>2} % ({low}–{high})"
