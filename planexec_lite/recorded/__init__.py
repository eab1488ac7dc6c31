"""A real model's plans, recorded once and heard again offline: distributions that nobody wrote.

`smollm2` is the recording that comes with the kit, `replay` lets the genuine client hear answers of it again, and
README.md beside this module says how to record it anew. In the order of reading: `transcript` (the file), `asking` (the
planner at a temperature, with a rule left out), `outcomes` (what became of the answers, in shares with intervals),
`scripted_family` (a scripted model whose errors were written, for the method), `kit` and `whole_runs` (every role played by the
model, heard again), `accounts` (what came of such runs), `small_model` (the model on loopback), `recording` and
`recording_runs` (``python -m planexec_lite.recorded.recording``). The last three alone need the model.
"""

from __future__ import annotations

from pathlib import Path

from planexec_lite.recorded.asking import RULES, PlannerWithout, Sampling, without
from planexec_lite.recorded.outcomes import (
    OUTCOMES,
    STEP_OUTCOMES,
    Effect,
    Interval,
    Share,
    ablation,
    calls_right,
    ends_a_step,
    is_valid,
    judge,
    judge_first_step,
    kinds,
    repairs_needed,
    share,
    table,
    tally,
    tally_first_steps,
    tools_of,
)
from planexec_lite.recorded.scripted_family import NEEDED, family
from planexec_lite.recorded.transcript import Head, RecordedAnswer, Sample, Transcript, Variant, load, replay

__all__ = [
    "NEEDED", "OUTCOMES", "RULES", "STEP_OUTCOMES", "Effect", "Head", "Interval", "PlannerWithout", "RecordedAnswer", "Sample",
    "Sampling", "Share", "Transcript", "Variant", "ablation", "calls_right", "ends_a_step", "family", "is_valid", "judge",
    "judge_first_step", "kinds", "load", "repairs_needed", "replay", "share", "smollm2", "table", "tally",
    "tally_first_steps", "tools_of", "without",
]  # fmt: skip


def smollm2() -> Transcript:
    """Return what SmolLM2, a model with 135 million parameters, said to the kit's planner in November 2026."""
    return load(Path(__file__).with_name("smollm2.jsonl.gz"))
