"""The timeline of a run, and of several runs one above the other: one lane a slot, one bar a try of a step.

Read `bars` (from events to bars), `model` (all that a figure is made of, computed once), `prediction` (what was predicted,
beside what happened), `in_words` (the text form), `label` and `chart` (the drawing), then `figures`, which puts them
together. Waiting shows as space.
"""

from planexec_lab.views.timeline_drawing.figures import timeline, timelines
from planexec_lab.views.timeline_drawing.model import durations

__all__ = ["durations", "timeline", "timelines"]
