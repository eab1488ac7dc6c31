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

from planexec_lite.recorded.accounts import Account, account, attempts, questions, scripted, summary
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
from planexec_lite.recorded.whole_runs import RecordedRun, ReplayedRun, Setting, Turn, WholeRuns, load_runs, replayed

__all__ = [
    "NEEDED",
    "OUTCOMES",
    "RULES",
    "STEP_OUTCOMES",
    "Account",
    "Effect",
    "Head",
    "Interval",
    "PlannerWithout",
    "RecordedAnswer",
    "RecordedRun",
    "ReplayedRun",
    "Sample",
    "Sampling",
    "Setting",
    "Share",
    "Transcript",
    "Turn",
    "Variant",
    "WholeRuns",
    "ablation",
    "account",
    "attempts",
    "calls_right",
    "ends_a_step",
    "family",
    "is_valid",
    "judge",
    "judge_first_step",
    "kinds",
    "load",
    "load_runs",
    "questions",
    "repairs_needed",
    "replay",
    "replayed",
    "scripted",
    "share",
    "smollm2",
    "smollm2_runs",
    "summary",
    "table",
    "tally",
    "tally_first_steps",
    "tools_of",
    "without",
]  # fmt: skip


def smollm2() -> Transcript:
    """Return what SmolLM2, a model with 135 million parameters, said to the kit's planner in November 2026."""
    return load(Path(__file__).with_name("smollm2.jsonl.gz"))


def smollm2_runs() -> WholeRuns:
    """Return whole runs of the kit in which SmolLM2 played every role, recorded in November 2026."""
    return load_runs(Path(__file__).with_name("smollm2-runs.jsonl.gz"))
