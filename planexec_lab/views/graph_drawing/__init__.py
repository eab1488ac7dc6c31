"""The graph of a plan or a run, drawn left to right by dependency.

Read `layers` (which step in which column), `place` (in which order, at which height), `cards` (how large), `sketch` (from
these to an SVG), then `graph_figure`, which words the finding and the text form.
"""

from planexec_lab.views.graph_drawing.graph_figure import graph

__all__ = ["graph"]
