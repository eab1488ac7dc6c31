"""Facts about real models, and recorded answers of a small one, replayed offline.

`facts` gives tables of what other people's models did. `smollm2` is the kit's own recording, and `replay` gives its answers to
the genuine client again; README.md in this folder describes both. In the order of reading: `real_models` (the tables),
`transcript` (the file of a recording), `rules` (parts of a prompt that can be left out), `outcomes` (outcomes of the answers as
shares with intervals), `roles` and `whole_runs` (the model in every role), `accounts` (outcomes of these runs). The recorders
are in `tests/recorded`.
"""

from __future__ import annotations

from pathlib import Path

from planexec_lab.recorded.accounts import account, scripted, summary
from planexec_lab.recorded.outcomes import (
    ablation,
    calls_right,
    ends_a_step,
    is_valid,
    repairs_needed,
    share,
    table,
    tally,
    tally_first_steps,
)
from planexec_lab.recorded.real_models import Facts, facts
from planexec_lab.recorded.rules import RULES, without
from planexec_lab.recorded.shares import Share
from planexec_lab.recorded.transcript import RecordedAnswer, Sample, Transcript, Variant, load, replay
from planexec_lab.recorded.whole_runs import WholeRuns, load_runs, replayed

__all__ = [
    "NEEDED",
    "RULES",
    "Facts",
    "RecordedAnswer",
    "Sample",
    "Share",
    "Transcript",
    "Variant",
    "WholeRuns",
    "ablation",
    "account",
    "calls_right",
    "ends_a_step",
    "facts",
    "family",
    "is_valid",
    "load",
    "load_runs",
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
    "without",
]  # fmt: skip

NEEDED = {"the schema": 24, "references": 18, "JSON alone": 15, "dependencies": 12, "span": 3}
"""How many of the thirty answers of `family` need a part of the prompt; a part that is not named here changes nothing."""


def smollm2() -> Transcript:
    """Return what SmolLM2, a model with 135 million parameters, said to the kit's planner in November 2026."""
    return load(Path(__file__).with_name("smollm2.jsonl.gz"))


def smollm2_runs() -> WholeRuns:
    """Return whole runs of the kit in which SmolLM2 played every role, recorded in November 2026."""
    return load_runs(Path(__file__).with_name("smollm2-runs.jsonl.gz"))


def family() -> Transcript:
    """Return thirty answers to the whole prompt and thirty without each part of it, whose errors were written: they show
    what the method sees, and nothing about models (`tests/recorded/scripted_family.py`).
    """
    return load(Path(__file__).with_name("family.jsonl.gz"))
