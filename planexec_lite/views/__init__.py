"""Views: pictures of plans and runs that can be compared as text. They read, and never change what they show.

Every view returns a `Figure`: in a notebook it is an HTML figure, elsewhere its text form. The same input gives the same
bytes on every machine. matplotlib is loaded when the first timeline is drawn.
"""

from planexec_lite.views.bars import durations
from planexec_lite.views.board import board
from planexec_lite.views.diff import diff
from planexec_lite.views.figure import Figure
from planexec_lite.views.graph import graph
from planexec_lite.views.sequence import sequence
from planexec_lite.views.thoughts import thoughts
from planexec_lite.views.timeline import timeline

__all__ = ["Figure", "board", "diff", "durations", "graph", "sequence", "thoughts", "timeline"]
