"""The timeline of one or several runs: one lane for each slot, one bar for each attempt of a step.

Read `bars` (from events to bars), `model` (the data of a figure, computed once), `prediction` (predicted and real start
times), `in_words` (the text form), `label` and `chart` (the drawing), then `figures`, which combines them. Empty space in a
lane is waiting.
"""

from planexec_lab.views.timeline_drawing.figures import timeline, timelines
from planexec_lab.views.timeline_drawing.model import durations

__all__ = ["durations", "timeline", "timelines"]
