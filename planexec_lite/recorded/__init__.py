"""A real model's plans, recorded once and heard again offline: distributions that nobody wrote.

`load` reads a transcript, `replay` lets the genuine client hear one sample of it again. In the order of
reading: `transcript` (the file), `asking` (the planner at a temperature, with a rule left out), `small_model` (the model
on loopback), `recording` (``python -m planexec_lite.recorded.recording``, the only part that needs the model).
"""

from __future__ import annotations

from planexec_lite.recorded.asking import RULES, PlannerWithout, Sampling, without
from planexec_lite.recorded.transcript import Head, RecordedAnswer, Sample, Transcript, Variant, load, replay

__all__ = [
    "RULES",
    "Head",
    "PlannerWithout",
    "RecordedAnswer",
    "Sample",
    "Sampling",
    "Transcript",
    "Variant",
    "load",
    "replay",
    "without",
]
